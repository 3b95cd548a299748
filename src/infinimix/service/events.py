"""Server-sent events: once a second the figures, the classes and what waits for a name."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import orjson

from infinimix.service import answers
from infinimix.service.exchange import RAW_SAFE, Exchange
from infinimix.service.owner import Owner
from infinimix.service.problems import HttpProblem

SECOND = 1.0
MOST_WATCHERS = 32
MOST_CLASSES = 40
HEAD = [(b"content-type", b"text/event-stream"), (b"x-accel-buffering", b"no"), *RAW_SAFE]


class Events:
    """What is told to those who watch; asked of the model once for all of them."""

    def __init__(self, owner: Owner, ask: Callable[[Any], Awaitable[Any]]) -> None:
        self.owner, self._ask = owner, ask
        self._watchers = 0
        self._shown: dict[str, Any] = {}
        self._told: bytes = b""
        self._next: asyncio.Event | None = None

    async def run(self) -> None:
        """Take the figures every second, for ever."""
        while True:
            point = self.owner.figures.tick()
            if self._watchers:
                await self._tell(point)
            await asyncio.sleep(SECOND)

    async def _tell(self, point: dict[str, Any]) -> None:
        try:
            if self.owner.learner is not None:
                self._shown = await self._ask(_look)
        except HttpProblem:
            pass  # the model is busy: what was seen last is told again
        content = {
            "point": point,
            "calibration": self.owner.figures.calibration(),
            "waiting": self.owner.waiting,
            "refusal": self.owner.refusal,
            **self._shown,
        }
        self._told = _event(content)
        told, self._next = self._next, None
        if told is not None:
            told.set()

    async def send(self, exchange: Exchange) -> None:
        """Send the history, then one event a second, until the client goes or is too slow."""
        if self._watchers >= MOST_WATCHERS:
            raise HttpProblem(429, f"{MOST_WATCHERS} clients watch already; try again", retry=5)
        self._watchers += 1
        gone = asyncio.create_task(_wait_for_end(exchange.receive))
        exchange.status = 200
        try:
            start = {"type": "http.response.start", "status": 200, "headers": HEAD}
            await exchange.send(start)
            history = {"history": list(self.owner.figures.history)}
            await self._send(exchange, _event(history))
            while not gone.done():
                self._next = self._next or asyncio.Event()
                waiting = asyncio.create_task(self._next.wait())
                await asyncio.wait({waiting, gone}, return_when=asyncio.FIRST_COMPLETED)
                waiting.cancel()
                if not gone.done():
                    await self._send(exchange, self._told)
        except asyncio.TimeoutError:
            pass  # the client does not read
        finally:
            self._watchers -= 1
            gone.cancel()

    async def _send(self, exchange: Exchange, body: bytes) -> None:
        message = {"type": "http.response.body", "body": body, "more_body": True}
        await asyncio.wait_for(exchange.send(message), exchange.limits.slow)


def _look(learner: Any) -> dict[str, Any]:
    """Return what the page shows of a model; called by its owner."""
    model = learner.model
    found = answers.list_classes(model)
    return {
        "model": type(model).__name__,
        "sequence": learner.sequence,
        "durable": learner.durable,
        "rows": learner.n_rows,
        "n_classes": len(found),
        "classes": found[:MOST_CLASSES],
        "open_world": answers.is_open_world(model),
        "provisional": answers.list_waiting(model)[:MOST_CLASSES],
    }


def _event(content: dict[str, Any]) -> bytes:
    return b"data: " + orjson.dumps(content, option=orjson.OPT_NON_STR_KEYS) + b"\n\n"


async def _wait_for_end(receive: Any) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
