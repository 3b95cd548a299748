"""Request ids: what was learned lately, so that a caller who asks again learns nothing twice."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any, NamedTuple

LONGEST_ID = 512  # characters


class Receipt(NamedTuple):
    """What became of a call of `DurableLearner.learn`.

    Attributes
    ----------
    sequence : int
        Number of the record that holds the rows.
    n_rows : int
        Rows of that record.
    repeated : bool
        Whether the request was learned before, and nothing was done now.
    """

    sequence: int
    n_rows: int
    repeated: bool


class RequestWindow:
    """The request ids of the last records.

    Parameters
    ----------
    size : int
        Records after which a request id is forgotten.
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self._found: OrderedDict[str, tuple[int, int]] = OrderedDict()

    def find(self, request_id: str | None) -> Receipt | None:
        """Return the receipt of a request that was learned before."""
        found = None if request_id is None else self._found.get(request_id)
        return None if found is None else Receipt(*found, repeated=True)

    def add(self, request_id: str | None, sequence: int, n_rows: int) -> None:
        """Remember a record, and forget those that are too old by now."""
        if request_id is not None:
            self._found[request_id] = sequence, n_rows
        while self._found and next(iter(self._found.values()))[0] <= sequence - self.size:
            self._found.popitem(last=False)

    def to_json(self) -> list[list[Any]]:
        """Return all of them, oldest first."""
        return [[name, *found] for name, found in self._found.items()]

    def restore(self, saved: list[list[Any]]) -> None:
        """Remember what `to_json` returned."""
        self._found = OrderedDict((name, (at, rows)) for name, at, rows in saved)


def check_request_id(request_id: object) -> None:
    """Raise TypeError or ValueError if this is no request id."""
    if request_id is None:
        return
    if not isinstance(request_id, str):
        raise TypeError(f"request_id must be a string; got {type(request_id).__name__}.")
    if not 0 < len(request_id) <= LONGEST_ID:
        raise ValueError(
            f"request_id must have 1 to {LONGEST_ID} characters; got {len(request_id)}."
        )
