"""Rows as dicts whose columns are known: the form that the rows of a stream have.

Every row is made whole first, so one call picks the cells of a block. Cells of plain types become a
block at once, whatever the number of rows; a block with any other cell is left to the way by
columns, which has the rules for it and finds what is wrong.
"""

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from infinimix.tables.cells import UNSEEN, look_up
from infinimix.tables.forms import Cells, Table
from infinimix.tables.schema import Schema

__all__ = ["Records", "open_records"]

#: Numbers that NumPy converts as `float` does, and None, of which it makes NaN.
_PLAIN = frozenset([float, int, bool, type(None)])

_BITS = {0: 0, 1: 1, None: -1}


class Records(Table):
    """Dicts that have all columns of a schema, and no other."""

    rows: list[dict[Any, Any]]
    schema: Schema

    def __init__(self, schema: Schema, rows: list[dict[Any, Any]]) -> None:
        head = {"names": schema.names, "labels": schema.names, "named": True}
        self.__dict__.update(head, n_rows=len(rows), rows=rows, schema=schema)

    def column(self, j: int) -> Cells:
        name = self.names[j]
        return Cells([row[name] for row in self.rows])

    def codes(self, block: str) -> NDArray[np.int32] | None:
        """A block of categories, -1 where they are missing; None if there are unknown ones."""
        cells = map(self.schema.pickers[block], self.rows)
        return code_cells(cells, self.schema.lookups, self.n_rows)

    def bits(self, block: str) -> NDArray[np.int8] | None:
        """A block of binary cells, -1 where they are missing; None if there are others."""
        return code_bits(map(self.schema.pickers[block], self.rows), self.n_rows)

    def numbers(self, block: str) -> NDArray[np.float64] | None:
        """A block of numbers, NaN where they are missing; None if there are others."""
        return read_numbers([*map(self.schema.pickers[block], self.rows)])


def code_cells(
    rows: Iterable[tuple[Any, ...]], lookups: Sequence[dict[Any, int]], n_rows: int
) -> NDArray[np.int32] | None:
    """The codes of the categories of some rows, -1 where they are missing; None if one is new."""
    try:
        codes = [
            -1 if cell is None else known.get(cell, UNSEEN)
            for cells in rows
            for known, cell in zip(lookups, cells, strict=True)
        ]
    except TypeError:
        return None
    if UNSEEN in codes:
        return None
    return np.array(codes, np.int32).reshape(n_rows, len(lookups))


def code_bits(rows: Iterable[tuple[Any, ...]], n_rows: int) -> NDArray[np.int8] | None:
    """The binary cells of some rows, -1 where they are missing; None if there are others."""
    try:
        codes = look_up(list(chain.from_iterable(rows)), _BITS, "")
    except TypeError:
        return None
    return None if UNSEEN in codes else np.array(codes, np.int8).reshape(n_rows, -1)


def read_numbers(rows: Sequence[tuple[Any, ...]]) -> NDArray[np.float64] | None:
    """The numbers of some rows, NaN where they are missing; None if there are other cells."""
    if not _PLAIN.issuperset(map(type, chain.from_iterable(rows))):
        return None
    try:
        return np.array(rows, np.float64)
    except OverflowError:
        return None


def open_records(schema: Schema, X: Sequence[Any]) -> Records | None:
    """Rows as dicts with string keys, each made whole; None if they are anything else.

    Nothing is said of what they are then: `open_table` does.
    """
    if not schema.named or {*map(type, X)} != {dict}:
        return None
    rows = make_whole(schema.blank, X)
    return None if rows is None else Records(schema, rows)


def make_whole(blank: dict[str, None], X: Sequence[dict[Any, Any]]) -> list[dict[Any, Any]] | None:
    """Rows as dicts that have all columns; None if one has a key that is no column."""
    rows = [blank | row for row in X]
    return rows if {*map(len, rows)} == {len(blank)} else None
