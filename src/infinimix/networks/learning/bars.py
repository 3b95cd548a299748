"""The bar of chains on a terminal: how far they are, and how long it will still take."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from typing import NamedTuple

from rich.console import Console, RenderableType
from rich.progress import BarColumn, ProgressColumn, Task, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bar
from rich.table import Column
from rich.text import Text

KNOWN = 0.02  # the share of sweeps from which on the time of the others can be told


class ChainsBegun(NamedTuple):
    """When chains began, and with how many sweeps: bars one after the other go on from there."""

    at: float  # of the monotonic clock
    sweeps: int


class TimeLeft(ProgressColumn):
    """How long it will still take, once that is known."""

    def __init__(self, first: int, timed: bool) -> None:
        super().__init__(table_column=Column(no_wrap=True))
        self.first, self.timed = first, timed

    def render(self, task: Task) -> Text:
        """Return the time, by the clock or at the pace of the sweeps so far."""
        gone, total = task.elapsed or 0.0, float(task.total or 0.0)
        done = task.completed - self.first
        if self.timed:
            left = total - gone
        elif done < KNOWN * (total - self.first) or done <= 0:
            return Text("")
        else:
            left = gone * (total - task.completed) / done
        return Text(f"{timedelta(seconds=round(max(left, 0.0)))} left")


class ChainsBar(Bar):
    """A bar of sweeps, or of seconds where the time decides when chains end."""

    def __init__(self, total: int, begun: ChainsBegun, done: int, seconds: float | None) -> None:
        self.seconds = seconds
        left = TimeLeft(begun.sweeps, seconds is not None)
        columns = (BarColumn(20), TimeElapsedColumn(), left, TextColumn("{task.description}"))
        super().__init__(*columns, console=Console(stderr=True), transient=True)
        self.add_task("chains", total=total if seconds is None else seconds, completed=done)
        self.tasks[0].start_time = begun.at

    def show(self, done: int, text: str) -> None:
        """Show how many sweeps are made, and what a chain has told."""
        if self.seconds is None:
            self.update(self.task_ids[0], completed=done, description=text)
        else:
            self.update(self.task_ids[0], description=text)

    def get_renderables(self) -> Iterable[RenderableType]:
        """Return what is drawn; time goes on while no chain tells anything."""
        if self.seconds is not None:
            for task in self.tasks:
                task.completed = min(task.elapsed or 0.0, self.seconds)
        return super().get_renderables()
