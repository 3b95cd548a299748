"""What answers are worth: log-loss, confusion, precision and recall.

scikit-learn has the same numbers (the tests compare), but `sklearn.metrics` takes half a second
to load, and each of these is a line of NumPy.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

LEAST = 1e-15  # a probability of zero would make the log-loss infinite for good


def ratio(a: float, b: float) -> float:
    """Return a / b, NaN if there is nothing to divide by."""
    return a / b if b else float("nan")


def log_losses(p_true: np.ndarray, least: float = LEAST) -> np.ndarray:
    """Return minus the log of the probability of the true label, for each row."""
    return -np.log(np.maximum(p_true, least))


def probability_of(codes: np.ndarray, proba: np.ndarray) -> np.ndarray:
    """Return what `proba` gives the label with this code, for each row."""
    return proba[np.arange(len(codes)), codes]


def align(proba: Any, known: Sequence[Any], labels: Sequence[Any]) -> np.ndarray:
    """Return probabilities in the order of `labels`; 0 for those that are not `known`."""
    place = {label: j for j, label in enumerate(labels)}
    out = np.zeros((len(proba), len(labels)))
    out[:, [place[label] for label in known]] = proba
    return out


def confusion(true: np.ndarray, predicted: np.ndarray, n_labels: int) -> np.ndarray:
    """Return counts of rows by the codes of their true and their predicted label."""
    table = np.zeros((n_labels, n_labels), dtype=int)
    np.add.at(table, (true, predicted), 1)
    return table


def score_class(k: int, table: np.ndarray) -> dict[str, Any]:
    """Return rows, precision, recall and F1 of one class, by a table of confusion."""
    hits, found, rows = int(table[k, k]), int(table[:, k].sum()), int(table[k].sum())
    return {
        "rows": rows,
        "precision": ratio(hits, found),
        "recall": ratio(hits, rows),
        "f1": ratio(2 * hits, found + rows),
    }
