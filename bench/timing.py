"""CPU time, measured so that a busy machine disturbs both sides of a ratio alike.

The contestants take turns: A B C, A B C, ... A ratio is the median over rounds of the ratios
within a round, with the quartiles as its spread; a rate is that of the best round.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np


class Ratio(NamedTuple):
    """A ratio of two times over the rounds."""

    median: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{_short(self.median)} ({_short(self.low)} to {_short(self.high)})"


def cpu_seconds(function: Callable[[], Any]) -> float:
    """CPU time of one call."""
    start = time.process_time()
    function()
    return time.process_time() - start


def warm_up(functions: Mapping[str, Callable[[], Any]]) -> dict[str, float]:
    """Call each once, so that what is compiled is compiled; return their CPU seconds."""
    return {name: cpu_seconds(function) for name, function in functions.items()}


def take_turns(functions: Mapping[str, Callable[[], Any]], rounds: int) -> dict[str, np.ndarray]:
    """Time all functions in turn, so many rounds; return their CPU seconds."""
    times: dict[str, list[float]] = {name: [] for name in functions}
    for _ in range(rounds):
        for name, function in functions.items():
            times[name].append(cpu_seconds(function))
    return {name: np.array(seconds) for name, seconds in times.items()}


def ratio(a: np.ndarray, b: np.ndarray) -> Ratio:
    """How many times longer a took than b, round by round."""
    low, median, high = np.quantile(np.asarray(a) / np.asarray(b), [0.25, 0.5, 0.75])
    return Ratio(float(median), float(low), float(high))


def rate(rows: int, seconds: np.ndarray) -> float:
    """Rows a second in the best round."""
    return rows / float(np.min(seconds))


def count(x: float) -> str:
    """A number for people: 1,234 or 12k or 3.4M."""
    for limit, unit in ((1e6, "M"), (1e4, "k")):
        if x >= limit:
            scaled = x / (1e6 if unit == "M" else 1e3)
            return f"{scaled:.2f}{unit}" if unit == "M" else f"{scaled:.0f}k"
    return f"{x:,.0f}"


def _short(x: float) -> str:
    return f"{x:.0f}" if x >= 100 else f"{x:.3g}"
