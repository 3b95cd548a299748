"""Which cells of a table are missing, as the user wrote it.

That is less than what is missing in an encoded table: there a category that the model has never
seen counts as missing too, but it is an observed cell: nobody may write over it, and its
missingness indicator is 0.

A **missingness indicator** is one more binary cell of a row that says of one column whether its
cell is missing. Indicators are never columns of the table: they stand at the end of the binary
block, behind the binary columns, one for each position in `Schema.indicated`.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from infinimix.tables.aligned import open_aligned
from infinimix.tables.forms import Cells, Dense, Table
from infinimix.tables.missing import is_missing
from infinimix.tables.schema import Schema

__all__ = ["find_holes", "holes_in"]


def find_holes(schema: Schema, X: Any, *, who: str = "the model") -> NDArray[np.bool_]:
    """Where the cells of a table are missing, with its columns in the order of the schema.

    Examples
    --------
    >>> from infinimix.tables import read_schema
    >>> from infinimix.tables.holes import find_holes
    >>> rows = [{"a": 1.5, "b": "x"}, {"a": None}]
    >>> find_holes(read_schema(rows), rows).tolist()
    [[False, False], [True, True]]
    """
    return holes_in(open_aligned(schema, X, who), range(schema.width))


def holes_in(table: Table, positions: Sequence[int]) -> NDArray[np.bool_]:
    """Where the cells of some columns are missing."""
    if isinstance(table, Dense):
        array = table.array[:, list(positions)]
        return np.isnan(array) if array.dtype.kind == "f" else np.zeros(array.shape, bool)
    holes = np.empty((table.n_rows, len(positions)), bool)
    for k, j in enumerate(positions):
        holes[:, k] = _holes_of(table.column(j))
    return holes


def _holes_of(cells: Cells) -> NDArray[np.bool_]:
    if isinstance(cells.values, list):
        return np.fromiter(map(is_missing, cells.values), bool, len(cells.values))
    holes = np.zeros(len(cells.values), bool) if cells.missing is None else cells.missing
    return holes | np.isnan(cells.values) if cells.values.dtype.kind == "f" else holes
