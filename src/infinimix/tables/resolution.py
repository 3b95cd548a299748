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

__all__ = ["find_few", "find_grid", "find_resolution", "nearest", "snap"]

FEWEST, ENOUGH = 10, 10_000  # values that it takes, and about as many as are looked at
SHARED = 0.5  # of the cells have a value that another has, or the numbers are continuous
RARE = 0.05  # of the cells, whose values do not count
ROUNDING = 1e-9  # of the span of a column: values that are closer than that are one
FINEST, LOOSE = 10, 1e-6  # parts of the smallest step that may be one; how far from a place
FEW = 20  # different values that are shown as they are
DECIMALS = 9  # behind the first digit of a step
DIGITS = 8.0 * np.finfo(float).eps  # the same, beside the size of the numbers themselves

Array = NDArray[np.float64]


def find_resolution(x: Array) -> float:
    """The resolution of observed values; 0 if they are too few, continuous or all the same.

    Examples
    --------
    >>> ages = np.array([17.5, 22.0, 27.0, 32.0, 37.0] * 10)
    >>> find_resolution(ages), find_resolution(ages[:9]), find_resolution(np.linspace(0, 1, 50))
    (4.5, 0.0, 0.0)
    """
    some = x[:: 1 + len(x) // ENOUGH]
    if len(some) < FEWEST:
        return 0.0
    values, counts = distinct(some)
    if len(values) < 2 or counts[counts > 1].sum() < SHARED * len(some):
        return 0.0
    return float(np.diff(_common(values, counts)).min())


def find_grid(x: Array) -> tuple[float, float] | None:
    """A value and the step of the grid on which the natural values of a column lie, if they do.

    The step is the resolution, or a part of it where steps are not all the same.

    Examples
    --------
    >>> find_grid(np.array([17.5, 22.0, 27.0, 32.0, 37.0] * 10))
    (17.5, 0.5)
    """
    resolution = find_resolution(x)
    if not resolution:
        return None
    values = _common(*distinct(x[:: 1 + len(x) // ENOUGH]))
    for part in range(1, FINEST + 1):
        step = resolution / part
        places = (values - values[0]) / step
        if (np.abs(places - np.rint(places)) < LOOSE).all():
            return float(values[0]), step
    return None


def snap(x: Array, origin: float, step: float) -> Array:
    """The nearest values of a grid, as they are written: 0.3, and not 0.30000000000000004."""
    nearest: Array = origin + step * np.rint((x - origin) / step)
    digits = int(DECIMALS - np.floor(np.log10(step)))
    return np.round(nearest, digits) if 0 < digits < 300 else nearest


def find_few(x: Array) -> tuple[float, ...]:
    """The values of a column that has a resolution, rising, if they are few; none otherwise.

    Examples
    --------
    >>> find_few(np.array([0.0, 2.0, 4.0, 8.0] * 10)), find_few(np.arange(50.0))
    ((0.0, 2.0, 4.0, 8.0), ())
    """
    if not find_resolution(x) or len(distinct(x[:: 1 + len(x) // ENOUGH])[0]) > FEW:
        return ()
    values = distinct(x)[0]
    return tuple(values.tolist()) if len(values) <= FEW else ()


def nearest(x: Array, values: tuple[float, ...]) -> Array:
    """The nearest of some rising values; of two that are as near the smaller one."""
    known = np.array(values)
    found: Array = known[np.searchsorted((known[1:] + known[:-1]) / 2.0, x)]
    return found


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
    common = values[counts > (rare[-1] if rare.size else 0)]
    return common if len(common) > 1 else values
