"""Rows of a chunk, whatever it is: how many there are, some of them, each as a dict.

A chunk is what `partial_fit` takes: an array, a sparse matrix, a frame, or a list of rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from infinimix.tables.sparsity import is_sparse, loaded_type

if TYPE_CHECKING:
    import numpy as np


def count_rows(X: Any) -> int:
    """Return the number of rows of a chunk."""
    shape = getattr(X, "shape", None)
    return int(shape[0]) if shape else len(X)


def is_frame(X: Any) -> bool:
    """Whether columns have names: a frame of pandas, polars or the like."""
    return hasattr(X, "columns")


def is_pandas(X: Any) -> bool:
    """Whether this is a frame of pandas, whose cells can be asked whether they are missing."""
    return hasattr(X, "iloc") and hasattr(X, "columns")


def by_rows(X: Any) -> Any:
    """Return a chunk in a form whose rows can be cut out, all of it as it is if it has one."""
    if is_sparse(X):
        return X.tocsr()
    if not hasattr(X, "__getitem__"):
        import numpy as np  # slow to load, and a stream may still be refused

        return np.asarray(X)
    return X


def cut(X: Any, first: int, last: int) -> Any:
    """Return the rows from `first` to before `last`."""
    if hasattr(X, "iloc"):
        return X.iloc[first:last]
    if hasattr(X, "slice") and hasattr(X, "column_names"):  # PyArrow, whose brackets are columns
        return X.slice(first, last - first)
    return X[first:last]


def pick(X: Any, rows: Sequence[int] | np.ndarray) -> Any:
    """Return some rows, in their order."""
    if isinstance(X, list | tuple):
        return [X[i] for i in rows]
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    return X.take(rows) if hasattr(X, "column_names") else X[rows]


def as_dicts(X: Any) -> Iterator[Any]:
    """Yield the rows as dicts, with positions for names if there are none; texts as they are."""
    if is_sparse(X):
        X = X.toarray()
    if isinstance(X, loaded_type("numpy", "ndarray")):
        X = X.tolist()
    if not isinstance(X, list | tuple):
        from infinimix.tables.frames import to_narwhals  # narwhals: slow to load

        yield from to_narwhals(X).iter_rows(named=True)
        return
    for row in X:
        yield row if isinstance(row, Mapping | str) else dict(enumerate(row))


def holds_dicts(X: Any) -> bool:
    """Are the rows dicts?"""
    return isinstance(X, list | tuple) and len(X) > 0 and isinstance(X[0], Mapping)


def list_labels(y: Any) -> list[Any]:
    """Return labels as a list of plain values."""
    if hasattr(y, "tolist"):
        y = y.tolist()
        y = y if isinstance(y, list) else [y]
    elif hasattr(y, "to_list"):
        y = y.to_list()
    scalar = loaded_type("numpy", "generic")
    return [v.item() if isinstance(v, scalar) else v for v in y]


def name_of(y: Any) -> str | None:
    """Return what a column is called, if it knows."""
    name = getattr(y, "name", None)
    return None if name is None else str(name)
