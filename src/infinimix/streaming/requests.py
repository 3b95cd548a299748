"""Request ids: what was learned lately, so that a caller who asks again learns nothing twice."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

LONGEST_ID = 512  # characters


class RowsRequest(NamedTuple):
    """Rows that one caller of `DurableLearner.learn_together` wants to be learned.

    Attributes
    ----------
    X : list
        The rows.
    y : list or None
        Their labels.
    request_id : str or None
        A name of this request.
    """

    X: list[Any]
    y: list[Any] | None = None
    request_id: str | None = None


class Receipt(NamedTuple):
    """What became of a request to learn.

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

    def unknown(self, requests: Sequence[RowsRequest]) -> list[RowsRequest]:
        """Return those that were not learned before, each id once."""
        fresh: dict[Any, RowsRequest] = {}
        for i, one in enumerate(requests):
            key = i if one.request_id is None else one.request_id
            if key not in self._found:
                fresh.setdefault(key, one)
        return list(fresh.values())

    def add(self, ids: Sequence[tuple[str, int]], sequence: int) -> None:
        """Remember the requests of a record and their rows, and forget those too old by now."""
        for request_id, n_rows in ids:
            self._found[request_id] = sequence, n_rows
        while self._found and next(iter(self._found.values()))[0] <= sequence - self.size:
            self._found.popitem(last=False)

    def to_json(self) -> list[list[Any]]:
        """Return all of them, oldest first."""
        return [[name, *found] for name, found in self._found.items()]

    def restore(self, saved: list[list[Any]]) -> None:
        """Remember what `to_json` returned."""
        self._found = OrderedDict((name, (at, rows)) for name, at, rows in saved)


def ids_of(record: Mapping[str, Any], n_rows: int) -> list[tuple[str, int]]:
    """Return the ids of the requests of a record, and how many rows each brought."""
    if "id" in record:
        return [(record["id"], n_rows)]
    return [(name, n) for name, n in record.get("ids", ())]


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
