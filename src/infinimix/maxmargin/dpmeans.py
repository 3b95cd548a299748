"""`DPMeans`: k-means that finds k (Kulis and Jordan 2012), with any Bregman divergence."""

from __future__ import annotations

from typing import Any

import numpy as np

from infinimix.estimators.common.fitted import check_fitted, feature_names
from infinimix.estimators.common.parameters import Seed, check_parameters, seed_sequence
from infinimix.estimators.common.parted_fits import fit_by_one
from infinimix.estimators.common.parted_rows import is_read_by_workers
from infinimix.estimators.common.partitioned_rows import over_partitions
from infinimix.estimators.common.weights import read_weights
from infinimix.maxmargin.descent.algorithm import Iterate
from infinimix.maxmargin.descent.merging import descend_and_merge
from infinimix.maxmargin.descent.sequential import descend_in_order
from infinimix.maxmargin.descent.starts import find_penalty, start
from infinimix.maxmargin.objective.divergences import check_rows, find_divergence
from infinimix.maxmargin.objective.hinges import LossWeights
from infinimix.maxmargin.objective.problem import (
    MarginProblem,
    bare_clusters,
    divergences_from,
    nearest_means,
)
from infinimix.maxmargin.objective.rows import make_rows
from infinimix.maxmargin.parameters import RULES
from infinimix.maxmargin.reading import read_more, read_table
from infinimix.maxmargin.states import MeansState
from infinimix.scikit import BaseEstimator, ClusterMixin


class DPMeans(ClusterMixin, BaseEstimator):
    """Clusters of least total divergence, at a penalty for each: sum_i D(x_i, mu_z_i) + lam K.

    Parameters
    ----------
    lam : float or "auto"
        The penalty of a cluster. A row that is farther than this from all means opens a cluster.
        "auto" chooses K by the BIC of the classification likelihood of equal spherical normals,
        on at most 2,000 rows, and puts lam between what one more cluster would save and what the
        least useful one saves (if sequential: between the largest divergence from a row's own mean
        and the least from another); `lam_` shows it.
    divergence : {"euclidean", "kl", "itakura-saito", "bernoulli", "mahalanobis"}
        Squared Euclidean distance; the generalised Kullback-Leibler divergence, for counts and
        proportions; Itakura-Saito, for positive numbers such as spectra; that of Bernoulli
        variables, for columns of 0 and 1; or (x - mu)' matrix (x - mu).
    creation : {"delayed", "sequential"}
        "delayed" opens clusters after each pass, where it pays most, from a DP-means++ start, and
        closes and merges clusters that are not worth their penalty. "sequential" is the algorithm
        of the paper, from one cluster: a row opens one at once, so the order of rows matters.
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
        The cluster of each row, the means, their number, the penalty of a cluster.
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

    State = MeansState
    _rules = RULES
    _state: MeansState | None = None

    def __init__(
        self,
        lam: float | str = "auto",
        divergence: str = "euclidean",
        creation: str = "delayed",
        n_init: int = 4,
        matrix: Any = None,
        max_iter: int = 300,
        max_clusters: int | None = None,
        random_state: Seed = None,
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
        return self._state is not None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.divergence != "mahalanobis"
        tags.input_tags.positive_only = self.divergence in ("kl", "itakura-saito", "bernoulli")
        return tags

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> DPMeans:
        """Find the clusters of a table; y is ignored.

        Parameters
        ----------
        X : table of numbers, (n_rows, n_columns)
            The rows.
        y : object
            Ignored.
        sample_weight : sequence of n_rows numbers, optional
            What multiplies the divergence of a row. Whole numbers are counts: a row of weight 3 is
            three equal rows. Other weights are relative: they are scaled to a mean of 1. Rows of
            weight 0 are left out; in `labels_` they have the nearest cluster.
        """
        check_parameters(self)
        if sample_weight is None and is_read_by_workers(X):
            self._state = fit_by_one(self, X)
            return self
        table = read_table(self, X, sample_weight)
        divergence = find_divergence(self.divergence, table.X, self.matrix, table.weight)
        rng = np.random.default_rng(seed_sequence(self.random_state))
        rows = make_rows(table.X, divergence, weight=table.weight)
        at_once = self.creation == "sequential"
        auto = isinstance(self.lam, str)
        lam = find_penalty(rng, rows, divergence, at_once) if auto else float(self.lam)
        problem = MarginProblem(rows, divergence, LossWeights(lam))
        runs = [self._run(rng, problem, turn) for turn in range(self.n_init)]
        best = min(runs, key=lambda run: run.history[-1])
        means, history = best.clusters.means + divergence.centre, np.array(best.history)
        z = best.z
        if table.given is not None:
            z = table.given.spread(z, lambda more: nearest_means(more, divergence, means))
        self._state = MeansState(table.names, divergence, means, z, history, lam)
        return self

    def _run(self, rng: np.random.Generator, problem: MarginProblem, turn: int) -> Iterate:
        """Return where one start leads."""
        rows, divergence = problem.rows, problem.divergence
        if self.creation == "delayed":
            limit = self.max_clusters or rows.n
            first = start(rng, rows, divergence, problem.weights, limit)
            return descend_and_merge(problem, first, self.max_iter, 1e-12)
        order = np.arange(rows.n) if turn == 0 else rng.permutation(rows.n)
        shuffled = MarginProblem(rows.take(order), divergence, problem.weights)
        all_in_one = bare_clusters(divergence.usual[None].copy())
        end = descend_in_order(shuffled, all_in_one, self.max_iter)
        z = np.empty_like(end.z)
        z[order] = end.z
        return Iterate(end.clusters, z, end.history)

    # --- Answers --------------------------------------------------------------------------------

    def divergences(self, X: Any) -> np.ndarray:
        """Return the divergence of each row from each mean.

        Parameters
        ----------
        X : table
            The rows.
        """
        state = self._fitted
        X = read_more(self, X)
        check_rows(state.divergence, X)
        return divergences_from(make_rows(X, state.divergence), state.divergence, state.means)

    @over_partitions
    def predict(self, X: Any) -> np.ndarray:
        """Return the nearest cluster of each row.

        Parameters
        ----------
        X : table
            The rows.
        """
        return self.divergences(X).argmin(axis=1)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return minus the sum of the divergences from the nearest means, each times its weight.

        Parameters
        ----------
        X : table
            The rows.
        y : ignored
            For pipelines.
        sample_weight : sequence of numbers, optional
            The weight of each row.
        """
        nearest = self.divergences(X).min(axis=1)
        weight = read_weights(sample_weight, len(nearest), scale=False)
        return -float(nearest.sum() if weight is None else weight @ nearest)

    # --- Fitted attributes ----------------------------------------------------------------------

    @property
    def _fitted(self) -> MeansState:
        """The state; NotFittedError if there is none."""
        check_fitted(self)
        assert self._state is not None
        return self._state

    @property
    def labels_(self) -> np.ndarray:
        """The cluster of each row."""
        return self._fitted.z

    @property
    def cluster_means_(self) -> np.ndarray:
        """Means of the clusters, (K, d)."""
        return self._fitted.means

    @property
    def n_clusters_(self) -> int:
        """Number of clusters."""
        return len(self._fitted.means)

    @property
    def lam_(self) -> float:
        """The penalty of a cluster."""
        return self._fitted.lam

    @property
    def objective_history_(self) -> np.ndarray:
        """The objective after each pass."""
        return self._fitted.history

    @property
    def objective_(self) -> float:
        """The objective at the end."""
        return float(self._fitted.history[-1])

    @property
    def n_iter_(self) -> int:
        """The number of passes."""
        return len(self._fitted.history)

    @property
    def n_features_in_(self) -> int:
        """The number of columns."""
        return int(self._fitted.means.shape[1])

    @property
    def feature_names_in_(self) -> np.ndarray:
        """The names of the columns, if the table had names."""
        return feature_names(self._fitted.names)
