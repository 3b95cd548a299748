"""Records that are learned again: texts of several records in one call, all others one by one.

A model of text is the same to the bit however its stream is cut into calls, and thousands of calls
with one row each would keep a service from being ready.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from infinimix.streaming.journal import Sealed
from infinimix.streaming.plain import from_json
from infinimix.streaming.requests import ids_of
from infinimix.streaming.snapshots import StreamProgress
from infinimix.tables.rows import count_rows

REFUSALS = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
TOGETHER = 1000  # rows


@dataclass
class Restored:
    """A model, how far it is, and where its log goes on."""

    model: Any
    progress: StreamProgress
    snapshot: int = -1  # its sequence number; -1 without one
    snapshot_rows: int = 0
    damaged: list[int] = field(default_factory=list)  # snapshots
    first: int = 1  # record of the last segment
    length: int = 0  # bytes of it that are whole
    bytes_cut: int = 0


class Relearner:
    """Learns the records of a segment into a model; they count once they are learned.

    Parameters
    ----------
    found : Restored
        What has been restored so far.
    """

    def __init__(self, found: Restored) -> None:
        self.found = found
        self._waiting: list[tuple[Sealed, dict[str, Any]]] = []
        self._rows = 0

    @property
    def sequence(self) -> int:
        """Number of the last record that was added."""
        return self.found.progress.sequence + len(self._waiting)

    def add(self, sealed: Sealed) -> None:
        """Learn a record, at once or with later ones; raise one of `REFUSALS` if it cannot be."""
        try:
            record = from_json(sealed.record)
        except REFUSALS:
            self.flush()  # those before it are sound
            raise
        if self._waiting and not _alike(self._waiting[-1][1], record):
            self.flush()
        self._waiting.append((sealed, record))
        self._rows += len(record["X"]) if _has_texts(record) else TOGETHER
        if self._rows >= TOGETHER:
            self.flush()

    def flush(self) -> None:
        """Learn what waits; if one is refused, those before it have been learned."""
        waiting, self._waiting, self._rows = self._waiting, [], 0
        if len(waiting) > 1 and self._learn_together([record for _, record in waiting]):
            for sealed, record in waiting:
                self._count(sealed, record, len(record["X"]))
            return
        for sealed, record in waiting:
            self._count(sealed, record, _apply(self.found.model, record))

    def _learn_together(self, records: list[dict[str, Any]]) -> bool:
        """Learn texts in one call; False if they are refused, which leaves the model as it was."""
        X = [text for record in records for text in record["X"]]
        y = [label for record in records for label in record["y"] or ()]
        try:
            fit_rows(self.found.model, X, None if records[0]["y"] is None else y)
        except REFUSALS:
            return False
        return True

    def _count(self, sealed: Sealed, record: dict[str, Any], n_rows: int) -> None:
        self.found.progress.advance(n_rows, ids_of(record, n_rows), record.get("at"))
        self.found.length = sealed.end


def _has_texts(record: dict[str, Any]) -> bool:
    X = record.get("X")
    return isinstance(X, list) and len(X) > 0 and all(type(row) is str for row in X)


def _alike(first: dict[str, Any], second: dict[str, Any]) -> bool:
    return (
        _has_texts(first) and _has_texts(second) and (first["y"] is None) == (second["y"] is None)
    )


def _apply(model: Any, record: dict[str, Any]) -> int:
    """Do what a record says; return how many rows it has."""
    if "name" in record:
        model.name_class(*record["name"])
        return 0
    fit_rows(model, record["X"], record["y"])
    return count_rows(record["X"])


def fit_rows(model: Any, X: Any, y: list[Any] | None) -> None:
    """Learn rows, with labels or without."""
    if y is None:
        model.partial_fit(X)
    else:
        model.partial_fit(X, y)
