"""What `verbose=True` shows: sweeps, log joint and the largest gap between chains, now and then.

A terminal shows a bar while chains run, a log gets lines; both on standard error.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import numpy as np

from infinimix import execution


class Progress:
    """Collects what chains tell: a bar, or a line at most once a second."""

    def __init__(self, n_chains: int, n_iter: int, burn_in: int = 0, end: str = "ended") -> None:
        self.news: list[dict[str, Any] | None] = [None] * n_chains
        self.n_iter, self.burn_in, self.end = n_iter, burn_in, end
        self.last, self.ended = 0.0, 0
        self.counts = False  # has a chain passed its burn-in?
        self.bar: Any = None

    def __enter__(self) -> Progress:
        if sys.stderr is not None and sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
            from rich.progress import Progress as Bar

            columns = (BarColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
            self.bar = Bar(*columns, console=Console(stderr=True), transient=True)
            self.bar.add_task("chains", total=len(self.news) * (self.burn_in + self.n_iter))
            self.bar.start()
        return self

    def __exit__(self, *error: object) -> None:
        if self.bar is not None:
            self.bar.stop()
            self.bar = None

    def teller(self, k: int) -> Callable[[dict[str, Any]], None]:
        """Return what chain k calls."""

        def tell(news: dict[str, Any]) -> None:
            self.news[k] = news
            if self.bar is not None:
                self._draw(k)
            elif self._is_due(news["sweeps"]):
                self.last, self.counts = time.monotonic(), self.counts or news["sweeps"] > 0
                print(self.line(k), file=sys.stderr)

        return tell

    def _is_due(self, sweeps: int) -> bool:
        """Is it time for a line? Also when sweeps begin to count, and at the end."""
        begins, ends = sweeps > 0 and not self.counts, sweeps >= self.n_iter
        return begins or ends or time.monotonic() - self.last > 1.0

    def _draw(self, k: int) -> None:
        told = [news for news in self.news if news is not None]
        done = sum(news["sweeps"] + news.get("burn_in", 0) for news in told)
        text = self.line(k).removeprefix("infinimix: ")
        self.bar.update(self.bar.task_ids[0], completed=done, description=text)

    def count_ended(self) -> None:
        """Say that one more chain has ended."""
        self.ended += 1
        text = f"infinimix: {self.ended} of {len(self.news)} chains have {self.end}"
        if self.bar is None:
            print(text, file=sys.stderr)
            return
        done = self.ended * self.n_iter
        self.bar.update(
            self.bar.task_ids[0], completed=done, description=text.removeprefix("infinimix: ")
        )

    def line(self, k: int) -> str:
        """Return the line that chain k is worth."""
        own = self.news[k] or {}
        if own["sweeps"] == 0:
            done = own.get("burn_in", 0)
            return f"infinimix: chain {k + 1}, burn-in, sweep {done} of {self.burn_in}"
        shares = np.array([n["edges"] for n in self.news if n is not None and n["sweeps"] > 0])
        gap = f"{(shares.max(axis=0) - shares.min(axis=0)).max():.2f}" if len(shares) > 1 else "-"
        return (
            f"infinimix: chain {k + 1}, sweep {own['sweeps']} of {self.n_iter}, "
            f"log joint {own['log_joint']:.1f}, largest gap between chains {gap}"
        )


def run_chains(model: Any, chains: list[Any], shown: bool) -> tuple[list[Any], list[Any]]:
    """Run chains, with a bar if they are to be shown; return them and what each returns."""
    ran = map_chains(model, chains, _run_chain, shown)
    return [chain for chain, _ in ran], [found for _, found in ran]


def map_chains(
    model: Any, chains: list[Any], task: Callable[[Any], Any], shown: bool, end: str = "ended"
) -> list[Any]:
    """Return what a task makes of each chain, with a progress bar if they are to be shown.

    Chains that ran in another process come back as copies. There they cannot tell how far they
    are, so a line for each that has come to the end of the task must do.
    """
    executor = execution.executor_for(model.n_jobs)
    sweeps = chains[0].problem.n_iter if model.n_iter == "auto" else model.n_iter
    progress = None
    if shown:
        progress = Progress(model.n_chains, sweeps, chains[0].whole_burn_in, end)
    for k, chain in enumerate(chains):
        chain.tell = progress.teller(k) if progress and not executor.is_remote else None
    with progress or nullcontext():
        done = progress.count_ended if progress and executor.is_remote else None
        ran = execution.map(task, chains, model.n_jobs, done)
    return ran


def _run_chain(chain: Any) -> tuple[Any, Any]:
    found = chain.run()
    chain.tell = None
    return chain, found
