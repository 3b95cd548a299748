"""What `verbose=True` shows: sweeps, log joint and the largest gap between chains, now and then."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np


class Progress:
    """Collects what chains tell and prints a line to standard error at most once a second."""

    def __init__(self, n_chains: int, n_iter: int) -> None:
        self.news: list[dict[str, Any] | None] = [None] * n_chains
        self.n_iter, self.last = n_iter, 0.0

    def teller(self, k: int) -> Callable[[dict[str, Any]], None]:
        """Return what chain k calls."""

        def tell(news: dict[str, Any]) -> None:
            self.news[k] = news
            if time.monotonic() - self.last > 1.0 or news["sweeps"] >= self.n_iter:
                self.last = time.monotonic()
                print(self.line(k), file=sys.stderr)

        return tell

    def line(self, k: int) -> str:
        """Return the line that chain k is worth."""
        own = self.news[k] or {}
        shares = np.array([n["edges"] for n in self.news if n is not None])
        gap = f"{(shares.max(axis=0) - shares.min(axis=0)).max():.2f}" if len(shares) > 1 else "-"
        return (
            f"infinimix: chain {k + 1}, sweep {own['sweeps']} of {self.n_iter}, "
            f"log joint {own['log_joint']:.1f}, largest gap between chains {gap}"
        )
