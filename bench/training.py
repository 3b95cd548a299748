"""Training in batches: against scikit-learn's naive Bayes, by particles, with missing cells.

The last line says how far scoring is from what the machine can read: every row must read
the log odds of every live group once, and a matrix-vector product from the cache is the
fastest way to read a table of that size.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.naive_bayes import BernoulliNB

from bench.report import Line, Section
from bench.synthetic import knock_out, two_classes
from bench.timing import count, rate, ratio, take_turns, warm_up
from infinimix import AClassClassifier
from infinimix.inference.population import LIVE, UNIQUE

BATCH = 1000
PARTICLES = (1, 10, 40)


def model(n_particles: int = 20, **parameters: Any) -> AClassClassifier:
    """Return the model of the speed bars."""
    return AClassClassifier(
        columns="binary",
        prior="reference",
        n_islands=1,
        n_particles=n_particles,
        random_state=0,
        **parameters,
    )


def train(learner: Any, X: np.ndarray, y: np.ndarray, batch: int = BATCH) -> Any:
    """Learn a table by `partial_fit`, batch by batch."""
    classes = [0, 1]
    for i in range(0, len(X), batch):
        learner.partial_fit(X[i : i + batch], y[i : i + batch], classes=classes)
    return learner


def run(quick: bool = False) -> Section:
    n, rounds = (2000, 2) if quick else (20_000, 15)
    bits, y = two_classes(n)
    tables = {
        "float": bits.astype(float),
        "bool": bits,
        "25% missing": knock_out(bits, 0.25, np.random.default_rng(1)),
    }
    functions: dict[str, Callable[[], Any]] = {}
    for kind in ("float", "bool"):
        functions[f"naive Bayes, {kind}"] = lambda X=tables[kind]: train(BernoulliNB(), X, y)
    for P in PARTICLES:
        for kind, X in tables.items():
            functions[f"P={P}, {kind}"] = lambda P=P, X=X: train(model(P), X, y)
    first = warm_up(functions)
    times = take_turns(functions, rounds)
    section = Section(f"Training, {n:,} rows x 100, batches of {BATCH:,} (rows/s)")
    section.lines += _against_naive_bayes(n, times)
    section.lines += _by_particles(n, times)
    section.lines += _missing(n, times)
    section.lines.append(_machine_limit(n, tables["float"], y, rounds))
    compiled = sum(first.values()) - sum(float(np.median(t)) for t in times.values())
    section.notes.append(
        f"warm-up (loading or compiling kernels), not counted: {max(compiled, 0.0):.1f} s CPU"
    )
    section.figures = {
        "rows": n,
        "cpu_seconds": {name: t.tolist() for name, t in times.items()},
        "first_call_cpu_seconds": first,
    }
    return section


def _against_naive_bayes(n: int, times: dict[str, np.ndarray]) -> list[Line]:
    lines = []
    for kind in ("float", "bool"):
        for P in PARTICLES:
            ours, peer = times[f"P={P}, {kind}"], times[f"naive Bayes, {kind}"]
            faster = ratio(peer, ours)
            bar = ">= 1" if P == 10 else ""
            lines.append(
                Line(
                    f"P = {P} against BernoulliNB, {kind} cells",
                    count(rate(n, ours)),
                    count(rate(n, peer)),
                    str(faster),
                    bar,
                    faster.median >= 1 if bar else None,
                    {"speed_ratio": faster._asdict()},
                )
            )
    return lines


def _by_particles(n: int, times: dict[str, np.ndarray]) -> list[Line]:
    lines = []
    for kind in ("float", "25% missing"):
        many, one = times[f"P=40, {kind}"], times[f"P=1, {kind}"]
        slower = ratio(many, one)
        lines.append(
            Line(
                f"P = 40 (ours) takes times P = 1 (peer), {kind}",
                count(rate(n, many)),
                count(rate(n, one)),
                str(slower),
                "<= 4",
                slower.median <= 4,
                {"time_ratio": slower._asdict()},
            )
        )
    return lines


def _missing(n: int, times: dict[str, np.ndarray]) -> list[Line]:
    lines = []
    for P in PARTICLES:
        holes, complete = times[f"P={P}, 25% missing"], times[f"P={P}, float"]
        slower = ratio(holes, complete)
        lines.append(
            Line(
                f"25% missing (ours) takes times complete (peer), P = {P}",
                count(rate(n, holes)),
                count(rate(n, complete)),
                str(slower),
                "<= 1.5",
                slower.median <= 1.5,
                {"time_ratio": slower._asdict()},
            )
        )
    return lines


def _machine_limit(n: int, X: np.ndarray, y: np.ndarray, rounds: int) -> Line:
    """Bytes of log odds read per row, over the time a row takes, against a product in cache."""
    live, unique, trained = [], [], model(10)
    for i in range(0, n, BATCH):
        trained.partial_fit(X[i : i + BATCH], y[i : i + BATCH])
        live.append(np.mean([f.tally[LIVE] for f in trained._bank.filters()]))
        unique.append(np.mean([f.tally[UNIQUE] for f in trained._bank.filters()]))
    bytes_a_row = float(np.mean(live)) * X.shape[1] * 8
    table = np.random.default_rng(0).random((round(np.mean(live)), X.shape[1]))
    out, repeats = np.empty(len(table)), n

    def read() -> None:
        for i in range(repeats):
            np.dot(table, X[i], out=out)

    turns = {"train": lambda: train(model(10), X, y), "read": read}
    warm_up(turns)
    times = take_turns(turns, rounds)
    ours = bytes_a_row * rate(n, times["train"])
    limit = table.nbytes * rate(n, times["read"])
    return Line(
        f"bytes of log odds read in scoring, P = 10 ({np.mean(live):.0f} live groups and "
        f"{np.mean(unique):.1f} distinct particles a class)",
        f"{ours / 1e9:.1f} GB/s",
        f"{limit / 1e9:.1f} GB/s (dot)",
        f"{ours / limit:.2f}",
        figures={"bytes_a_row": bytes_a_row, "ours": ours, "limit": limit},
    )
