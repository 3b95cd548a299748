"""One categorical column to codes, by order of first appearance.

Values equal in Python (1, 1.0 and True) are one category, kept as it was first seen. A long
column of numbers is reduced to its distinct values first, without a loop in Python; what
remains, and every column of objects, is looked up in a dict.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from infinimix.tables import errors
from infinimix.tables.cells import UNSEEN, look_up, plain
from infinimix.tables.forms import FEW, Cells

__all__ = ["Codes", "encode_codes"]


class Codes(NamedTuple):
    """The codes of a column, and the rows and values of the categories that are new."""

    codes: NDArray[np.int32] | list[int]
    rows: list[int]
    values: list[Any]


def encode_codes(cells: Cells, name: str, known: dict[Any, int], learn: bool) -> Codes:
    """A categorical column as codes, -1 where it is missing.

    Parameters
    ----------
    cells : Cells
        The column.
    name : str
        Its name, for errors.
    known : dict
        The codes of the categories so far; not changed.
    learn : bool
        Whether unseen categories get the next codes; if not they count as missing.
    """
    if isinstance(cells.values, list):
        return _code_list(cells.values, name, known, learn)
    if len(cells.values) < FEW:
        values = cells.values.tolist()
        if cells.missing is not None:
            masked = cells.missing.tolist()
            values = [None if m else v for v, m in zip(values, masked, strict=True)]
        return _code_list(values, name, known, learn)
    return _code_array(cells.values, cells.missing, name, known, learn)


def _missing(values: NDArray[Any], masked: NDArray[np.bool_] | None) -> NDArray[np.bool_] | None:
    if values.dtype.kind != "f":
        return masked
    holes: NDArray[np.bool_] = np.isnan(values)
    return holes if masked is None else holes | masked


def _code_list(values: list[Any], name: str, known: dict[Any, int], learn: bool) -> Codes:
    codes = look_up(values, known, name)
    rows: list[int] = []
    fresh: dict[Any, int] = {}
    if UNSEEN not in codes:
        return Codes(codes, [], [])
    for row, code in enumerate(codes):
        if code != UNSEEN:
            continue
        if values[row] not in fresh:
            fresh[plain(values[row], name, row)] = len(known) + len(fresh) if learn else -1
            rows.append(row)
        codes[row] = fresh[values[row]]
    return Codes(codes, rows, list(fresh)) if learn else Codes(codes, [], [])


def _code_array(
    values: NDArray[Any],
    masked: NDArray[np.bool_] | None,
    name: str,
    known: dict[Any, int],
    learn: bool,
) -> Codes:
    missing = _missing(values, masked)
    rows = np.arange(len(values)) if missing is None else np.flatnonzero(~missing)
    observed = values if missing is None else values[rows]
    if observed.dtype.kind == "f":
        for row in np.flatnonzero(np.isinf(observed))[:1].tolist():
            raise errors.infinite_cell(name, int(rows[row]))
    distinct, first, inverse = _distinct(observed)
    short = _code_list(distinct.tolist(), name, known, learn)
    codes = np.full(len(values), -1, dtype=np.int32)
    codes[rows] = np.array(short.codes, dtype=np.int32)[inverse]
    return Codes(codes, rows[first[short.rows]].tolist(), short.values)


def _distinct(values: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Distinct values by first appearance, where each first appears, and which is where."""
    if len(values) and values.dtype.kind in "bi":
        low, high = int(values.min()), int(values.max())
        if high - low <= len(values):
            return _distinct_by_table(values, low, high - low + 1)
    distinct, first, inverse = np.unique(values, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty(len(order), dtype=np.intp)
    rank[order] = np.arange(len(order))
    return distinct[order], first[order], rank[inverse]


def _distinct_by_table(
    values: NDArray[Any], low: int, span: int
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """The same for integers in a narrow range: counting instead of sorting."""
    cells = values.astype(np.intp) - low
    seen = np.full(span, -1, dtype=np.intp)
    seen[cells[::-1]] = np.arange(len(cells) - 1, -1, -1)  # the last one written is the first row
    first = np.sort(seen[seen >= 0])
    rank = np.empty(span, dtype=np.intp)
    rank[cells[first]] = np.arange(len(first))
    return values[first], first, rank[cells]
