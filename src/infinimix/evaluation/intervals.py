"""Figures with 95% intervals.

They take rows for independent, or groups of rows if there are groups, and say how far a figure may
be off for these models, not how it would vary with other training rows.
"""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

import numpy as np

Z = 1.959963984540054  # of a normal distribution, 95% lie within so many standard deviations


class Interval(NamedTuple):
    """A figure, and where it may truly lie."""

    value: float
    low: float
    high: float


def wilson(successes: float, n: int) -> Interval:
    """Return a share and Wilson's interval; a share computed before may come as `share * n`.

    The bounds are where the share would be Z standard errors of the bound away: the roots of
    (share - p)^2 = Z^2 p (1 - p) / n. `scipy.stats` has them too, and takes half a second to load.

    >>> [round(x, 3) for x in wilson(8, 10)]
    [0.8, 0.49, 0.943]
    """
    if n == 0:
        return Interval(float("nan"), 0.0, 1.0)
    share, square = round(successes) / n, Z**2 / n
    middle, half = share + square / 2.0, Z * sqrt(share * (1.0 - share) / n + (Z / (2.0 * n)) ** 2)
    low, high = (middle - half) / (1.0 + square), (middle + half) / (1.0 + square)
    if share == 0.0:
        low = 0.0  # exactly, not but for rounding
    if share == 1.0:
        high = 1.0
    return Interval(successes / n, low, high)


def share_interval(hits: np.ndarray, groups: np.ndarray | None = None) -> Interval:
    """Return the share of rows that are hits; the rows of a group depend on each other."""
    if groups is None or not len(hits):
        return wilson(int(hits.sum()), len(hits))
    return clipped(mean_interval(hits.astype(float), groups))


def mean_interval(values: np.ndarray, groups: np.ndarray | None = None) -> Interval:
    """Return a mean, plus and minus 1.96 standard errors; a single value tells nothing of them."""
    mean = float(values.mean())
    alone = len(values) < 2 or (groups is not None and len(np.unique(groups)) < 2)
    half = np.inf if alone else Z * standard_error(values, groups)
    return Interval(mean, mean - half, mean + half)


def standard_error(values: np.ndarray, groups: np.ndarray | None = None) -> float:
    """Return the standard error of a mean; 0 for a single value.

    Rows of one group are added up first, as they depend on each other (the cluster-robust error).
    With a row in each group it is the same number as without groups.
    """
    rest = values - values.mean()
    if groups is not None:
        rest = np.bincount(np.unique(groups, return_inverse=True)[1], weights=rest)
    n = len(rest)
    return float(np.sqrt((rest**2).sum() * n / (n - 1)) / len(values)) if n > 1 else 0.0


def clipped(interval: Interval) -> Interval:
    """Return the interval of a figure that lies between 0 and 1."""
    return Interval(interval.value, max(interval.low, 0.0), min(interval.high, 1.0))


def around(value: float, influence: np.ndarray, groups: np.ndarray | None = None) -> Interval:
    """Return the interval of a figure between 0 and 1 by what each row adds to it.

    Its ends are NaN where all rows add the same: they then tell nothing of the error.
    """
    error = standard_error(influence, groups)
    if not error > 0.0:
        return Interval(value, float("nan"), float("nan"))
    return clipped(Interval(value, value - Z * error, value + Z * error))
