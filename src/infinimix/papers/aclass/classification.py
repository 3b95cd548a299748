"""Figures 6, 7 and 8: error of the filter and its baselines by rows and share of missing cells.

Figure 6 is synthetic (four classes of 4, 10, 5 and 20 modes, 100 columns), figure 7 is the 100-word
part of 20 Newsgroups, figure 8 is MNIST, odd against even, by the signs of 50 principal components.
500 test rows each.
"""

from __future__ import annotations

import gzip
from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any

import numpy as np

from infinimix import AClassClassifier
from infinimix.papers.aclass.baselines import (
    Forgetron,
    NaiveBayes,
    PolynomialRLS,
    imputed,
    logistic,
)
from infinimix.papers.aclass.worlds import Mixtures, knock_out
from infinimix.papers.data import folder
from infinimix.papers.experiment import (
    Comparison,
    Estimate,
    Outcome,
    Results,
    Size,
    Task,
    gather,
    values_of,
)

MODES, WIDTH, N_TEST, COMPONENTS, SAMPLE = (4, 10, 5, 20), 100, 500, 50, 5000
PUBLISHED, DEFAULT = "AClass, 40 particles", "AClass by default"
Rows = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]  # X, y, test X, test y


def _aclass(n_particles: int) -> Callable[..., np.ndarray]:
    def answer(X: np.ndarray, y: np.ndarray, test: np.ndarray, seed: int) -> np.ndarray:
        model = AClassClassifier.as_published(
            columns="binary", n_particles=n_particles, random_state=seed
        )
        return model.partial_fit(X, y).predict(test)

    return answer


def _by_default(X: np.ndarray, y: np.ndarray, test: np.ndarray, seed: int) -> np.ndarray:
    return AClassClassifier("binary", random_state=seed).fit(X, y).predict(test)


METHODS: dict[str, Callable[..., np.ndarray]] = {
    PUBLISHED: _aclass(40),
    "AClass, 1 particle": _aclass(1),
    DEFAULT: _by_default,
    "naive Bayes": lambda X, y, test, seed: NaiveBayes().fit(X, y).predict(test),
    "logistic regression": lambda X, y, test, seed: imputed(logistic(len(X), True), X, y, test),
    "RLS of degree 2": lambda X, y, test, seed: imputed(PolynomialRLS(), X, y, test),
    "Forgetron": lambda X, y, test, seed: imputed(Forgetron(), X, y, test),
}


# --- The data -----------------------------------------------------------------------------------


def synthetic(n: int, seed: int) -> Rows:
    """Return the rows of figure 6; training tables of one seed are nested."""
    rng = np.random.default_rng(seed)
    mixtures = Mixtures(MODES, WIDTH, rng)
    test, truth = mixtures.draw(N_TEST, rng)
    X, y = mixtures.draw(n, rng)
    return X.astype(float), y, test.astype(float), truth


@lru_cache(maxsize=1)
def _news() -> tuple[np.ndarray, np.ndarray]:
    from scipy.io import loadmat

    file = loadmat(folder("20news_w100") / "20news_w100.mat")
    return file["documents"].T.toarray().astype(float), file["newsgroups"].ravel().astype(int)


@lru_cache(maxsize=1)
def _mnist() -> tuple[np.ndarray, np.ndarray]:
    place = folder("mnist")
    pixels = gzip.decompress((place / "train-images-idx3-ubyte.gz").read_bytes())
    digits = gzip.decompress((place / "train-labels-idx1-ubyte.gz").read_bytes())
    X = np.frombuffer(pixels, np.uint8, offset=16).reshape(-1, 784)
    return X, np.frombuffer(digits, np.uint8, offset=8) % 2


def _drawn(X: np.ndarray, y: np.ndarray, n: int, seed: int) -> Rows:
    order = np.random.default_rng(seed).permutation(len(y))
    test, train = order[:N_TEST], order[N_TEST : N_TEST + n]
    return X[train], y[train], X[test], y[test]


def newsgroups(n: int, seed: int) -> Rows:
    """Return rows of figure 7."""
    return _drawn(*_news(), n, seed)


def digits(n: int, seed: int) -> Rows:
    """Return rows of figure 8: signs along the principal components of 5,000 random digits."""
    X, y = _mnist()
    some = np.random.default_rng(seed).permutation(len(y))[:SAMPLE]
    pixels = X[some].astype(float)
    pixels -= pixels.mean(axis=0)
    _, vectors = np.linalg.eigh(pixels.T @ pixels)
    signs = (pixels @ vectors[:, -COMPONENTS:] > 0).astype(float)
    train, test = slice(N_TEST, N_TEST + n), slice(N_TEST)
    return signs[train], y[some][train], signs[test], y[some][test]


# --- The experiments ----------------------------------------------------------------------------

SHARES = (0.0, 0.25, 0.5)
GRID: dict[Size, Any] = {  # rows, repeats
    "tiny": ((40,), 1),
    "quick": ((100, 300), 2),
    "full": ((50, 100, 200, 500, 1000), 10),
}


def tasks(size: Size) -> list[dict[str, Any]]:
    """Return one task for each data set, size and share of missing cells."""
    rows, repeats = GRID[size]
    return [
        {"rows": n, "missing": share, "seed": seed}
        for seed in range(repeats) for n in rows for share in SHARES
    ]  # fmt: skip


def run(draw: Callable[[int, int], Rows], task: Task) -> dict[str, Any]:
    """Return the error of each method, in percent."""
    X, y, test, truth = draw(task["rows"], task["seed"])
    rng = np.random.default_rng(task["seed"])
    X, test = knock_out(X, task["missing"], rng), knock_out(test, task["missing"], rng)
    return {
        name: 100 * float(np.mean(answer(X, y, test, task["seed"]) != truth))
        for name, answer in METHODS.items()
    }


def summarise(claims: Callable[[Any, int], str], results: Results) -> Outcome:
    """Compare errors; `claims` words what the paper says of this figure."""
    rows, shares = values_of(results, "rows"), values_of(results, "missing")

    def error(name: str, n: int, share: float) -> Estimate:
        return gather(results, name, rows=n, missing=share)

    n = max(rows)
    lines = []
    for share in shares:
        where = f"{share:.0%} missing, {n} rows"
        ours = (error(PUBLISHED, n, share), error(DEFAULT, n, share))
        lines.append(Comparison(f"{where}: AClass", None, *ours))
        lines += [
            Comparison(f"{where}: {name}", None, error(name, n, share))
            for name in METHODS if name not in (PUBLISHED, DEFAULT)
        ]  # fmt: skip

    def draw(figure: Any) -> None:
        panels = figure.subplots(1, len(shares), sharey=True, squeeze=False)[0]
        for axes, share in zip(panels, shares, strict=True):
            for name in METHODS:
                axes.plot(rows, [error(name, m, share).mean for m in rows], marker=".", label=name)
            axes.set(xlabel="training rows", title=f"{share:.0%} missing")
        panels[0].set_ylabel("error, %")
        panels[-1].legend(fontsize="small")

    return Outcome(lines, claims(error, n), "error, %", draw=draw)


def _ranked(error: Any, n: int, share: float) -> str:
    others = [name for name in METHODS if name != DEFAULT]
    order = sorted(others, key=lambda name: error(name, n, share).mean)
    best, naive = order[0], "naive Bayes"
    top, filtered, bayes, ours = (
        f"{error(name, n, share).mean:.1f}%" for name in (best, PUBLISHED, naive, DEFAULT)
    )
    return (
        f"at {share:.0%} missing {best} is best ({top}), the published filter has {filtered}, "
        f"naive Bayes {bayes}, our default {ours}"
    )


def claims_6(error: Any, n: int) -> str:
    """AClass is best at every share of missing cells, naive Bayes worst."""
    worst = [
        max((m for m in METHODS if m != "Forgetron"), key=lambda m: error(m, n, share).mean)
        for share in SHARES
    ]
    ranked = "; ".join(_ranked(error, n, s) for s in SHARES)
    return (
        f"The claim that AClass is best at all shares: {ranked}. "
        "The claim that naive Bayes is least effective: worst is "
        f"{', '.join(dict.fromkeys(worst))}."
    )


def claims_7(error: Any, n: int) -> str:
    """AClass recovers naive Bayes, and both stay above the discriminative methods with holes."""
    gaps = [error(PUBLISHED, n, s).mean - error("naive Bayes", n, s).mean for s in SHARES]
    return (
        "The claim that AClass recovers naive Bayes here: its error is "
        + ", ".join(f"{gap:+.1f}" for gap in gaps)
        + f" points from that of naive Bayes; {'; '.join(_ranked(error, n, s) for s in SHARES)}."
    )


def claims_8(error: Any, n: int) -> str:
    """AClass is near RLS without holes, and near naive Bayes with half of the cells missing."""
    near = error(PUBLISHED, n, 0.0).mean - error("RLS of degree 2", n, 0.0).mean
    cross = error(PUBLISHED, n, 0.5).mean - error("naive Bayes", n, 0.5).mean
    return (
        f"The claim that AClass competes with RLS on complete rows: {near:+.1f} points; that it "
        f"falls to naive Bayes with half of the cells missing: {cross:+.1f} points from it. "
        f"In detail, {'; '.join(_ranked(error, n, s) for s in SHARES)}."
    )


run_6, run_7, run_8 = (partial(run, draw) for draw in (synthetic, newsgroups, digits))
summarise_6, summarise_7, summarise_8 = (
    partial(summarise, claims) for claims in (claims_6, claims_7, claims_8)
)
