"""Which cells of a table are missing, as the user wrote it.

That is less than what is missing in the encoded blocks: there a category that the model has
never seen is a hole too, but it is an observed cell and nobody may write over it.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from infinimix.tables.cells import is_missing
from infinimix.tables.encoding import _align
from infinimix.tables.forms import Cells, Dense
from infinimix.tables.readers import open_table
from infinimix.tables.schema import Schema

__all__ = ["find_holes"]


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
    table = _align(open_table(X), schema, who)
    if isinstance(table, Dense):
        array = table.array
        return np.isnan(array) if array.dtype.kind == "f" else np.zeros(array.shape, bool)
    holes = np.empty((table.n_rows, schema.width), bool)
    for j in range(schema.width):
        holes[:, j] = _holes_of(table.column(j))
    return holes


def _holes_of(cells: Cells) -> NDArray[np.bool_]:
    if isinstance(cells.values, list):
        return np.fromiter(map(is_missing, cells.values), bool, len(cells.values))
    holes = np.zeros(len(cells.values), bool) if cells.missing is None else cells.missing
    return holes | np.isnan(cells.values) if cells.values.dtype.kind == "f" else holes
