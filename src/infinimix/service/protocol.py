"""HTTP for uvicorn, with a bound on the time and the bytes that the head of a request may take.

uvicorn closes idle connections, but waits for ever for one that sends a head byte by byte.
"""

from __future__ import annotations

from asyncio import TimerHandle, Transport
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

HEAD_BYTES = 1 << 16


class HeadBound(HttpToolsProtocol):
    """A connection that is closed if a head takes too long or is too large."""

    seconds = 10.0
    _timer: TimerHandle | None = None
    _head = 0
    _in_head = True

    def connection_made(self, transport: Transport) -> None:  # type: ignore[override]
        """Wait for the first head."""
        super().connection_made(transport)
        self._start()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no more."""
        self._stop()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Count the bytes of the head; a timer runs only while one is incomplete."""
        if self._in_head:
            self._head += len(data)
        super().data_received(data)
        if self._in_head and self._head > HEAD_BYTES:
            self.transport.close()
        elif self._in_head and self._timer is None:
            self._start()

    def on_message_begin(self) -> None:
        """The head of the next request begins."""
        super().on_message_begin()
        self.begin_head()

    def on_headers_complete(self) -> None:
        """The head is there."""
        self.end_head()
        super().on_headers_complete()

    def begin_head(self) -> None:
        """Count the bytes of a head from here on."""
        self._in_head, self._head = True, 0

    def end_head(self) -> None:
        """The head was in time."""
        self._in_head = False
        self._stop()

    def _start(self) -> None:
        self._timer = self.loop.call_later(self.seconds, self._close)

    def _stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _close(self) -> None:
        transport: Any = self.transport
        if transport is not None and not transport.is_closing():
            transport.close()
