"""`MaxMarginDPMeansCV`: lam, s and c chosen on folds of the training rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from infinimix.estimators.common.parameters import check_parameters, seed_sequence
from infinimix.maxmargin.descent.algorithm import descend
from infinimix.maxmargin.experts.batches import remember
from infinimix.maxmargin.experts.gating import Gate
from infinimix.maxmargin.experts.training import (
    Data,
    find_scales,
    mean_divergence,
    plain_clusters,
    read_data,
    take,
    teach,
    warn_if_inert,
)
from infinimix.maxmargin.m2dpm import MaxMarginDPMeans
from infinimix.maxmargin.objective.problem import Clusters, Problem, Weights
from infinimix.scikit import check_is_fitted

PRICES = (0.1, 1.0, 10.0)  # times the price that DPMeans finds
STRENGTHS = (1.0, 10.0)  # times the s of "auto"
HINGES = (0.01, 0.1, 1.0)


class Choice(NamedTuple):
    """One point of the grid; the price is lam / s."""

    price: float
    s: float
    c: float


class MaxMarginDPMeansCV(MaxMarginDPMeans):
    """`MaxMarginDPMeans` with lam, s and c chosen by cross-validated accuracy.

    Within a fold each descent starts from the clusters of its neighbour in the grid. Folds are
    stratified; nothing outside the training rows is looked at.

    Parameters
    ----------
    lams, ss, cs : sequences of floats, optional
        What is tried. By default 0.1, 1 and 10 times the price that `DPMeans` finds, 1 and 10
        times the `s` that "auto" would take (lam is their product), and c of 0.01, 0.1 and 1.
    cv : int
        Number of folds; fewer if there are fewer rows.
    nu, margin, gating, divergence, n_init, max_iter, tol, calibrate, random_state
        As in `MaxMarginDPMeans`.

    Attributes
    ----------
    lam_, s_, c_ : float
        What was chosen, for all rows.
    best_score_ : float
        Its accuracy on the folds.
    cv_results_ : dict
        "lam", "s", "c" and "mean_test_score" of the whole grid.

    Examples
    --------
    >>> import numpy as np
    >>> from infinimix import MaxMarginDPMeansCV
    >>> rng = np.random.default_rng(0)
    >>> z = np.arange(200) % 2
    >>> X = rng.normal(size=(200, 2)) + 6 * z[:, None]
    >>> y = np.where((X[:, 0] > 6 * z) == z, "up", "down")
    >>> model = MaxMarginDPMeansCV(random_state=0).fit(X, y)
    >>> bool(model.best_score_ > 0.9)
    True
    """

    _shapes = MaxMarginDPMeans._shapes | {"best_score_": "", "_cv_table": "3G", "_cv_scores": "G"}

    def __init__(
        self,
        lams: Sequence[float] | None = None,
        ss: Sequence[float] | None = None,
        cs: Sequence[float] | None = None,
        cv: int = 3,
        nu: float = 1.0,
        margin: float = 1.0,
        gating: str = "hard",
        divergence: str = "euclidean",
        n_init: int = 1,
        max_iter: int = 300,
        tol: float = 1e-4,
        calibrate: bool = True,
        random_state: Any = None,
    ) -> None:
        self.lams = lams
        self.ss = ss
        self.cs = cs
        self.cv = cv
        self.nu = nu
        self.margin = margin
        self.gating = gating
        self.divergence = divergence
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.calibrate = calibrate
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> MaxMarginDPMeansCV:
        """Choose on folds, then learn all rows."""
        check_parameters(self)
        self._learn(X, y, None)
        return self

    def _learn(self, X: Any, y: Any, classes: Any) -> MaxMarginDPMeansCV:
        data = read_data(self, X, y, self.divergence, classes)
        rng = np.random.default_rng(seed_sequence(self.random_state))
        grid = self._grid(rng, data)
        scores = self._cross_validate(rng, data, grid)
        at = int(np.argmax(scores))  # the first of equals: fewest clusters, firmest divergence
        problem = Problem(data.rows, data.divergence, self._weights(grid[at], 1.0))
        state = self._best(rng, data, problem, [])
        take(self, data, problem, state, rng, bool(self.calibrate))
        remember(self, data)
        self.best_score_ = float(scores[at])
        self._cv_table = np.array([[g.price * g.s, g.s, g.c] for g in grid]).T
        self._cv_scores = scores
        warn_if_inert(self)
        return self

    @property
    def cv_results_(self) -> dict[str, np.ndarray]:
        """The grid, and the accuracy of each choice on the folds."""
        check_is_fitted(self)
        lam, s, c = self._cv_table
        return {"lam": lam, "s": s, "c": c, "mean_test_score": self._cv_scores}

    def _weights(self, g: Choice, share: float) -> Weights:
        """Return the weights for a share of the rows: a cluster of fewer rows costs less."""
        return Weights(g.price * share * g.s, g.s, g.c, float(self.nu), float(self.margin))

    def _grid(self, rng: np.random.Generator, data: Data) -> list[Choice]:
        auto, _ = find_scales(rng, data, 1.0, float(self.margin))
        ss = [auto.s * f for f in STRENGTHS] if self.ss is None else [float(s) for s in self.ss]
        cs = HINGES if self.cs is None else [float(c) for c in self.cs]
        choices = [
            Choice(price, s, c)
            for s in ss
            for c in cs
            for price in (
                [auto.lam / auto.s * f for f in PRICES]
                if self.lams is None
                else [float(lam) / s for lam in self.lams]
            )
        ]
        return sorted(choices, key=lambda g: (-g.price, -g.s, g.c))

    def _cross_validate(
        self, rng: np.random.Generator, data: Data, grid: list[Choice]
    ) -> np.ndarray:
        """Return the mean accuracy of each choice on the held-out folds."""
        n = data.rows.n
        fold = stratify(rng, data.codes, min(self.cv, n))
        right = np.zeros(len(grid))
        for held in range(fold.max() + 1 if n > 1 else 0):
            kept, out = np.flatnonzero(fold != held), np.flatnonzero(fold == held)
            part = Data(data.rows.take(kept), data.codes[kept], data.labels, data.divergence)
            right += self._walk(rng, part, data.rows.take(out), data.codes[out], grid, n)
        return right / n

    def _walk(
        self, rng: np.random.Generator, part: Data, out: Any, codes: np.ndarray,
        grid: list[Choice], n: int,
    ) -> np.ndarray:  # fmt: skip
        """Return how many held-out rows each choice gets right, from neighbour to neighbour."""
        right, price, clusters = np.zeros(len(grid)), np.nan, None
        for j, g in enumerate(grid):
            w = self._weights(g, part.rows.n / n)
            problem = Problem(part.rows, part.divergence, w)
            if g.price != price or clusters is None:
                price = g.price
                clusters = teach(problem, plain_clusters(rng, part, price * part.rows.n / n))
            state = descend(problem, clusters, self.max_iter, self.tol)
            clusters = state.clusters
            mean = mean_divergence(part, Clusters(clusters.means, clusters.eta[:, :0]))
            precision = 0.5 * out.d / mean if mean > 0 else 1.0
            sizes = np.bincount(state.z).astype(float)
            gate = Gate(part.divergence, clusters, sizes, precision, self.gating == "soft")
            f = gate.discriminants(out)
            answer = f.argmax(axis=1) if f.shape[1] > 1 else (f[:, 0] > 0).astype(int)
            right[j] = (answer == codes).sum() if part.codes.max() > 0 else len(codes)
        return right


def stratify(rng: np.random.Generator, codes: np.ndarray, n_folds: int) -> np.ndarray:
    """Return the fold of each row; each class is dealt out in turn."""
    order = np.lexsort((rng.random(len(codes)), codes))
    fold = np.empty(len(codes), np.int64)
    fold[order] = np.arange(len(codes)) % n_folds
    return fold
