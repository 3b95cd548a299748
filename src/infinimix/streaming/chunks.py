"""Any stream as chunks of rows and their labels.

A stream is a pair (X, y) of whole tables, or an iterable whose items are (x, y), one row and its
label, or (X, y), several of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from infinimix.tables.rows import by_rows, count_rows, cut, list_labels
from infinimix.tables.sparsity import is_sparse, loaded_type

CHUNK = 1000  # rows that are taken at once from tables and from streams of single rows

Chunk = tuple[Any, list[Any]]


def read_chunks(stream: Any, most: int | None = None, size: int = CHUNK) -> Iterator[Chunk]:
    """Yield chunks (X, y) of a stream, `most` rows of it at most."""
    left = float("inf") if most is None else most
    if left <= 0:
        return
    for X, y in _chunks(stream, size if most is None else min(size, most)):
        if len(y) > left:
            X, y = cut(X, 0, int(left)), y[: int(left)]
        yield X, y
        left -= len(y)
        if left <= 0:  # before the stream is asked for more
            return


def count_stream(stream: Any) -> int | None:
    """Return the number of rows of a stream if that is known in advance."""
    return count_rows(stream[0]) if _is_pair(stream) else None


def _is_pair(stream: Any) -> bool:
    return isinstance(stream, tuple) and len(stream) == 2


def _chunks(stream: Any, size: int) -> Iterator[Chunk]:
    if _is_pair(stream):
        X, y = stream
        yield from cut_up(X, y, size)
        return
    if not isinstance(stream, Iterable) or isinstance(stream, str | bytes):
        raise TypeError(
            "A stream is a pair (X, y) of tables, or an iterable of rows (x, y) or of chunks "
            f"(X, y); got a {type(stream).__name__}. infinimix.streaming.read_stream reads files."
        )
    rows: list[Any] = []
    labels: list[Any] = []
    for item in stream:
        x, y = _check_item(item)
        if not is_many(y):
            rows.append(x)
            labels.append(y)
        if rows and (is_many(y) or len(rows) == size):
            yield stack(rows), labels
            rows, labels = [], []
        if is_many(y):
            yield from cut_up(x, y, max(size, count_rows(x)))
    if rows:
        yield stack(rows), labels


def cut_up(X: Any, y: Any, size: int) -> Iterator[Chunk]:
    """Yield tables in parts of `size` rows."""
    X, y = by_rows(X), list_labels(y)
    if count_rows(X) != len(y):
        raise ValueError(f"X has {count_rows(X)} rows, but y has {len(y)} labels.")
    for first in range(0, len(y), size):
        last = min(first + size, len(y))
        whole = first == 0 and last == len(y)
        yield (X if whole else cut(X, first, last)), y[first:last]


def is_many(y: Any) -> bool:
    """Are these the labels of several rows?"""
    return isinstance(y, list | tuple) or hasattr(y, "to_list") or getattr(y, "ndim", 0) > 0


def stack(rows: list[Any]) -> Any:
    """Return single rows as a table."""
    if all(isinstance(row, loaded_type("numpy", "ndarray")) for row in rows):
        import numpy as np  # loaded, as there are such rows

        return np.stack([row.ravel() for row in rows])
    if all(is_sparse(row) for row in rows):
        from scipy import sparse  # loaded, as there are such rows

        return sparse.vstack([sparse.csr_array(row.reshape(1, -1)) for row in rows], format="csr")
    return rows


def _check_item(item: Any) -> tuple[Any, Any]:
    if not isinstance(item, tuple | list) or len(item) != 2:
        raise TypeError(
            f"The items of a stream are pairs of a row and its label, or of a table and its "
            f"labels; got a {type(item).__name__}."
        )
    return item[0], item[1]
