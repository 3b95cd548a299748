"""Max-margin DP-means: speed against liblinear and libsvm, on Setting II of the paper.

Accuracy in the paper's settings is table 1 of `infinimix reproduce m2dpm`.
"""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.svm import SVC, LinearSVC

from bench.report import Grid, Line, Section
from bench.timing import ratio, take_turns
from infinimix import MaxMarginDPMeans
from infinimix.maxmargin.descent.passes import scan
from infinimix.maxmargin.experts.training import read_data
from infinimix.maxmargin.objective.hinges import LossWeights
from infinimix.maxmargin.objective.problem import MarginProblem
from infinimix.maxmargin.objective.rows import CHUNK, FeatureRows
from infinimix.papers.m2dpm.synthetic import true_partition
from infinimix.papers.m2dpm.worlds import setting_two


def speed(quick: bool) -> list[Line]:
    n, small = (1_000, 500) if quick else (100_000, 10_000)
    asked = np.arange(n, n + (500 if quick else 10_000))
    world = setting_two(n + len(asked), 0)
    X, y = world.X[:n], world.y[:n]
    functions = {
        "ours": lambda: MaxMarginDPMeans(random_state=0).fit(X, y),
        "liblinear": lambda: _liblinear(X, y),
    }
    MaxMarginDPMeans(random_state=0).fit(X[:500], y[:500])
    times = take_turns(functions, 1 if quick else 3)
    r = ratio(times["ours"], times["liblinear"])
    model = functions["ours"]()
    reached = (model.predict(world.X[asked]) == world.y[asked]).mean()
    truth = true_partition(world, np.arange(n), asked) / 100
    lines = [
        Line(
            f"fit, Setting II, {n:,} rows", f"{times['ours'].min():.2f} s",
            f"liblinear hinge dual {times['liblinear'].min():.2f} s", str(r), "<= 1",
            bool(r.median <= 1),
        ),
        Line(
            "its accuracy beside an SVM on the true partition", f"{100 * reached:.1f}%",
            f"{100 * truth:.1f}%", f"{reached / truth:.3f}", ">= 0.98",
            bool(reached >= 0.98 * truth),
        ),
    ]  # fmt: skip
    functions = {
        "ours": lambda: MaxMarginDPMeans(random_state=0).fit(X[:small], y[:small]),
        "libsvm": lambda: SVC().fit(X[:small], y[:small]),
    }
    times = take_turns(functions, 1 if quick else 5)
    r = ratio(times["libsvm"], times["ours"])
    lines.append(
        Line(
            f"fit, Setting II, {small:,} rows", f"{times['ours'].min():.2f} s",
            f"libsvm RBF {times['libsvm'].min():.2f} s", f"{r} times faster", ">= 30",
            bool(r.median >= 30),
        )
    )  # fmt: skip
    return lines


def _liblinear(X: np.ndarray, y: np.ndarray) -> LinearSVC:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return LinearSVC(C=1.0, loss="hinge", dual=True, tol=1e-4, max_iter=1000).fit(X, y)


def passes(quick: bool) -> tuple[list[Line], Grid]:
    """Time of an assignment pass by rows, and beside its matrix product alone."""
    sizes = [500, 2_000] if quick else [10_000, 100_000, 1_000_000]
    rows, per = [], []
    for n in sizes:
        X, y, _, _ = setting_two(n, 0)
        model = MaxMarginDPMeans(lam=200.0, s=1.0, random_state=0).fit(X[:2000], y[:2000])
        data = read_data(MaxMarginDPMeans(), X, y)
        problem = MarginProblem(data.rows, data.divergence, LossWeights(200.0))
        clusters, z = model._state.clusters, np.full(n, -1)
        W = problem.score_vectors(clusters)
        turns = take_turns(
            {
                "pass": lambda p=problem, c=clusters, z=z: scan(p, c, z),
                "product": lambda r=data.rows, W=W: multiply(r, W),
            },
            2 if quick else 5,
        )
        unit = turns["pass"].min() / n / len(clusters) * 1e9
        per.append(unit)
        far = ratio(turns["pass"], turns["product"])
        rows.append([f"{n:,}", f"{len(clusters)}", f"{unit:.2f}", str(far)])
    grid = Grid(
        "An assignment pass: ns a row and cluster, and how many times its matrix product alone",
        ["rows", "clusters", "ns", "times the product"], rows,
    )  # fmt: skip
    flat = per[-1] / per[0]
    line = Line(
        f"a pass, per row and cluster, {sizes[-1]:,} beside {sizes[0]:,} rows", f"{per[-1]:.2f} ns",
        f"{per[0]:.2f} ns", f"{flat:.2f}", "<= 1.25", bool(flat <= 1.25),
    )  # fmt: skip
    return [line], grid


def multiply(rows: FeatureRows, W: np.ndarray) -> None:
    """The matrix product of a pass, and nothing else."""
    room = np.empty((len(W), CHUNK))
    for part in rows.chunks():
        np.matmul(W, rows.F[part].T, out=room[:, : part.stop - part.start])


def run(quick: bool = False) -> Section:
    section = Section("Max-margin DP-means: speed")
    section.lines += speed(quick)
    lines, grid = passes(quick)
    section.lines += lines
    section.grids.append(grid)
    return section
