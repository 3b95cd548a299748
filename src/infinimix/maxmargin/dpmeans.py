"""`DPMeans`: k-means that finds k (Kulis and Jordan 2012), with any Bregman divergence."""

from __future__ import annotations

from typing import Any

import numpy as np

from infinimix.estimators.common.parameters import check_parameters, seed_sequence
from infinimix.maxmargin.descent.algorithm import State
from infinimix.maxmargin.descent.merging import descend_and_merge
from infinimix.maxmargin.descent.sequential import descend_in_order
from infinimix.maxmargin.descent.starts import divergences, find_price, start
from infinimix.maxmargin.objective.divergences import Divergence, check_rows, find_divergence
from infinimix.maxmargin.objective.problem import Clusters, Problem, Weights
from infinimix.maxmargin.objective.rows import Rows, make_rows, read_rows
from infinimix.maxmargin.parameters import RULES
from infinimix.scikit import BaseEstimator, ClusterMixin, check_is_fitted

# Fitted attributes, for files: n rows, d columns, K clusters; "" is a number, "*" any length.
SHAPES = {
    "cluster_means_": "Kd",
    "labels_": "n",
    "objective_history_": "*",
    "lam_": "",
    "n_iter_": "",
}


class DPMeans(ClusterMixin, BaseEstimator):
    """Clusters of least total divergence, at a price for each: sum_i D(x_i, mu_z_i) + lam K.

    Parameters
    ----------
    lam : float or "auto"
        The price of a cluster. A row that is farther than this from all means opens a cluster.
        "auto" chooses K by the BIC of the classification likelihood of equal spherical normals,
        on at most 2,000 rows, and puts lam between what one more cluster would save and what the
        least useful one saves (if sequential: between the largest divergence from a row's own mean
        and the least from another); `lam_` shows it.
    divergence : {"euclidean", "kl", "itakura-saito", "mahalanobis"}
        Squared Euclidean distance; the generalised Kullback-Leibler divergence, for counts and
        proportions; Itakura-Saito, for positive numbers such as spectra; or
        (x - mu)' matrix (x - mu).
    creation : {"delayed", "sequential"}
        "delayed" opens clusters after each pass, where it pays most, from a DP-means++ start, and
        closes and merges clusters that are not worth their price. "sequential" is the algorithm of
        the paper, from one cluster: a row opens one at once, so the order of the rows matters.
    n_init : int
        Starts; the best is kept. Sequential ones take the rows in a new order each time but the
        first.
    matrix : array of shape (d, d), optional
        Of the Mahalanobis distance, positive definite.
    max_iter : int
        Passes over the rows, at most.
    max_clusters : int, optional
        Clusters of a DP-means++ start, at most.
    random_state : int, Generator or None
        Seed.

    Attributes
    ----------
    labels_, cluster_means_, n_clusters_, lam_
        The cluster of each row, the means, their number, the price.
    objective_history_ : array
        The objective after each pass; it never rises.
    objective_, n_iter_
        Its last value, and the number of passes.

    Notes
    -----
    A missing cell is left out: a row's divergence is that of its observed cells, and a mean that of
    the cells there are. (The Mahalanobis distance takes no missing cells.)

    Examples
    --------
    >>> from infinimix import DPMeans
    >>> X = [[0.0, 0.1], [0.2, 0.0], [9.0, 9.1], [9.2, 9.0], [0.1, None]]
    >>> model = DPMeans(lam=4.0, random_state=0).fit(X)
    >>> model.n_clusters_, bool(model.labels_[4] == model.labels_[0])
    (2, True)
    """

    _rules = RULES
    _shapes = SHAPES
    cluster_means_: np.ndarray

    def __init__(
        self,
        lam: float | str = "auto",
        divergence: str = "euclidean",
        creation: str = "delayed",
        n_init: int = 4,
        matrix: Any = None,
        max_iter: int = 300,
        max_clusters: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.lam = lam
        self.divergence = divergence
        self.creation = creation
        self.n_init = n_init
        self.matrix = matrix
        self.max_iter = max_iter
        self.max_clusters = max_clusters
        self.random_state = random_state

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "cluster_means_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.divergence != "mahalanobis"
        tags.input_tags.positive_only = self.divergence in ("kl", "itakura-saito")
        return tags

    def fit(self, X: Any, y: Any = None) -> DPMeans:
        """Find the clusters of a table; y is ignored."""
        check_parameters(self)
        X = read_rows(self, X, reset=True)
        divergence = find_divergence(self.divergence, X, self.matrix)
        rng = np.random.default_rng(seed_sequence(self.random_state))
        rows = make_rows(X, divergence)
        at_once = self.creation == "sequential"
        auto = isinstance(self.lam, str)
        lam = find_price(rng, rows, divergence, at_once) if auto else float(self.lam)
        problem = Problem(rows, divergence, Weights(lam))
        runs = [self._run(rng, problem, turn) for turn in range(self.n_init)]
        self._take(divergence, lam, min(runs, key=lambda run: run.history[-1]))
        return self

    def _run(self, rng: np.random.Generator, problem: Problem, turn: int) -> State:
        rows, divergence = problem.rows, problem.divergence
        if self.creation == "delayed":
            limit = self.max_clusters or rows.n
            first = start(rng, rows, divergence, problem.weights, limit)
            return descend_and_merge(problem, first, self.max_iter, 1e-12)
        order = np.arange(rows.n) if turn == 0 else rng.permutation(rows.n)
        all_in_one = Clusters(divergence.usual[None].copy(), np.empty((1, 0, rows.d + 1)))
        shuffled = Problem(rows.take(order), divergence, problem.weights)
        state = descend_in_order(shuffled, all_in_one, self.max_iter)
        z = np.empty_like(state.z)
        z[order] = state.z
        return State(state.clusters, z, state.history)

    def _take(self, divergence: Divergence, lam: float, state: State) -> None:
        self._divergence = divergence
        self.lam_ = lam
        self.labels_ = state.z
        self.cluster_means_ = state.clusters.means + divergence.centre
        self.objective_history_ = np.array(state.history)
        self.n_iter_ = len(state.history)

    @property
    def n_clusters_(self) -> int:
        """Number of clusters."""
        check_is_fitted(self)
        return len(self.cluster_means_)

    @property
    def objective_(self) -> float:
        """The objective at the end."""
        check_is_fitted(self)
        return float(self.objective_history_[-1])

    def _divergences(self, X: Any) -> np.ndarray:
        check_is_fitted(self)
        X = read_rows(self, X, reset=False)
        check_rows(self._divergence, X)
        return nearness(make_rows(X, self._divergence), self._divergence, self.cluster_means_)

    def predict(self, X: Any) -> np.ndarray:
        """Return the nearest cluster of each row."""
        return self._divergences(X).argmin(axis=1)

    def divergences(self, X: Any) -> np.ndarray:
        """Return the divergence of each row from each mean."""
        return self._divergences(X)

    def score(self, X: Any, y: Any = None) -> float:
        """Return minus the sum of the divergences from the nearest means."""
        return -float(self._divergences(X).min(axis=1).sum())


def nearness(rows: Rows, divergence: Divergence, means: np.ndarray) -> np.ndarray:
    """Return the divergence of each row from each mean, given in natural units."""
    centred = np.maximum(means - divergence.centre, divergence.least)
    clusters = Clusters(centred, np.empty((len(means), 0, rows.d + 1)))
    return divergences(Problem(rows._replace(Y=rows.Y[:, :0]), divergence, Weights(1.0)), clusters)
