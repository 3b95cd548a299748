"""One row per call from Python: what a call costs, against scikit-learn's naive Bayes."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.naive_bayes import BernoulliNB

from bench.report import Line, Section
from bench.synthetic import two_classes
from bench.timing import count, rate, ratio, take_turns
from bench.training import model, train

WARM = 2000


def run(quick: bool = False) -> Section:
    rows, rounds = (20, 2) if quick else (200, 20)
    bits, y = two_classes(WARM + rows * rounds)
    X = bits.astype(float)
    learners = {
        "naive Bayes": BernoulliNB(),
        "P=20": model(),
        "P=10": model(10),
        "P=1": model(1),
    }
    turns = {}
    for name, learner in learners.items():
        train(learner, X[:WARM], y[:WARM])
        turns[name] = Stream(learner, X[WARM:], y[WARM:], rows)
    times = take_turns(turns, rounds)
    section = Section(f"One row per call, {rows * rounds:,} calls after {WARM:,} rows (rows/s)")
    for name in ("P=20", "P=10", "P=1"):
        faster = ratio(times["naive Bayes"], times[name])
        bar = ">= 50" if name == "P=20" else ""
        section.lines.append(
            Line(
                f"{name} against BernoulliNB" + (" (the default)" if bar else ""),
                count(rate(rows, times[name])),
                count(rate(rows, times["naive Bayes"])),
                str(faster),
                bar,
                faster.median >= 50 if bar else None,
                {"speed_ratio": faster._asdict()},
            )
        )
    section.figures = {"rows": rows, "cpu_seconds": {k: t.tolist() for k, t in times.items()}}
    return section


class Stream:
    """Feeds a learner so many more rows at each call, one by one."""

    def __init__(self, learner: Any, X: np.ndarray, y: np.ndarray, rows: int) -> None:
        self.learner, self.X, self.y, self.rows, self.at = learner, X, y, rows, 0

    def __call__(self) -> None:
        learn, X, y = self.learner.partial_fit, self.X, self.y
        for i in range(self.at, self.at + self.rows):
            learn(X[i : i + 1], y[i : i + 1])
        self.at += self.rows
