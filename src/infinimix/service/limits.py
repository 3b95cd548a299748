"""How much one request may ask for: beyond that it is refused before anything is learned."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """Bounds on requests; times are in seconds.

    Attributes
    ----------
    body : int
        Bytes of a body.
    rows : int
        Rows of a request.
    columns : int
        Cells of a row.
    string : int
        Characters of a cell.
    name : int
        Characters of a label, of the name of a column and of a request id (at most 512).
    nesting : int
        Objects and arrays inside each other.
    concurrent : int
        Requests that are being answered at once.
    queue : int
        Requests that wait for the model.
    group, group_rows : int
        Requests that share one flush, and rows of theirs after which no more are taken.
    slow : float
        Time that a client may take to send a request, and to take an event.
    keep_alive : float
        Time that an idle connection stays open.
    """

    body: int = 8 << 20
    rows: int = 10_000
    columns: int = 10_000
    string: int = 1 << 20
    name: int = 1000
    nesting: int = 8
    concurrent: int = 256
    queue: int = 1024
    group: int = 128
    group_rows: int = 512
    slow: float = 10.0
    keep_alive: float = 30.0
