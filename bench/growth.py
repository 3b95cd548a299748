"""Growth: is the millionth row as cheap as the hundred-thousandth?

A copy of the model is kept at the early mark. At the end both learn the same further rows in
turns, so that what else the machine does disturbs both alike.
"""

from __future__ import annotations

import io
import time
from copy import deepcopy
from typing import Any

import numpy as np

from bench.report import Line, Section
from bench.timing import count, rate, ratio, take_turns, warm_up
from bench.training import BATCH, model
from infinimix import save
from infinimix.papers.aclass.worlds import Mixtures

CHUNK = 20_000


def run(quick: bool = False) -> Section:
    early, late, rounds = (4000, 12_000, 2) if quick else (100_000, 1_000_000, 11)
    chunk = min(CHUNK, early)
    rng = np.random.default_rng(0)
    mixtures = Mixtures((20, 20), 100, rng)
    learner, seconds, kept = model(max_groups=100), [], {}
    for start in range(0, late, chunk):
        X, y = _table(mixtures, chunk, rng)
        seconds.append(_learn(learner, X, y))
        if start + chunk in (early, late):
            kept[start + chunk] = deepcopy(learner)
    X, y = _table(mixtures, chunk, rng)
    turns = {str(mark): _Further(kept[mark], X, y, rounds + 1) for mark in (early, late)}
    warm_up(turns)
    times = take_turns(turns, rounds)
    speed = ratio(times[str(early)], times[str(late)])
    section = Section(f"Growth to {late:,} rows, max_groups = 100 (rows/s)")
    section.lines.append(
        Line(
            f"after {late:,} rows (ours) against after {early:,} (peer)",
            count(rate(chunk, times[str(late)])),
            count(rate(chunk, times[str(early)])),
            str(speed),
            ">= 0.8",
            speed.median >= 0.8,
            {"speed_ratio": speed._asdict()},
        )
    )
    marks = early // chunk
    average = late / sum(seconds), early / sum(seconds[:marks])
    section.lines.append(
        Line(
            "average from the first row on",
            count(average[0]),
            count(average[1]),
            f"{average[0] / average[1]:.3g}",
            figures={"rates": average},
        )
    )
    groups = [kept[mark].n_groups_.tolist() for mark in (late, early)]
    section.lines.append(Line("groups of the best particle, by class", *map(str, groups)))
    memory = [held_bytes(kept[mark]) for mark in (late, early)]
    saved = [saved_bytes(kept[mark]) for mark in (late, early)]
    for what, (a, b) in (("arrays in memory", memory), ("saved file", saved)):
        section.lines.append(
            Line(
                what,
                f"{a / 1e6:.2f} MB",
                f"{b / 1e6:.2f} MB",
                f"{a / b:.3g}",
                figures={"bytes": [a, b]},
            )
        )
    section.figures = {
        "chunk": chunk,
        "cpu_seconds_by_chunk": seconds,
        "cpu_seconds": {mark: t.tolist() for mark, t in times.items()},
    }
    return section


def held_bytes(learner: Any) -> int:
    """Bytes of all arrays that the filters of a model hold."""
    return sum(_bytes(f.__dict__) for f in learner._bank.filters())


def saved_bytes(learner: Any) -> int:
    """Bytes of the model's archive."""
    file = io.BytesIO()
    save(learner, file)
    return len(file.getvalue())


def _bytes(value: Any) -> int:
    if isinstance(value, np.ndarray):
        return value.nbytes
    if isinstance(value, dict):  # the machine code and what is bound to it are no data
        return sum(_bytes(v) for k, v in value.items() if k not in ("_arrays", "_settings"))
    return sum(map(_bytes, value)) if isinstance(value, tuple) else 0


def _table(mixtures: Mixtures, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    X, y = mixtures.draw(n, rng)
    return X.astype(float), y


def _learn(learner: Any, X: np.ndarray, y: np.ndarray) -> float:
    start = time.process_time()
    for i in range(0, len(X), BATCH):
        learner.partial_fit(X[i : i + BATCH], y[i : i + BATCH])
    return time.process_time() - start


class _Further:
    """Learns further rows from the same state at each call; the copies are made beforehand."""

    def __init__(self, learner: Any, X: np.ndarray, y: np.ndarray, calls: int) -> None:
        self.copies, self.X, self.y = [deepcopy(learner) for _ in range(calls)], X, y

    def __call__(self) -> None:
        _learn(self.copies.pop(), self.X, self.y)
