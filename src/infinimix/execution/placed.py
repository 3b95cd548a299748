"""Results of tasks that stay where they were computed, for other tasks to work on.

`Executor.placing` gives what runs tasks like `map`, but returns each result as a `Placed`. Payloads
of later tasks may hold it, and these read its `value`. On a cluster the value stays with the
worker that computed it, goes from there to workers that need it, and never to the caller.
"""

from __future__ import annotations

from typing import Any

__all__ = ["Placed", "There"]


class Placed:
    """What a task has returned; only tasks ask for its `value`."""

    def __init__(self, value: Any) -> None:
        self.value = value


class There(Placed):
    """One of another process: a future of Dask, and what its task was about, for messages."""

    def __init__(self, future: Any, name: str = "") -> None:
        self.future, self.name = future, name

    @property
    def value(self) -> Any:
        """Refuse: the value is elsewhere."""
        raise RuntimeError("what a task has left on a worker is read by tasks only")

    @value.setter
    def value(self, value: Any) -> None:
        raise AttributeError("a result of a task does not change")
