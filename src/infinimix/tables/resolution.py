"""The resolution of a column of numbers: how far apart neighbouring values are.

Numbers are rounded (whole years, two decimals, answers from 1 to 5), and where many cells share a
value, a density could grow without bound there. The resolution d is the width of the interval
that a cell stands for; `families.normal` says what becomes of it. It is found from the cells of
the first table, after the transform of their column, and then stays as it is.

d is the smallest distance between two values of the column: the step of a grid, if there is one,
in whatever units. Rare values, of one cell in twenty together, are left aside: few cells that lie
between the steps do not matter. Where less than half of the cells share their value with another
the numbers are continuous, and d is 0.
"""

import numpy as np
from numpy.typing import NDArray

__all__ = ["find_resolution"]

FEWEST, ENOUGH = 30, 10_000  # values that it takes, and about as many as are looked at
SHARED = 0.5  # of the cells have a value that another has, or the numbers are continuous
RARE = 0.05  # of the cells, whose values do not count
ROUNDING = 1e-9  # of the span of a column: values that are closer than that are one
DIGITS = 8.0 * np.finfo(float).eps  # the same, beside the size of the numbers themselves

Array = NDArray[np.float64]


def find_resolution(x: Array) -> float:
    """The resolution of observed values; 0 if they are too few, continuous or all the same.

    Examples
    --------
    >>> ages = np.array([17.5, 22.0, 27.0, 32.0, 37.0] * 10)
    >>> find_resolution(ages), find_resolution(ages[:20]), find_resolution(np.linspace(0, 1, 50))
    (4.5, 0.0, 0.0)
    """
    some = x[:: 1 + len(x) // ENOUGH]
    if len(some) < FEWEST:
        return 0.0
    values, counts = distinct(some)
    if len(values) < 2 or counts[counts > 1].sum() < SHARED * len(some):
        return 0.0
    common = _common(values, counts)
    return float(np.diff(common if len(common) > 1 else values).min())


def distinct(x: Array) -> tuple[Array, NDArray[np.int64]]:
    """The different values, rising, and how often each occurs; rounding errors make none."""
    values, counts = np.unique(x, return_counts=True)
    least = max(ROUNDING * (values[-1] - values[0]), DIGITS * float(np.abs(values).max()))
    first = np.append(True, np.diff(values) > least)
    return values[first], np.add.reduceat(counts, np.flatnonzero(first))


def _common(values: Array, counts: NDArray[np.int64]) -> Array:
    """The values that are left when the rarest are left aside; equally rare ones stay together."""
    sizes = np.sort(counts)
    rare = sizes[np.cumsum(sizes) <= RARE * sizes.sum()]
    while rare.size and sizes[sizes <= rare[-1]].sum() > RARE * sizes.sum():
        rare = rare[rare < rare[-1]]
    return values[counts > (rare[-1] if rare.size else 0)]
