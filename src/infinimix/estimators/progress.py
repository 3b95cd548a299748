"""A progress bar around a task that is done many times, possibly in threads."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import Progress


@contextmanager
def with_progress(task: Callable[[Any], Any], total: int) -> Iterator[Callable[[Any], Any]]:
    """Yield the task, made to move a bar on standard error each time it is done."""
    with Progress(console=Console(stderr=True), transient=True) as progress:
        bar = progress.add_task("islands", total=total)

        def watched(payload: Any) -> Any:
            result = task(payload)
            progress.advance(bar)
            return result

        yield watched
