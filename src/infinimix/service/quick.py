"""Requests with rows, answered without a task: the usual one is read at once and answered later.

A request to predict or learn whose head and body came together needs none of what ASGI is for: no
coroutine that waits for a body, no messages, no event. It is read when its last byte is there, and
waits for the model as all others do; one write answers it. Whatever is unusual goes the long way,
through the application: a body that is not there yet, pipelined requests, a client that does not
read, old versions of HTTP. Limits, tokens and refusals are those of `Service`, in either case.
"""

from __future__ import annotations

import time
from asyncio import TimerHandle
from collections.abc import Mapping
from typing import Any

from starlette.responses import Response
from uvicorn.protocols.http.httptools_impl import STATUS_LINE

from infinimix.service.app import Service
from infinimix.service.exchange import RAW_SAFE, check_size, make_safe, read_headers, write_json
from infinimix.service.jobs import Job
from infinimix.service.problems import HttpProblem
from infinimix.service.protocol import HeadBound

#: What a job is called, by address, and whether it learns.
QUICK = {
    b"/learn": ("learn", True),
    b"/predict": ("predict", False),
    b"/predict-then-learn": ("both", True),
}


def _lines(pairs: Any) -> bytes:
    return b"".join(b"%s: %s\r\n" % pair for pair in pairs)


START = STATUS_LINE[200] + _lines([(b"content-type", b"application/json"), *RAW_SAFE])


def quick_protocol(service: Service) -> type[HeadBound]:
    """Return the protocol of a service for uvicorn."""
    return type(
        "ServiceProtocol",
        (QuickProtocol,),
        {"service": service, "seconds": service.limits.slow},
    )


class QuickProtocol(HeadBound):
    """A connection that answers usual requests by itself."""

    service: Service
    _common: tuple[Any, bytes] = (None, b"")  # pairs and lines
    _parts: list[bytes] | None = None  # of the body, while the request may be a quick one
    _idle: TimerHandle | None = None
    _answered = 0.0  # time of the last answer

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no more."""
        super().connection_lost(exc)
        if self._idle is not None:
            self._idle.cancel()

    def data_received(self, data: bytes) -> None:
        """Read what has come; a request that is not complete by then goes the long way."""
        super().data_received(data)
        if self._parts is not None:
            parts, self._parts = self._parts, None
            self._go_long()
            for part in parts:
                super().on_body(part)

    def on_message_begin(self) -> None:
        """A request begins; what only ASGI needs is made later."""
        self.url, self.headers, self.expect_100_continue = b"", [], False
        self.begin_head()

    def on_headers_complete(self) -> None:
        """The head is there."""
        self.end_head()
        if self._is_quick():
            self._parts = []
        else:
            self._go_long()

    def on_body(self, body: bytes) -> None:
        """A part of the body is there."""
        if self._parts is None:
            super().on_body(body)
        else:
            self._parts.append(body)

    def on_message_complete(self) -> None:
        """The body is there."""
        if self._parts is None:
            super().on_message_complete()
            return
        parts, self._parts = self._parts, None
        self.cycle: Any = QuickRequest(self, self.url)
        self.cycle.run(read_headers(self.headers), b"".join(parts))

    def on_quick_response(self) -> None:
        """Wait for the next request, as `on_response_complete`, with one timer for many of them."""
        if self.pipeline or self.transport.is_closing():
            self.on_response_complete()
            return
        self.server_state.total_requests += 1
        self.flow.resume_reading()
        self._answered = self.loop.time()
        if self._idle is None:
            self._idle = self.loop.call_later(self.timeout_keep_alive, self._look_for_idleness)

    def _look_for_idleness(self) -> None:
        """Close the connection, or look again; not while a request comes, or is being answered."""
        self._idle = None
        if not isinstance(self.cycle, QuickRequest) or not self.cycle.response_complete:
            return  # its answer sets a timer
        left = self._answered + self.timeout_keep_alive - self.loop.time()
        if left > 0.0 or self._in_head:
            self._idle = self.loop.call_later(max(left, 0.1), self._look_for_idleness)
        else:
            self.timeout_keep_alive_handler()

    def common_lines(self) -> bytes:
        """Return the headers that uvicorn adds, such as the date, which it renews at times."""
        pairs = self.server_state.default_headers
        if pairs is not QuickProtocol._common[0]:
            QuickProtocol._common = pairs, _lines(pairs)
        return QuickProtocol._common[1]

    def _is_quick(self) -> bool:
        before, parser = self.cycle, self.parser
        return (
            self.url in QUICK
            and (before is None or before.response_complete)
            and parser.get_method() == b"POST"
            and parser.get_http_version() == "1.1"
            and parser.should_keep_alive()
            and not (self.expect_100_continue or parser.should_upgrade() or self.flow.write_paused)
            and (self.limit_concurrency is None or len(self.connections) < self.limit_concurrency)
        )

    def _go_long(self) -> None:
        """Let uvicorn begin the request, as if it had come through its own methods."""
        url, headers, expects = self.url, self.headers, self.expect_100_continue
        super().on_message_begin()
        self.url, self.expect_100_continue = url, expects
        self.headers += headers
        super().on_headers_complete()


class _NoEvent:
    def set(self) -> None:
        """Nobody waits."""


class QuickRequest:
    """One request: to uvicorn the cycle of its connection, to a job the future of its answer."""

    __slots__ = ("_begun", "_protocol", "_route", "disconnected", "keep_alive", "response_complete")

    message_event = _NoEvent()

    def __init__(self, protocol: QuickProtocol, route: bytes) -> None:
        self._begun = time.perf_counter()
        self._protocol, self._route = protocol, route
        self.disconnected = self.response_complete = False
        self.keep_alive = True

    def run(self, headers: Mapping[str, str], body: bytes) -> None:
        """Read the request and let it wait for the model; or refuse it."""
        service = self._protocol.service
        service.requests.active += 1
        kind, learns = QUICK[self._route]
        try:
            service.admit(headers, learns)
            check_size(len(body), service.limits)
            service.submit_rows(Job(kind, self, self._protocol.loop), headers, body)
        except Exception as error:
            self.set_exception(error)

    def done(self) -> bool:
        """Whether it was answered."""
        return self.response_complete

    def set_result(self, content: Any) -> None:
        """Answer."""
        body = write_json(content)
        self._send(200, START, body)

    def set_exception(self, error: BaseException) -> None:
        """Refuse."""
        if not isinstance(error, HttpProblem):
            error = HttpProblem(500, type(error).__name__)
        response: Response = error.response()
        make_safe(response)
        pairs = [pair for pair in response.raw_headers if pair[0] != b"content-length"]
        status = response.status_code
        self._send(status, STATUS_LINE[status] + _lines(pairs), bytes(response.body))

    def _send(self, status: int, start: bytes, body: bytes) -> None:
        protocol, requests = self._protocol, self._protocol.service.requests
        self.response_complete = True
        status = 499 if self.disconnected else status
        requests.active -= 1
        requests.add(self._route.decode(), status, time.perf_counter() - self._begun)
        if self.disconnected:
            return
        more = protocol.common_lines()
        if not self.keep_alive:
            more += b"connection: close\r\n"
        length = b"content-length: %d\r\n\r\n" % len(body)
        protocol.transport.write(b"".join((start, more, length, body)))
        if not self.keep_alive:
            protocol.transport.close()
        protocol.on_quick_response()
