"""What `verbose=True` shows: sweeps, log joint and the largest gap between chains, now and then.

A terminal shows a bar while chains run, a log gets lines; both on standard error.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import numpy as np

from infinimix import execution

if TYPE_CHECKING:
    from infinimix.networks.learning.bars import ChainsBegun


class Progress:
    """Collects what chains tell: a bar, or a line at most once a second."""

    def __init__(
        self, n_chains: int, n_iter: int, burn_in: int = 0, end: str = "ended",
        burned: Sequence[int] = (), seconds: float | None = None,
    ) -> None:  # fmt: skip
        self.news: list[dict[str, Any] | None] = [None] * n_chains
        self.n_iter, self.burn_in, self.end = n_iter, burn_in, end
        self.last, self.ended = 0.0, 0
        self.counts = False  # has a chain passed its burn-in?
        self.burned = list(burned) or [0] * n_chains  # sweeps, before they tell anything
        self.seconds = seconds  # of all chains, where time decides when they end
        self.begun: ChainsBegun | None = None  # by an earlier bar of these chains
        self.bar: Any = None

    def __enter__(self) -> Progress:
        if sys.stderr is not None and sys.stderr.isatty():
            from infinimix.networks.learning.bars import ChainsBar, ChainsBegun

            done, total = sum(self.burned), len(self.news) * (self.burn_in + self.n_iter)
            self.begun = self.begun or ChainsBegun(time.monotonic(), done)
            self.bar = ChainsBar(total, self.begun, done, self.seconds)
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
        done = sum(
            before if news is None else news["sweeps"] + news.get("burn_in", 0)
            for news, before in zip(self.news, self.burned, strict=True)
        )
        text = self.line(k).removeprefix("infinimix: ")
        self.bar.show(done, text.replace("gap between chains", "gap"))  # lines are narrow

    def count_ended(self) -> None:
        """Say that one more chain has ended."""
        self.ended += 1
        text = f"infinimix: {self.ended} of {len(self.news)} chains have {self.end}"
        if self.bar is None:
            print(text, file=sys.stderr)
            return
        done, n = sum(self.burned), len(self.news)
        if self.end == "ended":  # a burn-in is over sooner than its sweeps are, so it stays
            done += self.ended * (n * (self.burn_in + self.n_iter) - done) // n
        self.bar.show(done, text.removeprefix("infinimix: "))

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
        budget, burned = chains[0].problem.budget, [chain.burned for chain in chains]
        seconds = None if budget is None else budget.end - time.monotonic()
        progress = Progress(model.n_chains, sweeps, chains[0].whole_burn_in, end, burned, seconds)
        progress.begun = vars(chains[0]).get("begun")
    for k, chain in enumerate(chains):
        chain.tell = progress.teller(k) if progress and not executor.is_remote else None
    with progress or nullcontext():
        done = progress.count_ended if progress and executor.is_remote else None
        ran = execution.map(task, chains, model.n_jobs, done)
    if progress is not None and task is not _run_chain:
        for chain in ran:
            chain.begun = progress.begun  # one clock and one bar, also for what comes after this
    return ran


def _run_chain(chain: Any) -> tuple[Any, Any]:
    found = chain.run()
    chain.tell = chain.begun = None
    return chain, found
