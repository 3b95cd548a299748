"""The thread that brings the log to the disk beside learning, and answers those who waited for it.

While one flush is under way the next group is read and learned; all that has gathered by then
shares the flush after it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

from infinimix.service.jobs import Done, answer_all


class Flusher(threading.Thread):
    """Flushes as long as somebody waits for it.

    Parameters
    ----------
    flush : callable
        Brings the log to the disk; returns what its argument is to be answered with.
    then : callable
        Called after each flush, when those who waited for it have been answered.

    Attributes
    ----------
    busy : bool
        Whether somebody waits for a flush; if so, `then` will be called.
    """

    def __init__(
        self, flush: Callable[[list[Done]], list[Done]], then: Callable[[], object]
    ) -> None:
        super().__init__(name="flushes of the log", daemon=True)
        self._flush, self._then = flush, then
        self.busy = False
        self._waiting: list[Done] = []
        self._some = threading.Condition()
        self._ends = False

    def add(self, learned: list[Done]) -> None:
        """Answer these when all that has been learned by now is on the disk."""
        with self._some:
            self._waiting += learned
            self.busy = True
            self._some.notify()

    def stop(self) -> None:
        """Answer all who wait, and end."""
        with self._some:
            self._ends = True
            self._some.notify()
        self.join()

    def run(self) -> None:
        """Flush until `stop`."""
        while some := self._take():
            done = self._flush(some)
            with self._some:
                self.busy = bool(self._waiting)
            answer_all(done)
            self._then()

    def _take(self) -> list[Done]:
        with self._some:
            while not self._waiting and not self._ends:
                self._some.wait()
            some, self._waiting = self._waiting, []
            return some
