"""What a cell may be, and one column to binary cells or to numbers.

The rules live here: what counts as missing, what is a number, what is refused. Arrays of
numbers go through the compiled passes of `scans`; lists are looked at cell by cell.
"""

import datetime as dt
import numbers
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from infinimix.tables import errors
from infinimix.tables.forms import Cells
from infinimix.tables.missing import is_missing
from infinimix.tables.scans import copy_binary, copy_count, copy_real, ready

__all__ = [
    "NUMBERS",
    "UNSEEN",
    "encode_binary",
    "encode_count",
    "encode_gaussian",
    "encode_real",
    "encode_spiked",
    "look_up",
    "plain",
]

#: What counts as a number when it is found in a list.
NUMBERS = (numbers.Real, Decimal, np.bool_)

#: The code `look_up` gives to values that it does not know.
UNSEEN = -2

_COMPLEX = (complex, np.complexfloating)
_DATES = (dt.date, dt.time, dt.timedelta, np.datetime64, np.timedelta64)


def plain(value: Any, name: str, row: int) -> Any:
    """A category as a value of Python's own types, refusing what no kind can hold."""
    if isinstance(value, _DATES):
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


def encode_binary(cells: Cells, name: str) -> NDArray[np.int8]:
    """A binary column as int8, -1 where it is missing."""
    if isinstance(cells.values, list):
        codes = look_up(cells.values, {0: 0, 1: 1}, name)
        if UNSEEN in codes:
            row = codes.index(UNSEEN)
            raise errors.not_binary(name, row, cells.values[row])
        return np.array(codes, dtype=np.int8)
    out, bad = copy_binary(ready(_blanked(cells)[:, None], "binary"))
    if bad >= 0:
        raise errors.not_binary(name, bad, cells.values[bad])
    if cells.missing is not None:
        out[cells.missing] = -1
    return out[:, 0]


def encode_real(cells: Cells, name: str) -> NDArray[np.float64]:
    """A real column as float64, NaN where it is missing."""
    return _encode_reals(cells, name, errors.not_real)


def encode_gaussian(cells: Cells, name: str) -> NDArray[np.float64]:
    """A column of a gaussian block as float64, NaN where it is missing."""
    return _encode_reals(cells, name, errors.not_gaussian)


def encode_spiked(cells: Cells, name: str) -> NDArray[np.float64]:
    """A spiked column as float64, NaN where it is missing; its transform comes later."""
    return _encode_reals(cells, name, errors.not_spiked)


def _encode_reals(cells: Cells, name: str, refuse: "Refusal") -> NDArray[np.float64]:
    if isinstance(cells.values, list):
        values = _read_numbers(cells.values, name, refuse)
    else:
        values = _blanked(cells)
    out, bad = copy_real(ready(values[:, None], "real"))
    if bad >= 0:
        raise errors.infinite_cell(name, bad)
    if cells.missing is not None:
        out[cells.missing] = np.nan
    return out[:, 0]


def encode_count(cells: Cells, name: str) -> NDArray[np.float64]:
    """A column of counts as float64, NaN where it is missing."""
    if isinstance(cells.values, list):
        values = _read_numbers(cells.values, name, errors.not_count)
    else:
        values = _blanked(cells)
    out, bad = copy_count(ready(values[:, None], "count"))
    if bad >= 0:
        raise errors.not_count(name, bad, cells.values[bad])
    if cells.missing is not None:
        out[cells.missing] = np.nan
    return out[:, 0]


def _blanked(cells: Cells) -> NDArray[Any]:
    """The values of an array column, 0 where a mask says that they mean nothing."""
    values = np.asarray(cells.values)
    if cells.missing is None:
        return values
    return np.where(cells.missing, np.zeros((), values.dtype), values)


Refusal = Callable[[str, int, object], ValueError]


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
