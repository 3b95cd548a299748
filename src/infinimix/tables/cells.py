"""What a cell may be, and one column to binary cells or to numbers.

The rules live here: what counts as missing, what is a number, what is refused. Arrays of
numbers go through the compiled passes of `scans`; lists are looked at cell by cell.
"""

import datetime as dt
import numbers
from collections.abc import Callable
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from infinimix.tables import errors
from infinimix.tables.forms import Cells
from infinimix.tables.missing import is_missing
from infinimix.tables.scans import ready

if TYPE_CHECKING:
    from infinimix.tables.column import Kind

__all__ = [
    "DATES",
    "NUMBERS",
    "UNSEEN",
    "Refusal",
    "encode_bits",
    "encode_numbers",
    "look_up",
    "plain",
]

#: Builds the exception for a cell: the name of the column, the row and the value.
Refusal = Callable[[str, int, object], ValueError]

#: What counts as a number when it is found in a list.
NUMBERS = (numbers.Real, Decimal, np.bool_)

#: What counts as a date or time when it is found in a list.
DATES = (dt.date, dt.time, dt.timedelta, np.datetime64, np.timedelta64)

#: The code `look_up` gives to values that it does not know.
UNSEEN = -2

_COMPLEX = (complex, np.complexfloating)


def plain(value: Any, name: str, row: int) -> Any:
    """A category as a value of Python's own types, refusing what no kind can hold."""
    if isinstance(value, DATES):
        raise errors.date_column(name)
    if isinstance(value, _COMPLEX):
        raise errors.complex_data(name)
    if isinstance(value, float | np.floating) and np.isinf(value):
        raise errors.infinite_cell(name, row)
    return value.item() if isinstance(value, np.generic) else value


def look_up(values: list[Any], known: dict[Any, int], name: str) -> list[int]:
    """The code of each value: -1 if it is missing, `UNSEEN` if it is not known."""
    try:
        codes = [known.get(value, UNSEEN) for value in values]
    except TypeError:
        raise _first_unhashable(values, name) from None
    if UNSEEN in codes:
        for row, code in enumerate(codes):
            if code == UNSEEN and is_missing(values[row]):
                codes[row] = -1
    return codes


def _first_unhashable(values: list[Any], name: str) -> TypeError:
    for row, value in enumerate(values):
        try:
            hash(value)
        except TypeError:
            return errors.unhashable_cell(name, row, value)
    raise AssertionError("every cell is hashable")


def encode_bits(cells: Cells, name: str, kind: "Kind") -> NDArray[np.int8]:
    """A column of zeros and ones as int8, -1 where it is missing."""
    if isinstance(cells.values, list):
        codes = look_up(cells.values, {0: 0, 1: 1}, name)
        if UNSEEN in codes:
            row = codes.index(UNSEEN)
            raise kind.refuse(name, row, cells.values[row])
        return np.array(codes, dtype=np.int8)
    out: NDArray[np.int8] = _scanned(_blanked(cells), cells, name, kind)
    if cells.missing is not None:
        out[cells.missing] = -1
    return out


def encode_numbers(cells: Cells, name: str, kind: "Kind") -> NDArray[np.float64]:
    """A column of numbers as float64, NaN where it is missing; a transform comes later."""
    if isinstance(cells.values, list):
        values = _read_numbers(cells.values, name, kind.refuse)
    else:
        values = _blanked(cells)
    out: NDArray[np.float64] = _scanned(values, cells, name, kind)
    if cells.missing is not None:
        out[cells.missing] = np.nan
    return out


def _scanned(values: NDArray[Any], cells: Cells, name: str, kind: "Kind") -> NDArray[Any]:
    """An array of numbers as the kind holds them."""
    assert kind.scan is not None
    out, bad = kind.scan.copy(ready(values[:, None], kind.scan))
    if bad >= 0:
        raise kind.misfit(name, bad, cells.values[bad])
    return out[:, 0]


def _blanked(cells: Cells) -> NDArray[Any]:
    """The values of an array column, 0 where a mask says that they mean nothing."""
    values = np.asarray(cells.values)
    if cells.missing is None:
        return values
    return np.where(cells.missing, np.zeros((), values.dtype), values)


def _read_numbers(values: list[Any], name: str, refuse: Refusal) -> NDArray[np.float64]:
    if set(map(type, values)) <= {float, int, bool}:
        try:
            return np.array(values, dtype=np.float64)
        except OverflowError:
            pass  # the slow way finds the row
    cells = (_read_number(value, name, row, refuse) for row, value in enumerate(values))
    return np.fromiter(cells, dtype=np.float64, count=len(values))


def _read_number(value: Any, name: str, row: int, refuse: Refusal) -> float:
    if isinstance(value, dict | list | set | np.ndarray):
        raise errors.unhashable_cell(name, row, value)
    if is_missing(value):
        return float("nan")
    if not isinstance(value, NUMBERS):
        plain(value, name, row)  # dates and complex numbers have a wording of their own
        raise refuse(name, row, value)
    try:
        return float(value)
    except OverflowError:
        return float("inf")  # refused as that is
