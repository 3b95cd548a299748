"""`MaxMarginDPMeansCV`: lam, s and c chosen on folds of the training rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar, NamedTuple

import numpy as np

from infinimix.estimators.common.parameters import Seed, seed_sequence
from infinimix.maxmargin.descent.algorithm import descend
from infinimix.maxmargin.experts.batches import remember
from infinimix.maxmargin.experts.gating import decide
from infinimix.maxmargin.experts.training import (
    TrainingData,
    find_gate,
    find_scales,
    fit_experts,
    make_state,
    of_given_rows,
    plain_clusters,
    read_data,
)
from infinimix.maxmargin.m2dpm import MaxMarginDPMeans
from infinimix.maxmargin.objective.hinges import LossWeights
from infinimix.maxmargin.objective.problem import MarginProblem
from infinimix.maxmargin.states import SearchState

PENALTIES = (0.1, 1.0, 10.0)  # times the lam that DPMeans finds
STRENGTHS = (1.0, 10.0)  # times the s of "auto"
HINGES = (0.01, 0.1, 1.0)


class Choice(NamedTuple):
    """One point of the grid; the ratio is lam / s."""

    ratio: float
    s: float
    c: float


class MaxMarginDPMeansCV(MaxMarginDPMeans):
    """`MaxMarginDPMeans` with lam, s and c chosen by cross-validated accuracy.

    Within a fold each descent starts from the clusters of its neighbour in the grid. Folds are
    stratified; nothing outside the training rows is looked at.

    Parameters
    ----------
    lams, ss, cs : sequences of floats, optional
        What is tried. By default 0.1, 1 and 10 times the penalty that `DPMeans` finds, 1 and
        10 times the `s` that "auto" would take (lam is their product), and c of 0.01, 0.1 and 1.
    cv : int
        Number of folds; fewer if there are fewer rows.
    nu, margin, gating, divergence, n_init, max_iter, tol, calibrate, random_state, multi_class,
    creation, fit_intercept, class_weight
        As in `MaxMarginDPMeans`.

    Attributes
    ----------
    lam_, s_, c_ : float
        What was chosen, for all rows.
    best_score_ : float
        Its accuracy on the folds, in which rows count by their weights.
    cv_results_ : dict
        "lam", "s", "c" and "mean_test_score" of the whole grid.

    Notes
    -----
    `as_published()` is the paper's own form, as that of `MaxMarginDPMeans`, with its five folds.

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

    State: type[SearchState] = SearchState
    _published: ClassVar[dict[str, Any]] = {**MaxMarginDPMeans._published, "cv": 5}

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
        random_state: Seed = None,
        multi_class: str = "one-vs-rest",
        creation: str = "delayed",
        fit_intercept: bool = True,
        class_weight: Any = None,
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
        self.multi_class = multi_class
        self.creation = creation
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight

    def _learn(self, X: Any, y: Any, classes: Any, sample_weight: Any) -> SearchState:
        """Choose on folds, then learn all rows."""
        data = read_data(self, X, y, classes, sample_weight)
        rng = np.random.default_rng(seed_sequence(self.random_state))
        grid = self._grid(rng, data)
        scores = self._cross_validate(rng, data, grid)
        at = int(np.argmax(scores))  # the first of equals: fewest clusters, firmest divergence
        problem = MarginProblem(data.rows, data.divergence, self._weights_at(grid[at], 1.0))
        end = self._best(rng, data, problem, [])
        state = remember(make_state(self, data, problem, end, rng), data, problem.weights)
        state = replace(state, z=of_given_rows(state, data.given))
        tried = np.array([[g.ratio * g.s, g.s, g.c] for g in grid]).T
        return SearchState(**vars(state), best_score=float(scores[at]), grid=tried, scores=scores)

    def _weights_at(self, g: Choice, share: float) -> LossWeights:
        """Return the weights for a share of the rows: a cluster of fewer rows costs less."""
        return self._weights(g.ratio * share * g.s, g.s, g.c)

    def _grid(self, rng: np.random.Generator, data: TrainingData) -> list[Choice]:
        at_once = self.creation == "sequential"
        auto, _ = find_scales(rng, data, self._weights(1.0, 1.0, 1.0), at_once)
        ss = [auto.s * f for f in STRENGTHS] if self.ss is None else [float(s) for s in self.ss]
        cs = HINGES if self.cs is None else [float(c) for c in self.cs]
        choices = [
            Choice(ratio, s, c)
            for s in ss
            for c in cs
            for ratio in (
                [auto.lam / auto.s * f for f in PENALTIES]
                if self.lams is None
                else [float(lam) / s for lam in self.lams]
            )
        ]
        return sorted(choices, key=lambda g: (-g.ratio, -g.s, g.c))

    def _cross_validate(
        self, rng: np.random.Generator, data: TrainingData, grid: list[Choice]
    ) -> np.ndarray:
        """Return the mean accuracy of each choice on the held-out folds."""
        n = data.rows.n
        fold = stratify(rng, data.codes, min(self.cv, n))
        right = np.zeros(len(grid))
        for held_out in range(fold.max() + 1 if n > 1 else 0):
            kept, out = np.flatnonzero(fold != held_out), np.flatnonzero(fold == held_out)
            part, test = (
                data._replace(rows=data.rows.take(which), codes=data.codes[which])
                for which in (kept, out)
            )
            right += self._walk(rng, part, test, grid)
        return right / data.rows.total

    def _walk(
        self, rng: np.random.Generator, part: TrainingData, test: TrainingData, grid: list[Choice]
    ) -> np.ndarray:
        """Return the weight of the held-out rows that each choice gets right, one after another."""
        right, ratio, clusters = np.zeros(len(grid)), np.nan, None
        share = part.rows.total / (part.rows.total + test.rows.total)
        weight, one_class = test.rows.weight, part.codes.max() == 0
        for j, g in enumerate(grid):
            problem = MarginProblem(part.rows, part.divergence, self._weights_at(g, share))
            if self.creation == "sequential":
                end = self._best(rng, part, problem, [])
            else:
                if g.ratio != ratio or clusters is None:
                    ratio = g.ratio
                    first = plain_clusters(rng, part, ratio * share)
                    clusters = fit_experts(problem, first)
                end = descend(problem, clusters, self.max_iter, self.tol)
                clusters = end.clusters
            answers = decide(find_gate(part, end, self.gating == "soft").discriminants(test.rows))
            right[j] = weight.sum() if one_class else weight @ (answers == test.codes)
        return right

    @property
    def best_score_(self) -> float:
        """The accuracy of what was chosen, on the folds."""
        return float(self._fitted.best_score)

    @property
    def cv_results_(self) -> dict[str, np.ndarray]:
        """The grid, and the accuracy of each choice on the folds."""
        state = self._fitted
        lam, s, c = state.grid
        return {"lam": lam, "s": s, "c": c, "mean_test_score": state.scores}


def stratify(rng: np.random.Generator, codes: np.ndarray, n_folds: int) -> np.ndarray:
    """Return the fold of each row; each class is dealt out in turn."""
    order = np.lexsort((rng.random(len(codes)), codes))
    fold = np.empty(len(codes), np.int64)
    fold[order] = np.arange(len(codes)) % n_folds
    return fold
