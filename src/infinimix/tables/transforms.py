"""Strictly increasing maps that make a skewed real column more like a normal one.

`Log` is the logarithm, continued through zero: t(x) = log x from a bound b on, the tangent
log b - 1 + x / b around zero, and the mirror image below -b. `Rank` is the normal score of a
value among those of the first table, linear between at most 200 knots and beyond them.

Both take every legal number, so no later cell can fail, and both give legal numbers back. The
log of the slope dt/dx is found from t, that is from encoded cells: a density of encoded cells
plus these logs is a density in natural units. Missing cells stay missing.

`Spike` sets one value apart, the atom of a spiked column: it becomes +inf, which no other cell is,
and the other values go as one of the two above, or stay as they are.
"""

from dataclasses import dataclass
from functools import cached_property
from math import exp, log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from infinimix.kernels.compile import kernel
from infinimix.tables.scans import LARGEST

__all__ = ["LEAST_BOUND", "MOST_KNOTS", "Log", "Rank", "Spike", "Transform"]
__all__ += ["transform_from_json"]

MOST_KNOTS = 200
LEAST_BOUND = 1e-150  # as far from one as LARGEST: logs of cells stay small
MOST_SCORE = 40.0  # no float64 is a rank whose normal score is larger
LARGEST_LOG = log(LARGEST)

Array = NDArray[np.float64]


@kernel
def _to_log(x: Array, bound: float, out: Array) -> None:
    floor = log(bound) - 1.0  # t of zero
    for i in range(x.size):
        if x[i] >= bound:
            out[i] = log(x[i])
        elif x[i] <= -bound:
            out[i] = 2.0 * floor - log(-x[i])
        else:
            out[i] = floor + x[i] / bound


@kernel
def _from_log(t: Array, bound: float, out: Array) -> None:
    floor = log(bound) - 1.0
    for i in range(t.size):
        if t[i] >= floor + 1.0:
            out[i] = exp(min(t[i], LARGEST_LOG))
        elif t[i] <= floor - 1.0:
            out[i] = -exp(min(2.0 * floor - t[i], LARGEST_LOG))
        else:
            out[i] = bound * (t[i] - floor)


@kernel
def _log_slope_of_log(t: Array, bound: float, out: Array) -> None:
    floor = log(bound) - 1.0
    for i in range(t.size):
        rise = abs(t[i] - floor)
        out[i] = -floor - (1.0 if rise < 1.0 else rise)  # which keeps NaN as it is


@kernel
def _along(x: Array, start: Array, ends: Array, slopes: Array, out: Array) -> None:
    """Follow straight lines: slopes[i] holds from start[i - 1] on, where the value is ends[i - 1].

    The first slope leads to the first point from below.
    """
    for i in range(x.size):
        piece, above = 0, start.size  # as `searchsorted`, which takes long to compile
        while piece < above:
            middle = (piece + above) // 2
            if start[middle] <= x[i]:
                piece = middle + 1
            else:
                above = middle
        point = max(piece - 1, 0)
        value = ends[point] + slopes[piece] * (x[i] - start[point])
        out[i] = min(max(value, -LARGEST), LARGEST) if value == value else value


@dataclass(frozen=True)
class Log:
    """The logarithm of values beyond `bound`, in size; straight through zero.

    Examples
    --------
    >>> Log(0.5).encode(np.array([1.0, 0.0])).round(2).tolist()
    [0.0, -1.69]
    """

    bound: float
    name = "log"

    def encode(self, x: Array) -> Array:
        """The encoded cells t(x)."""
        return _filled(_to_log, x, self.bound)

    def decode(self, t: Array) -> Array:
        """The natural values of encoded cells; none beyond the largest legal number."""
        return _filled(_from_log, t, self.bound)

    def log_slope(self, t: Array) -> Array:
        """The log of dt/dx at encoded cells."""
        return _filled(_log_slope_of_log, t, self.bound)

    def sound(self) -> bool:
        """Whether data could have left this bound."""
        return LEAST_BOUND <= self.bound <= LARGEST

    def to_json(self) -> list[Any]:
        """A list for `json.dumps`; `transform_from_json` undoes it, to the last bit."""
        return [self.name, self.bound]


@dataclass(frozen=True)
class Rank:
    """Normal scores of the values of a first table: `scores` at `knots`, both increasing.

    Without two different values to rank, there are no knots and values stay as they are.

    Examples
    --------
    >>> Rank((0.0, 1.0, 100.0), (-1.0, 0.0, 1.0)).encode(np.array([0.5, 50.5])).tolist()
    [-0.5, 0.5]
    """

    knots: tuple[float, ...]
    scores: tuple[float, ...]
    name = "rank"

    @cached_property
    def _lines(self) -> tuple[Array, Array, Array]:
        """Knots, scores, and the slope up to each knot and beyond the last."""
        if not self.knots:
            return np.zeros(1), np.zeros(1), np.ones(2)
        x, t = np.array(self.knots), np.array(self.scores)
        few = 1 + len(x) // 10  # the ends go on as steep as the outer tenth of the knots is
        first, last = (
            (t[few] - t[0]) / (x[few] - x[0]),
            (t[-1] - t[-1 - few]) / (x[-1] - x[-1 - few]),
        )
        return x, t, np.concatenate([[first], np.diff(t) / np.diff(x), [last]])

    def encode(self, x: Array) -> Array:
        """The encoded cells t(x)."""
        knots, scores, slopes = self._lines
        return _filled(_along, x, knots, scores, slopes)

    def decode(self, t: Array) -> Array:
        """The natural values of encoded cells; none beyond the largest legal number."""
        knots, scores, slopes = self._lines
        return _filled(_along, t, scores, knots, 1.0 / slopes)

    def log_slope(self, t: Array) -> Array:
        """The log of dt/dx at encoded cells; at a knot, that of the line above it."""
        _, scores, slopes = self._lines
        found = np.log(slopes)[np.searchsorted(scores, t, side="right")]
        return np.where(np.isnan(t), np.nan, found)

    def sound(self) -> bool:
        """Whether data could have left these knots."""
        x, t = np.array(self.knots), np.array(self.scores)
        small = bool((np.abs(x) <= LARGEST).all() and (np.abs(t) <= MOST_SCORE).all())
        rising = bool((np.diff(x) > LEAST_BOUND).all() and (np.diff(t) > 0.0).all())
        return small and rising and len(x) == len(t) != 1 and len(x) <= MOST_KNOTS

    def to_json(self) -> list[Any]:
        """A list for `json.dumps`; `transform_from_json` undoes it, to the last bit."""
        return [self.name, list(self.knots), list(self.scores)]


@dataclass(frozen=True)
class Spike:
    """One value set apart: `atom` becomes +inf, all others go through `inner`, if that is there.

    The atom has a mass, not a density, so there is no slope at it.

    Examples
    --------
    >>> Spike(0.0, Log(0.5)).encode(np.array([0.0, 1.0])).tolist()
    [inf, 0.0]
    """

    atom: float
    inner: Log | Rank | None = None

    @property
    def name(self) -> str:
        """The name of the transform of the other values; empty if they have none."""
        return self.inner.name if self.inner else ""

    def encode(self, x: Array) -> Array:
        """The encoded cells: +inf for the atom, t(x) for others."""
        return np.where(x == self.atom, np.inf, self.inner.encode(x) if self.inner else x)

    def decode(self, t: Array) -> Array:
        """The natural values of encoded cells: of +inf the atom, to the bit."""
        atoms = np.isposinf(t)
        others = np.where(atoms, 0.0, t)
        return np.where(atoms, self.atom, self.inner.decode(others) if self.inner else others)

    def log_slope(self, t: Array) -> Array:
        """The log of dt/dx at encoded cells, 0 at the atom."""
        others = np.where(np.isposinf(t), 0.0, t)
        slopes = self.inner.log_slope(others) if self.inner else np.where(np.isnan(t), t, 0.0)
        return np.where(np.isposinf(t), 0.0, slopes)

    def sound(self) -> bool:
        """Whether data could have left this atom, and the other transform."""
        return abs(self.atom) <= LARGEST and (self.inner is None or self.inner.sound())

    def to_json(self) -> list[Any]:
        """A list for `json.dumps`; `transform_from_json` undoes it, to the last bit."""
        return ["spike", self.atom, *([self.inner.to_json()] if self.inner else [])]


Transform = Log | Rank | Spike


def _filled(loop: Any, cells: Array, *data: Any) -> Array:
    cells = np.ascontiguousarray(cells, dtype=np.float64)
    out = np.empty_like(cells)
    loop(cells, *data, out)
    return out


def transform_from_json(data: list[Any]) -> Transform:
    """The transform that `to_json` wrote."""
    name, *parameters = data
    if name != "spike":
        return _plain_from_json(data)
    atom, *inner = parameters
    return Spike(float(atom), *map(_plain_from_json, inner))


def _plain_from_json(data: list[Any]) -> Log | Rank:
    name, *parameters = data
    if name == "log":
        return Log(*map(float, parameters))
    if name != "rank":
        raise ValueError(f"unknown transform {name!r}")
    knots, scores = parameters
    return Rank(tuple(map(float, knots)), tuple(map(float, scores)))
