"""Load for a service: requests over several connections, written as cheaply as Python allows.

The client shares two cores with the service, so what it does is missing there: requests are bytes
before the first one is sent, a connection is a protocol and not a pair of streams, the event loop
is uvloop's where there is one, and garbage is not collected meanwhile. It then takes 20 to 30
microseconds a request, an eighth of what the service needs for one.
"""

from __future__ import annotations

import asyncio
import gc
import time
from collections import deque
from collections.abc import Sequence
from typing import Any

CONNECTIONS = 32
MOST = 60_000  # requests of one measurement
TICK = 0.001  # seconds between two looks at what is due
OK = b"HTTP/1.1 200"
LENGTH = b"content-length: "


class Connection(asyncio.Protocol):
    """One connection, with at most one request on its way."""

    def __init__(self, load: Load) -> None:
        self._load, self._got, self.due = load, b"", 0.0

    def connection_made(self, transport: Any) -> None:
        """Keep what requests are written to."""
        self.transport = transport

    def send(self, request: bytes, due: float) -> None:
        """Send a request that was due at a moment."""
        self.due = due
        self.transport.write(request)

    def data_received(self, data: bytes) -> None:
        """Tell when an answer is there; mostly it comes whole."""
        self._got = data = self._got + data if self._got else data
        end = data.find(b"\r\n\r\n")
        if end < 0:
            return
        at = data.index(LENGTH) + len(LENGTH)
        if len(data) >= end + 4 + int(data[at : data.index(b"\r\n", at)]):
            self._got = b""
            self._load.answered(self, data.startswith(OK))

    def connection_lost(self, error: Exception | None) -> None:
        """End the measurement if the service has gone."""
        self._load.lost()


class Load:
    """Requests over several connections, as fast as they are answered or at a given rate.

    Parameters
    ----------
    port : int
        Where the service is.
    requests : sequence of bytes
        What is sent, from the first again after the last.
    most : int
        How many are sent at most.

    Attributes
    ----------
    latencies : list of float
        Seconds; at a given rate from the moment at which a request was due, though all connections
        may have been waiting then.
    sent, refused : int
        Requests, and answers that are no success.
    """

    def __init__(self, port: int, requests: Sequence[bytes], most: int = MOST) -> None:
        self.port, self.requests, self.most = port, requests, most
        self.latencies: list[float] = []
        self.refused = self.sent = 0
        self._idle: deque[Connection] = deque()
        self._rate: float | None = None

    def put(self, seconds: float, rate: float | None = None) -> float:
        """Send requests for so long; return how long it took until all were answered."""
        loop = _new_loop()
        gc.collect()
        gc.disable()
        try:
            return loop.run_until_complete(self.run(seconds, rate))
        finally:
            gc.enable()
            loop.close()

    async def run(self, seconds: float, rate: float | None = None) -> float:
        """As `put`, in an event loop that there is."""
        loop = asyncio.get_running_loop()
        for _ in range(CONNECTIONS):
            pair = await loop.create_connection(lambda: Connection(self), "127.0.0.1", self.port)
            self._idle.append(pair[1])
        self._rate, self._over = rate, loop.create_future()
        self._start = time.perf_counter()
        self._end = self._start + seconds
        self._send_due()
        if rate is not None:
            self._tick(loop)
        await self._over
        took = time.perf_counter() - self._start
        for connection in self._idle:
            connection.transport.close()
        return took

    def answered(self, connection: Connection, well: bool) -> None:
        """Count an answer, and use the connection again."""
        self.latencies.append(time.perf_counter() - connection.due)
        self.refused += not well
        self._idle.append(connection)
        self._send_due()

    def lost(self) -> None:
        """A connection is gone."""
        if not self._over.done():
            self._over.set_exception(RuntimeError("the service has closed a connection"))

    def _tick(self, loop: Any) -> None:
        self._send_due()
        if not self._over.done():
            loop.call_later(TICK, self._tick, loop)

    def _send_due(self) -> None:
        """Send what is due by now, as far as there are connections; see whether all is over."""
        now = time.perf_counter()
        while self._idle and (due := self._next_due(now)) is not None and due <= now:
            request = self.requests[self.sent % len(self.requests)]
            self.sent += 1
            self._idle.popleft().send(request, due)
        if len(self._idle) == CONNECTIONS and self._next_due(now) is None and not self._over.done():
            self._over.set_result(None)

    def _next_due(self, now: float) -> float | None:
        """Return when the next request is due; None if there is none."""
        due = now if self._rate is None else self._start + self.sent / self._rate
        return None if self.sent >= self.most or due >= self._end else due


def _new_loop() -> asyncio.AbstractEventLoop:
    try:
        import uvloop
    except ImportError:
        return asyncio.new_event_loop()
    return uvloop.new_event_loop()
