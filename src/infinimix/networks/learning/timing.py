"""Chains that run for some seconds: how time is shared out, and when they look at the clock.

One sweep of a large network takes seconds while few scores are known, and later a hundredth of it.
So a chain makes as many sweeps between two looks as fit into a fraction of its time, and where one
sweep may be too long (the first, and the last), it looks after every part of it.
"""

from __future__ import annotations

import time
from threading import Lock
from typing import Any

from infinimix.estimators.common.parameters import is_whole
from infinimix.execution import executor_for
from infinimix.networks.learning.parameters import read_seconds

BURN_IN = 0.4  # the share of the time that is not counted
LOOKS = 50  # so many looks at the clock at least, if sweeps are short enough


class Budget:
    """The time of all chains together: each takes its share of what is left when it begins."""

    def __init__(self, end: float, n_chains: int, n_jobs: int | None) -> None:
        self.end, self.waiting = end, n_chains
        self.workers = max(executor_for(n_jobs).n, 1)
        self._lock = Lock()

    def __getstate__(self) -> dict[str, Any]:
        """Return what goes to another process: the seconds that are left, as clocks differ."""
        return {"left": self.end - time.monotonic(), "waiting": self.waiting, "n": self.workers}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.end, self.waiting = time.monotonic() + state["left"], state["waiting"]
        self.workers, self._lock = state["n"], Lock()

    def take(self) -> float:
        """Return the seconds of one more chain.

        >>> four = Budget(time.monotonic() + 8.0, 4, None)
        >>> round(four.take()), round(Budget(time.monotonic() + 8.0, 4, 2).take())
        (2, 4)
        """
        with self._lock:
            turns = -(-max(self.waiting, 1) // self.workers)
            self.waiting -= 1
        return max(self.end - time.monotonic(), 0.0) / turns


def prepare_run(model: Any, chains: Any, seconds: Any, n_iter: Any) -> None:
    """Let chains that have run go on, for some seconds or sweeps; ValueError if they cannot."""
    if chains is None:
        raise ValueError("This model has no chains: it was loaded or copied; fit it first.")
    seconds = None if seconds is None else read_seconds(seconds)
    if n_iter is not None and not is_whole(n_iter, 1):
        raise ValueError(f"n_iter must be a whole number from 1 on; got {n_iter!r}")
    budget = None
    if seconds is not None:
        budget = Budget(time.monotonic() + seconds, len(chains), model.n_jobs)
    for chain in chains:
        chain.problem.burn_in = 0
        own = chain.problem.n_iter if model.n_iter == "auto" else model.n_iter
        chain.problem.n_iter = n_iter or (own if seconds is None else 10**9)
        chain.problem.budget = budget


class Clock:
    """Runs a chain until its time is over, or its sweeps are done."""

    def __init__(self, chain: Any, seconds: float) -> None:
        self.chain, self.seconds = chain, max(seconds, 1e-6)
        self.start = time.monotonic()
        self.pace: float | None = None  # seconds of a sweep, the latest
        self.cut = False  # the latest sweep was stopped, as time was short
        self.latest: dict[Any, float] = {}  # seconds of a part of a sweep, by what it does

    def left(self, share: float = 1.0) -> float:
        """Return the seconds until this share of the time is over."""
        return self.start + share * self.seconds - time.monotonic()

    def burn_in(self) -> None:
        """Make the sweeps that do not count, annealed over the first half of sweeps or time."""
        most, done = self.chain.problem.burn_in, 0
        while done < most and self.left(BURN_IN) > 0.0 and not self.cut:
            gone = 1.0 - self.left(BURN_IN) / (BURN_IN * self.seconds)
            self.chain.anneal(min(1.0, 0.1 + 1.8 * max(done / most, gone)))
            done += self._step(most - done, False, BURN_IN)
            self.chain.burned = done
            self.chain.report()
        self.cut = False
        self.chain.anneal(1.0)

    def count(self) -> None:
        """Make sweeps that count: one at least, if not a whole one."""
        most, done = self.chain.problem.n_iter, 0
        while done < most and (done == 0 or (self.left() > 0.0 and not self.cut)):
            done += self._step(most - done, True, 1.0)
            self.chain.report()

    def _step(self, most: int, count: bool, share: float) -> int:
        """Make some sweeps, and return how many; the last may be cut short."""
        left, start = self.left(share), time.monotonic()
        if self.pace is None or self.pace > left:
            if self._by_parts(share, count):
                self.pace = time.monotonic() - start
            return 1
        wanted = min(left, self.seconds / LOOKS) / max(self.pace, 1e-9)
        n = max(min(int(wanted), most, self.chain.step), 1)
        self.chain.advance(n, count)
        self.pace = (time.monotonic() - start) / n
        return n

    def _by_parts(self, share: float, count: bool) -> bool:
        """Make one sweep, or as much of it as there is time for; was it a whole one?

        What part of a sweep leads to is a state like any other, and is counted. Moves of classes
        are left out where they would take too long, and those of graphs go on.
        """
        whole = True
        for kind, guess, part in self.chain.parts():
            if self.left(share) <= self.latest.get(kind, guess):
                whole, self.cut = False, guess == 0.0
                if self.cut:
                    break
                continue
            start = time.monotonic()
            part()
            self.latest[kind] = time.monotonic() - start
        self.chain.finish_parts(count)
        return whole
