"""One request and its answer, in plain ASGI: the head, a bounded body, JSON back."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Generator, Iterable, Mapping, MutableMapping
from typing import Any

import orjson
from starlette.responses import Response

from infinimix.service.limits import Limits
from infinimix.service.problems import HttpProblem, too_large

SAFE = {
    "x-content-type-options": "nosniff",
    "cache-control": "no-store",
    "referrer-policy": "no-referrer",
}
RAW_SAFE = [(name.encode(), value.encode()) for name, value in SAFE.items()]


def read_headers(pairs: Iterable[tuple[bytes, bytes]]) -> dict[str, str]:
    """Return the headers of a request."""
    return {name.decode("latin-1"): value.decode("latin-1") for name, value in pairs}


def check_size(size: int, limits: Limits) -> None:
    """Refuse a body of so many bytes if that is too many."""
    if size > limits.body:
        raise too_large("bytes of a body", limits.body)


def write_json(content: Any) -> bytes:
    """Return the body of an answer."""
    return orjson.dumps(content, option=orjson.OPT_NON_STR_KEYS | orjson.OPT_SERIALIZE_NUMPY)


def make_safe(response: Response) -> None:
    """Give an answer the headers that all answers have."""
    for name, value in SAFE.items():
        response.headers.setdefault(name, value)


class Gone(Exception):
    """The client has closed the connection."""


class Within:
    """A message, awaited until a moment; a timer is set only if it is not there yet.

    Most bodies come with their head, and a timer for each costs more than reading them.
    """

    def __init__(self, receive: Any, end: float) -> None:
        self.receive, self.end = receive, end

    def __await__(self) -> Generator[Any, Any, Any]:
        coming = self.receive()
        try:
            waiting = coming.send(None)
        except StopIteration as there:
            return there.value
        task, late = asyncio.current_task(), []

        def stop() -> None:
            late.append(True)
            if task is not None:
                task.cancel()

        timer = asyncio.get_running_loop().call_later(self.end - time.monotonic(), stop)
        try:
            return (yield from _go_on(coming, waiting))
        except asyncio.CancelledError:
            if late:
                raise TimeoutError from None
            raise
        finally:
            timer.cancel()


def _go_on(coming: Any, waiting: Any) -> Generator[Any, Any, Any]:
    """Await the rest of a coroutine that has begun to wait."""
    while True:
        try:
            got = yield waiting
        except BaseException as error:
            step, given = coming.throw, error
        else:
            step, given = coming.send, got
        try:
            waiting = step(given)
        except StopIteration as there:
            return there.value


class Exchange:
    """What a handler needs of a request.

    Parameters
    ----------
    scope, receive, send : as in ASGI
        The request.
    limits : Limits
        How large a body may be, and how slow.
    """

    def __init__(
        self, scope: MutableMapping[str, Any], receive: Any, send: Any, limits: Limits
    ) -> None:
        self.scope, self.receive, self.send, self.limits = scope, receive, send, limits
        self.headers = read_headers(scope["headers"])
        self.path: Mapping[str, Any] = scope.get("path_params", {})
        self.status = 0

    async def body(self) -> bytes:
        """Return the body; raise HttpProblem if it is too large or comes too slowly."""
        length = self.headers.get("content-length", "0")
        check_size(int(length) if length.isdigit() else 0, self.limits)
        try:
            return await self._read()
        except TimeoutError:
            raise HttpProblem(408, f"a body must come within {self.limits.slow:g} s") from None

    async def _read(self) -> bytes:
        parts, size, more = [], 0, True
        end = time.monotonic() + self.limits.slow
        while more:
            message = await Within(self.receive, end)
            if message["type"] != "http.request":
                raise Gone
            part = message.get("body", b"")
            size += len(part)
            check_size(size, self.limits)
            parts.append(part)
            more = message.get("more_body", False)
        return parts[0] if len(parts) == 1 else b"".join(parts)

    async def answer(self, content: Any, status: int = 200) -> None:
        """Send JSON."""
        body = write_json(content)
        length = (b"content-length", str(len(body)).encode())
        head = [(b"content-type", b"application/json"), length, *RAW_SAFE]
        self.status = status
        await self.send({"type": "http.response.start", "status": status, "headers": head})
        await self.send({"type": "http.response.body", "body": body})

    async def respond(self, response: Response) -> None:
        """Send any other answer."""
        make_safe(response)
        self.status = response.status_code
        await response(self.scope, self.receive, self.send)
