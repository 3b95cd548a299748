"""The "auto" rule: which kind a column has if nobody asks.

Booleans and columns with only {0, 1} are binary; strings, objects and categoricals are
categorical. Numbers are categorical if there are at most 10 distinct values, and at least 25 cells
for each of them on average; others are real. Only values count: integers, floats, columns with
holes and objects that are all numbers are judged alike.

With many rows the probabilities of few values are learned as they are, whatever their shape; with
few rows their order says more. On 12 real tables with columns of 3 to 10 values the log-loss as
categories was lower than as real columns, or the same; trained on 80 rows of nine of these it was
higher on four, and the same on five. Of 11 to 20 values it was higher on three of five. With 10
or 5 cells instead of 25 the log-loss is lower on zoo (by .011) and higher on four tables of 80 rows
(by .009 to .038); no bound is best everywhere, and this one was chosen on these tables
(`docs/how-it-works.md`). The evidence of the column by itself (a Dirichlet-multinomial against a
normal with its resolution) says otherwise: it prefers categories in all of these, at 20 rows
already.

`fit` of a classifier may ask its rows and overrule this (`estimators.common.doubtful_kinds`).

For a network few whole numbers are codes, however few the rows are.
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

#: Numbers with more distinct values than this are real.
MOST_CATEGORIES = 10

#: And so are numbers with fewer observed cells than this for each distinct value.
ENOUGH_CELLS = 25


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


def judge(cells: Cells, source: str, codes: bool = False, n_cells: int | None = None) -> str:
    """The "auto" rule; with `codes`, few integers are categories however few the rows are.

    `n_cells` says how many cells are observed where `cells` are only the distinct ones.
    """
    if source == "object":
        return "categorical"
    values = _observed(cells)
    if not len(values):
        return "real" if source == "float" else "categorical"
    if _only_zero_one(values):
        return "binary"
    if codes:
        return "categorical" if source != "float" and _few_distinct(values) else "real"
    return "categorical" if _are_categories(cells, values, n_cells) else "real"


def _are_categories(
    cells: Cells, values: NDArray[Any] | set[Any], n_cells: int | None = None
) -> bool:
    """Are there few distinct numbers, and enough cells of each?"""
    if not _few_distinct(values):
        return False
    if isinstance(values, set):
        n_cells = n_cells or sum(not is_missing(value) for value in cells.values)
        return n_cells >= ENOUGH_CELLS * len(values)
    return (n_cells or len(values)) >= ENOUGH_CELLS * len(np.unique(values))


def whole_but_for_holes(cells: Cells) -> bool:
    """Is a column of a frame float only because its whole numbers have holes? For networks."""
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
