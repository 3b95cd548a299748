"""The log of a folder as rows, to learn them into another model; the folder is only read."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from infinimix.streaming.folder import FIRST_LOG, SEGMENT, find_numbers, segment_path
from infinimix.streaming.journal import DurabilityError, read_records
from infinimix.streaming.plain import from_json


class LoggedRows(NamedTuple):
    """The rows of a record."""

    sequence: int
    X: Any
    y: list[Any] | None


def read_log(directory: Path, until: int | None = None) -> Iterator[LoggedRows]:
    """Yield the rows of all records, oldest first, up to one if it is given.

    The first that there is may be a later one than record 1: segments go once two snapshots cover
    them. What a crash has left at the end is passed over.

    Raises
    ------
    DurabilityError
        If a record is damaged and later ones follow, or `until` is not there.
    """
    firsts = find_numbers(directory, SEGMENT)
    if not firsts and find_numbers(directory, FIRST_LOG):
        raise DurabilityError(
            f"{directory} is of an earlier version of infinimix; open it once with DurableLearner, "
            "which converts it"
        )
    last = firsts[0] - 1 if firsts else 0
    for first in firsts:
        path = segment_path(directory, first)
        for sealed in read_records(path):
            if last == until:
                return
            if sealed.sequence != last + 1:
                raise DurabilityError(
                    f"record {last + 1} in {path} is damaged or missing, and later ones follow it; "
                    f"add --until {last} to learn the records before it"
                )
            last = sealed.sequence
            record = from_json(sealed.record)
            if "X" in record:  # provisional classes, and so their names, are of one model only
                yield LoggedRows(last, record["X"], record["y"])
    if until is not None and last < until:
        raise DurabilityError(f"{directory}: the log ends with record {last}, before {until}")
