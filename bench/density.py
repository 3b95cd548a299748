"""Density of binary rows: held-out log-likelihood and CPU time, against the truth and lace.

10,000 rows of 50 binary columns from 20 equally probable modes with Beta(.5, .5) parameters,
and 10,000 fresh rows. The figure is nats a row below the mixture that made them, so less is
better; "z known" is what remains when the mode of each training row is given, with the true
prior. lace (https://lace.dev) runs in a process of its own, by the Python that the environment
variable `INFINIMIX_LACE_PYTHON` names; its time is user and system time of all its threads,
of which there is one. It has 8 states, once with its default transitions (CrossCat) and once
"flat": told that all columns share one grouping of the rows, which is the truth here.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.special import logsumexp

from bench.report import Grid, Line, Section
from infinimix import CRPMixture
from infinimix.evaluation.intervals import standard_error

VARIABLE = "INFINIMIX_LACE_PYTHON"
MODES, WIDTH = 20, 50
ITERATIONS = {"default": (10, 100, 1000), "flat": (10, 30, 100, 300)}
OURS = {"CRPMixture()": {}, 'CRPMixture(prior="reference")': {"prior": "reference"}}


class Rows(NamedTuple):
    """Training rows with their modes, held-out rows and what the truth says of these."""

    train: np.ndarray
    z: np.ndarray
    test: np.ndarray
    truth: float


class Answer(NamedTuple):
    """Nats a row below the truth, and CPU seconds to fit and to score."""

    loss: float
    fit: float
    score: float


def make(n: int, seed: int) -> Rows:
    rng = np.random.default_rng(seed)
    p = rng.beta(0.5, 0.5, size=(MODES, WIDTH))
    z = rng.integers(MODES, size=2 * n)
    X = rng.random((2 * n, WIDTH)) < p[z]
    return Rows(X[:n], z[:n], X[n:], _mixture(X[n:], np.full(MODES, 1 / MODES), p))


def _mixture(X: np.ndarray, weights: np.ndarray, p: np.ndarray) -> float:
    """Mean log-likelihood of a mixture of Bernoulli vectors."""
    with np.errstate(divide="ignore"):
        logs = X @ np.log(p).T + ~X @ np.log1p(-p).T + np.log(weights)
    return float(logsumexp(logs, axis=1).mean())


def known_modes(rows: Rows) -> float:
    """Nats below the truth when z is given."""
    members = (rows.z == np.arange(MODES)[:, None]).astype(float)
    n = members.sum(axis=1)
    p = (members @ rows.train + 0.5) / (n[:, None] + 1.0)
    return rows.truth - _mixture(rows.test, n / n.sum(), p)


def ours(rows: Rows, seed: int, **options: str) -> Answer:
    start = time.process_time()
    model = CRPMixture(random_state=seed, **options).fit(rows.train)
    middle = time.process_time()
    loss = rows.truth - model.score_samples(rows.test).mean()
    return Answer(float(loss), middle - start, time.process_time() - middle)


def lace(
    rows: Rows, seed: int, python: str, mode: str, schedule: tuple[int, ...]
) -> dict[str, Answer]:
    """Answers after so many iterations."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "rows.npz"
        np.savez(file, train=rows.train, test=rows.test, seed=seed)
        script = Path(__file__).with_name("lace_fit.py")
        done = subprocess.run(
            [python, script, file, mode, *map(str, schedule)],
            env=os.environ | {"RAYON_NUM_THREADS": "1"},
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,  # progress bars
            text=True,
            check=True,
        )
    answers = map(json.loads, done.stdout.splitlines())
    return {
        f"lace {mode}, {iterations} iterations": Answer(rows.truth - score, fit, scoring)
        for iterations, fit, scoring, score in answers
    }


def run(quick: bool = False) -> Section:
    n, seeds = (300, range(1)) if quick else (10_000, range(5))
    schedules = dict.fromkeys(ITERATIONS, (2, 5)) if quick else ITERATIONS
    python = os.environ.get(VARIABLE)
    ours(make(300, 0), 0)  # load the kernels
    found: dict[str, list[Answer]] = {}
    floor = []
    for seed in seeds:
        rows = make(n, seed)
        floor.append(known_modes(rows))
        for name, options in OURS.items():
            found.setdefault(name, []).append(ours(rows, seed, **options))
        if python:
            for mode, schedule in schedules.items():
                for name, answer in lace(rows, seed, python, mode, schedule).items():
                    found.setdefault(name, []).append(answer)
    return _section(n, len(seeds), found, floor, bool(python))


def _section(
    n: int, seeds: int, found: dict[str, list[Answer]], floor: list[float], peer: bool
) -> Section:
    section = Section(
        f"Density of {n:,} rows of {WIDTH} binary columns from {MODES} modes, {seeds} seeds "
        "(nats a held-out row below the truth)"
    )
    names = list(found)
    section.lines.append(_line(found, names[-1] if peer else None, floor))
    rows = [["z known", _spread(floor), "", ""]]
    for name, answers in found.items():
        loss, fit, score = map(list, zip(*answers, strict=True))
        rows.append([name, _spread(loss), f"{np.mean(fit):.2f}", f"{np.mean(score):.2f}"])
    headings = ["model", "nats a row", "CPU s to fit", "CPU s to score"]
    section.grids.append(Grid("Mean ± standard error over seeds", headings, rows))
    section.figures = {"z known": floor} | {m: [a._asdict() for a in s] for m, s in found.items()}
    if not peer:
        section.notes.append(f"skipped lace: {VARIABLE} names no Python that has it")
    return section


def _line(found: dict[str, list[Answer]], peer: str | None, floor: list[float]) -> Line:
    mine = found[next(iter(OURS))]
    line = Line(
        f"default against {peer or 'z known'}",
        _spread([a.loss for a in mine]),
        _spread([a.loss for a in found[peer]] if peer else floor),
    )
    if peer:
        ratio = np.median([t.fit / a.fit for a, t in zip(mine, found[peer], strict=True)])
        line.ratio = f"{ratio:.3g} times its speed"
    return line


def _spread(x: list[float]) -> str:
    return f"{np.mean(x):.4f} ± {standard_error(np.array(x)):.4f}"
