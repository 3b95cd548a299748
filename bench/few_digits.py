"""Digits of scikit-learn, binarised at > 7: two labels a class, and columns of noise.

Few labels: two rows of each class with label, 1,000 other rows without, which are to be classified.
"row by row" has learned the 20 rows only. Label spreading gets its better kernel in hindsight.

Noise: 200 random binary columns beside the 64 pixels, 1,200 rows to learn and 597 to judge, with
and without `relevance="learn"`.
"""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.datasets import load_digits
from sklearn.semi_supervised import LabelSpreading

from bench.report import Grid, Line, Section
from infinimix import AClassClassifier, FiniteMixtureClassifier
from infinimix.evaluation.intervals import standard_error

LABELS, QUERIES, NOISE, LEARNED = 2, 1_000, 200, 1_200
KERNELS = {
    "label spreading, RBF": {"kernel": "rbf", "gamma": 0.1},
    "label spreading, neighbours": {"kernel": "knn", "n_neighbors": 7},
}
OURS = {"EM": FiniteMixtureClassifier, "AClass": AClassClassifier}
LOSS = 2.0  # points that noise may cost with feature relevance on


def digits() -> tuple[np.ndarray, np.ndarray]:
    """The pixels, binarised, and the digits."""
    pixels, digit = load_digits(return_X_y=True)
    return (pixels > 7).astype(float), digit


def two_labels(seed: int, queries: int = QUERIES) -> dict[str, float]:
    """Error of each method in percent, on one draw of the labelled rows."""
    X, y = digits()
    order = np.random.default_rng(seed).permutation(len(y))
    few = np.concatenate([order[y[order] == c][:LABELS] for c in range(10)])
    rest = order[~np.isin(order, few)][:queries]
    answers: dict[str, np.ndarray] = {}
    for name, make in OURS.items():
        model = make(columns="binary", random_state=seed).fit(X[few], y[few])
        answers[name] = model.predict(X[rest])
        answers[f"{name}, batch"] = model.predict_batch(X[rest])
    both, labels = np.concatenate([few, rest]), np.full(len(few) + len(rest), -1)
    labels[: len(few)] = y[few]
    for name, options in KERNELS.items():
        peer = LabelSpreading(**options).fit(X[both], labels)
        answers[name] = peer.transduction_[len(few) :]
    return {name: 100 * float(np.mean(found != y[rest])) for name, found in answers.items()}


def noise(seed: int, effort: str, learned: int = LEARNED) -> dict[str, float]:
    """Accuracy in percent without noise, with it, and with it and `relevance="learn"`."""
    X, y = digits()
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(y))
    noisy = np.hstack([X, rng.integers(0, 2, (len(y), NOISE))])
    train, test = order[:learned], order[LEARNED:]
    found = {}
    for name, table, relevance in (
        ("pixels", X, "all"),
        ("noise", noisy, "all"),
        ("relevance", noisy, "learn"),
    ):
        model = AClassClassifier("binary", effort=effort, relevance=relevance, random_state=seed)
        model.fit(table[train], y[train])
        found[name] = 100 * float(np.mean(model.predict(table[test]) == y[test]))
    kept = model.feature_relevance_ > 0.5
    return {**found, "kept pixels": float(kept[:64].sum()), "kept noise": float(kept[64:].sum())}


def run(quick: bool = False) -> Section:
    section = Section("Digits > 7: two labels a class, and 200 columns of noise")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # classes that nobody labelled, rows that do not help
        n_draws, queries, learned = (1, 60, 100) if quick else (20, QUERIES, LEARNED)
        efforts, seeds = (("fast",), 1) if quick else (("fast", "default"), 10)
        draws = [two_labels(seed, queries) for seed in range(n_draws)]
        pairs = [(seed, effort) for effort in efforts for seed in range(seeds)]
        noises = [noise(seed, effort, learned) for seed, effort in pairs]
    _few(section, draws)
    _noise(section, pairs, noises)
    section.figures = {"two labels": draws, "noise": noises}
    return section


def _few(section: Section, draws: list[dict[str, float]]) -> None:
    errors = {name: np.array([one[name] for one in draws]) for name in draws[0]}
    means = {name: e.mean() for name, e in errors.items()}
    spreading = min(means[name] for name in KERNELS)
    for name in OURS:
        ours, alone = means[f"{name}, batch"], means[name]
        met = bool(ours <= 2 / 3 * alone and ours <= spreading)
        bar = f"<= {2 / 3 * alone:.1f} and <= {spreading:.1f}"
        section.lines.append(Line(f"{name}, batch: error in %", f"{ours:.1f}", "", "", bar, met))
    rows = [[name, f"{e.mean():.1f} ± {standard_error(e):.1f}"] for name, e in errors.items()]
    section.grids.append(Grid(f"Two labels, error in % ({len(draws)} draws)", ["method", ""], rows))


def _noise(section: Section, pairs: list[tuple[int, str]], noises: list[dict[str, float]]) -> None:
    rows = []
    for (seed, effort), one in zip(pairs, noises, strict=True):
        kept = f"{one['kept pixels']:.0f}, {one['kept noise']:.0f}"
        figures = [f"{one[k]:.1f}" for k in ("pixels", "noise", "relevance")]
        rows.append([f"{effort}, {seed}", *figures, kept])
    lost = np.array([one["pixels"] - one["relevance"] for one in noises])
    worst = Line(
        "points lost to noise, mean (worst)",
        f"{lost.mean():.1f} ({lost.max():.1f})",
        bar=f"worst < {LOSS:g}",
        meets=bool(lost.max() < LOSS),
    )
    section.lines.append(worst)
    headings = ["effort, seed", "pixels", "with noise", "with relevance", "kept pixels, noise"]
    section.grids.append(Grid("Noise, accuracy in %", headings, rows))
