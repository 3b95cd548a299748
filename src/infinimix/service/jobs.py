"""Requests to the model on their way: into a queue, and back to those who wait for an answer."""

from __future__ import annotations

from asyncio import AbstractEventLoop
from collections.abc import Callable
from typing import Any, NamedTuple

from infinimix.service.reading import RowBatch

KEEPING = ("learn", "both", "name")


class Job:
    """One request to the model; `future` is of asyncio if there is a `loop`, else of threads."""

    __slots__ = ("batch", "future", "kind", "loop", "position", "work")

    def __init__(self, kind: str, future: Any, loop: AbstractEventLoop | None = None) -> None:
        self.kind, self.future, self.loop = kind, future, loop
        self.batch = RowBatch([])
        self.position: Any = None
        self.work: Callable[[Any], Any] | None = None

    @property
    def joins(self) -> bool:
        """Whether it may be learned in one call with its neighbours."""
        return self.kind == "learn" and self.position is None

    @property
    def keeps(self) -> bool:
        """Whether it is answered only when the log is on the disk."""
        return self.kind in KEEPING

    @property
    def form(self) -> tuple[Any, bool]:
        """What neighbours must share: rows of one type, with labels or without."""
        return type(self.batch.X[0]), self.batch.y is None


class Done(NamedTuple):
    """A job and its answer, or what was raised."""

    job: Job
    answer: Any
    error: BaseException | None


def neighbours(jobs: list[Job]) -> list[list[Job]]:
    """Return jobs in their order, those together that can be learned in one call."""
    parts: list[list[Job]] = []
    last: Any = None
    for job in jobs:
        form = job.form if job.joins else None
        if form is not None and form == last:
            parts[-1].append(job)
        else:
            parts.append([job])
        last = form
    return parts


def answer_all(done: list[Done]) -> None:
    """Hand answers to those who wait, with one call for each event loop."""
    loops: dict[AbstractEventLoop, list[Done]] = {}
    for one in done:
        if one.job.loop is None:
            _resolve(one)
        else:
            loops.setdefault(one.job.loop, []).append(one)
    for loop, some in loops.items():
        if not loop.is_closed():
            loop.call_soon_threadsafe(_resolve_all, some)


def _resolve_all(done: list[Done]) -> None:
    for one in done:
        _resolve(one)


def _resolve(one: Done) -> None:
    if one.job.future.done():  # the client has gone
        return
    if one.error is not None:
        one.job.future.set_exception(one.error)
    else:
        one.job.future.set_result(one.answer)
