"""Training in batches: against scikit-learn's naive Bayes, by particles, with missing cells.

Every round has another seed of the model: how many groups are alive, and with it the time,
is partly luck. The last line says how far training is from what the machine can read: every
row must read the log odds of every live group once, so the limit is a compiled loop that
reads a table of that size from the cache and does nothing else.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit
from sklearn.naive_bayes import BernoulliNB

from bench.report import Line, Section
from bench.synthetic import two_classes
from bench.timing import count, rate, ratio, take_turns, warm_up
from infinimix import AClassClassifier
from infinimix.inference.partition.population import LIVE, UNIQUE
from infinimix.papers.aclass.worlds import knock_out

BATCH = 1000
PARTICLES = (1, 10, 40)
ALPHAS = (1.0, 2.5)  # fixed: the second is near what is learned here
FASTER, DEARER, SLOWER = 1.8, 1.05, 1.5  # bars: against naive Bayes, alpha learned, with holes


def model(n_particles: int = 20, seed: int = 0, **parameters: Any) -> AClassClassifier:
    """Return the model of the speed bars."""
    return AClassClassifier(
        columns="binary",
        prior="reference",
        n_islands=1,
        n_particles=n_particles,
        random_state=seed,
        **parameters,
    )


def train(learner: Any, X: np.ndarray, y: np.ndarray, always: bool = False) -> Any:
    """Learn a table batch by batch; the first call, or every call, names the classes."""
    for i in range(0, len(X), BATCH):
        classes = [0, 1] if always or i == 0 else None
        learner.partial_fit(X[i : i + BATCH], y[i : i + BATCH], classes=classes)
    return learner


def fresh(
    P: int, X: np.ndarray, y: np.ndarray, always: bool = False, **parameters: Any
) -> Callable[[], Any]:
    """Return what trains a new model, with the next seed, at each call."""
    seeds = itertools.count()
    return lambda: train(model(P, next(seeds), **parameters), X, y, always)


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
            functions[f"P={P}, {kind}"] = fresh(P, X, y)
    complete = tables["float"]
    functions["naive Bayes, float, classes each call"] = lambda: train(
        BernoulliNB(), complete, y, always=True
    )
    functions["P=10, float, classes each call"] = fresh(10, complete, y, always=True)
    for alpha in ALPHAS:
        functions[f"P=10, float, alpha={alpha}"] = fresh(10, complete, y, alpha=alpha)
    first = warm_up(functions)
    times = take_turns(functions, rounds)
    section = Section(f"Training, {n:,} rows x 100, batches of {BATCH:,} (rows/s)")
    section.lines += _against_naive_bayes(n, times)
    section.lines += _by_particles(n, times)
    section.lines += _alpha_learned(n, times)
    section.lines += _missing(n, times)
    section.lines.append(_machine_limit(n, complete, y, rounds))
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
    """Naming the classes at each call costs both sides time, so it is a contest of its own."""
    contests = [(P, kind) for kind in ("float", "bool") for P in PARTICLES]
    lines = []
    for P, kind in [*contests, (10, "float, classes each call")]:
        ours, peer = times[f"P={P}, {kind}"], times[f"naive Bayes, {kind}"]
        faster = ratio(peer, ours)
        lines.append(
            Line(
                f"P = {P} against BernoulliNB, {kind}",
                count(rate(n, ours)),
                count(rate(n, peer)),
                str(faster),
                f">= {FASTER}" if P == 10 else "",
                faster.median >= FASTER if P == 10 else None,
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


def _alpha_learned(n: int, times: dict[str, np.ndarray]) -> list[Line]:
    """What it costs to draw alpha at rows 1, 2, 4, ... and to weigh the particles again."""
    lines = []
    for alpha in ALPHAS:
        learned, fixed = times["P=10, float"], times[f"P=10, float, alpha={alpha}"]
        dearer = ratio(learned, fixed)
        lines.append(
            Line(
                f"alpha learned (ours) takes times alpha = {alpha} (peer), P = 10",
                count(rate(n, learned)),
                count(rate(n, fixed)),
                str(dearer),
                f"<= {DEARER}",
                dearer.median <= DEARER,
                {"time_ratio": dearer._asdict()},
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
                f"<= {SLOWER}",
                slower.median <= SLOWER,
                {"time_ratio": slower._asdict()},
            )
        )
    return lines


@njit(fastmath=True)
def _read(table, X, out):
    """Multiply the table by each row, four lines at a time: a product that stays in cache."""
    for i in range(X.shape[0]):
        for k in range(0, table.shape[0] - 3, 4):
            a, b, c, d = 0.0, 0.0, 0.0, 0.0
            for j in range(table.shape[1]):
                x = X[i, j]
                a += x * table[k, j]
                b += x * table[k + 1, j]
                c += x * table[k + 2, j]
                d += x * table[k + 3, j]
            out[k], out[k + 1], out[k + 2], out[k + 3] = a, b, c, d


def _machine_limit(n: int, X: np.ndarray, y: np.ndarray, rounds: int) -> Line:
    """Bytes of log odds read per row, over the time a row takes, against reading alone."""
    P, live, unique, trained = 10, [], [], model(10)
    for i in range(0, n, BATCH):
        trained.partial_fit(X[i : i + BATCH], y[i : i + BATCH])
        tallies = np.mean([f.counters for f in trained._bank.filters()], axis=0)
        live.append(tallies[LIVE])
        unique.append(tallies[UNIQUE])
    lines = 4 * round(float(np.mean(live)) / 4)
    table = np.random.default_rng(0).random((lines, X.shape[1]))
    out = np.empty(lines)
    turns = {"train": lambda: train(model(P), X, y), "read": lambda: _read(table, X, out)}
    warm_up(turns)
    times = take_turns(turns, rounds)
    ours = float(np.mean(live)) * X.shape[1] * 8 * rate(n, times["train"])
    limit = table.nbytes * rate(n, times["read"])
    return Line(
        f"bytes of log odds read, P = {P} (a class has {np.mean(live):.0f} live groups, "
        f"{np.mean(unique):.1f} distinct particles)",
        f"{ours / 1e9:.1f} GB/s",
        f"{limit / 1e9:.1f} GB/s (read alone)",
        f"{ours / limit:.2f}",
        figures={"live_groups": live, "distinct_particles": unique, "ours": ours, "limit": limit},
    )
