"""Records that could not be used: counted all, the first of them kept, nothing lost in silence."""

from __future__ import annotations

from typing import NamedTuple

KEPT = 1000  # records; the count goes on


class BadRecord(NamedTuple):
    """One record: where it was, and what was wrong with it."""

    line: int
    reason: str


class StreamError(ValueError):
    """A record that cannot be used, where `on_bad="raise"`."""


class BadRecords(list[BadRecord]):
    """The first bad records; `total` counts all.

    Parameters
    ----------
    on_bad : str
        "raise" or "skip".
    """

    def __init__(self, on_bad: str = "raise") -> None:
        super().__init__()
        if on_bad not in ("raise", "skip"):
            raise ValueError(f"on_bad must be 'raise' or 'skip'; got {on_bad!r}.")
        self.fatal = on_bad == "raise"
        self.total = 0

    def add(self, line: int, reason: str) -> None:
        """Count a bad record, or raise it."""
        self.total += 1
        if len(self) < KEPT:
            self.append(BadRecord(line, reason))
        if self.fatal:
            raise StreamError(f"line {line}: {reason}")
