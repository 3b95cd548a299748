"""Tasks in processes of this machine, by joblib.

Threads are the faster choice for most work here, because kernels release the GIL and share their
arrays; processes help where tasks spend their time in Python.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from infinimix.execution.executors import Done, Executor, is_in_worker
from infinimix.execution.jobs import count_workers
from infinimix.execution.packing import opened, pack, run

P = TypeVar("P")
R = TypeVar("R")


class Processes(Executor):
    """At most `n` tasks at a time, in processes that live as long as the executor is entered."""

    is_remote = True

    def __init__(self, n: int) -> None:
        super().__init__()
        self.n = n
        self._parallel: Any = None

    def open(self) -> None:
        """Make the pool; it starts processes when they are needed."""
        self._parallel = self._make()
        self._parallel.__enter__()

    def close(self) -> None:
        """Stop the processes."""
        parallel, self._parallel = self._parallel, None
        if parallel is not None:
            parallel.__exit__(None, None, None)

    def map(
        self, task: Callable[[P], R], payloads: Iterable[P], done: Done | None = None
    ) -> list[R]:
        """Run the tasks in the processes; inside a task, one after the other."""
        payloads = list(payloads)
        if is_in_worker() or not payloads:
            return [task(payload) for payload in payloads]
        from joblib import delayed

        packed, shared = pack(payloads)
        calls = [delayed(run)(task, one, {k: shared[k] for k in one.shared}) for one in packed]
        results = []
        for result in (self._parallel or self._make())(calls):
            results.append(result)
            if done is not None:
                done()
        return opened(results)

    def _make(self) -> Any:
        from joblib import Parallel  # slow to load, and few need it

        # Arrays are pickled: mapped into memory they would be read-only, which no kernel is for.
        return Parallel(n_jobs=self.n, backend="loky", max_nbytes=None, return_as="generator")


def processes(n: int = -1) -> Processes:
    """Run tasks in `n` processes of this machine; -1 is one for each core, -2 one fewer.

    A script that enters it must be importable: start it under ``if __name__ == "__main__"``.

    Parameters
    ----------
    n : int
        The number of processes.

    Examples
    --------
    >>> from infinimix import execution
    >>> with execution.processes(2):
    ...     execution.map(abs, [-1, -2, -3])
    [1, 2, 3]
    """
    return Processes(count_workers(n, name="n"))
