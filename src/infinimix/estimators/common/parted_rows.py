"""Tables in partitions that a cluster reads: kinds, classes and encoded rows, none of them here.

Workers read and pack the partitions, and keep them. Their digests (`tables.digests`) are merged in
a tree, whose shape depends on the partitions only, and decide the schema and the classes; each
partition is then encoded where it is. The columns, categories and codes are those of the whole
table in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from infinimix import execution
from infinimix.estimators.common.labels import Labels, check_lengths, read_some_labels
from infinimix.estimators.common.partitioned_rows import check_target, labels_of
from infinimix.estimators.common.table_estimator import given_in_numbers
from infinimix.tables import EncodedTable, Schema, encode
from infinimix.tables.digests import Decided, Digest, decide_whole, digest, merge, read_schema_of
from infinimix.tables.kinds import AskedColumn, Rule
from infinimix.tables.packed import PackedFrame, PackedTable, unite
from infinimix.tables.partition_sources import open_partitions
from infinimix.tables.partitioned import PartitionedTable, is_in_partitions, join

FAN = 8  # digests that are merged at a time


def is_read_by_workers(X: Any) -> bool:
    """Whether X is in partitions, and the executor in charge has workers that can keep them."""
    if not execution.executor_for().keeps or not is_in_partitions(X):
        return False
    return open_partitions(X).can_be_sent


class PlacedPartitions(NamedTuple):
    """Packed partitions that lie with workers; those without rows are left out."""

    packed: list[Any]
    frames: list[PackedFrame]  # what each is: without columns
    target: str | None  # the column of labels
    digests: list[Digest]  # of all columns

    @property
    def outline(self) -> PackedFrame:
        """The table without its target."""
        first, places = self.frames[0], self.places()
        names, labels = (tuple(some[j] for j in places) for some in (first.names, first.labels))
        return first._replace(names=names, labels=labels, n_rows=sum(self.sizes))

    @property
    def sizes(self) -> list[int]:
        """The number of rows of each partition."""
        return [frame.n_rows for frame in self.frames]

    def places(self) -> list[int]:
        """Return where the columns of the outline are in packed frames."""
        names = self.frames[0].names
        return [j for j, name in enumerate(names) if name != self.target]


def read_there(
    table: PartitionedTable, y: Any, execute: Callable[..., Any], place: Callable[..., Any]
) -> PlacedPartitions:
    """Let workers read the partitions of a table; `y` may name the column of its labels."""
    target = y if isinstance(y, str) else None
    if target is not None:
        check_target(table, target)
    executor: Any = execution.executor_for()
    packed = table.place(place, executor.compute)
    frames = [PackedTable(some).first for some in execute(_outline, packed)]
    join([[frame] for frame in frames], [part.name for part in table.parts])
    digests = _digests(packed, target, place)
    text = [
        name
        for name, one in zip(_names(frames), digests, strict=True)
        if one.is_text and one.is_number
    ]
    if text:
        again = table.place_again(packed, text, place)
        packed, digests = again, _digests(again, target, place)
    full = [k for k, frame in enumerate(frames) if frame.n_rows]
    return PlacedPartitions([packed[k] for k in full], [frames[k] for k in full], target, digests)


def _names(frames: Sequence[PackedFrame]) -> tuple[str, ...]:
    return next((frame.names for frame in frames if frame.n_rows), frames[0].names)


def _outline(packed: Any) -> list[PackedFrame]:
    """Return what a partition is, without its cells, as one frame."""
    frames = PackedTable(packed.value)
    return [frames.first._replace(n_rows=len(frames), columns=())]


def _digests(packed: list[Any], target: str | None, place: Callable[..., Any]) -> list[Digest]:
    found = place(_digest_part, [(one, target) for one in packed])
    while len(found) > 1:
        found = place(
            _merge, [(tuple(found[i : i + FAN]), target) for i in range(0, len(found), FAN)]
        )
    return list(execution.map(_read, found)[0].values())


def _read(placed: Any) -> Any:
    return placed.value


def _digest_part(task: tuple[Any, str | None]) -> dict[str, Digest]:
    packed, target = task
    frames = [frame for frame in packed.value if frame.n_rows]
    found: dict[str, Digest] = {}
    for j, name in enumerate(frames[0].names if frames else ()):
        options = {"most": None} if name == target else {}
        found[name] = merge([digest(frame.columns[j], **options) for frame in frames], **options)
    return found


def _merge(task: tuple[tuple[Any, ...], str | None]) -> dict[str, Digest]:
    placed, target = task
    some = [one.value for one in placed if one.value]
    return {
        name: merge([one[name] for one in some], **({"most": None} if name == target else {}))
        for name in (some[0] if some else ())
    }


def find_schema(
    reading: PlacedPartitions,
    model: Any,
    spikes: bool,
    place: Callable[..., Any],
    chosen: Mapping[str, str] = MappingProxyType({}),
) -> Schema | None:
    """Return the schema that a model has of the whole table; None if it has dates.

    `chosen` are kinds of columns that the "auto" rule does not decide.
    """
    rule = Rule(given_in_numbers(model.prior), spikes, chosen=dict(chosen))
    places = reading.places()

    def ask(asked: list[AskedColumn]) -> list[Decided]:
        picked = [
            tuple(place(_pick, [(one, places[column.at]) for one in reading.packed]))
            for column in asked
        ]
        tasks = [(*pair, rule) for pair in zip(picked, asked, strict=True)]
        return list(model._execute(_decide, tasks))

    digests = [reading.digests[j] for j in places]
    return read_schema_of(reading.outline, digests, model.columns, rule, ask)


def _pick(task: tuple[Any, int]) -> Any:
    packed, j = task
    return unite([frame.columns[j].cells() for frame in packed.value if frame.n_rows])


def _decide(task: tuple[tuple[Any, ...], AskedColumn, Rule]) -> Decided:
    """Decide a column by all of its cells, wherever they came from."""
    parts, asked, rule = task
    return decide_whole(unite([part.value for part in parts]), asked, rule)


def find_labels(
    reading: PlacedPartitions, y: Any, unlabelled: Any
) -> tuple[Labels, list[Any], bool]:
    """Return the classes, the labels of each partition (None: its target), and if all have one."""
    labels = Labels()
    if reading.target is not None:
        known = reading.digests[reading.frames[0].names.index(reading.target)].cells
        assert known is not None  # labels are never too many
        codes, new = read_some_labels(labels, labels_of(known), unlabelled)
        parts: list[Any] = [None] * len(reading.packed)
    else:
        codes, new = read_some_labels(labels, y, unlabelled)
        check_lengths(sum(reading.sizes), len(codes))
        parts = np.split(codes.astype(np.int32), np.cumsum(reading.sizes)[:-1])
    labels.extend(new)
    return labels, parts, bool((codes >= 0).all())


class PartEncoding(NamedTuple):
    """How partitions are encoded."""

    schema: Schema
    who: str
    labels: Labels | None = None  # None: all rows are of one class
    target: str | None = None
    unlabelled: Any = None


def encode_parts(
    reading: PlacedPartitions, parts: Sequence[Any], how: PartEncoding, place: Any
) -> list[Any]:
    """Encode partitions where they are: tuples of blocks and, last, the codes of classes."""
    tasks = [(packed, codes, how) for packed, codes in zip(reading.packed, parts, strict=True)]
    return list(place(_encode_part, tasks))


def _encode_part(task: tuple[Any, Any, PartEncoding]) -> tuple[np.ndarray, ...]:
    packed, codes, how = task
    rows: Any = PackedTable(packed.value)
    if how.labels is None:
        codes = np.zeros(len(rows), np.int32)
    elif how.target is not None:
        rows, cells = rows.without(how.target)
        codes = read_some_labels(how.labels, labels_of(cells), how.unlabelled)[0].astype(np.int32)
    table = encode(how.schema, rows, learn=False, who=how.who, lenient=False)
    return (*table.blocks, codes)


def as_table(schema: Schema, part: tuple[np.ndarray, ...]) -> EncodedTable:
    """Return an encoded part as a table."""
    return EncodedTable(schema, part[:-1])
