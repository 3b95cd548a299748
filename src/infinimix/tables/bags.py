"""Opens whatever the user has as documents: words row after row, or a matrix of counts.

What a list or a column of objects holds is decided by its first document that is not missing;
the others have to be like it. A document that is None or NaN is empty.
"""

from array import array
from collections.abc import Collection, Mapping, Sequence
from functools import cache
from itertools import accumulate, chain
from struct import Struct, error
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from infinimix.tables import errors
from infinimix.tables.cells import NUMBERS, _read_number
from infinimix.tables.forms import holds_no_rows
from infinimix.tables.grids import Grid, from_array, from_frame, from_rows, from_sparse
from infinimix.tables.missing import is_missing
from infinimix.tables.sparsity import is_sparse
from infinimix.tables.text import Text

__all__ = ["Texts", "Words", "convert_counts", "open_documents"]

_ROWS = (list, tuple, np.ndarray)
FEW = 256  # counts that are worth a format of their own


class Words(NamedTuple):
    """Documents as words: those of row i are ``words[starts[i]:starts[i + 1]]``.

    Attributes
    ----------
    words : collection of strings
        Not yet checked to be strings; a list, or the keys of a dict.
    starts : int64 array
        Where each row begins, and the end.
    counts : float64 array
        How often each word stands there; NaN is a missing count.
    """

    words: Collection[str]
    starts: NDArray[np.int64]
    counts: NDArray[np.float64]


class Texts(NamedTuple):
    """Documents as strings, which compiled code can cut into words (``text.compiled``)."""

    documents: Sequence[str]

    def to_words(self, text: Text) -> Words:
        """Cut them into strings."""
        return _join(list(map(text.tokens, self.documents)))


def open_documents(X: Any, text: Text) -> Words | Texts | Grid:
    """The documents behind `X`, checked for their form."""
    if isinstance(X, list | tuple):
        return _open_list(X, text)
    if isinstance(X, np.ndarray):
        return _open_array(X, text)
    if is_sparse(X):
        return from_sparse(X)
    return _open_frame(X, text)


def _open_array(X: NDArray[Any], text: Text) -> Words | Texts | Grid:
    if X.ndim == 1 and X.dtype.kind in "OUST":
        return _open_list(_cells_of(X), text)
    if X.ndim == 2 and X.shape[1] == 1 and X.dtype.kind in "OUST" and _is_text(X[:, 0].tolist()):
        return _open_list(_cells_of(X[:, 0]), text)
    return from_array(X)


def _cells_of(X: NDArray[Any]) -> list[Any]:
    if not isinstance(X, np.ma.MaskedArray):
        return X.tolist()
    pairs = zip(X.data.tolist(), np.ma.getmaskarray(X).tolist(), strict=True)
    return [None if hidden else value for value, hidden in pairs]


def _open_frame(X: Any, text: Text) -> Words | Texts | Grid:
    from infinimix.tables.frames import open_frame, open_series

    cells = open_series(X)
    if cells is not None:
        return _open_list(cells, text)
    frame = open_frame(X)
    if frame is None and holds_no_rows(X):
        raise errors.no_documents(X)
    if frame is None:
        return _open_array(np.asarray(X), text)
    if len(frame.labels) == 1:
        values = frame.pick(0).values
        if isinstance(values, list) and _is_text(values):
            return _open_list(values, text)
    return from_frame(frame)


def _is_text(values: list[Any]) -> bool:
    """Whether a column holds documents rather than numbers."""
    return isinstance(_first(values), (str, bytes, Mapping, *_ROWS))


def _first(values: Sequence[Any]) -> Any:
    """The first value that is not missing, or None."""
    for value in values:
        if isinstance(value, _ROWS) or not is_missing(value):
            return value
    return None


def _open_list(X: Sequence[Any], text: Text) -> Words | Texts | Grid:
    if len(X) == 0:
        raise errors.too_few("sample", (0,))
    first = X[0] if type(X[0]) is dict else _first(X)
    if type(first) is dict or isinstance(first, Mapping):
        return _open_dicts(X)
    if isinstance(first, str):
        return _open_strings(X, text)
    if first is None:
        return _join([[]] * len(X))
    if isinstance(first, list | tuple) or (isinstance(first, np.ndarray) and first.ndim):
        return _open_rows(X)
    if isinstance(first, NUMBERS):
        raise errors.wrong_dimension(1)
    row = next(i for i, value in enumerate(X) if value is first)
    raise errors.odd_document(row, first, "a string, a dict or a list of words")


def _open_strings(X: Sequence[Any], text: Text) -> Words | Texts:
    if set(map(type, X)) != {str}:
        X = [_one_of(document, row, str, "a string", "") for row, document in enumerate(X)]
    return Texts(X) if text.compiled else Texts(X).to_words(text)


def _open_rows(X: Sequence[Any]) -> Words | Grid:
    """Lists of words if the first cell is a string, rows of a matrix otherwise."""
    if not set(map(type, X)) <= {list, tuple}:
        X = [_one_of(row, i, _ROWS, "a list", []) for i, row in enumerate(X)]
        X = [row.tolist() if isinstance(row, np.ndarray) else row for row in X]
    cells = chain.from_iterable(X)
    some = next((cell for cell in cells if not _is_hole(cell)), None)
    if isinstance(some, str) or not any(map(len, X)):
        return _join(X)
    return from_rows(list(X))


def _is_hole(cell: Any) -> bool:
    return not isinstance(cell, _ROWS) and is_missing(cell)


def _open_dicts(X: Sequence[Any]) -> Words:
    if len(X) == 1 and isinstance(X[0], dict):  # one document of a stream: every microsecond counts
        words: Collection[str] = X[0]
        values, sizes = list(X[0].values()), [len(X[0])]
    else:
        if not all(issubclass(cls, dict) for cls in set(map(type, X))):
            X = [
                dict(_one_of(document, row, Mapping, "a dict", {}))
                for row, document in enumerate(X)
            ]
        words = list(chain.from_iterable(X))
        values = list(chain.from_iterable(map(dict.values, X)))
        sizes = list(map(len, X))
    counts = convert_counts(values)
    return Words(words, _starts(sizes), _read_counts(X) if counts is None else counts)


def convert_counts(values: list[Any]) -> NDArray[np.float64] | None:
    """Counts as float64, the quickest way that their types allow; None if one is no number.

    None of these ways parses strings.
    """
    if values and type(values[0]) is not float:
        try:
            return np.array(bytearray(values), np.float64)  # whole numbers below 256, as most are
        except (TypeError, ValueError):
            pass
    room = np.empty(len(values))
    try:
        if len(values) <= FEW:
            _doubles(len(values)).pack_into(room.data, 0, *values)
        else:
            room[:] = array("d", values)
    except (TypeError, OverflowError, error):
        return None
    return room


@cache
def _doubles(n: int) -> Struct:
    """What writes so many numbers: it asks a value for its float, as `array` does, but sooner."""
    return Struct(f"{n}d")


def _read_counts(X: Sequence[Mapping[Any, Any]]) -> NDArray[np.float64]:
    """Counts one by one, to find the one that is missing or wrong."""
    return np.array(
        [
            _read_number(value, str(word), row, errors.not_word_count)
            for row, document in enumerate(X)
            for word, value in document.items()
        ],
        np.float64,
    )


def _one_of(value: Any, row: int, types: Any, expected: str, empty: Any) -> Any:
    """A document if it is of the types that the others have, `empty` if it is missing."""
    if isinstance(value, types):
        return value
    if isinstance(value, Mapping | bytes | set | frozenset) or not _is_hole(value):
        raise errors.odd_document(row, value, expected)
    return empty


def _join(rows: Sequence[Sequence[str]]) -> Words:
    words = list(chain.from_iterable(rows))
    return Words(words, _starts(list(map(len, rows))), np.ones(len(words)))


def _starts(sizes: list[int]) -> NDArray[np.int64]:
    return np.array([0, *accumulate(sizes)] if len(sizes) > 1 else [0, *sizes], np.int64)
