"""The target of a regression as one more real column of the table.

A regressor models the joint of all columns and the target. To the bank the target is the last
column of the real block; to the user it is no column of X. So there are two schemas: that of X,
by which tables are read, and the joint one, which only the bank sees.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from infinimix.scikit import column_or_1d
from infinimix.tables import EncodedTable, Schema
from infinimix.tables.cells import DATES
from infinimix.tables.column import Column
from infinimix.tables.scans import LARGEST
from infinimix.tables.shapes import TRANSFORMS, choose

REQUESTS = ("auto", "real", *(f"real:{name}" for name in TRANSFORMS))


def read_values(y: Any, n_rows: int) -> np.ndarray:
    """Return the target as finite numbers, one for each row of X; ValueError says what is wrong."""
    if y is None:
        raise ValueError("requires y to be passed, but the target y is None.")
    cells = column_or_1d(y, warn=True)
    if cells.dtype.kind == "c":
        raise ValueError("Complex data not supported: y must be real numbers.")
    _refuse_others(y if isinstance(y, list | tuple) else cells, cells.dtype.kind)
    try:
        values = np.array(cells, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"y must be numbers, for they are predicted as such ({error}); to predict classes, "
            "use a classifier such as AClassClassifier."
        ) from error
    if len(values) != n_rows:
        raise ValueError(
            "Found input variables with inconsistent numbers of samples: "
            f"X has {n_rows} rows, y has {len(values)}."
        )
    missing = np.flatnonzero(np.isnan(values))
    if len(missing):
        raise ValueError(
            f"Input y contains NaN: row {missing[0]} has no target; leave such rows out."
        )
    beyond = np.flatnonzero(np.abs(values) > LARGEST)
    if len(beyond):
        raise ValueError(
            f"Input y contains infinity or a value too large: row {beyond[0]} is "
            f"{values[beyond[0]]}."
        )
    return values


def _refuse_others(y: Any, kind: str) -> None:
    """Raise ValueError for dates, of which numbers would be made, and strings, which are parsed."""
    if kind in "biuf":
        return
    for row, value in enumerate(y):
        if isinstance(value, DATES):
            raise ValueError(
                f"y must be numbers, for they are predicted as such, but row {row} is the date or "
                f"time {value}. Convert it, to days as in (y - y.min()) / np.timedelta64(1, 'D')."
            )
        if isinstance(value, str | bytes):
            raise ValueError(
                f"y must be numbers, for they are predicted as such, but row {row} is the text "
                f"{value[:40]!r} (strings are never parsed). Convert it, as in np.asarray(y, "
                "float); to predict classes, use a classifier such as AClassClassifier."
            )


def find_target(schema: Schema, values: np.ndarray, request: str) -> Column:
    """Return the column of the target, with the transform that is asked for or called for."""
    name = "y"
    while name in schema.names:
        name += "'"
    shape = request.partition(":")[2]
    transform = choose(values) if request == "auto" else None
    return Column(name, "real", TRANSFORMS[shape](values) if shape else transform)


def join_schema(schema: Schema, target: Column) -> Schema:
    """Return the columns of a table with the target behind them."""
    return replace(schema, columns=(*schema.columns, target), sources=(*schema.sources, "float"))


def join_target(joint: Schema, table: EncodedTable, cells: np.ndarray | None) -> EncodedTable:
    """Return encoded rows with encoded cells of the target; None if it is missing everywhere."""
    own = dict(zip(table.schema.blocks, table.blocks, strict=True))
    last = np.full((table.n_rows, 1), np.nan) if cells is None else cells[:, None]
    others = own.get("real")
    own["real"] = last if others is None else np.concatenate([others, last], axis=1)
    return EncodedTable(joint, tuple(np.ascontiguousarray(own[kind]) for kind in joint.blocks))


def encode_target(target: Column, values: np.ndarray) -> np.ndarray:
    """Return values in the units of the transform."""
    return values if target.transform is None else target.transform.encode(values)


def decode_target(target: Column, cells: np.ndarray) -> np.ndarray:
    """Return encoded cells of any shape in natural units."""
    if target.transform is None:
        return cells
    return np.asarray(target.transform.decode(np.ravel(cells)).reshape(np.shape(cells)))


def log_slopes(target: Column, cells: np.ndarray) -> np.ndarray:
    """Return the log of the slope of the transform at encoded cells."""
    if target.transform is None:
        return np.zeros(np.shape(cells))
    return np.asarray(target.transform.log_slope(cells))
