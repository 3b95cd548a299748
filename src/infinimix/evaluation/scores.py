"""How well answers were: accuracy, log-loss, calibration, confusion, and each class alone."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from infinimix.evaluation.running import LEAST, ratio

BINS = 15
Z95 = 1.959964


def score(
    labels: Sequence[Any], y: Sequence[Any], predicted: Sequence[Any], proba: Any
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
    said = np.array([place[label] for label in predicted])
    confusion = np.zeros((len(labels), len(labels)), int)
    np.add.at(confusion, (true, said), 1)
    right = true == said
    loss = -np.log(np.maximum(proba[np.arange(len(true)), true], LEAST))
    n = len(true)
    return {
        "rows": n,
        "accuracy": float(right.mean()),
        "accuracy_interval": wilson(int(right.sum()), n),
        "majority": float(np.bincount(true).max() / n),
        "log_loss": float(loss.mean()),
        "log_loss_error": float(loss.std() / math.sqrt(n)),
        "calibration_error": calibration_error(proba.max(axis=1), right),
        "classes": [_of_class(label, k, confusion) for k, label in enumerate(labels)],
        "confusion": confusion,
    }


def _of_class(label: Any, k: int, confusion: np.ndarray) -> dict[str, Any]:
    hits = int(confusion[k, k])
    precision, recall = ratio(hits, confusion[:, k].sum()), ratio(hits, confusion[k].sum())
    both = confusion[:, k].sum() + confusion[k].sum()
    return {
        "label": label, "rows": int(confusion[k].sum()), "precision": float(precision),
        "recall": float(recall), "f1": float(ratio(2 * hits, both)),
    }  # fmt: skip


def calibration_error(confidence: np.ndarray, right: np.ndarray) -> float:
    """Return the expected calibration error, over bins of equal width."""
    bin_of = np.minimum((confidence * BINS).astype(int), BINS - 1)
    gaps = np.bincount(bin_of, weights=right - confidence, minlength=BINS)
    return float(np.abs(gaps).sum() / len(right))


def wilson(hits: int, n: int) -> tuple[float, float]:
    """Return Wilson's 95% interval of a share."""
    p, z2 = hits / n, Z95**2
    centre = (p + z2 / (2 * n)) / (1 + z2 / n)
    half = Z95 / (1 + z2 / n) * math.sqrt(p * (1 - p) / n + z2 / (4 * n * n))
    return max(0.0, centre - half), min(1.0, centre + half)
