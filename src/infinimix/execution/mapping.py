"""The `map` that the rest of the package calls, and the choice of who runs it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from infinimix.execution.executor import Executor, P, R, in_charge
from infinimix.execution.jobs import count_workers
from infinimix.execution.local import Serial, Threads

if TYPE_CHECKING:
    from numpy.random import SeedSequence

_SERIAL = Serial()


def executor_for(n_jobs: int | None = None) -> Executor:
    """The executor in charge if one was entered, otherwise the one `n_jobs` asks for.

    Parameters
    ----------
    n_jobs : int or None
        None or 1 is serial, k is k threads, -1 one thread for each core, -2 one fewer.
    """
    n = count_workers(n_jobs)  # a wrong n_jobs is wrong whoever is in charge
    executor = in_charge()
    if executor is not None:
        return executor
    return _SERIAL if n == 1 else Threads(n)


def map(
    task: Callable[..., R],
    payloads: Iterable[P],
    seeds: Sequence[SeedSequence] | None = None,
    n_jobs: int | None = None,
) -> list[R]:
    """Return `task(payload)`, or `task(payload, seed)`, for each payload, in their order.

    The answer is the same for every executor and every `n_jobs`, if tasks share no state and
    draw only from their own seed.

    Parameters
    ----------
    task : callable
        Takes a payload, and a seed if there are seeds.
    payloads : iterable
        What each task works on.
    seeds : sequence of SeedSequence, optional
        One for each payload, from `spawn`.
    n_jobs : int or None
        Workers, when no executor is in charge; see `executor_for`.

    Examples
    --------
    >>> import numpy as np
    >>> from infinimix.execution import map, spawn
    >>> def draw(high, seed):
    ...     return int(np.random.default_rng(seed).integers(high))
    >>> one, two = (
    ...     map(draw, [10, 100, 1000], spawn(np.random.SeedSequence(0), 3), n_jobs=n)
    ...     for n in (1, 2)
    ... )
    >>> one == two
    True
    """
    return executor_for(n_jobs).map(task, payloads, seeds)
