"""Who has the turn at the model: the event loop for short jobs, a thread for all others.

Requests wait in one queue, in their order, and whoever holds the turn takes them from its front, so
the model needs no locks. What is over in a few milliseconds is done by the event loop itself
(`ticks`): to hand each request to a thread, and the interpreter back and forth between two that are
busy, costs more than to learn it. The thread has what takes longer, so that the loop goes on: large
requests, whole descriptions of the model, first rows, snapshots and new segments of the log. Those
that learn wait for a flush of the log, which another thread does for all of them (group commit).
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Any

from infinimix.service.figures import Figures
from infinimix.service.flushing import Flusher
from infinimix.service.jobs import Job, answer_all
from infinimix.service.limits import Limits
from infinimix.service.problems import HttpProblem
from infinimix.service.work import RETRY, ModelWork

SHORT = 0.004  # seconds that the event loop may spend on one group
FEW = 16  # rows of a request that it may learn
FORGET = 0.9  # of a slow call, with each one after it


class Owner(ModelWork, threading.Thread):
    """The owner of a learner.

    Parameters
    ----------
    open_learner : callable
        Returns the learner; called in the thread, as recovery takes time.
    limits : Limits
        How many requests may wait, and share a flush.
    """

    def __init__(self, open_learner: Callable[[], Any], limits: Limits) -> None:
        super().__init__(name="owner of the model", daemon=True)
        self.figures, self.limits = Figures(), limits
        self.failure: BaseException | None = None  # why there is no learner
        self.ready = threading.Event()  # there is a learner, or none will come
        self.free: Callable[[], bool] = _nobody  # lets the event loop look again, if there is one
        self._open = open_learner
        self._queue: deque[Job] = deque()
        self._some = threading.Condition()
        self._turn = threading.Lock()
        self._wanted = self._ends = False  # the thread is to serve the queue; to end
        self._pace = 0.0  # seconds a row, of a slow call lately
        self._flusher = Flusher(self._flush, lambda: self.free())

    def submit(self, job: Job, wake: bool = True) -> None:
        """Let a job wait for the model; raise HttpProblem if too many do.

        Without `wake` the caller sees to it that somebody serves it: `serve_here`, `wake`.
        """
        with self._some:
            if self._ends or (self.ready.is_set() and self.learner is None):
                raise HttpProblem(503, "the service is stopping", retry=RETRY)
            if len(self._queue) >= self.limits.queue:
                raise HttpProblem(429, "too many requests wait for the model; try again", retry=1)
            self._queue.append(job)
            if wake:
                self._wanted = True
                self._some.notify()

    def wake(self) -> None:
        """Let the thread serve what waits."""
        with self._some:
            self._wanted = True
            self._some.notify()

    @property
    def waiting(self) -> int:
        """How many requests wait."""
        return len(self._queue)

    @property
    def flushing(self) -> bool:
        """Whether somebody waits for a flush, after which `free` is called."""
        return self._flusher.busy

    def stop(self) -> None:
        """Answer what waits, close the learner, and end."""
        with self._some:
            self._ends = True
            self._some.notify()
        if self.is_alive():
            self.join()

    def serve_here(self) -> bool:
        """Serve short jobs in the thread that calls; False if those that wait need the other."""
        if not self._turn.acquire(blocking=False):
            return False
        try:
            jobs = self._take_short()
            if jobs:
                self._serve(jobs)
            return bool(jobs) or not self._queue
        finally:
            self._turn.release()

    def run(self) -> None:
        """Own the learner until `stop`."""
        try:
            self.learner = self._open()
        except BaseException as error:
            self.failure = error
            return
        finally:
            self.ready.set()
        self._flusher.start()
        try:
            while self._wait():
                with self._turn:
                    self._serve_all()
                if self._queue and not self.free():
                    self.wake()
        finally:
            with self._turn:
                self._flusher.stop()
                self.learner.close()

    def _wait(self) -> bool:
        """Wait until the thread is wanted; False when all is done and it is to end."""
        with self._some:
            while not self._wanted and not self._ends:
                self._some.wait()
            self._wanted = False
            return bool(self._queue) or not self._ends

    def _serve_all(self) -> None:
        """Serve groups until what is left is short, which is for the event loop."""
        while jobs := self._take():
            self._serve(jobs)
            if not self._ends and 0 < self._count_short() == len(self._queue):
                return

    def _take(self) -> list[Job]:
        with self._some:
            jobs: list[Job] = []
            rows = 0
            while self._queue and rows < self.limits.group_rows and len(jobs) < self.limits.group:
                jobs.append(self._queue.popleft())
                rows += len(jobs[-1].batch.X)
            return jobs

    def _take_short(self) -> list[Job]:
        with self._some:
            return [self._queue.popleft() for _ in range(self._count_short())]

    def _count_short(self) -> int:
        """Return how many jobs, from the front of the queue, are soon over."""
        n = rows = 0
        for job in list(self._queue):
            rows += len(job.batch.X)
            long = job.loop is None or job.work is not None or len(job.batch.X) > FEW
            if long or rows * self._pace > SHORT or n == self.limits.group:
                break
            n += 1
        return 0 if self.learner is None or self.learner.pauses(rows) else n

    def _serve(self, jobs: list[Job]) -> None:
        start = time.perf_counter()
        done = self._work(jobs)
        rows = sum(len(job.batch.X) for job in jobs)
        if rows:
            took = (time.perf_counter() - start) / rows
            self._pace = max(took, FORGET * self._pace)
        learned = [one for one in done if one.error is None and one.job.keeps]
        if len(learned) < len(done):
            answer_all([one for one in done if one.error is not None or not one.job.keeps])
        if learned:
            self._flusher.add(learned)


def _nobody() -> bool:
    return False
