"""What an executor is, and which one is in charge.

A subclass fills in `map`, and `open` and `close` if it holds a resource. Entering an executor
puts it on a stack that belongs to the current context, so one thread's executor never leaks
into another's; the innermost is in charge. This hides the stack and the count of entries.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from contextvars import ContextVar
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from numpy.random import SeedSequence
    from typing_extensions import Self

P = TypeVar("P")
R = TypeVar("R")

_entered: ContextVar[tuple[Executor, ...]] = ContextVar("infinimix_executors", default=())


class Executor(ABC):
    """Runs one task on many payloads; a context manager that puts itself in charge."""

    def __init__(self) -> None:
        self._entries = 0
        self._lock = Lock()

    @abstractmethod
    def map(
        self,
        task: Callable[..., R],
        payloads: Iterable[P],
        seeds: Sequence[SeedSequence] | None = None,
    ) -> list[R]:
        """Return `task(payload)`, or `task(payload, seed)`, for each payload, in their order.

        The first exception in that order is raised as it is, when no task runs any more.
        """

    def open(self) -> None:  # noqa: B027 (nothing to take is the rule)
        """Take the resources that last from the first entry to the last exit."""

    def close(self) -> None:  # noqa: B027
        """Give them back."""

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


def in_charge() -> Executor | None:
    """The innermost executor entered in this context, if any."""
    entered = _entered.get()
    return entered[-1] if entered else None


def arguments(
    payloads: Iterable[Any], seeds: Sequence[SeedSequence] | None
) -> list[tuple[Any, ...]]:
    """Pair payloads with their seeds, as the arguments of each call."""
    if seeds is None:
        return [(payload,) for payload in payloads]
    payloads = list(payloads)
    if len(payloads) != len(seeds):
        raise ValueError(f"{len(payloads)} payloads need as many seeds, got {len(seeds)}.")
    return list(zip(payloads, seeds, strict=True))
