"""All scores of some answers together: what `infinimix evaluate` prints."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from infinimix.evaluation.calibration import calibration_error
from infinimix.evaluation.intervals import wilson
from infinimix.evaluation.scores import confusion, log_losses, probability_of, score_class


def score(
    labels: Sequence[Any], y: Sequence[Any], predicted: Sequence[Any], proba: np.ndarray
) -> dict[str, Any]:
    """Return the scores of some rows.

    Parameters
    ----------
    labels : sequence
        All classes, in the order of the columns of `proba`.
    y, predicted : sequences
        True and predicted labels.
    proba : array (rows, classes)
        Probabilities.
    """
    place = {label: k for k, label in enumerate(labels)}
    true = np.array([place[label] for label in y])
    found = np.array([place[label] for label in predicted])
    table = confusion(true, found, len(labels))
    right = true == found
    losses = log_losses(probability_of(true, proba))
    n = len(true)
    return {
        "rows": n,
        "accuracy": float(right.mean()),
        "accuracy_interval": wilson(int(right.sum()), n)[1:],
        "majority": float(np.bincount(true).max() / n),
        "log_loss": float(losses.mean()),
        "log_loss_error": float(losses.std() / math.sqrt(n)),
        "calibration_error": calibration_error(proba.max(axis=1), right),
        "classes": [{"label": label, **score_class(k, table)} for k, label in enumerate(labels)],
        "confusion": table,
    }
