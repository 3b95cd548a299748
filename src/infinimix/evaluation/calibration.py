"""Calibration: are predictions of 80% confidence right 80% of the time?

`ReliabilityBins` has bins of equal width and takes rows as they come; its `error` is the expected
calibration error. `equal_bins` has bins of equally many rows, for pictures. scikit-learn's
`calibration_curve` knows two classes only.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from infinimix.evaluation.intervals import Interval, wilson
from infinimix.evaluation.scores import ratio

BINS = 15
LEAST_ROWS = 10  # of a bin of equally many rows


class ReliabilityBins:
    """Sums over bins of equal width."""

    def __init__(self, bins: int = BINS) -> None:
        self.n = np.zeros(bins, np.int64)
        self.right = np.zeros(bins, np.int64)
        self.confidence = np.zeros(bins)

    def add(self, confidence: np.ndarray, right: np.ndarray) -> None:
        """Add rows; those without a confidence (NaN) are left out."""
        rows = ~np.isnan(confidence)
        confidence, right = confidence[rows], right[rows]
        last = len(self.n) - 1
        bin_of = np.clip((confidence * len(self.n)).astype(np.int64), 0, last)
        self.n += np.bincount(bin_of, minlength=last + 1)
        self.right += np.bincount(bin_of[right], minlength=last + 1)
        np.add.at(self.confidence, bin_of, confidence)  # in order, however the rows are cut

    @property
    def error(self) -> float:
        """The expected calibration error: mean distance of confidence and accuracy."""
        return ratio(float(np.abs(self.right - self.confidence).sum()), int(self.n.sum()))


def calibration_error(confidence: np.ndarray, right: np.ndarray, bins: int = BINS) -> float:
    """Return the expected calibration error of some rows, over bins of equal width."""
    sums = ReliabilityBins(bins)
    sums.add(confidence, right)
    return sums.error


class Bin(NamedTuple):
    """Predictions of about one confidence."""

    rows: int
    confidence: float
    right: Interval


def equal_bins(confidence: np.ndarray, right: np.ndarray, most: int = 10) -> list[Bin]:
    """Return bins of equally many rows, at least 10 each, from the least confidence on."""
    order = np.argsort(confidence, kind="stable")
    n_bins = max(1, min(most, len(order) // LEAST_ROWS))
    return [
        Bin(len(part), float(confidence[part].mean()), wilson(int(right[part].sum()), len(part)))
        for part in np.array_split(order, n_bins)
    ]


def mean_distance(bins: Sequence[Bin]) -> float:
    """Return the mean distance between confidence and accuracy over bins."""
    n = sum(b.rows for b in bins)
    return sum(b.rows * abs(b.confidence - b.right.value) for b in bins) / max(n, 1)
