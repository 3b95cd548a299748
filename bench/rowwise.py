"""One row per call from Python: what a call costs, against scikit-learn's naive Bayes.

And rows as dicts, by `learn_one` and `predict_one` of both models for streams.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.naive_bayes import BernoulliNB

from bench.report import Line, Section
from bench.synthetic import two_classes
from bench.timing import count, rate, ratio, take_turns
from bench.training import model, train
from infinimix import AClassClassifier, OnlineCRPClassifier

WARM = 2000
FASTER, A_SECOND = 60, 20_000  # bars: against naive Bayes, and for dicts


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
        bar = f">= {FASTER}" if name == "P=20" else ""
        section.lines.append(
            Line(
                f"{name} against BernoulliNB" + (" (the default)" if bar else ""),
                count(rate(rows, times[name])),
                count(rate(rows, times["naive Bayes"])),
                str(faster),
                bar,
                faster.median >= FASTER if bar else None,
                {"speed_ratio": faster._asdict()},
            )
        )
    section.figures = {"rows": rows, "cpu_seconds": {k: t.tolist() for k, t in times.items()}}
    section.lines += _dicts(300 if quick else 3000)
    return section


def _dicts(n: int) -> list[Line]:
    """Rows a second of models that have learned as many, as dicts of 10 cells."""
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=2 * n).tolist()
    cells = {
        "numbers": rng.normal(size=(2 * n, 10)) + np.array(y)[:, None],
        "booleans": rng.random((2 * n, 10)) < 0.3 + 0.4 * np.array(y)[:, None],
    }
    models: dict[str, Callable[[], Any]] = {
        "AClassClassifier(n_islands=1)": lambda: AClassClassifier(n_islands=1, random_state=0),
        "OnlineCRPClassifier": lambda: OnlineCRPClassifier(columns="auto", random_state=0),
    }
    lines = []
    for kind, table in cells.items():
        rows = [{f"x{j}": x for j, x in enumerate(row)} for row in table.tolist()]
        for name, new in models.items():
            learner = new()
            for x, label in zip(rows[:n], y[:n], strict=True):
                learner.learn_one(x, label)
            start = time.process_time()
            for x, label in zip(rows[n:], y[n:], strict=True):
                learner.learn_one(x, label)
            learned = time.process_time()
            for x in rows[n:]:
                learner.predict_one(x)
            ends = {"learn_one": learned - start, "predict_one": time.process_time() - learned}
            for method, seconds in ends.items():
                speed = n / seconds
                lines.append(
                    Line(
                        f"{name}.{method}, dicts of 10 {kind}",
                        count(speed),
                        bar=f">= {A_SECOND:,}",
                        meets=speed >= A_SECOND,
                    )
                )
    return lines


class Stream:
    """Feeds a learner so many more rows at each call, one by one."""

    def __init__(self, learner: Any, X: np.ndarray, y: np.ndarray, rows: int) -> None:
        self.learner, self.X, self.y, self.rows, self.at = learner, X, y, rows, 0

    def __call__(self) -> None:
        learn, X, y = self.learner.partial_fit, self.X, self.y
        for i in range(self.at, self.at + self.rows):
            learn(X[i : i + 1], y[i : i + 1])
        self.at += self.rows
