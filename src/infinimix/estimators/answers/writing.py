"""Filled cells back into a table of the form that came in.

Observed cells stay as they are, to the bit. Frames stay frames, with their index and the types
of their columns, except that whole numbers become floats where a mean goes in; arrays stay
arrays, sparse matrices sparse, rows as dicts dicts. Lists of lists become arrays.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from infinimix.tables import Schema
from infinimix.tables.sparsity import is_sparse

Columns = Mapping[str, np.ndarray]  # a value for each row, by the name of the column


class InputColumns(NamedTuple):
    """The columns of a table as it came, if those of the schema are others."""

    names: tuple[str, ...]
    width: int
    named: bool


Names = InputColumns | Schema


def inputs_of(schema: Schema) -> InputColumns:
    """Return the columns of the tables that a schema is for: dates before they were spread."""
    return InputColumns(schema.inputs, len(schema.inputs), schema.named)


def as_they_came(schema: Schema, cells: np.ndarray) -> np.ndarray:
    """Return what is known of each cell of such a table; nothing (0 or False) of dates."""
    if not schema.dates:
        return cells
    out = np.zeros((len(cells), len(schema.inputs)), cells.dtype)
    dates = {date.name for date in schema.dates}
    for k, (name, places) in enumerate(schema.positions_of.items()):
        if name not in dates:
            out[:, k] = cells[:, places[0]]
    return out


def write_cells(schema: Names, X: Any, holes: np.ndarray, columns: Columns) -> Any:
    """Return a table like X whose holes have the values of `columns`."""
    if is_sparse(X):
        return _write_sparse(schema, X, columns)
    if _is_pandas(X):
        return _write_pandas(schema, X, holes, columns)
    if isinstance(X, list | tuple):
        write = _write_dicts if isinstance(X[0], Mapping) else _write_lists
        return write(schema, X, holes, columns)
    if not isinstance(X, np.ndarray):
        frame = _as_frame(X)
        if frame is not None:
            return _write_frame(schema, frame, holes, columns)
    return _write_array(schema, X, holes, columns)


def numbers_like(schema: Names, X: Any, numbers: np.ndarray) -> Any:
    """Return one number a cell as a frame if X is one, or rows as dicts, else as an array."""
    if _is_pandas(X):
        spread = len(X.columns) != schema.width  # dates, each of which has become several columns
        names = list(schema.names) if spread else X.columns
        return type(X)(numbers, index=X.index, columns=names)
    if isinstance(X, list | tuple) and isinstance(X[0], Mapping):
        return to_pandas(numbers, schema.names)
    frame = None if isinstance(X, np.ndarray | list | tuple) or is_sparse(X) else _as_frame(X)
    if frame is None:
        return numbers
    import narwhals as nw

    columns = dict(zip(schema.names, numbers.T, strict=True))
    return nw.from_dict(columns, backend=frame.implementation).to_native()


def to_pandas(table: Any, names: Any) -> Any:
    """Return any table that `write_cells` made as a pandas DataFrame."""
    import pandas as pd

    if isinstance(table, pd.DataFrame):
        return table
    if isinstance(table, list):
        return pd.DataFrame(table, columns=list(names))
    array = _plain_array(table)
    if array is None:
        columns = _as_frame(table).iter_columns()
        return pd.DataFrame({series.name: series.to_list() for series in columns})
    return pd.DataFrame(array, columns=list(names)).infer_objects()


def to_polars(table: Any, names: Any) -> Any:
    """Return any table that `write_cells` made as a polars DataFrame."""
    import polars as pl

    if isinstance(table, pl.DataFrame):
        return table
    array = None if isinstance(table, list) else _plain_array(table)
    if array is not None and array.dtype != object:
        return pl.DataFrame(array, schema=list(names))
    frame = to_pandas(table, names)  # polars needs PyArrow for most of its types
    cells = frame.astype(object).where(frame.notna(), None)
    return pl.DataFrame({str(name): cells[name].tolist() for name in frame}, strict=False)


def _plain_array(table: Any) -> np.ndarray | None:
    if is_sparse(table):
        return np.asarray(table.toarray())
    return table if isinstance(table, np.ndarray) else None


def _is_pandas(X: Any) -> bool:
    return type(X).__module__.split(".")[0] == "pandas" and hasattr(X, "columns")


def _as_frame(X: Any) -> Any:
    """Return X as a frame of narwhals, or None if it is none."""
    import narwhals as nw

    from infinimix.tables.frames import to_narwhals  # narwhals: slow to load

    frame = to_narwhals(X)
    return frame if isinstance(frame, nw.DataFrame) else None


def _gaps(schema: Names, holes: np.ndarray, columns: Columns) -> Any:
    """Yield position, name, rows and values of each column that has holes."""
    for j in np.flatnonzero(holes.any(axis=0)).tolist():
        rows = np.flatnonzero(holes[:, j])
        yield j, schema.names[j], rows, columns[schema.names[j]][rows]


def _write_array(schema: Names, X: Any, holes: np.ndarray, columns: Columns) -> np.ndarray:
    out = np.array(X)
    gaps = list(_gaps(schema, holes, columns))
    if out.dtype.kind in "biu" and any(values.dtype.kind == "f" for *_, values in gaps):
        out = out.astype(float)  # a masked array of whole numbers
    for j, _, rows, values in gaps:
        out[rows, j] = values
    return out


def _write_lists(schema: Names, X: Any, holes: np.ndarray, columns: Columns) -> np.ndarray:
    rows = np.empty((len(X), schema.width), dtype=object)
    for i, row in enumerate(X):
        rows[i] = list(row)
    rows = _write_array(schema, rows, holes, columns)
    numeric = all(isinstance(value, int | float | np.number | np.bool_) for value in rows.flat)
    return np.array(rows.tolist()) if numeric else rows


def _write_dicts(schema: Names, X: Any, holes: np.ndarray, columns: Columns) -> list[Any]:
    out = [dict(row) for row in X]
    for _, name, rows, values in _gaps(schema, holes, columns):
        for i, value in zip(rows.tolist(), values.tolist(), strict=True):
            out[i][name] = value
    return out


def _write_sparse(schema: Names, X: Any, columns: Columns) -> Any:
    out = X.tocoo(copy=True)
    out.sum_duplicates()
    if out.dtype.kind == "f":
        for at in np.flatnonzero(np.isnan(out.data)):
            out.data[at] = columns[schema.names[out.col[at]]][out.row[at]]
    return out.asformat(X.format)


def _write_pandas(schema: Names, X: Any, holes: np.ndarray, columns: Columns) -> Any:
    out = X.copy()
    for j, _, rows, values in _gaps(schema, holes, columns):
        out.isetitem(j, _fill_series(X.iloc[:, j], rows, values))
    return out


def _fill_series(series: Any, rows: np.ndarray, values: np.ndarray) -> Any:
    import pandas as pd

    if isinstance(series.dtype, pd.SparseDtype):
        series = series.sparse.to_dense()
    if isinstance(series.dtype, pd.CategoricalDtype):
        known = series.cat.categories
        series = series.cat.add_categories(pd.Index(pd.unique(values)).difference(known))
    elif pd.api.types.is_integer_dtype(series.dtype) and values.dtype.kind == "f":
        arrow = isinstance(series.dtype, pd.ArrowDtype)
        series = series.astype("double[pyarrow]" if arrow else "Float64")
    out = series.copy()
    out.iloc[rows] = pd.Series(values, dtype=object).astype(series.dtype).array
    return out


def _write_frame(schema: Names, frame: Any, holes: np.ndarray, columns: Columns) -> Any:
    """Fill a frame of polars or PyArrow."""
    import narwhals as nw

    backend, filled = frame.implementation, []
    by_name = schema.named and all(isinstance(label, str) for label in frame.columns)
    for j, name, rows, values in _gaps(schema, holes, columns):
        label = name if by_name else frame.columns[j]
        series = frame[label]
        if series.dtype.is_integer() and values.dtype.kind == "f":
            series = series.cast(nw.Float64)
        cells: list[Any] = [None] * len(holes)
        for i, value in zip(rows.tolist(), values.tolist(), strict=True):
            cells[i] = value
        words = series.dtype in (nw.Categorical, nw.Enum)
        fillers = nw.new_series(label, cells, nw.String if words else series.dtype, backend=backend)
        observed = nw.new_series(label, (~holes[:, j]).tolist(), nw.Boolean, backend=backend)
        filled.append(series.zip_with(observed, fillers.cast(series.dtype)))
    return frame.with_columns(*filled).to_native()
