"""Scores in which every class counts the same, however few rows it has: with 95% intervals.

Balanced accuracy is the mean recall. ROC AUC is the chance that a row of a class has a higher
probability of that class than a row of another one; with several classes, the mean over the
classes, each against the rest. Its interval is DeLong's: each row is weighed by the share of the
rows of the other side that it is on the right side of (Biometrics 44, 1988).
"""

from __future__ import annotations

import numpy as np

from infinimix.evaluation.intervals import Interval, around, wilson
from infinimix.evaluation.predictions import Predictions


def balanced_accuracy(found: Predictions) -> Interval:
    """Return the mean recall of the classes that have rows.

    Without groups, Wilson's intervals of the recalls are combined as variances are (Zou and Donner,
    Statistics in Medicine 27, 2008), so that classes without an error have no false certainty.
    """
    classes = [found.y == c for c in np.unique(found.y)]
    recalls = [wilson(int(found.right[own].sum()), int(own.sum())) for own in classes]
    value = float(np.mean([recall.value for recall in recalls]))
    if found.groups is not None:
        influence = np.zeros(len(found.y))
        for own, recall in zip(classes, recalls, strict=True):
            influence[own] = (found.right[own] - recall.value) * len(own) / own.sum()
        return around(value, influence / len(classes), found.groups)
    down, up = (
        float(np.sqrt(sum(gap**2 for gap in gaps))) / len(recalls)
        for gaps in zip(*((r.value - r.low, r.high - r.value) for r in recalls), strict=True)
    )
    return Interval(value, max(value - down, 0.0), min(value + up, 1.0))


def roc_auc(found: Predictions) -> Interval:
    """Return the ROC AUC, averaged over the classes; NaN if all rows are of one class."""
    n, values, influence = len(found.y), [], np.zeros(len(found.y))
    for c in np.unique(found.y):
        own = found.y == c
        if own.all():
            continue
        above, below = _placements(found.proba[own, c], found.proba[~own, c])
        values.append(float(above.mean()))
        influence[own] += (above - values[-1]) * n / own.sum()
        influence[~own] += (below - values[-1]) * n / (~own).sum()
    if not values:
        return Interval(float("nan"), float("nan"), float("nan"))
    if 1 in np.bincount(found.y):  # a single row of a class tells nothing of the error
        return Interval(float(np.mean(values)), float("nan"), float("nan"))
    return around(float(np.mean(values)), influence / len(values), found.groups)


def _placements(ours: np.ndarray, others: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return how many of the others are below each of ours, and of ours above each; as shares."""
    return _share_below(ours, others), 1.0 - _share_below(others, ours)


def _share_below(values: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Return the share of the others that are less; equal ones count half."""
    ordered = np.sort(others)
    less = np.searchsorted(ordered, values, side="left")
    most = np.searchsorted(ordered, values, side="right")
    return np.asarray((less + most) / (2 * len(others)))
