"""Tables held column by column in few bytes: what is gathered from many partitions.

Nothing is lost: numbers are kept in the smallest type that holds all of them exactly, other values
as codes of the distinct ones. `open_table` reads a `PackedTable` like a frame, one column at a
time, so columns that come in partitions have the kinds, the categories and the codes that they
would have in memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from infinimix.tables.forms import Cells, Columns
from infinimix.tables.missing import is_missing

__all__ = ["PackedColumn", "PackedFrame", "PackedTable", "pack_columns", "unite"]

WHOLE: dict[str, tuple[Any, ...]] = {
    "i": (np.int8, np.int16, np.int32),
    "u": (np.uint8, np.uint16, np.uint32),
}
FLOATS: tuple[Any, ...] = (np.float16, np.float32)


class PackedColumn(NamedTuple):
    """The cells of a column in one partition."""

    values: NDArray[Any] | list[Any]  # numbers, or codes of `distinct`, or values as they are
    missing: NDArray[np.bool_] | None
    distinct: list[Any] | None = None  # the first is None: a missing cell
    category: bool = False
    widened: bool = False

    @property
    def is_text(self) -> bool:
        """Whether any observed cell is no number."""
        some = self.distinct[1:] if self.distinct is not None else self.values
        return isinstance(some, list) and any(isinstance(value, str) for value in some)

    @property
    def is_number(self) -> bool:
        """Whether there are observed cells, held as numbers."""
        if isinstance(self.values, list) or self.distinct is not None:
            return False
        return self.values.dtype.kind != "f" or not np.isnan(self.values).all()

    @property
    def nbytes(self) -> int:
        """About how much memory it takes."""
        size = 8 * len(self.values) if isinstance(self.values, list) else self.values.nbytes
        return size + (0 if self.missing is None else self.missing.nbytes)

    def cells(self) -> Cells:
        """The column as it was; whole numbers may stay in a smaller type."""
        values = self.values
        if self.distinct is not None:
            values = list(map(self.distinct.__getitem__, values))
        elif not isinstance(values, list) and values.dtype.kind == "f":
            values = values.astype(np.float64)
        return Cells(values, self.missing, self.category, self.widened)


class PackedFrame(NamedTuple):
    """One partition, or a batch of rows of it."""

    names: tuple[str, ...]
    labels: tuple[Any, ...]
    named: bool
    n_rows: int
    columns: tuple[PackedColumn, ...]


class PackedTable:
    """Partitions one after the other, as one table."""

    def __init__(self, frames: Sequence[PackedFrame]) -> None:
        self.frames = [frame for frame in frames if frame.n_rows] or list(frames[:1])
        self.first = self.frames[0]

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return list(self.first.names)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return sum(frame.n_rows for frame in self.frames), len(self.first.names)

    @property
    def nbytes(self) -> int:
        """About how much memory it takes."""
        return sum(column.nbytes for frame in self.frames for column in frame.columns)

    def __len__(self) -> int:
        return self.shape[0]

    def pick(self, j: int) -> Cells:
        """Column `j` of all partitions."""
        return unite([frame.columns[j].cells() for frame in self.frames])

    def without(self, name: str) -> tuple[PackedTable, Cells]:
        """The table without a column, and that column."""
        at = self.columns.index(name)
        frames = [
            frame._replace(
                names=_left(frame.names, at),
                labels=_left(frame.labels, at),
                columns=_left(frame.columns, at),
            )
            for frame in self.frames
        ]
        return PackedTable(frames), self.pick(at)

    def opened(self) -> Columns:
        """The table for `open_table`."""
        first = self.first
        return Columns(first.names, first.labels, first.named, len(self), pick=self.pick)


def _left(some: tuple[Any, ...], at: int) -> tuple[Any, ...]:
    return (*some[:at], *some[at + 1 :])


def pack_columns(columns: Iterable[Cells]) -> tuple[PackedColumn, ...]:
    return tuple(map(_pack, columns))


def _pack(cells: Cells) -> PackedColumn:
    flags = (cells.category, cells.widened)
    if isinstance(cells.values, list):
        return _pack_list(cells.values, flags)
    missing = cells.missing if cells.missing is not None and cells.missing.any() else None
    return PackedColumn(_narrowed(cells.values), missing, None, *flags)


def _narrowed(values: NDArray[Any]) -> NDArray[Any]:
    """The same numbers in the smallest type of their kind that holds them exactly."""
    kind = values.dtype.kind
    if kind in WHOLE and len(values):
        low, high = values.min(), values.max()
        for dtype in WHOLE[kind]:
            if np.iinfo(dtype).min <= low and high <= np.iinfo(dtype).max:
                return values.astype(dtype)
    elif kind == "f":
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            for dtype in FLOATS:
                small = values.astype(dtype)
                if np.array_equal(small, values, equal_nan=True):
                    return small
    return np.ascontiguousarray(values)


def _pack_list(values: list[Any], flags: tuple[bool, bool]) -> PackedColumn:
    """Values as codes of the distinct ones, unless there are too many, or some cannot be keys."""
    codes: dict[Any, int] = {}
    distinct: list[Any] = [None]
    found = np.zeros(len(values), np.int32)
    try:
        for row, value in enumerate(values):
            key = (type(value), value)
            code = codes.get(key)
            if code is None:
                code = 0 if is_missing(value) else len(distinct)
                if code:
                    codes[key] = code
                    distinct.append(value)
            found[row] = code
    except TypeError:  # lists and the like, which `encode` refuses by name
        return PackedColumn(values, None, None, *flags)
    if len(distinct) > max(len(values) // 2, 1000):
        return PackedColumn(values, None, None, *flags)
    return PackedColumn(_narrowed(found), None, distinct, *flags)


def unite(parts: Sequence[Cells]) -> Cells:
    """The cells of all partitions: arrays of one sort of numbers, or else a list of values."""
    category, widened = any(c.category for c in parts), any(c.widened for c in parts)
    sorts = {"list" if isinstance(c.values, list) else _sort(c.values) for c in parts}
    if len(sorts) > 1 or "list" in sorts:
        return Cells([v for c in parts for v in _listed(c)], None, category, widened)
    missing = None
    if any(c.missing is not None for c in parts):
        missing = np.concatenate(
            [np.zeros(len(c.values), bool) if c.missing is None else c.missing for c in parts]
        )
    return Cells(np.concatenate([c.values for c in parts]), missing, category, widened)


def _sort(values: NDArray[Any]) -> str:
    return "flags" if values.dtype.kind == "b" else "numbers"


def _listed(cells: Cells) -> list[Any]:
    if isinstance(cells.values, list):
        return cells.values
    values = cells.values.tolist()
    if cells.missing is None:
        return values
    return [None if hole else v for v, hole in zip(values, cells.missing.tolist(), strict=True)]
