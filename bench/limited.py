"""Work in a process of its own with a limit of CPU time, so that what hangs stops nothing else.

A worker is a generator; what it yields is sent at once with the CPU time so far, and the last of it
counts, even if the process is then ended by its limit.
"""

from __future__ import annotations

import importlib
import multiprocessing
import resource
import time
import warnings
from collections.abc import Iterator
from multiprocessing.connection import Connection
from typing import Any, NamedTuple

PATIENCE = 40  # wall seconds for each CPU second before a process that does nothing is ended


class Answer(NamedTuple):
    """What a worker yielded, its CPU seconds until then, and the peak of its memory in GB."""

    value: Any
    seconds: float
    memory: float


def _work(pipe: Connection, module: str, name: str, limit: int, arguments: tuple[Any, ...]) -> None:
    function = getattr(importlib.import_module(module), name)
    spent = time.process_time()
    resource.setrlimit(resource.RLIMIT_CPU, (limit + int(spent) + 1,) * 2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for value in function(*arguments):
            memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
            pipe.send(Answer(value, time.process_time() - spent, memory))
    pipe.close()


def answers(module: str, name: str, limit: float, *arguments: Any) -> Iterator[Answer]:
    """All answers of a generator of a module within its limit of CPU seconds."""
    context = multiprocessing.get_context("spawn")
    receive, send = context.Pipe(duplex=False)
    process = context.Process(target=_work, args=(send, module, name, int(limit), arguments))
    process.start()
    send.close()
    try:
        while receive.poll(PATIENCE * limit):
            yield receive.recv()
    except EOFError:  # it ended, or was ended
        pass
    finally:
        process.kill()
        process.join()


def last_answer(
    module: str, name: str, limit: float, *arguments: Any, within: float | None = None
) -> Answer | None:
    """The last answer, or the last within so many CPU seconds if there is one; None without any."""
    found = list(answers(module, name, limit, *arguments))
    early = [a for a in found if within is None or a.seconds <= within]
    return early[-1] if early else found[0] if found else None
