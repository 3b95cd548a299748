"""Executors in this process: one after the other, or in threads.

Threads help because kernels release the GIL. Each task runs in a copy of the caller's context,
so NumPy's error state and the like are the caller's everywhere. A `map` inside a worker runs
serially: workers never wait for one another, and there are never more threads than asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextvars import ContextVar, copy_context
from typing import TYPE_CHECKING, Any

from infinimix.execution.executor import Executor, P, R, arguments
from infinimix.execution.jobs import count_workers

if TYPE_CHECKING:
    from numpy.random import SeedSequence

_in_worker: ContextVar[bool] = ContextVar("infinimix_in_worker", default=False)


class Serial(Executor):
    """One task after the other."""

    def map(
        self,
        task: Callable[..., R],
        payloads: Iterable[P],
        seeds: Sequence[SeedSequence] | None = None,
    ) -> list[R]:
        """Run the tasks here and now."""
        if seeds is None:
            return [task(payload) for payload in payloads]
        return [task(*args) for args in arguments(payloads, seeds)]


class Threads(Executor):
    """At most `n` tasks at a time, in threads that live as long as the executor is entered."""

    def __init__(self, n: int) -> None:
        super().__init__()
        self.n = n
        self._pool: ThreadPoolExecutor | None = None

    def open(self) -> None:
        """Make the pool; it starts threads when they are needed."""
        self._pool = self._make_pool()

    def close(self) -> None:
        """Stop the threads."""
        pool, self._pool = self._pool, None
        if pool is not None:
            pool.shutdown()

    def map(
        self,
        task: Callable[..., R],
        payloads: Iterable[P],
        seeds: Sequence[SeedSequence] | None = None,
    ) -> list[R]:
        """Run the tasks in the pool, or here if there is nothing to share out."""
        calls = arguments(payloads, seeds)
        if self.n == 1 or len(calls) <= 1 or _in_worker.get():
            return [task(*args) for args in calls]
        if self._pool is not None:
            return _run(self._pool, task, calls)
        with self._make_pool() as pool:
            return _run(pool, task, calls)

    def _make_pool(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(self.n, thread_name_prefix="infinimix")


def _run(pool: ThreadPoolExecutor, task: Callable[..., R], calls: list[tuple[Any, ...]]) -> list[R]:
    futures = [pool.submit(copy_context().run, _work, task, args) for args in calls]
    try:
        return [future.result() for future in futures]
    except BaseException:
        for future in futures:
            future.cancel()
        wait(futures)  # the caller's arrays are its own again
        raise


def _work(task: Callable[..., R], args: tuple[Any, ...]) -> R:
    _in_worker.set(True)
    return task(*args)


def serial() -> Serial:
    """Run tasks one after the other.

    Examples
    --------
    >>> with serial() as executor:
    ...     executor.map(len, ["a", "bb"])
    [1, 2]
    """
    return Serial()


def threads(n: int = -1) -> Threads:
    """Run tasks in `n` threads; -1 is one for each core, -2 one fewer.

    Examples
    --------
    >>> with threads(2) as executor:
    ...     executor.map(len, ["a", "bb"])
    [1, 2]
    """
    return Threads(count_workers(n, name="n"))
