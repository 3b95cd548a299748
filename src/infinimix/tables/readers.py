"""Opens whatever the user passes as one of the three forms of a table.

Arrays, sparse matrices and rows in lists are told apart by type; only what is left goes to
narwhals, which knows pandas, polars, PyArrow and their like without importing any of them.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from infinimix.tables import errors
from infinimix.tables.forms import Cells, Columns, Dense, Sparse, Table, holds_no_rows
from infinimix.tables.packed import PackedTable
from infinimix.tables.sparsity import is_sparse

__all__ = ["open_table"]


def open_table(X: Any) -> Table:
    """The table behind `X`, checked for its shape and its names."""
    table = _open(X)
    if table.n_rows == 0:
        raise errors.too_few("sample", (0, table.width))
    if table.width == 0 and not (isinstance(table, Columns) and table.partial):
        raise errors.too_few("feature", (table.n_rows, 0))
    return table


def _open(X: Any) -> Table:
    if isinstance(X, np.ndarray):
        return _open_array(X)
    if isinstance(X, list | tuple):
        return _open_rows(X)
    if is_sparse(X):
        return _open_sparse(X)
    if isinstance(X, PackedTable):
        return X.opened()
    if isinstance(X, Mapping):
        raise TypeError("X is a dict; pass a data frame, or a list with one dict per row")
    return _open_frame(X)


@lru_cache(maxsize=16)
def _positional(width: int) -> tuple[tuple[str, ...], tuple[int, ...], bool]:
    """Names, labels and namedness of columns that only have a position."""
    return tuple(f"x{j}" for j in range(width)), tuple(range(width)), False


def _labelled(labels: Sequence[Any]) -> tuple[tuple[str, ...], tuple[Any, ...], bool]:
    """Names, labels and namedness of columns that bring labels of their own."""
    strings = [isinstance(label, str) for label in labels]
    if any(strings) and not all(strings):
        types = sorted({type(label).__name__ for label in labels})
        raise TypeError(
            "Feature names are only supported if all input features have string names, but X has "
            f"column names of types {types}; convert them all to strings, or none"
        )
    names = tuple(map(str, labels))
    if len(set(names)) < len(names):
        raise errors.duplicate_names(names)
    return names, tuple(labels), all(strings)


def _open_array(X: NDArray[Any]) -> Table:
    if X.ndim != 2:
        raise errors.wrong_dimension(X.ndim)
    head = (*_positional(X.shape[1]), X.shape[0])
    _check_dtype(X.dtype)
    mask = np.ma.getmaskarray(X) if isinstance(X, np.ma.MaskedArray) else None
    array = np.asarray(X)
    numeric = X.dtype.kind in "biuf"
    if numeric and mask is None:
        return Dense(*head, array=_plain_numbers(array))
    pick = _pick_numbers if numeric else _pick_objects
    return Columns(*head, pick=partial(pick, array, mask))


def _check_dtype(dtype: np.dtype[Any]) -> None:
    """Refuse arrays of what no kind can hold; being of one dtype, the first column is named."""
    if dtype.kind == "c":
        raise errors.complex_data("x0")
    if dtype.kind == "V":
        raise TypeError(f"X is an array of dtype {dtype}; pass a plain 2-D array or a data frame")


def _plain_numbers(array: NDArray[Any]) -> NDArray[Any]:
    """Long doubles as float64: the only numbers whose `tolist` is not of Python's own types."""
    return array.astype(np.float64) if array.dtype.char == "g" else array


def _pick_numbers(array: NDArray[Any], mask: NDArray[np.bool_] | None, j: int) -> Cells:
    return Cells(_plain_numbers(array[:, j]), None if mask is None else mask[:, j])


def _pick_objects(array: NDArray[Any], mask: NDArray[np.bool_] | None, j: int) -> Cells:
    column = array[:, j]
    if column.dtype.kind in "mM":  # of nanoseconds, NumPy's `tolist` makes whole numbers
        column = column.astype(f"{column.dtype.kind}8[us]")
    values = column.tolist()
    if mask is not None:
        values = [
            None if hidden else v for v, hidden in zip(values, mask[:, j].tolist(), strict=True)
        ]
    return Cells(values)


def _open_sparse(X: Any) -> Table:
    if X.ndim != 2:
        raise errors.wrong_dimension(X.ndim)
    _check_dtype(X.dtype)
    if X.dtype.kind not in "biuf":
        raise TypeError(f"X is a sparse matrix of dtype {X.dtype}; only numbers can be sparse")
    return Sparse(*_positional(X.shape[1]), X.shape[0], matrix=X)


def _open_rows(X: Sequence[Any]) -> Table:
    if len(X) == 0:
        raise errors.too_few("sample", (0,))
    if not _is_row(X[0]):
        raise errors.wrong_dimension(1)
    dicts = isinstance(X[0], Mapping)
    for i, row in enumerate(X):
        if isinstance(row, Mapping) != dicts or not _is_row(row):
            types = (type(row).__name__, type(X[0]).__name__)
            raise ValueError(f"row {i} of X is a {types[0]}, but row 0 is a {types[1]}")
    if dicts:
        return _open_dicts(X)
    return _open_lists([row.tolist() if isinstance(row, np.ndarray) else row for row in X])


def _is_row(row: Any) -> bool:
    if isinstance(row, np.ndarray):
        return row.ndim > 0
    return hasattr(row, "__len__") and not isinstance(row, str | bytes)


def _open_dicts(X: Sequence[Mapping[Any, Any]]) -> Columns:
    labels: dict[Any, None] = {}
    for row in X:
        labels.update(dict.fromkeys(row))
    head = _labelled(list(labels))
    keys = head[1]
    return Columns(
        *head, len(X), pick=lambda j: Cells([row.get(keys[j]) for row in X]), partial=True
    )


def _open_lists(X: Sequence[Sequence[Any]]) -> Columns:
    width = len(X[0])
    for i, row in enumerate(X):
        if len(row) != width:
            raise ValueError(f"row {i} of X has {len(row)} cells, but row 0 has {width}")
    return Columns(*_positional(width), len(X), pick=lambda j: Cells([row[j] for row in X]))


def _open_frame(X: Any) -> Table:
    from infinimix.tables.frames import open_frame

    frame = open_frame(X)
    if frame is None and holds_no_rows(X):
        raise errors.no_table(X)
    if frame is None:
        return _open_array(np.asarray(X))
    return Columns(*_labelled(frame.labels), frame.n_rows, pick=frame.pick)
