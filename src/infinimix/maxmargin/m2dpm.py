"""`MaxMarginDPMeans`: clusters and a linear SVM in each, found together (M2DPM, Wang and Zhu)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar, TypeVar

import numpy as np

from infinimix.estimators.common.parameters import Seed, check_parameters, seed_sequence
from infinimix.estimators.common.parted_fits import fit_by_one
from infinimix.estimators.common.parted_rows import is_read_by_workers
from infinimix.estimators.common.partitioned_rows import by_batches
from infinimix.estimators.common.shared_methods import PublishedForm
from infinimix.estimators.common.weights import check_stream_weights
from infinimix.maxmargin.descent.algorithm import Iterate, descend
from infinimix.maxmargin.descent.at_sight import descend_at_sight, one_cluster
from infinimix.maxmargin.experts.batches import learn_batch, read_batch, remember
from infinimix.maxmargin.experts.training import (
    TrainingData,
    find_scales,
    fit_experts,
    make_state,
    of_given_rows,
    plain_clusters,
    read_data,
    warn_if_inert,
)
from infinimix.maxmargin.gated_experts import GatedExperts
from infinimix.maxmargin.objective.hinges import LossWeights
from infinimix.maxmargin.objective.problem import Clusters, MarginProblem
from infinimix.maxmargin.states import MaxMarginState

Model = TypeVar("Model", bound="MaxMarginDPMeans")


class MaxMarginDPMeans(PublishedForm, GatedExperts):
    """Clusters that are compact and easy to classify in: DP-means with an SVM in each cluster.

    Minimises sum_k |eta_k|^2 / (2 nu^2) + 2c sum_i (margin - y_i eta_z_i.x_i)_+
    + s sum_i D(x_i, mu_z_i) + lam K over assignments, means and experts; weights of rows multiply
    the terms of both sums. With more than two classes
    an expert has an output for each, one against the rest, and all hinges are summed.

    Scale the columns first where their units differ (`StandardScaler`): neither divergence nor
    experts know units.

    Parameters
    ----------
    lam, s : float or "auto"
        Penalty of a cluster and weight of the divergence. "auto" takes them from the scale of the
        data: `s_` lets the mean divergence of plain DP-means cost three times the hinges of an
        expert that is zero, `lam_` is s times the penalty that `DPMeans` finds.
    c : float
        Weight of the hinge; nu : float, standard deviation of an expert's prior; margin : float.
    gating : {"hard", "soft"}
        Ask the expert of the nearest mean, or all of them by nearness.
    divergence : {"euclidean", "kl", "itakura-saito", "bernoulli"}
        As in `DPMeans`; "bernoulli" is for columns of 0 and 1.
    n_init : int
        Starts; that of the least objective is kept.
    max_iter, tol : int, float
        Passes at most; share of rows that may still move, and relative gain of an expert below
        which it has converged.
    warm_start : bool
        Let `fit` start from the clusters of the last `fit`, if columns and classes are as many.
    calibrate : bool
        Find the slope of the probabilities on held-out rows; otherwise it is 1.
    random_state : int, Generator or None
        Seed.
    multi_class : {"one-vs-rest", "crammer-singer"}
        The loss of more than two classes: a hinge for each class against the rest, or one over
        all of them (appendix C of the paper).
    creation : {"delayed", "sequential"}
        Start from DP-means and open clusters after a pass, where that pays most; or Algorithm 1
        of the paper: start from one cluster, let rows open clusters at sight, in their order, and
        stop when a pass lowers the objective by less than `tol` of it. `n_init` has no effect then.
    fit_intercept : bool
        Give each expert a bias, which is regularised with the other weights.
    class_weight : {"balanced"} or mapping from labels to numbers, optional
        What multiplies the weights of the rows of a class; labels that are not named have 1.
        "balanced" makes the weights of all classes the same in sum.

    Attributes
    ----------
    labels_, cluster_means_, cluster_sizes_, n_clusters_
        The cluster of each training row; means, rows and number of the clusters.
    coef_, intercept_ : arrays
        The experts: (K, d) and (K,), or (K, classes, d) and (K, classes).
    objective_history_ : array
        The objective after each pass; it never rises.
    label_purity_ : float
        Share of rows with the most frequent label of their cluster. Near 1 the experts are inert,
        and a warning says so.
    lam_, s_, c_, probability_slope_, gating_precision_, n_iter_, classes_
        What was used and found.

    Notes
    -----
    In place of a missing cell stands the mean of the cluster, in its divergence and its expert.

    `as_published()` is the paper's own form: Algorithm 1, appendix C's loss, experts without a
    bias. What the paper leaves open or has wrong is corrected (docs/max-margin.md); `lam`, `s`, `c`
    and `nu` are yours to give, as the paper chooses them on folds.

    Examples
    --------
    >>> import numpy as np
    >>> from infinimix import MaxMarginDPMeans
    >>> rng = np.random.default_rng(0)
    >>> z = np.arange(200) % 2
    >>> X = rng.normal(size=(200, 2)) + 6 * z[:, None]
    >>> y = np.where((X[:, 0] > 6 * z) == z, "up", "down")  # the rule turns round in between
    >>> model = MaxMarginDPMeans(random_state=0).fit(X, y)
    >>> model.n_clusters_, bool(model.score(X, y) > 0.9)
    (2, True)
    """

    State: type[MaxMarginState] = MaxMarginState
    _published: ClassVar[dict[str, Any]] = {
        "multi_class": "crammer-singer", "creation": "sequential", "fit_intercept": False,
        "gating": "hard", "calibrate": False, "tol": 1e-3,
    }  # fmt: skip

    def __init__(
        self,
        lam: float | str = "auto",
        s: float | str = "auto",
        c: float = 1.0,
        nu: float = 1.0,
        margin: float = 1.0,
        gating: str = "hard",
        divergence: str = "euclidean",
        n_init: int = 1,
        max_iter: int = 300,
        tol: float = 1e-4,
        warm_start: bool = False,
        calibrate: bool = True,
        random_state: Seed = None,
        multi_class: str = "one-vs-rest",
        creation: str = "delayed",
        fit_intercept: bool = True,
        class_weight: Any = None,
    ) -> None:
        self.lam = lam
        self.s = s
        self.c = c
        self.nu = nu
        self.margin = margin
        self.gating = gating
        self.divergence = divergence
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.warm_start = warm_start
        self.calibrate = calibrate
        self.random_state = random_state
        self.multi_class = multi_class
        self.creation = creation
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight

    def fit(self: Model, X: Any, y: Any, sample_weight: Any = None) -> Model:
        """Learn a table and its labels.

        Parameters
        ----------
        X, y : table of numbers and labels
            The rows; also in partitions (`read_partitions`), with `y` the name of a column.
        sample_weight : sequence of n_rows numbers, optional
            What multiplies the cost of a row, divergence and hinge. Whole numbers are counts: a row
            of weight 3 is three equal rows, one of weight 0 is left out. Other weights are
            relative: they are scaled to a mean of 1.
        """
        check_parameters(self)
        if sample_weight is None and is_read_by_workers(X):
            self._state = fit_by_one(self, X, y)
            return self
        state = self._learn(X, y, None, sample_weight)
        warn_if_inert(state)
        self._state = state
        return self

    @by_batches
    def partial_fit(
        self: Model, X: Any, y: Any, classes: Any = None, sample_weight: Any = None
    ) -> Model:
        """Learn a mini-batch: rows join or open clusters, whose means and experts move a little.

        Parameters
        ----------
        X, y : table and labels
            The rows; those in partitions are learned batch by batch. The first batch fixes the
            scales (`lam_`, `s_`), as `fit` does.
        classes : sequence of labels, optional
            All labels, wanted at the first call unless its rows have them all.
        sample_weight : sequence of n_rows numbers, optional
            As in `fit`, but weights that are not counts are not scaled after the first call.
        """
        check_parameters(self)
        check_stream_weights(self.class_weight)
        if self._state is None:
            state = self._learn(X, y, classes, sample_weight)
            warn_if_inert(state)
            self._state = state
        else:
            batch = read_batch(self, self._state, X, y, sample_weight)
            state = self._state
            self._state = learn_batch(state, batch, self._weights(state.lam, state.s, state.c))
        return self

    def _learn(self, X: Any, y: Any, classes: Any, sample_weight: Any) -> MaxMarginState:
        """Return what is learned from a whole table."""
        data = read_data(self, X, y, classes, sample_weight)
        rng = np.random.default_rng(seed_sequence(self.random_state))
        weights, first = self._weigh(rng, data)
        problem = MarginProblem(data.rows, data.divergence, weights)
        before = self._clusters_before(data) if self.warm_start else None
        starts = [] if before is None else [before]
        if first is not None and not starts and self.creation == "delayed":
            starts.append(fit_experts(problem, first))
        end = self._best(rng, data, problem, starts)
        state = remember(make_state(self, data, problem, end, rng), data, weights)
        return replace(state, z=of_given_rows(state, data.given))

    def _weights(self, lam: float, s: float, c: float) -> LossWeights:
        """Return the weights of the terms, with the loss and the experts of this model."""
        joint, constant = self.multi_class == "crammer-singer", float(self.fit_intercept)
        return LossWeights(lam, s, c, float(self.nu), float(self.margin), joint, constant)

    def _weigh(
        self, rng: np.random.Generator, data: TrainingData
    ) -> tuple[LossWeights, Clusters | None]:
        """Return the weights of the terms, and the clusters of DP-means if they led to them."""
        c = float(self.c)
        if not isinstance(self.lam, str) and not isinstance(self.s, str):
            return self._weights(float(self.lam), float(self.s), c), None
        at_once = self.creation == "sequential"
        auto, clusters = find_scales(rng, data, self._weights(1.0, 1.0, c), at_once)
        s = auto.s if isinstance(self.s, str) else float(self.s)
        if isinstance(self.lam, str):
            return self._weights(auto.lam / auto.s * s, s, c), clusters
        return self._weights(float(self.lam), s, c), None

    def _clusters_before(self, data: TrainingData) -> Clusters | None:
        """Return the clusters of the last fit in terms of the new rows, if they have that shape."""
        state, divergence = self._state, data.divergence
        if state is None or state.eta.shape[1:] != (data.rows.Y.shape[1], data.rows.d + 1):
            return None
        return Clusters(divergence.bound(state.means - divergence.centre), state.eta)

    def _best(
        self,
        rng: np.random.Generator,
        data: TrainingData,
        problem: MarginProblem,
        starts: list[Clusters],
    ) -> Iterate:
        """Return the best of several descents, those from given clusters first."""
        w = problem.weights
        if self.creation == "sequential":
            first = starts[0] if starts else one_cluster(problem)
            return descend_at_sight(problem, first, self.max_iter, self.tol)
        while len(starts) < self.n_init:
            starts.append(fit_experts(problem, plain_clusters(rng, data, w.lam / w.s)))
        runs = [descend(problem, one, self.max_iter, self.tol) for one in starts]
        return min(runs, key=lambda run: run.history[-1])
