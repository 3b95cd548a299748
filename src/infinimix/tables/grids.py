"""Matrices of counts in any form, as what is not zero in them, row after row.

A column is a word. Sparse matrices are read without a loop in Python; explicit zeros are dealt with
later, where all forms of documents meet.
"""

from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from infinimix.tables import errors
from infinimix.tables.cells import _read_number, _read_numbers
from infinimix.tables.forms import Cells
from infinimix.tables.readers import _check_dtype, _labelled, _plain_numbers

if TYPE_CHECKING:
    from infinimix.tables.frames import Frame

__all__ = ["Grid", "from_array", "from_frame", "from_rows", "from_sparse"]


class Grid(NamedTuple):
    """Documents as a matrix: row i has ``counts[starts[i]:starts[i + 1]]`` in `indices`.

    Attributes
    ----------
    starts : int64 array
        Where each row begins, and the end.
    indices : int32 or int64 array
        Columns of the matrix, rising within a row.
    counts : float64 array
        The cells; NaN is a missing one.
    width : int
        The number of columns.
    names : tuple of str, or None
        The words that are its columns, if it says so.
    """

    starts: NDArray[np.int64]
    indices: NDArray[Any]
    counts: NDArray[np.float64]
    width: int
    names: tuple[str, ...] | None = None


def from_sparse(X: Any) -> Grid:
    """A SciPy sparse matrix of any format; it is not changed."""
    if X.ndim != 2:
        raise errors.wrong_dimension(X.ndim)
    _check_dtype(X.dtype)
    if X.dtype.kind not in "biuf":
        raise TypeError(f"X is a sparse matrix of dtype {X.dtype}; only numbers can be sparse")
    _check_shape(X.shape)
    if X.format != "csr":
        X = X.astype(np.float64).tocsr()  # copies of a cell are added up, and bytes would overflow
    starts = X.indptr.astype(np.int64)
    end = int(starts[-1])
    if starts[0] or end > min(len(X.indices), len(X.data)) or (np.diff(starts) < 0).any():
        raise ValueError("X is a damaged sparse matrix; see its method check_format")
    if not X.has_canonical_format:
        X = X.astype(np.float64)
        X.sum_duplicates()
        return from_sparse(X)
    return Grid(starts, _own(X.indices[:end]), _floats(X.data[:end]), X.shape[1])


def from_array(X: NDArray[Any]) -> Grid:
    """A dense matrix of numbers, or of objects that are numbers."""
    if X.ndim != 2:
        raise errors.wrong_dimension(X.ndim)
    _check_dtype(X.dtype)
    _check_shape(X.shape)
    if isinstance(X, np.ma.MaskedArray):
        X = X.filled(0)  # a hidden cell holds no word
    if X.dtype.kind not in "biuf":
        return from_rows(X.tolist())
    return _from_dense(np.asarray(X))


def from_rows(rows: list[Any]) -> Grid:
    """Rows of numbers in lists, all of one length."""
    width = len(rows[0])
    for i, row in enumerate(rows):
        if len(row) != width:
            raise ValueError(f"row {i} of X has {len(row)} cells, but row 0 has {width}")
    _check_shape((len(rows), width))
    if set(map(type, chain.from_iterable(rows))) <= {float, int, bool}:
        try:
            return _from_dense(np.array(rows, np.float64))
        except OverflowError:
            pass  # the slow way finds the row
    cells = [
        [_read_number(cell, f"x{j}", i, errors.not_word_count) for j, cell in enumerate(row)]
        for i, row in enumerate(rows)
    ]
    return _from_dense(np.array(cells, np.float64))


def from_frame(frame: "Frame") -> Grid:
    """A data frame of numbers, whose columns are words if they have names."""
    _check_shape((frame.n_rows, len(frame.labels)))
    names, _, named = _labelled(frame.labels)
    dense = np.empty((frame.n_rows, len(names)), np.float64)
    for j, name in enumerate(names):
        dense[:, j] = _read_column(frame.pick(j), name)
    return _from_dense(dense)._replace(names=names if named else None)


def _read_column(cells: Cells, name: str) -> NDArray[np.float64]:
    if isinstance(cells.values, list):
        return _read_numbers(cells.values, name, errors.not_word_count)
    if cells.missing is None:
        return cells.values
    return np.where(cells.missing, np.nan, cells.values)


def _check_shape(shape: tuple[int, ...]) -> None:
    for size, what in zip(shape, ("sample", "feature"), strict=True):
        if size == 0:
            raise errors.too_few(what, shape)


def _from_dense(dense: NDArray[Any]) -> Grid:
    rows, indices = np.nonzero(dense)
    starts = np.zeros(len(dense) + 1, np.int64)
    np.cumsum(np.bincount(rows, minlength=len(dense)), out=starts[1:])
    return Grid(starts, indices, _floats(dense[rows, indices]), dense.shape[1])


def _floats(values: NDArray[Any]) -> NDArray[np.float64]:
    return _own(_plain_numbers(values).astype(np.float64, copy=False))


def _own(values: NDArray[Any]) -> NDArray[Any]:
    """The array, or a copy if kernels would have to be compiled for it (read-only, strided)."""
    return values if values.flags.carray and values.dtype.isnative else np.array(values)
