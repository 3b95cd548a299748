"""The paper's synthetic task with four classes: error against its peers, paired (figure 6).

100 binary columns; classes of 4, 10, 5 and 20 modes; cells missing at random in training and
test. Data set k is drawn with seed k; its training tables are nested, and its 500 test rows
are the same for every method and size.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from bench.peers import NaiveBayes, PolynomialRLS, imputed, logistic
from bench.report import Grid, Line, Section
from bench.synthetic import Mixtures, knock_out
from infinimix import AClassClassifier

MODES, WIDTH, N_TEST = (4, 10, 5, 20), 100, 500
SHARES = (0.0, 0.25, 0.5)
OURS = "AClass"
PEERS = ("naive Bayes", "logistic, C=1/(.01n)", "logistic, C=100", "RLS, degree 2")
METHODS = (OURS, "AClass reference", *PEERS)


def run(quick: bool = False) -> Section:
    sizes, n_sets = ((20,), 2) if quick else ((100, 200, 500, 1000), 10)
    start = time.process_time()
    errors = {(share, n): np.empty((n_sets, len(METHODS))) for share in SHARES for n in sizes}
    for k in range(n_sets):
        rng = np.random.default_rng(k)
        mixtures = Mixtures(MODES, WIDTH, rng)
        X, y = mixtures.draw(sizes[-1], rng)
        test, truth = mixtures.draw(N_TEST, rng)
        for share in SHARES:
            holes, test_holes = knock_out(X, share, rng), knock_out(test, share, rng)
            for n in sizes:
                errors[share, n][k] = _errors(holes[:n], y[:n], test_holes, truth, seed=k)
    section = Section(f"The paper's task: four classes, {n_sets} data sets (error, %)")
    section.lines = [_line(share, n, table) for (share, n), table in errors.items()]
    section.grids = [_means(errors), _differences(errors)]
    section.notes += [
        "the peer of a line is the one that comes closest to us, in standard errors",
        f"CPU time of all methods: {time.process_time() - start:.0f} s",
    ]
    section.figures = {
        "methods": METHODS,
        "errors": {f"{share:.0%}, {n} rows": t.tolist() for (share, n), t in errors.items()},
    }
    return section


def _errors(X: np.ndarray, y: np.ndarray, test: np.ndarray, truth: np.ndarray, seed: int) -> Any:
    n = len(X)
    empirical = AClassClassifier(columns="binary", random_state=seed)
    reference = AClassClassifier(columns="binary", prior="reference", random_state=seed)
    answers = (
        empirical.fit(X, y).predict(test),
        reference.fit(X, y).predict(test),
        NaiveBayes().fit(X, y).predict(test),
        imputed(logistic(n, per_row=True), X, y, test),
        imputed(logistic(n, per_row=False), X, y, test),
        imputed(PolynomialRLS(), X, y, test),
    )
    return [np.mean(answer != truth) for answer in answers]


def paired(a: np.ndarray, b: np.ndarray) -> tuple[float, float]:
    """Mean of a - b, and that in its standard errors (0 when they are always equal)."""
    d = a - b
    mean, error = d.mean(), d.std(ddof=1) / np.sqrt(len(d))
    if error == 0.0:
        return float(mean), 0.0 if mean == 0.0 else float(np.copysign(np.inf, mean))
    return float(mean), float(mean / error)


def _line(share: float, n: int, table: np.ndarray) -> Line:
    first = METHODS.index(PEERS[0])
    results = [paired(table[:, 0], table[:, j]) for j in range(first, len(METHODS))]
    closest = max(range(len(PEERS)), key=lambda j: results[j][1])
    mean, z = results[closest]
    if share > 0:
        bar, meets = "better by 2 s.e.", z <= -2
    else:
        bar, meets = "not worse", z <= 2
    return Line(
        f"{share:.0%} missing, {n} rows",
        f"{100 * table[:, 0].mean():.1f}",
        f"{100 * table[:, first + closest].mean():.1f} {PEERS[closest]}",
        f"{100 * mean:+.2f} ({z:+.1f} s.e.)",
        bar,
        bool(meets),
        {"difference": mean, "standard_errors": z},
    )


def _means(errors: dict[tuple[float, int], np.ndarray]) -> Grid:
    rows = [
        [f"{share:.0%}, {n} rows", *(f"{100 * e:.1f}" for e in table.mean(axis=0))]
        for (share, n), table in errors.items()
    ]
    return Grid("Mean error, %", ["missing, rows", *METHODS], rows)


def _differences(errors: dict[tuple[float, int], np.ndarray]) -> Grid:
    rows = []
    for (share, n), table in errors.items():
        row = [f"{share:.0%}, {n} rows"]
        for j in range(1, len(METHODS)):
            mean, z = paired(table[:, 0], table[:, j])
            row.append(f"{100 * mean:+.2f} ({z:+.1f})")
        rows.append(row)
    return Grid(
        f"{OURS} minus the other, % (in standard errors); negative is better",
        ["missing, rows", *METHODS[1:]],
        rows,
    )
