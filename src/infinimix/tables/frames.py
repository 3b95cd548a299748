"""Data frames through narwhals: pandas, polars, PyArrow and the like, one column at a time.

A file of its own because importing narwhals takes time that users of arrays should not pay.
"""

import sys
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np
from narwhals.exceptions import DuplicateError

from infinimix.tables import errors
from infinimix.tables.forms import Cells
from infinimix.tables.sparsity import loaded_type

__all__ = ["Frame", "open_frame", "open_series", "to_narwhals"]


class Frame(NamedTuple):
    """A data frame: the labels of its columns, its length, and the series themselves."""

    labels: list[Any]
    n_rows: int
    series: list["nw.Series[Any]"]

    def pick(self, j: int) -> Cells:
        """Column `j`, converted."""
        return _read_series(self.series[j])


def open_frame(X: Any) -> Frame | None:
    """`X` as a frame, or None if it is not one."""
    frame = _wrap(X)
    if isinstance(frame, nw.LazyFrame):
        raise TypeError("X is a lazy frame; collect it first: X.collect()")
    if isinstance(frame, nw.Series):
        raise errors.wrong_dimension(1)
    if not isinstance(frame, nw.DataFrame):
        return None
    return Frame(list(frame.columns), len(frame), list(frame.iter_columns()))


def open_series(X: Any) -> list[Any] | None:
    """The cells of a series that is not of numbers or dates, or None if `X` is no series."""
    series = _wrap(X)
    if not isinstance(series, nw.Series):
        return None
    dtype = series.dtype
    if dtype.is_numeric() or dtype.is_temporal() or dtype == nw.Boolean:
        raise errors.wrong_dimension(1)
    return series.to_list()


def to_narwhals(X: Any, allow_series: bool | None = None) -> Any:
    """`X` as narwhals sees it, or as it is; a record batch of PyArrow is a table of one batch."""
    if isinstance(X, loaded_type("pyarrow", "RecordBatch")):
        X = sys.modules["pyarrow"].Table.from_batches([X])
    return nw.from_native(X, pass_through=True, allow_series=allow_series)


def _wrap(X: Any) -> Any:
    """`X` as narwhals sees it, or as it is."""
    try:
        return to_narwhals(X, allow_series=True)
    except DuplicateError:
        raise errors.duplicate_names(list(X.columns)) from None


def _read_series(series: "nw.Series[Any]") -> Cells:
    dtype = series.dtype
    if dtype == nw.Boolean:
        return _read_filled(series, False, bool)
    if dtype.is_integer() and dtype not in (nw.Int128, nw.UInt128):
        return _read_filled(series, 0, None)
    if dtype.is_float():
        cells = series.to_numpy().astype(np.float64, copy=False)
        # NumPy has no integers with holes, so pandas makes floats of them; other frames do not.
        # A chunked array of PyArrow has no dtype at all.
        dtype_of = getattr(series.to_native(), "dtype", None)
        return Cells(cells, widened=isinstance(dtype_of, np.dtype))
    if isinstance(dtype, nw.Datetime):  # many times faster than objects of pandas
        local = series if dtype.time_zone is None else series.dt.replace_time_zone(None)
        return Cells(np.asarray(local.to_numpy(), "M8[us]").tolist())
    category = dtype in (nw.Categorical, nw.Enum)
    return Cells(series.to_list(), category=category)


def _read_filled(series: "nw.Series[Any]", filler: int, dtype: type | None) -> Cells:
    """A column whose NumPy type has no room for missing cells: fill them and keep a mask."""
    missing = series.is_null().to_numpy() if series.null_count() else None
    whole = series if missing is None else series.fill_null(filler)
    return Cells(np.asarray(whole.to_numpy(), dtype=dtype), missing)
