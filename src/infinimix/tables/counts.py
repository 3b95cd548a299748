"""Compiled passes over the counts of many documents, stored row after row.

A document and a million of them go through the same loops, with no Python for a row.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from infinimix.kernels.compile import entry, kernel
from infinimix.tables.scans import LARGEST

__all__ = ["find_columns", "number_novel", "run_tidy", "tidy"]

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
MANY = 64  # rows that are worth sorting together
FEW = 16  # words that are not worth dealing out
_TIDY: Any = None  # the machine code of `_tidy`, whose arguments are always of one type


@kernel
def _find_columns(indices: Any, table: Ints, width: int, out: Ints) -> int:
    novel = 0
    for k in range(indices.size):
        j = indices[k]
        if j < 0 or j >= width:
            return -1 - k
        column = table[j] if j < table.size else -1
        out[k] = column
        novel += 1 if column < 0 else 0
    return novel


def find_columns(indices: NDArray[Any], table: Ints, width: int) -> tuple[Ints, int]:
    """The column of each index of a matrix, -1 where `table` has none, and how many these are.

    Raises
    ------
    ValueError
        If an index is not below `width`: compiled loops would read beyond the end.
    """
    out = np.empty(indices.size, np.int64)
    novel = _find_columns(indices, table, width, out)
    if novel < 0:
        raise ValueError(
            f"X is a damaged sparse matrix: it has {width} columns, but an entry in column "
            f"{indices[-1 - novel]}; see its method check_format"
        )
    return out, novel


@kernel
def _number_novel(
    indices: Any, counts: Floats, columns: Ints, start: int, seen: Ints, novel: Ints
) -> int:
    n = 0
    for k in range(indices.size):
        if columns[k] < 0 and counts[k] > 0.0:
            j = indices[k]
            if seen[j] < 0:
                seen[j] = start + n
                novel[n] = j
                n += 1
            columns[k] = seen[j]
    return n


def number_novel(
    indices: NDArray[Any], counts: Floats, columns: Ints, start: int, width: int
) -> Ints:
    """Number columns of a matrix that have none, from `start` on, as they first appear.

    `columns` is changed; the novel indices are returned. Cells of 0 and NaN hold no word.
    """
    seen, novel = np.full(width, -1, np.int64), np.empty(min(width, indices.size), np.int64)
    return novel[: _number_novel(indices, counts, columns, start, seen, novel)]


@kernel
def _sort(indices: NDArray[np.int32], data: Floats, begin: int, end: int) -> None:
    """Sort a row by its columns, copies of a column in their order; both arrays move together.

    Few words are inserted one by one, more are dealt out by eight bits of their columns after the
    other: no comparison has to be guessed by the processor, which takes longer than all the rest.
    """
    n, highest = end - begin, 0
    if n <= FEW:
        for k in range(begin + 1, end):
            j, c, i = indices[k], data[k], k
            while i > begin and indices[i - 1] > j:
                indices[i], data[i] = indices[i - 1], data[i - 1]
                i -= 1
            indices[i], data[i] = j, c
        return
    for k in range(begin, end):
        highest = max(highest, indices[k])
    place = np.empty(257, np.int64)
    column, count = np.empty(n, np.int32), np.empty(n)
    shift = 0
    while highest >> shift > 0:
        place[:] = 0
        for k in range(n):
            column[k], count[k] = indices[begin + k], data[begin + k]
            place[1 + ((column[k] >> shift) & 255)] += 1
        for j in range(256):
            place[j + 1] += place[j]
        for k in range(n):
            digit = (column[k] >> shift) & 255
            indices[begin + place[digit]], data[begin + place[digit]] = column[k], count[k]
            place[digit] += 1
        shift += 8


@kernel
def _sort_all(indptr: Ints, indices: NDArray[np.int32], data: Floats, width: int) -> None:
    """Sort the columns of all rows at once: dealt out by column, then back by row."""
    end = indptr[-1]
    place = np.zeros(width + 1, np.int64)
    for k in range(end):
        place[indices[k] + 1] += 1
    for j in range(width):
        place[j + 1] += place[j]
    row, column, count = np.empty(end, np.int32), np.empty(end, np.int32), np.empty(end)
    for i in range(indptr.size - 1):
        for k in range(indptr[i], indptr[i + 1]):
            j = indices[k]
            row[place[j]], column[place[j]], count[place[j]] = i, j, data[k]
            place[j] += 1
    cursor = np.empty(indptr.size - 1, np.int64)
    for i in range(cursor.size):
        cursor[i] = indptr[i]
    for k in range(end):
        n = cursor[row[k]]
        indices[n], data[n] = column[k], count[k]
        cursor[row[k]] = n + 1


@kernel
def _add_up(indices: NDArray[np.int32], data: Floats, begin: int, end: int) -> int:
    """Add up neighbours of one column, and return the new end."""
    n = begin
    for k in range(begin, end):
        if n > begin and indices[n - 1] == indices[k]:
            data[n - 1] += data[k]
        else:
            indices[n], data[n] = indices[k], data[k]
            n += 1
    return n


@kernel
def _tidy(
    starts: Ints,
    columns: Ints,
    counts: Floats,
    indptr: Ints,
    indices: NDArray[np.int32],
    data: Floats,
    unknown: Floats,
    many: bool,
) -> int:
    n, even = 0, True
    indptr[0] = 0
    for i in range(starts.size - 1):
        begin, last, rising = n, -1, True
        for k in range(starts[i], starts[i + 1]):
            c = counts[k]
            if c == 0.0 or c != c:
                continue
            if c < 0.0 or c > LARGEST:
                return k
            j = columns[k]
            if j < 0:
                unknown[i] += c
                continue
            indices[n], data[n] = j, c
            rising = rising and j > last
            last = j
            n += 1
        if not rising and not many:
            _sort(indices, data, begin, n)
            n = _add_up(indices, data, begin, n)
        even = even and (rising or not many)
        indptr[i + 1] = n
    if not even:
        width = 0
        for k in range(columns.size):
            width = max(width, columns[k] + 1)
        _sort_all(indptr, indices, data, width)
        first = n = 0
        for i in range(starts.size - 1):
            last = indptr[i + 1]
            for k in range(first, last):  # down to where the rows before have left room
                indices[n + k - first], data[n + k - first] = indices[k], data[k]
            n = _add_up(indices, data, n, n + last - first)
            first, indptr[i + 1] = last, n
    return -1


def run_tidy(*args: Any) -> int:
    """Run the loop, past the look at its arguments, which takes as long as a document does."""
    global _TIDY
    if _TIDY is None:
        _TIDY = entry(_tidy, *args)
    found: int = _TIDY(*args)
    return found


def tidy(
    starts: Ints, columns: Ints, counts: Floats
) -> tuple[Ints, NDArray[np.int32], Floats, Floats, int]:
    """Documents with rising columns: copies of a column added up, 0 and NaN dropped.

    Returns `indptr`, `indices`, `data`, the sum of the counts without column in each row, and the
    position of the first count that is negative or infinite, or -1.
    """
    n_rows = starts.size - 1
    indptr, unknown = np.empty(n_rows + 1, np.int64), np.zeros(n_rows, np.float64)
    indices: NDArray[np.int32] = np.empty(columns.size, np.int32)
    data: Floats = np.empty(columns.size, np.float64)
    bad = run_tidy(starts, columns, counts, indptr, indices, data, unknown, n_rows >= MANY)
    end = indptr[-1] if bad < 0 else 0
    if end < columns.size:
        indices, data = indices[:end].copy(), data[:end].copy()  # views would hold the rest
    return indptr, indices, data, unknown, bad
