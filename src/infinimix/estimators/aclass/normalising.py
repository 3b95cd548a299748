"""The log of a sum of exponentials over classes, for one row of a stream or many.

Many are `kernels.logs.logsumexp`; for one row most of that is Python's overhead, so it has a
shorter way with the same digits.
"""

from __future__ import annotations

import math

import numpy as np

from infinimix.kernels.logs import FEW, logsumexp


def log_totals(table: np.ndarray) -> np.ndarray:
    """Return log(sum(exp(row))) for each row, in one column."""
    if table.shape[0] == 1 and table.shape[1] < FEW:  # which Python adds up in the same order
        return np.array([[_log_total(table[0].tolist())]])
    return np.asarray(logsumexp(table, axis=1, keepdims=True))


def _log_total(row: list[float]) -> float:
    """Do the same for one row of a stream."""
    if not math.isfinite(sum(row)):
        return float(logsumexp(row))
    top, total = max(row), 0.0
    rest = [value - top for value in row if value != top]
    for term in np.exp(rest).tolist():  # not math.exp: with AVX-512 its last digit is another
        total += term
    n_top = len(row) - len(rest)
    ties = float(np.log(n_top)) if n_top > 1 else 0.0
    return float(np.log1p(total / n_top)) + ties + top
