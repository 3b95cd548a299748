"""Figures with 95% intervals.

They take rows for independent, and say how far a figure may be off for these models, not how it
would vary with other training rows.
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


def mean_interval(values: np.ndarray) -> Interval:
    """Return a mean, plus and minus 1.96 standard errors; a single value tells nothing of them."""
    mean = float(values.mean())
    half = Z * standard_error(values) if len(values) > 1 else np.inf
    return Interval(mean, mean - half, mean + half)


def standard_error(values: np.ndarray) -> float:
    """Return the standard error of a mean; 0 for a single value."""
    n = len(values)
    return float(np.std(values, ddof=1) / np.sqrt(n)) if n > 1 else 0.0
