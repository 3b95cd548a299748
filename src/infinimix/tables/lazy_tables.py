"""Tables that are computed when they are asked for: lazy frames of polars, collections of Dask."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from infinimix.tables.packed import PackedFrame, PackedTable
from infinimix.tables.partitioned import (
    Execute,
    PartitionedTable,
    Place,
    join,
    pack_frame,
    rows_at_once,
)

__all__ = ["DaskTable", "LazyTable"]


@dataclass(frozen=True)
class LazyPart:
    """A lazy frame of polars, which stays in this process."""

    frame: Any
    name: str = "the lazy frame"

    def frames(self, text: Sequence[str] = ()) -> Iterator[Any]:
        rows = rows_at_once(len(self.frame.collect_schema()))
        if hasattr(self.frame, "collect_batches"):
            yield from self.frame.collect_batches(chunk_size=rows, maintain_order=True)
            return
        first = 0
        while len(batch := self.frame.slice(first, rows).collect()):  # of former versions
            yield batch
            first += rows


class LazyTable(PartitionedTable):
    """One part that is not sent anywhere."""

    can_be_sent = False

    def __init__(self, frame: Any) -> None:
        super().__init__([LazyPart(frame)], frame.collect_schema().names())

    def gather(self, execute: Execute) -> PackedTable:
        return super().gather(lambda task, payloads: [task(payload) for payload in payloads])


@dataclass(frozen=True)
class DaskPart:
    """A partition that Dask computes."""

    value: Any
    name: str

    def frames(self, text: Sequence[str] = ()) -> Iterator[Any]:
        yield self.value.compute()


class DaskTable(PartitionedTable):
    """A frame or an array of Dask; its partitions are packed where they are computed."""

    def __init__(self, collection: Any) -> None:
        if hasattr(collection, "rechunk") and collection.ndim == 2:
            collection = collection.rechunk({1: -1})
        self.collection = collection
        values = _delayed(collection)
        columns = _names_of(collection)
        self.values = values
        parts = [DaskPart(value, f"partition {i}") for i, value in enumerate(values)]
        super().__init__(parts, [str(name) for name in columns])
        is_frame = hasattr(collection, "columns") or not hasattr(collection, "chunks")
        self.sizes = [float("nan")] * len(parts) if is_frame else [*collection.chunks[0]]

    def gather(self, execute: Execute) -> PackedTable:
        import dask

        pack = dask.delayed(_pack, pure=False)
        tasks = [
            pack(value, dask_key_name=f"infinimix-pack_part-{i}-{id(self)}")
            for i, value in enumerate(self.values)
        ]
        found = dask.compute(*tasks)
        return join([[frame] for frame in found], [part.name for part in self.parts])

    def place(self, place: Place, compute: Callable[..., list[Any]]) -> list[Any]:
        return place(_pack_placed, compute(self.values, [part.name for part in self.parts]))

    def place_again(self, packed: Sequence[Any], text: Sequence[str], place: Place) -> list[Any]:
        return [*packed]  # a frame has its types


def _pack_placed(values: Any) -> list[PackedFrame]:
    return [_pack(values.value)]


def _pack(values: Any) -> PackedFrame:
    """Pack a partition; labels are a table of one column."""
    if len(values.shape) == 1:
        values = values.to_frame() if hasattr(values, "to_frame") else values[:, None]
    return pack_frame(values)


def _names_of(collection: Any) -> Any:
    """The columns of a frame; those of an array, and a series, have positions only."""
    if hasattr(collection, "columns"):
        return collection.columns
    width = collection.shape[1] if len(collection.shape) == 2 else 1
    return [f"x{j}" for j in range(width)]


def _delayed(collection: Any) -> list[Any]:
    values = collection.to_delayed()
    return [*values.ravel()] if hasattr(values, "ravel") else [*values]
