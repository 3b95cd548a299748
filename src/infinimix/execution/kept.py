"""Large arrays that one call of `map` after the other works on.

A step of EM or of a descent works on the same rows as the one before. A cluster keeps them with
its workers; threads have them anyway.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any, TypeVar

from infinimix.execution.executors import Place, executor_for

P = TypeVar("P")
R = TypeVar("R")


def keeping(arrays: Sequence[Any], n_jobs: int | None = None) -> AbstractContextManager[None]:
    """Enter a stretch of code whose calls of `map` work on the same arrays again and again.

    A cluster then sends these arrays to its workers once. Nothing else changes.

    Parameters
    ----------
    arrays : sequence of arrays
        The very objects that payloads hold; they must not change meanwhile.
    n_jobs : int or None
        As in `map`.

    Examples
    --------
    >>> import numpy as np
    >>> from infinimix import execution
    >>> rows = np.arange(6)
    >>> with execution.keeping([rows]):
    ...     [execution.map(np.sum, [rows, rows]) for _ in range(2)]
    [[np.int64(15), np.int64(15)], [np.int64(15), np.int64(15)]]
    """
    return executor_for(n_jobs).keeping(arrays)


def placing(n_jobs: int | None = None) -> AbstractContextManager[Place]:
    """Enter a stretch of code whose tasks leave what they return where it is, for other tasks.

    What is yielded maps a task over payloads; a `Placed` stands for each result.

    Parameters
    ----------
    n_jobs : int or None
        As in `map`.

    Examples
    --------
    >>> from infinimix import execution
    >>> with execution.placing() as place:
    ...     lists = place(list, ["ab", "cde"])
    ...     execution.map(lambda one: len(one.value), lists)
    [2, 3]
    """
    return executor_for(n_jobs).placing()


def map_kept(task: Callable[[P], R], payloads: Sequence[P]) -> list[R]:
    """Do what `map` does, for large arrays that come again and again (`keeping`).

    Processes that would be sent them anew with every call are not asked: tasks then run here.

    Parameters
    ----------
    task : callable
        Takes a payload.
    payloads : sequence
        What each task works on.
    """
    executor = executor_for()
    if executor.is_remote and not executor.keeps:
        return [task(payload) for payload in payloads]
    return executor.map(task, payloads)
