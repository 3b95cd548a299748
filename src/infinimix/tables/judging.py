"""The "auto" rule: which kind a column has if nobody asks, by the type and the values of its cells.

Booleans and columns with only {0, 1} are binary; strings, objects and categoricals are
categorical; floats are real; integers with at most 10 distinct values are categorical, other
integers real. Objects that are all numbers are judged as the numbers they are.
"""

import numbers
from typing import Any

import numpy as np
from numpy.typing import NDArray

from infinimix.tables import errors
from infinimix.tables.cells import NUMBERS
from infinimix.tables.forms import Cells
from infinimix.tables.missing import is_missing

__all__ = ["MOST_CATEGORIES", "judge", "source_of", "whole_but_for_holes"]

#: Integers with more distinct values than this are real.
MOST_CATEGORIES = 10


def source_of(cells: Cells, name: str) -> str:
    """The type of a column's values: "bool", "int", "float", or "object" for all others."""
    if isinstance(cells.values, np.ndarray):
        return {"b": "bool", "i": "int", "u": "int", "f": "float"}[cells.values.dtype.kind]
    types = set(map(type, cells.values))
    if any(issubclass(t, complex | np.complexfloating) for t in types):
        raise errors.complex_data(name)
    if cells.category or str in types:
        return "object"
    return _source_of_types({type(value) for value in cells.values if not _hole(value)})


def _hole(value: Any) -> bool:
    """Missing, without asking values that are no numbers what they think of comparison."""
    return is_missing(value) if value is None or not hasattr(value, "__len__") else False


def _source_of_types(types: set[type]) -> str:
    if not types or not all(issubclass(t, NUMBERS) for t in types):
        return "object"
    if all(issubclass(t, bool | np.bool_) for t in types):
        return "bool"
    whole = all(issubclass(t, numbers.Integral | np.bool_) for t in types)
    return "int" if whole else "float"


def judge(cells: Cells, source: str) -> str:
    """The "auto" rule."""
    if source == "object":
        return "categorical"
    values = _observed(cells)
    if not len(values):
        return "real" if source == "float" else "categorical"
    if _only_zero_one(values):
        return "binary"
    few = source != "float" and _few_distinct(values)
    return "categorical" if few else "real"


def whole_but_for_holes(cells: Cells) -> bool:
    """Is a column of a frame float only because its whole numbers have holes?"""
    if not cells.widened or not isinstance(cells.values, np.ndarray):
        return False
    values = np.asarray(_observed(cells))
    return 0 < len(values) < len(cells.values) and bool((values == np.rint(values)).all())


def _observed(cells: Cells) -> NDArray[Any] | set[Any]:
    """What is not missing; of a list, the distinct values."""
    if isinstance(cells.values, list):
        return {value for value in cells.values if not is_missing(value)}
    values = cells.values if cells.missing is None else cells.values[~cells.missing]
    return values[~np.isnan(values)] if values.dtype.kind == "f" else values


def _only_zero_one(values: NDArray[Any] | set[Any]) -> bool:
    if isinstance(values, set):
        return values <= {0, 1}
    return bool(((values == 0) | (values == 1)).all())


def _few_distinct(values: NDArray[Any] | set[Any]) -> bool:
    if isinstance(values, set):
        return len(values) <= MOST_CATEGORIES
    if len(np.unique(values[:1000])) > MOST_CATEGORIES:
        return False
    return len(np.unique(values)) <= MOST_CATEGORIES
