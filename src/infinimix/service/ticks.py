"""Short jobs in the event loop: all requests that one turn of the loop has read are one group.

A group is learned at once, also while a flush is under way; what has gathered when that one ends
shares the next. To hold requests back until then makes groups larger, and was slower.
"""

from __future__ import annotations

from asyncio import AbstractEventLoop
from typing import Any

from infinimix.service.owner import Owner


class Ticks:
    """The turns of an event loop at the model of an owner.

    Parameters
    ----------
    owner : Owner
        Told to call back when what waits is for the event loop again.
    """

    def __init__(self, owner: Owner) -> None:
        self._owner = owner
        self._loop: AbstractEventLoop | None = None
        self._due = False  # a look at the queue is scheduled
        owner.free = self._free

    def submit(self, job: Any) -> None:
        """Let a job of this event loop wait for the model; raise HttpProblem if too many do."""
        if job.loop is not self._loop:
            self._loop, self._due = job.loop, False
        self._owner.submit(job, wake=False)
        self._look_soon()

    def _look_soon(self) -> None:
        if not self._due and self._loop is not None:
            self._due = True
            self._loop.call_soon(self._look)

    def _look(self) -> None:
        """Serve what waits, or leave it to the thread."""
        self._due = False
        if not self._owner.serve_here():
            self._owner.wake()
        elif self._owner.waiting:
            self._look_soon()

    def _free(self) -> bool:
        """Look again; called by the thread."""
        loop = self._loop
        if loop is None or loop.is_closed():
            return False
        loop.call_soon_threadsafe(self._look)
        return True
