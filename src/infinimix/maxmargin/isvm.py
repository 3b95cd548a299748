"""`GibbsInfiniteSVC`: a Dirichlet process mixture of SVMs by Gibbs sampling (Wang and Zhu 2015)."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from infinimix.estimators.common.fitted import check_fitted, feature_names
from infinimix.estimators.common.inference_data import to_inference_data
from infinimix.estimators.common.parameters import Seed, check_parameters, seed_sequence
from infinimix.estimators.common.parted_fits import fit_by_one
from infinimix.estimators.common.parted_rows import is_read_by_workers
from infinimix.estimators.common.partitioned_rows import over_partitions
from infinimix.estimators.common.shared_methods import PublishedForm
from infinimix.families.seam import empty, score_rows
from infinimix.maxmargin.gibbs.chain import Kept, SVMChain, effective_size, join
from infinimix.maxmargin.gibbs.rows import (
    Blocks,
    as_frame,
    class_shares,
    experts_rows,
    find_base,
    first_clusters,
    mean_of_columns,
    read_blocks,
    round_digits,
)
from infinimix.maxmargin.gibbs.state import InfiniteSVCState, read_settings
from infinimix.maxmargin.objective.rows import signs
from infinimix.maxmargin.parameters import RULES
from infinimix.maxmargin.reading import read_labelled, read_more
from infinimix.scikit import BaseEstimator, ClassifierMixin
from infinimix.tables import Schema, encode

CHUNK = 1024
DEGREES = 1e6  # of freedom, of a variance that is as good as known


class GibbsInfiniteSVC(PublishedForm, ClassifierMixin, BaseEstimator):
    """A mixture of clusters with a linear SVM in each, averaged over its posterior.

    The posterior is that of the CRP, of clusters whose parameters are integrated out, and of
    experts eta_k ~ N(0, nu^2 I) under the pseudo-likelihood exp(-2c (margin - y eta.x)_+). With
    more than two classes an expert has an output for each, one against the rest, and the
    pseudo-likelihood is the product over outputs. Scale the columns first where their units differ.

    Parameters
    ----------
    alpha : float
        Concentration of the CRP.
    c, nu, margin : float
        Weight of the hinge, standard deviation of an expert's prior, and the margin.
    cluster_prior : {"empirical", "reference"} or mapping
        Base measure of the clusters, as `prior` of `CRPMixture`.
    n_iter, burn_in : int
        Sweeps in all, and sweeps before states are kept.
    clusters : str or mapping
        What a column is within a cluster: "real" (independent normals), "gaussian" (a covariance
        matrix), "count", "binary", or a mapping from columns to these. Experts take the numbers.
    n_samples : int
        States that predictions average over, at most.
    random_state : int, Generator or None
        Seed.
    fit_intercept : bool
        Give each expert a bias, which has the prior of the other weights.
    class_weight : {"balanced"} or mapping from labels to numbers, optional
        What multiplies c in the hinges of the rows of a class; labels that are not named have 1.
        "balanced" makes the weights of all classes the same in sum.

    Attributes
    ----------
    traces_ : dict of arrays
        "n_clusters" and "hinge" (the sum of the hinges) after each sweep.
    effective_sample_size_ : dict
        Of these traces, after the burn-in.
    labels_ : array
        Clusters of the training rows in the last state; -1 for rows of weight 0.
    n_clusters_posterior_ : array
        Probability of 0, 1, 2, ... clusters after the burn-in.
    classes_ : array
        The labels, sorted.

    Notes
    -----
    A missing cell is left out of the density of its cluster. An expert sees the mean of the column
    there: the cluster's own mean, which `MaxMarginDPMeans` takes, changes with every row that comes
    and goes, and the sampler would no longer be exact.

    Examples
    --------
    >>> import numpy as np
    >>> from infinimix import GibbsInfiniteSVC
    >>> rng = np.random.default_rng(0)
    >>> z = np.arange(100) % 2
    >>> X = rng.normal(size=(100, 2)) + 6 * z[:, None]
    >>> y = np.where((X[:, 0] > 6 * z) == z, "up", "down")
    >>> model = GibbsInfiniteSVC(n_iter=60, burn_in=20, random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.85)
    True
    """

    State = InfiniteSVCState
    _rules = RULES
    _published: ClassVar[dict[str, Any]] = {"fit_intercept": False}
    _state: InfiniteSVCState | None = None

    def __init__(
        self,
        alpha: float = 1.0,
        c: float = 1.0,
        nu: float = 1.0,
        margin: float = 1.0,
        cluster_prior: Any = "empirical",
        n_iter: int = 500,
        burn_in: int = 200,
        clusters: Any = "real",
        n_samples: int = 50,
        random_state: Seed = None,
        fit_intercept: bool = True,
        class_weight: Any = None,
    ) -> None:
        self.alpha = alpha
        self.c = c
        self.nu = nu
        self.margin = margin
        self.cluster_prior = cluster_prior
        self.n_iter = n_iter
        self.burn_in = burn_in
        self.clusters = clusters
        self.n_samples = n_samples
        self.random_state = random_state
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight

    @classmethod
    def as_published(
        cls, variance: float = 0.5, kappa: float = 1.0, **changes: Any
    ) -> GibbsInfiniteSVC:
        """Return the paper's own form: clusters of known variance, experts without a bias.

        The density of a cluster is exp(-D(x, mu)) with D = |x - mu|^2 / (2 variance), and its mean
        has the conjugate prior exp(-kappa D(0, mu)): equations 4 and 5 with tau = 0. More than two
        classes are one against the rest, as otherwise; the paper prints no sampler for new
        clusters under the loss of its appendix C.

        Parameters
        ----------
        variance : float
            Variance of the columns within a cluster.
        kappa : float
            Rows that the prior of a mean counts for.
        changes : parameters
            Those that shall differ from the published ones.

        Examples
        --------
        >>> from infinimix import GibbsInfiniteSVC
        >>> GibbsInfiniteSVC.as_published(c=0.5).fit_intercept
        False
        """
        known = {"real": (0.0, float(kappa), DEGREES, float(variance) ** 0.5)}
        return super().as_published(**({"cluster_prior": known} | changes))

    def __sklearn_is_fitted__(self) -> bool:
        return self._state is not None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> GibbsInfiniteSVC:
        """Run the chain on a table and its labels.

        Parameters
        ----------
        X, y : table of numbers and labels
            The rows.
        sample_weight : sequence of n_rows numbers, optional
            Whole numbers are counts: a row of weight 3 is three equal rows, one of weight 0 is left
            out. Other weights are relative: scaled to a mean of 1, they multiply c in the hinge of
            a row. The densities of clusters, which hold whole numbers of rows, count it once.
        """
        check_parameters(self)
        if self.burn_in >= self.n_iter:
            raise ValueError(
                f"The 'burn_in' parameter of GibbsInfiniteSVC must be less than n_iter="
                f"{self.n_iter}; got {self.burn_in}."
            )
        if sample_weight is None and is_read_by_workers(X):
            self._state = fit_by_one(self, X, y)
            return self
        table = read_labelled(self, X, y, sample_weight=sample_weight)
        X = round_digits(table.X)
        schema, blocks = read_blocks(X, table.names, self.clusters, type(self).__name__)
        families = find_base(schema, blocks, self.cluster_prior)
        fill, Y = mean_of_columns(X), signs(table.codes, len(table.labels.values))
        rng = np.random.default_rng(seed_sequence(self.random_state))
        z = first_clusters(rng, X)
        hyper, burn_in = read_settings(self)
        seen = experts_rows(X, fill, float(self.fit_intercept))
        weight = np.ones(len(X)) if table.weight is None else table.weight
        chain = SVMChain(families, blocks, seen, Y, hyper, z, rng, hyper.c * weight)
        kept = self._run(chain)
        if not self.fit_intercept:
            kept.eta[..., -1] = 0.0  # it has met no row: answers need not know that
        traces = {name: np.array(trace) for name, trace in chain.traces.items()}
        clusters = chain.labels()
        if table.given is not None:
            clusters = table.given.first(clusters)
        self._state = InfiniteSVCState(
            table.names, table.labels, schema, families, kept, fill, clusters, traces,
            hyper, burn_in,
        )  # fmt: skip
        return self

    def _run(self, chain: SVMChain) -> Kept:
        """Run the chain; keep states evenly after the burn-in."""
        count = min(self.n_samples, self.n_iter - self.burn_in)
        wanted = {int(t) for t in np.linspace(self.n_iter - 1, self.burn_in, count)}
        states = []
        for t in range(self.n_iter):
            chain.step()
            if t in wanted:
                states.append(chain.keep())
        return join(states)

    # --- Answers --------------------------------------------------------------------------------

    @over_partitions
    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probability of each class, averaged over states and clusters.

        Within a cluster it is the pseudo-likelihood of a class beside that of the others; the
        weight of a cluster is its size times the predictive density of the row.

        Parameters
        ----------
        X : table
            The rows.
        """
        state = self._fitted
        X = read_more(self, X)
        parts = [self._chunk_proba(state, X[i : i + CHUNK]) for i in range(0, len(X), CHUNK)]
        return np.vstack(parts)

    def _chunk_proba(self, state: InfiniteSVCState, X: np.ndarray) -> np.ndarray:
        hyper, L = state.hyper, len(state.labels.values)
        frame = as_frame(X, state.names)
        blocks = encode(state.schema, frame, learn=False, who=type(self).__name__).blocks
        weight = cluster_weights(state, blocks, len(X), hyper.alpha)
        if L == 1:
            return np.ones((len(X), 1))
        seen = experts_rows(X, state.fill)
        scores = np.einsum("ip,mcp->imc", seen, state.kept.eta)
        p = class_shares(scores, hyper.c, hyper.margin)
        proba = np.einsum("im,iml->il", weight, p)
        return proba + (1.0 - weight.sum(axis=1, keepdims=True)) / L  # new clusters: all are equal

    @over_partitions
    def decision_function(self, X: Any) -> np.ndarray:
        """Return the log odds of the second class, or the log probabilities if there are more.

        Parameters
        ----------
        X : table
            The rows.
        """
        with np.errstate(divide="ignore"):
            log_p = np.log(self.predict_proba(X))
        return log_p[:, -1] - log_p[:, 0] if log_p.shape[1] <= 2 else log_p

    @over_partitions
    def predict(self, X: Any) -> np.ndarray:
        """Return the most probable class of each row.

        Parameters
        ----------
        X : table
            The rows.
        """
        return self.classes_[self.predict_proba(X).argmax(axis=1)]

    def to_arviz(self) -> Any:
        """Return the traces after the burn-in, one chain, in the form of ArviZ.

        The posterior has `n_clusters` and `hinge` (`traces_`). Needs `infinimix[arviz]`.
        """
        state = self._fitted
        return to_inference_data({k: t[None, state.burn_in :] for k, t in state.traces.items()})

    # --- Fitted attributes ----------------------------------------------------------------------

    @property
    def _fitted(self) -> InfiniteSVCState:
        """The state; NotFittedError if there is none."""
        check_fitted(self)
        assert self._state is not None
        return self._state

    @property
    def _schema(self) -> Schema:
        return self._fitted.schema

    @property
    def classes_(self) -> np.ndarray:
        """The labels, sorted."""
        return self._fitted.labels.classes

    @property
    def n_features_in_(self) -> int:
        """The number of columns."""
        return self._fitted.schema.width

    @property
    def feature_names_in_(self) -> np.ndarray:
        """The names of the columns, if the table had names."""
        return feature_names(self._fitted.names)

    @property
    def labels_(self) -> np.ndarray:
        """The cluster of each training row in the last state."""
        return self._fitted.z

    @property
    def traces_(self) -> dict[str, np.ndarray]:
        """Number of clusters and sum of the hinges after each sweep."""
        return self._fitted.traces

    @property
    def effective_sample_size_(self) -> dict[str, float]:
        """Effective sample sizes of the traces after the burn-in."""
        state = self._fitted
        return {name: effective_size(t[state.burn_in :]) for name, t in state.traces.items()}

    @property
    def n_clusters_posterior_(self) -> np.ndarray:
        """Probability of each number of clusters after the burn-in."""
        state = self._fitted
        counts = np.bincount(state.traces["n_clusters"][state.burn_in :].astype(int))
        return counts / counts.sum()


def cluster_weights(state: InfiniteSVCState, blocks: Blocks, n: int, alpha: float) -> np.ndarray:
    """Return the weight of every kept cluster for every row; with new ones they sum to 1."""
    kept, families = state.kept, state.families
    M, T = len(kept.sizes), int(kept.owner[-1]) + 1
    logp, log_new = np.zeros((n, M)), np.zeros((n, 1))
    score_rows(families, kept.stats, np.arange(M), blocks, logp)
    score_rows(families, empty(families, 1), np.arange(1), blocks, log_new)
    logp += np.log(kept.sizes)
    log_new += np.log(alpha)
    top = np.maximum(logp.max(axis=1, keepdims=True), log_new)
    mass, new = np.exp(logp - top), np.exp(log_new - top)
    total = np.add.reduceat(mass, np.searchsorted(kept.owner, np.arange(T)), axis=1) + new
    with np.errstate(divide="ignore", invalid="ignore"):
        weight = mass / total[:, kept.owner]
    return np.nan_to_num(weight) / T
