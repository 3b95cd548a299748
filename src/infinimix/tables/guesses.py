"""What a guessed kind cannot hold.

A column that nobody described and that had only 0 and 1 in the first rows is taken for binary; a
later 5 says that the guess was wrong. Such a number counts as missing, with one warning for the
table. Kinds that were asked for refuse the cell, and so do guessed ones what no kind of numbers
holds: text, dates, infinity.
"""

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from infinimix.tables import errors
from infinimix.tables.cells import NUMBERS
from infinimix.tables.column import Column, Kind
from infinimix.tables.forms import Cells
from infinimix.tables.missing import is_missing

__all__ = ["Misfits"]


class Misfits:
    """The cells of a table that guessed kinds could not hold: the first of each column."""

    def __init__(self) -> None:
        self._found: dict[str, tuple[int, Any]] = {}

    def may_hold(self, column: Column) -> bool:
        """Whether cells of a column may be here: of guessed kinds only binary refuses numbers."""
        return column.guessed and column.kind == "binary"

    def encode(self, cells: Cells, name: str, kind: Kind) -> NDArray[Any]:
        """A column that was guessed to be binary, as encoded cells; other numbers are missing."""
        try:
            return kind.encode(cells, name)
        except ValueError:
            odd = _other_numbers(cells)
            if not odd.any():
                raise
            row = int(odd.argmax())
            out = kind.encode(_without(cells, odd), name)  # refuses what is no number
            self._found[name] = row, cells.values[row]
            return out

    def warn(self) -> None:
        """Tell of all columns at once, if there is something to tell."""
        if self._found:
            warnings.warn(errors.misfits(self._found), stacklevel=4)


def _other_numbers(cells: Cells) -> NDArray[np.bool_]:
    """Where finite numbers other than 0 and 1 are."""
    if isinstance(cells.values, list):
        return np.fromiter(map(_is_other_number, cells.values), bool, len(cells.values))
    values = cells.values
    odd = (values != 0) & (values != 1) & np.isfinite(values)
    return odd if cells.missing is None else odd & ~cells.missing


def _is_other_number(value: Any) -> bool:
    if not isinstance(value, NUMBERS) or is_missing(value):
        return False
    return bool(value not in (0, 1) and abs(value) != float("inf"))


def _without(cells: Cells, odd: NDArray[np.bool_]) -> Cells:
    """The same cells, with some of them missing."""
    if isinstance(cells.values, list):
        values = [None if gone else v for v, gone in zip(cells.values, odd.tolist(), strict=True)]
        return cells._replace(values=values)
    return cells._replace(missing=odd if cells.missing is None else odd | cells.missing)
