"""Tasks on a Dask cluster: one machine or many.

Scheduling, moving results, the dashboard and what happens when a worker dies are Dask's. An array
that several tasks hold is the result of a task of its own: it goes to a worker once, and comes
again from the scheduler if that worker dies. What tasks leave on workers (`placing`) are futures.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, TypeVar
from uuid import uuid4
from weakref import WeakSet

import numpy as np

from infinimix.execution.executors import Done, Executor, Place, Threads, as_caller, is_in_worker
from infinimix.execution.packing import Packed, named, opened, pack, run, run_here, writable
from infinimix.execution.placed import Placed, There

WAIT = "10s"  # for a scheduler to answer
SOON = 0.2  # seconds, for messages of the scheduler that come together
MOST_NAMED = 5  # tasks in a message
P = TypeVar("P")
R = TypeVar("R")


class Dask(Executor):
    """Tasks that a client of a Dask cluster hands out."""

    is_remote = True
    keeps = True

    def __init__(self, client: Any, closes: bool = False) -> None:
        super().__init__()
        self.client, self._closes = client, closes
        self._kept: dict[int, tuple[Any, Any]] = {}  # arrays of `keeping`, and where they are
        self.n = max(sum(client.nthreads().values()), 1)

    def close(self) -> None:
        """Leave the cluster, if it was entered by its address."""
        if self._closes:
            self.client.close()

    def map(
        self, task: Callable[[P], R], payloads: Iterable[P], done: Done | None = None
    ) -> list[R]:
        """Run the tasks on the cluster; inside a task, one after the other."""
        payloads = list(payloads)
        if is_in_worker() or not payloads:
            return [task(payload) for payload in payloads]
        futures, names = self._submit(_run, task, payloads), [*map(_name_of, payloads)]
        try:
            with self.client.as_current():
                results = self._gather(futures, done, names)
        finally:  # also when the caller stops: nothing is left behind
            self.client.cancel(futures)
        return opened(results, names)

    def _submit(
        self, how: Callable[..., Any], task: Callable[[Any], Any], payloads: list[Any]
    ) -> list[Any]:
        packed, shared = pack(payloads, self._kept)
        submit = self.client.submit
        name = getattr(task, "__name__", "task").strip("_")
        call = uuid4().hex  # a key that was used before would be answered by its old result
        with warnings.catch_warnings():  # a table is large, and travels once
            warnings.filterwarnings("ignore", "Sending large graph", UserWarning)
            held = {number: self._hold(array) for number, array in shared.items()}
            return [
                submit(how, task, one, *[held[number] for number in one.shared],
                       key=f"infinimix-{name}-{call}-{i}", pure=False)
                for i, one in enumerate(packed)
            ]  # fmt: skip

    def _hold(self, array: Any) -> Any:
        """Return the future of an array: that of an earlier call if it is kept."""
        if isinstance(array, There):
            return array.future
        known, future = self._kept.get(id(array), (None, None))
        if future is None:
            key = f"infinimix-table-{uuid4().hex}"
            future = self.client.submit(_keep, array, key=key, pure=False)
            if known is not None:
                self._kept[id(array)] = (array, future)
        return future

    @contextmanager
    def keeping(self, arrays: Sequence[Any]) -> Iterator[None]:
        """Let these arrays stay on the cluster, for several calls of `map`.

        Parameters
        ----------
        arrays : sequence of arrays
            Those that payloads hold again and again, the very objects.
        """
        new = [array for array in arrays if id(array) not in self._kept]
        self._kept |= {id(array): (array, None) for array in new}
        try:
            yield
        finally:
            held = [self._kept.pop(key)[1] for key in {id(array) for array in new}]
            futures = [future for future in held if future is not None]
            if futures:
                self.client.cancel(futures)

    @contextmanager
    def placing(self) -> Iterator[Place]:
        """Yield what leaves results of tasks with the workers; at the end none are left there."""
        held: WeakSet[There] = WeakSet()  # those that nobody needs any more are released before

        def place(task: Callable[[Any], Any], payloads: Iterable[Any]) -> list[Placed]:
            payloads = list(payloads)
            if is_in_worker():
                return [Placed(task(payload)) for payload in payloads]
            futures = self._submit(_place, task, payloads)
            left = [There(*pair) for pair in zip(futures, map(_name_of, payloads), strict=True)]
            held.update(left)
            return [*left]

        try:
            yield place
        finally:
            # Not cancelled: Dask then looks at tasks that depend on these, and if nobody holds one
            # of them any more, its scheduler fails and closes the connection of the client.
            for one in held:
                one.future.release()

    def compute(self, values: Sequence[Any], names: Sequence[str]) -> list[There]:
        """Return what Dask is to compute, where it does that.

        Parameters
        ----------
        values : sequence of delayed values of Dask
            Partitions of a collection.
        names : sequence of str
            What messages call them.
        """
        futures = self.client.compute([*values])
        return [There(*pair) for pair in zip(futures, names, strict=True)]

    def _gather(self, futures: list[Any], done: Done | None, names: Sequence[str]) -> list[Any]:
        from distributed import KilledWorker, as_completed

        number = {future.key: i for i, future in enumerate(futures)}
        results: list[Any] = [None] * len(futures)
        for future in as_completed(futures):
            i = number[future.key]
            try:
                results[i] = future.result()
            except KilledWorker as error:
                time.sleep(SOON)  # tasks that waited at the same worker are given up with it
                lost = [k for k, one in enumerate(futures) if k == i or one.status == "error"]
                raise _too_little_memory(lost, names) from error
            if done is not None:
                done()
        return results


def _too_little_memory(lost: Sequence[int], names: Sequence[str]) -> MemoryError:
    """Return what is raised when tasks have ended all workers that took them."""
    tasks = ", ".join(f"{i + 1} of {len(names)}{named(names[i])}" for i in lost[:MOST_NAMED])
    who = f"task {tasks}" if len(lost) == 1 else f"one of the tasks {tasks}"
    return MemoryError(
        f"{who} ended every worker that took it, most likely because it needs more memory than a "
        "worker has: give workers more, or let the table be smaller"
    )


def _name_of(payload: Any) -> str:
    """Return what a payload is about, for messages: its partition, or the first and the last."""
    names = [*dict.fromkeys(_names_in(payload))]
    return names[0] if len(names) == 1 else " ... ".join(names[:: max(len(names) - 1, 1)])


def _names_in(payload: Any) -> Iterator[str]:
    """Yield the names of partitions, and of what was made of them, in tuples at any depth."""
    if isinstance(payload, tuple):
        for part in payload:
            yield from _names_in(part)
        return  # a named tuple may have a name of its own, as that of a column
    name = getattr(payload, "name", None)
    if isinstance(name, str) and name:
        yield from name.split(" ... ")


def _keep(array: np.ndarray) -> np.ndarray:
    return writable(array)  # once, and not in every task


def _run(task: Callable[[Any], Any], packed: Packed, *arrays: Any) -> bytes:
    return run(task, packed, dict(zip(packed.shared, arrays, strict=True)))


def _place(task: Callable[[Any], Any], packed: Packed, *arrays: Any) -> Any:
    return run_here(task, packed, dict(zip(packed.shared, arrays, strict=True)))


@contextmanager
def all_threads() -> Iterator[None]:
    """Let a task share its work out to all threads of the worker of Dask that runs it.

    For a task that is alone on the cluster. Elsewhere nothing changes.
    """
    n = 1
    if is_in_worker():
        with suppress(ImportError, ValueError):  # no worker of Dask
            from distributed import get_worker

            n = get_worker().state.nthreads
    if n == 1:
        yield
        return
    with as_caller(), Threads(n):
        yield


def dask(client: Any = None) -> Dask:
    """Run tasks on a Dask cluster.

    Parameters
    ----------
    client : distributed.Client, str or None
        A client, the address of a scheduler, or None for the current client.
    """
    try:
        from distributed import Client, get_client
    except ImportError as error:
        raise ImportError(
            "Dask is not installed; install it with: pip install 'infinimix[dask]'"
        ) from error
    if client is None:
        client = get_client()
    elif isinstance(client, str):
        return Dask(Client(client, timeout=WAIT, set_as_default=False), closes=True)
    elif not isinstance(client, Client):
        raise TypeError(f"client must be a distributed.Client or an address; got {client!r}")
    return Dask(client)
