"""Redis Streams as a source: a consumer group, each entry learned once in effect.

An entry has a field ``json`` with ``{"x": row, "y": label}``. The id of the last entry is written
in the same record as its row, and entries are acknowledged when that record is on the disk. What
is delivered again after a crash is not learned again if its id is not beyond that of the model.
"""

from __future__ import annotations

import threading
from typing import Any

from infinimix.service.owner import Owner
from infinimix.service.problems import HttpProblem
from infinimix.service.reading import RowBatch
from infinimix.service.sources import TOGETHER, count_bad, learn_rows, read_line
from infinimix.service.work import LOG

WAIT = 500  # milliseconds for new entries
AGAIN = 1.0  # seconds until the server is asked again
CONSUMER = "owner"  # there is one: the folder has one writer


class RedisSource:
    """One stream of a Redis server.

    Parameters
    ----------
    url : str
        The server, such as ``redis://127.0.0.1:6379/0``.
    stream, group : str
        The stream and the consumer group, which is made if it is not there, from the first entry.
    """

    def __init__(self, url: str, stream: str, group: str) -> None:
        try:
            import redis
        except ImportError:
            raise ImportError("redis is not installed: pip install 'infinimix[serve]'") from None
        self.stream, self.group = stream, group
        self._library = redis
        self._server = redis.Redis.from_url(url, socket_timeout=10.0)

    def run(self, owner: Owner, stopped: threading.Event) -> None:
        """Learn entries until the service stops; a server that is away is waited for."""
        owner.ready.wait()
        if owner.learner is None:
            return
        start = "0"  # first what was delivered before and not acknowledged
        while not stopped.is_set():
            try:
                self._make_group()
                start = self._step(owner, stopped, start)
            except self._library.RedisError as error:
                LOG.warning("Redis: %s", type(error).__name__)
                start = "0"
                stopped.wait(AGAIN)

    def _make_group(self) -> None:
        if getattr(self, "_made", False):
            return
        try:
            self._server.xgroup_create(self.stream, self.group, id="0", mkstream=True)
        except self._library.ResponseError as error:
            if "BUSYGROUP" not in str(error):
                raise
        self._made = True

    def _step(self, owner: Owner, stopped: threading.Event, start: str) -> str:
        """Learn some entries; return where the next ones start."""
        got = self._server.xreadgroup(
            self.group, CONSUMER, {self.stream: start}, count=TOGETHER,
            block=None if start != ">" else WAIT,
        )  # fmt: skip
        entries = _entries(got)
        if not entries:
            return ">"
        done = place(owner.learner.position, self.stream)
        rows: list[tuple[RowBatch, Any]] = []
        for key, fields in entries:
            where = {"stream": self.stream, "entry": key}
            if number(key) <= done or fields is None:
                continue  # learned before a crash, or deleted
            batch = self._read(owner, fields, where)
            if batch is not None:
                rows.append((batch, where))
        if learn_rows(owner, rows, stopped):
            self._server.xack(self.stream, self.group, *(key for key, _ in entries))
        return start if start == ">" else entries[-1][0]

    def _read(self, owner: Owner, fields: dict[bytes, bytes], where: Any) -> RowBatch | None:
        if b"json" not in fields:
            count_bad(owner, where, HttpProblem(422, "there is no field json"))
            return None
        return read_line(owner, fields[b"json"], where)


def number(key: str) -> tuple[int, int]:
    """Return the id of an entry as numbers, which are ordered as the stream is.

    >>> number("1700000000000-3")
    (1700000000000, 3)
    """
    time, _, count = key.partition("-")
    return int(time), int(count or 0)


def place(position: Any, stream: str) -> tuple[int, int]:
    """Return the id of the last entry of a stream that a model has learned."""
    if isinstance(position, dict) and position.get("stream") == stream:
        return number(position["entry"])
    return (0, 0)


def _entries(got: Any) -> list[tuple[str, dict[bytes, bytes] | None]]:
    """Return the entries of one stream, in either form that the library has."""
    if not got:
        return []
    entries = next(iter(got.values()))[0] if isinstance(got, dict) else got[0][1]
    return [(key.decode(), fields or None) for key, fields in entries]
