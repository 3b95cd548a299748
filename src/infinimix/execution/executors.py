"""What an executor is, the two that run in this process, and which one is in charge.

Entering an executor puts it on a stack that belongs to the current context, so one thread's
executor never leaks into another's; the innermost is in charge. A new kind is one more class that
fills in `map`, and `open` and `close` if it holds a resource (`local_processes`, `cluster`).

Threads help because kernels release the GIL. Each task runs in a copy of the caller's context,
so NumPy's error state and the like are the caller's everywhere. A `map` inside a worker runs
serially: workers never wait for one another, and there are never more threads than asked for.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeVar

from infinimix.execution.jobs import count_workers
from infinimix.execution.placed import Placed

if TYPE_CHECKING:
    from typing_extensions import Self

P = TypeVar("P")
R = TypeVar("R")

_entered: ContextVar[tuple[Executor, ...]] = ContextVar("infinimix_executors", default=())
_in_worker: ContextVar[bool] = ContextVar("infinimix_in_worker", default=False)


Done = Callable[[], None]  # is told of each task that has ended
Place = Callable[[Callable[[Any], Any], Iterable[Any]], list[Placed]]  # of a task and payloads


class Executor(ABC):
    """Runs one task on many payloads; a context manager that puts itself in charge."""

    is_remote = False  # do tasks and what they return travel to other processes and back?
    keeps = False  # do arrays of `keeping` stay there between calls?
    n = 1  # how many tasks run at a time

    def __init__(self) -> None:
        self._entries = 0
        self._lock = Lock()

    @abstractmethod
    def map(
        self, task: Callable[[P], R], payloads: Iterable[P], done: Done | None = None
    ) -> list[R]:
        """Return `task(payload)` for each payload, in their order.

        The first exception in that order is raised as it is, when no task runs any more. `done` is
        called, in any thread of this process, whenever a task has ended.

        Parameters
        ----------
        task : callable
            Takes a payload.
        payloads : iterable
            What each task works on.
        done : callable, optional
            Called, in any thread of this process, whenever a task has ended.
        """

    def open(self) -> None:  # noqa: B027 (nothing to hold is the rule)
        """Acquire the resources that last from the first entry to the last exit."""

    def close(self) -> None:  # noqa: B027
        """Release them."""

    @contextmanager
    def keeping(self, arrays: Sequence[Any]) -> Iterator[None]:
        """Let these arrays stay where tasks run, for several calls of `map`; they do not change.

        Parameters
        ----------
        arrays : sequence of arrays
            Those that payloads hold again and again, the very objects.
        """
        yield

    @contextmanager
    def placing(self) -> Iterator[Place]:
        """Yield what does as `map` does, but leaves results where they are (`placed`) meanwhile."""
        yield lambda task, payloads: [Placed(found) for found in self.map(task, payloads)]

    def __enter__(self) -> Self:
        with self._lock:
            if self._entries == 0:
                self.open()
            self._entries += 1
        _entered.set((*_entered.get(), self))
        return self

    def __exit__(self, *exc_info: object) -> None:
        _entered.set(_entered.get()[:-1])
        with self._lock:
            self._entries -= 1
            if self._entries == 0:
                self.close()


class Serial(Executor):
    """One task after the other."""

    def map(
        self, task: Callable[[P], R], payloads: Iterable[P], done: Done | None = None
    ) -> list[R]:
        """Run the tasks here and now."""
        return [_work(task, payload, done) for payload in payloads]


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
        self, task: Callable[[P], R], payloads: Iterable[P], done: Done | None = None
    ) -> list[R]:
        """Run the tasks in the pool, or here if there is nothing to share out."""
        payloads = list(payloads)
        if self.n == 1 or len(payloads) <= 1 or _in_worker.get():
            return [_work(task, payload, done) for payload in payloads]
        if self._pool is not None:
            return _run(self._pool, task, payloads, done)
        with self._make_pool() as pool:
            return _run(pool, task, payloads, done)

    def _make_pool(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(self.n, thread_name_prefix="infinimix")


def _run(
    pool: ThreadPoolExecutor, task: Callable[[P], R], payloads: list[P], done: Done | None
) -> list[R]:
    futures = [
        pool.submit(copy_context().run, work_alone, task, payload, done) for payload in payloads
    ]
    try:
        return [future.result() for future in futures]
    except BaseException:
        for future in futures:
            future.cancel()
        wait(futures)  # the caller's arrays are its own again
        raise


def _work(task: Callable[[P], R], payload: P, done: Done | None) -> R:
    result = task(payload)
    if done is not None:
        done()
    return result


def work_alone(task: Callable[[P], R], payload: P, done: Done | None = None) -> R:
    """Run a task whose own calls of `map` share nothing out."""
    _in_worker.set(True)
    return _work(task, payload, done)


def is_in_worker() -> bool:
    """Is this code part of a task that was shared out?"""
    return _in_worker.get()


@contextmanager
def as_caller() -> Iterator[None]:
    """Let a task that was shared out share its own work out, as if it were the caller."""
    token = _in_worker.set(False)
    try:
        yield
    finally:
        _in_worker.reset(token)


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

    Parameters
    ----------
    n : int
        The number of threads.

    Examples
    --------
    >>> with threads(2) as executor:
    ...     executor.map(len, ["a", "bb"])
    [1, 2]
    """
    return Threads(count_workers(n, name="n"))


def executor_for(n_jobs: int | None = None) -> Executor:
    """Return the executor in charge if one was entered, otherwise the one `n_jobs` asks for.

    Parameters
    ----------
    n_jobs : int or None
        None or 1 is serial, k is k threads, -1 one thread for each core, -2 one fewer.
    """
    n = count_workers(n_jobs)  # a wrong n_jobs is wrong whoever is in charge
    if entered := _entered.get():
        return entered[-1]
    return Serial() if n == 1 else Threads(n)


def map(
    task: Callable[[P], R],
    payloads: Iterable[P],
    n_jobs: int | None = None,
    done: Done | None = None,
) -> list[R]:
    """Return `task(payload)` for each payload, in their order.

    The answer is the same for every executor and every `n_jobs`, if tasks share no state and each
    draws from a generator of its own.

    Parameters
    ----------
    task : callable
        Takes a payload.
    payloads : iterable
        What each task works on.
    n_jobs : int or None
        Workers, when no executor is in charge; see `executor_for`.
    done : callable, optional
        Called without arguments whenever a task has ended: for a progress bar.

    Examples
    --------
    >>> import numpy as np
    >>> from infinimix.execution import map
    >>> def draw(seed):
    ...     return int(np.random.default_rng(seed).integers(1000))
    >>> one, two = (map(draw, np.random.SeedSequence(0).spawn(3), n_jobs=n) for n in (1, 2))
    >>> one == two
    True
    """
    executor = executor_for(n_jobs)
    return executor.map(task, payloads, done) if done else executor.map(task, payloads)
