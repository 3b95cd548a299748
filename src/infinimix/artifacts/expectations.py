"""What a value that comes from a file must be, as data: kind, dimensions, range, order.

A state lists what it expects of each of its arrays, and `check_all` refuses a tree in which one is
something else, before anything is computed from it. Dimensions have letters: equal letters are
equal sizes, which the arrays tell each other as they are read, and a bound may be such a letter, so
that an index points into the table that it is an index of.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

Sizes = dict[str, int]
WORDS = {"f": "numbers", "i": "whole numbers", "u": "whole numbers", "b": "truth values"}


@dataclass(frozen=True)
class Expected:
    """What one value must be.

    Attributes
    ----------
    shape : str
        A letter for each dimension, "*" for any size, a digit for itself; "" is a plain number.
    dtype : str
        Of an array, such as "f8"; of several kinds a letter each, as in "iu".
    low, high : number or str, optional
        Bounds, both inclusive; a letter for `high` is one below that size, for an index.
    finite : bool
        Whether NaN and the infinities are refused.
    rising : bool
        Whether a vector must increase from each entry to the next.
    """

    shape: str = ""
    dtype: str = "f8"
    low: float | None = None
    high: float | str | None = None
    finite: bool = True
    rising: bool = False

    def check(self, name: str, value: Any, sizes: Sizes) -> Any:
        """Return the value; raise ValueError if it is something else. `sizes` learns from it."""
        if self.shape == "":
            self._check_number(name, value)
        else:
            self._check_array(name, value, sizes)
        if self.finite and not np.isfinite(value).all():
            raise ValueError(f"{name} has numbers that are not finite")
        self._check_range(name, np.asarray(value), sizes)
        return value

    def _check_number(self, name: str, value: Any) -> None:
        kind = float if self.dtype[0] == "f" else int
        if isinstance(value, bool) or not isinstance(value, kind):
            raise ValueError(f"{name} is no number")
        if kind is int and not -(2**63) <= value < 2**63:
            raise ValueError(f"{name} is out of range")

    def _check_array(self, name: str, value: Any, sizes: Sizes) -> None:
        is_array = isinstance(value, np.ndarray) and value.ndim == len(self.shape)
        if not is_array or not self._has_kind(value.dtype):
            what = WORDS.get(self.dtype[0], "values")
            raise ValueError(f"{name} is no array of {len(self.shape)} dimensions of {what}")
        for letter, size in zip(self.shape, value.shape, strict=True):
            known = int(letter) if letter.isdigit() else None
            if known is None and letter != "*":
                known = sizes.setdefault(letter, size)
            if known not in (None, size):
                raise ValueError(f"{name} does not fit the others")

    def _has_kind(self, dtype: np.dtype[Any]) -> bool:
        if not dtype.isnative:
            return False
        return dtype.kind in self.dtype if self.dtype.isalpha() else dtype == np.dtype(self.dtype)

    def _check_range(self, name: str, value: np.ndarray, sizes: Sizes) -> None:
        high = sizes[self.high] - 1 if isinstance(self.high, str) else self.high
        below = self.low is not None and bool((value < self.low).any())
        if below or (high is not None and bool((value > high).any())):
            raise ValueError(f"{name} is out of range")
        if self.rising and not bool((np.diff(value) > 0).all()):
            raise ValueError(f"{name} is not in order")


def check_all(expected: Mapping[str, Expected], found: Mapping[str, Any], sizes: Sizes) -> Sizes:
    """Check values by name, in the order of what is expected; return what sizes they have.

    Examples
    --------
    >>> table = {"means": Expected("Kd"), "rows": Expected("n", "i8", low=0, high="K")}
    >>> found = {"means": np.zeros((2, 3)), "rows": np.array([0, 1, 1])}
    >>> check_all(table, found, {})
    {'K': 2, 'd': 3, 'n': 3}
    >>> check_all(table, found | {"rows": np.array([0, 2])}, {})
    Traceback (most recent call last):
    ...
    ValueError: rows is out of range
    """
    for name, one in expected.items():
        one.check(name, found[name], sizes)
    return sizes
