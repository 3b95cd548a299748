"""Max-margin DP-means: the paper's two settings, and speed against liblinear and libsvm."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np
from scipy.special import expit
from sklearn.svm import SVC, LinearSVC

from bench.margin_peers import PEERS, fit_scaled
from bench.report import Grid, Line, Section
from bench.timing import ratio, take_turns
from infinimix import MaxMarginDPMeans
from infinimix.maxmargin.descent.algorithm import scan
from infinimix.maxmargin.experts.training import read_data
from infinimix.maxmargin.objective.hinges import Weights
from infinimix.maxmargin.objective.problem import Problem
from infinimix.maxmargin.objective.rows import CHUNK, Rows

World = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]  # X, y, true cluster, P(y = 1)


def setting_one(n: int, seed: int, d: int = 10) -> World:
    """A CRP with alpha = 1 and at most ten normal clusters on a line, a linear rule in each."""
    rng = np.random.default_rng(seed)
    z, counts = np.empty(n, np.int64), np.zeros(11)
    for i in range(n):
        w = counts[:10].copy()
        opened = int((counts > 0).sum())
        if opened < 10:
            w[opened] = 1.0
        z[i] = rng.choice(10, p=w / w.sum())
        counts[z[i]] += 1
    return _labelled(rng, 0.5 * rng.normal(size=(n, d)), z)


def setting_two(n: int, seed: int, d: int = 10) -> World:
    """Ten disjoint cubes on a line, a linear rule in each."""
    rng = np.random.default_rng(seed)
    return _labelled(rng, rng.uniform(-0.5, 0.5, (n, d)), rng.integers(0, 10, n))


def _labelled(rng: np.random.Generator, U: np.ndarray, z: np.ndarray) -> World:
    p = expit((U * rng.normal(size=(10, U.shape[1]))[z]).sum(axis=1))
    return U + 1.0 + z[:, None], (rng.random(len(z)) < p).astype(int), z, p


def true_partition(world: World, train: np.ndarray, test: np.ndarray) -> float:
    """Accuracy of a linear SVM in each true cluster, C chosen on folds of its rows."""
    X, y, z, _ = world
    right = 0
    for k in np.unique(z[test]):
        rows, asked = train[z[train] == k], test[z[test] == k]
        counts = np.bincount(y[rows], minlength=2)
        if counts.min() < 3:
            right += (y[asked] == counts.argmax()).sum()
            continue
        model = fit_scaled(PEERS["linear SVM"], X[rows], y[rows])
        right += (model.predict(X[asked]) == y[asked]).sum()
    return right / len(test)


def accuracies(world: World, seed: int, names: list[str]) -> dict[str, float]:
    X, y, _, p = world
    order = np.random.default_rng(seed).permutation(len(y))
    train, test = np.split(order, [int(0.8 * len(y))])
    out = {
        name: float(
            (fit_scaled(PEERS[name], X[train], y[train]).predict(X[test]) == y[test]).mean()
        )
        for name in names
    }
    out["true partition"] = true_partition(world, train, test)
    out["Bayes"] = float(((p[test] > 0.5) == y[test]).mean())
    return out


def compare(
    title: str, make: Callable[[int, int], World], n: int, sets: int, names: list[str]
) -> tuple[list[Line], Grid]:
    """Accuracy over data sets, and paired differences with standard errors."""
    found = [accuracies(make(n, seed), seed, names) for seed in range(sets)]
    table = {name: 100 * np.array([one[name] for one in found]) for name in found[0]}
    rows = [[name, _mean(scores)] for name, scores in table.items()]
    lines = []
    for rival in ("true partition", "DPMeansSVC"):
        gap = table["M2DPM"] - table[rival]
        error = gap.std(ddof=1) / np.sqrt(len(gap))
        lines.append(
            Line(
                f"{title}: M2DPM less {rival}, points", f"{gap.mean():+.2f}", "",
                f"standard error {error:.2f}", "> -1" if rival == "DPMeansSVC" else "",
                bool(gap.mean() > -1.0) if rival == "DPMeansSVC" else None,
                {"gap": float(gap.mean()), "error": float(error)},
            )
        )  # fmt: skip
    return lines, Grid(f"{title}, accuracy in percent over {sets} data sets", ["", "mean"], rows)


def _mean(scores: np.ndarray) -> str:
    error = scores.std(ddof=1) / np.sqrt(len(scores))
    return f"{scores.mean():.1f} ± {error:.1f}"


def speed(quick: bool) -> list[Line]:
    n, small = (1_000, 500) if quick else (100_000, 10_000)
    asked = np.arange(n, n + (500 if quick else 10_000))
    world = setting_two(n + len(asked), 0)
    X, y = world[0][:n], world[1][:n]
    functions = {
        "ours": lambda: MaxMarginDPMeans(random_state=0).fit(X, y),
        "liblinear": lambda: _liblinear(X, y),
    }
    MaxMarginDPMeans(random_state=0).fit(X[:500], y[:500])
    times = take_turns(functions, 1 if quick else 3)
    r = ratio(times["ours"], times["liblinear"])
    model = functions["ours"]()
    reached = (model.predict(world[0][asked]) == world[1][asked]).mean()
    truth = true_partition(world, np.arange(n), asked)
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
        problem = Problem(data.rows, data.divergence, Weights(200.0))
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


def multiply(rows: Rows, W: np.ndarray) -> None:
    """The matrix product of a pass, and nothing else."""
    room = np.empty((len(W), CHUNK))
    for part in rows.chunks():
        np.matmul(W, rows.F[part].T, out=room[:, : part.stop - part.start])


def run(quick: bool = False) -> Section:
    section = Section("Max-margin DP-means: speed, and the settings of the paper")
    section.lines += speed(quick)
    lines, grid = passes(quick)
    section.lines += lines
    section.grids.append(grid)
    small = ["linear SVM", "DPMeansSVC", "M2DPM"]
    every = [name for name in PEERS if name != "logistic"]
    slow = {"dpMNL", "RBF SVM", "Gibbs", "M2DPM soft"}  # which is hard, as no clusters touch
    one, two = (small, small) if quick else (every, [n for n in every if n not in slow])
    for title, make, n, names in (
        ("Setting I", setting_one, 80 if quick else 1_000, one),
        ("Setting II", setting_two, 100 if quick else 10_000, two),
    ):
        lines, grid = compare(title, make, n, 2 if quick else 20, names)
        section.lines += lines
        section.grids.append(grid)
    section.notes.append(
        "choices on folds of the training rows alone; in Setting II without the slowest, "
        + ", ".join(sorted(slow))
    )
    return section
