"""All scores of some predictions together: what `infinimix evaluate` prints."""

from __future__ import annotations

from typing import Any

import numpy as np

from infinimix.evaluation.averages import balanced_accuracy, roc_auc
from infinimix.evaluation.calibration import calibration_error
from infinimix.evaluation.intervals import Interval, mean_interval, share_interval, standard_error
from infinimix.evaluation.predictions import Predictions
from infinimix.evaluation.scores import LEAST, score_class


def score(found: Predictions) -> dict[str, Any]:
    """Return the scores of predictions of held-out rows; intervals are pairs (low, high)."""
    accuracy = share_interval(found.right, found.groups)
    balanced, auc, gain = balanced_accuracy(found), roc_auc(found), gain_over_largest(found)
    largest = largest_class(found)
    table = found.confusion
    return {
        "rows": len(found.y),
        "accuracy": accuracy.value,
        "accuracy_interval": accuracy[1:],
        "largest_class": found.labels[largest],
        "majority": float((found.y == largest).mean()),
        "gain_over_largest_class": gain.value,
        "gain_over_largest_class_interval": gain[1:],
        "better_than_largest_class": gain.low > 0.0,
        "balanced_accuracy": balanced.value,
        "balanced_accuracy_interval": balanced[1:],
        "roc_auc": auc.value,
        "roc_auc_interval": auc[1:],
        "log_loss": float(found.losses.mean()),
        "log_loss_error": standard_error(found.losses, found.groups),
        "rows_of_unknown_classes": int(unknown_rows(found).sum()),
        "calibration_error": calibration_error(found.proba.max(axis=1), found.right),
        "classes": [
            {"label": label, **score_class(k, table)} for k, label in enumerate(found.labels)
        ],
        "confusion": table,
    }


def unknown_rows(found: Predictions) -> np.ndarray:
    """Return which rows are of a class that the model which predicted them has not learned."""
    out = np.zeros(len(found.y), dtype=bool)
    for k, model in enumerate(found.models):
        known = set(np.asarray(model.classes_).tolist())
        new = np.array([label not in known for label in found.labels], dtype=bool)
        own = found.model_of == k
        out[own] = new[found.y[own]]
    return out


def warn_of_unknown(found: Predictions) -> str | None:
    """Return what rows of such classes do to the log-loss; None if there are none.

    Their class has probability 0, which counts as LEAST.
    """
    unknown = unknown_rows(found)
    if not unknown.any():
        return None
    labels = [found.labels[code] for code in np.unique(found.y[unknown]).tolist()]
    shown = ", ".join(map(repr, labels[:5])) + (", ..." if len(labels) > 5 else "")
    rows = f"{int(unknown.sum()):,} row{'s are' if unknown.sum() > 1 else ' is'}"
    rest = f"{found.losses[~unknown].mean():.4f}" if not unknown.all() else "unknown"
    return (
        f"{rows} of classes that the training rows lacked ({shown}), which have probability 0 "
        f"there. The log-loss counts them as if it were {LEAST:g} ({-np.log(LEAST):.0f} nats "
        f"each); without these rows it is {rest}."
    )


def largest_class(found: Predictions) -> int:
    """Return the code of the class with the most rows."""
    return int(np.bincount(found.y, minlength=len(found.labels)).argmax())


def gain_over_largest(found: Predictions) -> Interval:
    """Return how much higher the accuracy is than if the largest class were always predicted.

    Its interval is that of the difference, row by row: the two accuracies are of the same rows, so
    it is narrower than their own intervals say.
    """
    plain = found.y == largest_class(found)
    return mean_interval(found.right.astype(float) - plain, found.groups)


def extra_loss(found: Predictions, other: Predictions) -> Interval:
    """Return by how much the log-loss is higher than that of other predictions of the same rows."""
    return mean_interval(found.losses - other.losses, found.groups)


def verdict(found: Predictions) -> str:
    """Return a sentence on whether the model is better than always predicting the largest class."""
    gain, label = gain_over_largest(found), found.labels[largest_class(found)]
    own, plain = found.right.mean(), (found.y == largest_class(found)).mean()
    interval = f"95% interval {100 * gain.low:+.1f} to {100 * gain.high:+.1f}"
    told = (
        f"accuracy {own:.1%} against {plain:.1%}, a difference of {100 * gain.value:+.1f} "
        f"percentage points ({interval})"
    )
    if gain.low > 0.0:
        return f"Better than always predicting {label!r}: {told}."
    relation = "Worse" if gain.high < 0.0 else "No better"
    text = f"{relation} than always predicting {label!r}: {told}."
    auc = roc_auc(found)
    if auc.low > 0.5:
        text += (
            f" Its probabilities still rank rows better than chance (ROC AUC {auc.value:.3f}, "
            f"{auc.low:.3f} to {auc.high:.3f}), so another threshold may be of use."
        )
    return text
