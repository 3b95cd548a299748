"""Tables in partitions: files of a folder, and frames that are computed when they are asked for.

A table in partitions is never whole in memory as it came. To learn from it all at once it is
gathered, partition by partition, in few bytes a cell (`packed`): its columns are then those that it
would have in memory. On a cluster its packed partitions stay with the workers. To answer for its
rows, or to learn it as a stream, its partitions are read one after the other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

from infinimix.tables import errors
from infinimix.tables.packed import PackedColumn, PackedFrame, PackedTable, pack_columns
from infinimix.tables.readers import open_table
from infinimix.tables.sparsity import loaded_type

__all__ = ["Part", "PartitionedTable", "is_in_partitions", "join", "pack_frame", "pack_part"]

Execute = Callable[..., list[Any]]
Place = Callable[..., list[Any]]  # the same, but what tasks return stays where it is

CELLS = 1 << 24  # that are read at once: 128 MB of numbers
LEAST_ROWS = 1000


class Part(Protocol):
    """One partition: it can be sent to another process, and read there."""

    @property
    def name(self) -> str:
        """What errors call it."""

    def frames(self, text: Sequence[str] = ()) -> Iterator[Any]:
        """Yield frames of rows; the columns of `text` are not to be read as numbers."""


class PartitionedTable:
    """A table in partitions; see `read_partitions`.

    Attributes
    ----------
    columns : list of str
        The names of the columns.
    parts : tuple
        The partitions.
    """

    can_be_sent = True  # can other processes read the partitions?

    def __init__(self, parts: Sequence[Part], columns: Sequence[str]) -> None:
        self.parts, self.columns = tuple(parts), list(columns)

    def __repr__(self) -> str:
        return f"<{len(self.parts)} partitions of {len(self.columns)} columns>"

    def batches(self) -> Iterator[Any]:
        """Yield frames of rows, in their order."""
        for part in self.parts:
            yield from part.frames()

    def gather(self, execute: Execute) -> PackedTable:
        """Return all rows in few bytes; `execute` maps a task over partitions."""
        packed = execute(pack_part, [(part, ()) for part in self.parts])
        text = _mixed(packed)
        if text:  # numbers there, text elsewhere: as one file they would be text
            again = [i for i, frames in enumerate(packed) if _has_numbers(frames, text)]
            tasks = [(self.parts[i], text) for i in again]
            for i, frames in zip(again, execute(pack_part, tasks), strict=True):
                packed[i] = frames
        return join(packed, [part.name for part in self.parts])

    def place(self, place: Place, compute: Callable[..., list[Any]]) -> list[Any]:
        """Return the packed partitions where they are read; `compute` is for values of Dask."""
        return place(pack_part, [(part, ()) for part in self.parts])

    def place_again(self, packed: Sequence[Any], text: Sequence[str], place: Place) -> list[Any]:
        """Return the same, with numbers read anew as text in columns that are text elsewhere."""
        return place(
            _pack_as_text, [(*pair, text) for pair in zip(self.parts, packed, strict=True)]
        )


def rows_at_once(width: int) -> int:
    """Return how many rows of so many columns are read at once."""
    return max(LEAST_ROWS, CELLS // max(width, 1))


def join(packed: Sequence[Sequence[PackedFrame]], names: Sequence[str]) -> PackedTable:
    """Return partitions as one table; each has the columns of the first, or is refused by name."""
    frames = [frame for some in packed for frame in some]
    if not frames:
        raise errors.too_few("sample", (0,))
    first = next((frame.names for frame in frames if frame.n_rows), ())
    for name, some in zip(names, packed, strict=True):
        for frame in some:
            if frame.n_rows and frame.names != first:
                raise ValueError(
                    f"{name} has the columns {errors.listed(frame.names)}, but the first "
                    f"partition has {errors.listed(first)}"
                )
    return PackedTable(frames)


def pack_part(task: tuple[Part, Sequence[str]]) -> list[PackedFrame]:
    """Read a partition, and return its rows in few bytes."""
    part, text = task
    try:
        return [pack_frame(frame) for frame in part.frames(text)]
    except MemoryError as error:
        raise MemoryError(
            f"{part.name} does not fit into memory; write it as several smaller files"
        ) from error


def pack_frame(frame: Any) -> PackedFrame:
    """Return a frame or an array in few bytes."""
    if len(frame) == 0:  # a partition may be empty, which a table may not
        labels: Any = getattr(frame, "column_names", None) or getattr(frame, "columns", ())
        names = tuple(map(str, labels))
        return PackedFrame(names, names, True, 0, ())
    table = open_table(frame)
    columns = pack_columns(table.column(j) for j in range(table.width))
    return PackedFrame(table.names, table.labels, table.named, table.n_rows, columns)


def _pack_as_text(task: tuple[Part, Any, Sequence[str]]) -> list[PackedFrame]:
    part, packed, text = task
    return pack_part((part, text)) if _has_numbers(packed.value, text) else packed.value


def _mixed(packed: Sequence[Sequence[PackedFrame]]) -> tuple[str, ...]:
    """Return the columns that are numbers in some partitions and text in others."""
    frames = [frame for some in packed for frame in some if frame.n_rows]
    width = min((len(frame.columns) for frame in frames), default=0)

    def any_is(j: int, test: Callable[[PackedColumn], bool]) -> bool:
        return any(test(frame.columns[j]) for frame in frames)

    return tuple(
        frames[0].names[j]
        for j in range(width)
        if any_is(j, lambda column: column.is_text) and any_is(j, lambda column: column.is_number)
    )


def _has_numbers(frames: Sequence[PackedFrame], text: Sequence[str]) -> bool:
    return any(
        column.is_number
        for frame in frames
        if frame.n_rows
        for name, column in zip(frame.names, frame.columns, strict=True)
        if name in text
    )


def is_in_partitions(X: Any) -> bool:
    """Whether a table comes in partitions: of files, of Dask, or lazily of polars."""
    return isinstance(X, (PartitionedTable, loaded_type("polars", "LazyFrame"))) or is_of_dask(X)


def is_of_dask(X: Any) -> bool:
    """Whether this is a frame, a series or an array of Dask."""
    return type(X).__module__.startswith("dask.") and hasattr(X, "to_delayed")
