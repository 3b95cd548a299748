"""Short jobs in the event loop: all requests that one turn of the loop has read are one group.

While a flush is under way, the first requests to learn wait for a few more, or for its end: they
are answered no later for it, and two or three in a call cost twice as much a row as eight. More are
not held back, as a flush may be slow and they can be learned meanwhile. Anything else is served at
once, in its order.
"""

from __future__ import annotations

from asyncio import AbstractEventLoop
from typing import Any

from infinimix.service.owner import Owner

GATHERED = 4  # requests to learn that wait for no flush


class Ticks:
    """The turns of an event loop at the model of an owner.

    Parameters
    ----------
    owner : Owner
        Told to call back when it has finished something.
    """

    def __init__(self, owner: Owner) -> None:
        self._owner = owner
        self._loop: AbstractEventLoop | None = None
        self._due = False  # a look at the queue is scheduled
        self._learns = True  # all that wait do
        owner.free = self._free

    def submit(self, job: Any) -> None:
        """Let a job of this event loop wait for the model; raise HttpProblem if too many do."""
        if job.loop is not self._loop:
            self._loop, self._due = job.loop, False
        self._owner.submit(job, wake=False)
        self._learns = self._learns and job.joins
        self._look_soon()

    def _look_soon(self) -> None:
        if not self._due and self._loop is not None:
            self._due = True
            self._loop.call_soon(self._look)

    def _look(self) -> None:
        """Serve what waits, or leave it to the thread."""
        self._due = False
        owner = self._owner
        if self._learns and owner.waiting < GATHERED and owner.flushing:
            return
        if not owner.serve_here():
            owner.wake()
        elif owner.waiting:
            self._look_soon()
            return
        self._learns = True

    def _free(self) -> bool:
        """Look again, as something is finished; called by other threads."""
        loop = self._loop
        if loop is None or loop.is_closed():
            return False
        if self._owner.waiting:
            loop.call_soon_threadsafe(self._look)
        return True
