"""What `verbose=True` shows: one bar a call on a terminal, one line a call in a log.

Both go to standard error. A stream's call filters its rows in several turns, so the bar
learns of more work as it comes.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import Progress

Execute = Callable[..., list[Any]]  # of a task, payloads, and `done`
ISLANDS, PARTITIONS = "islands filtered", "partitions read"


@contextmanager
def with_progress(execute: Execute, what: str = ISLANDS) -> Iterator[Execute]:
    """Yield `execute(task, payloads)`, made to tell how many tasks are done, and of what."""
    console = Console(stderr=True)
    with _bar(console, what) if console.is_terminal else _line(console, what) as advance:

        def watched(task: Callable[[Any], Any], payloads: Sequence[Any]) -> list[Any]:
            advance(0, len(payloads))
            return execute(task, payloads, done=lambda: advance(1, 0))

        yield watched


@contextmanager
def _bar(console: Console, what: str) -> Iterator[Callable[[int, int], None]]:
    with Progress(console=console, transient=True) as progress:
        bar = progress.add_task(what.split()[0], total=0)

        def advance(done: int, more: int) -> None:
            progress.update(bar, advance=done, total=(progress.tasks[0].total or 0) + more)

        yield advance


@contextmanager
def _line(console: Console, what: str) -> Iterator[Callable[[int, int], None]]:
    start, total = time.perf_counter(), 0

    def advance(done: int, more: int) -> None:
        nonlocal total
        total = max(total, more)

    yield advance
    seconds = time.perf_counter() - start
    console.print(f"infinimix: {total} {what} in {seconds:.1f} s", highlight=False)
