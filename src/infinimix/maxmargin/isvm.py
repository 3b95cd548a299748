"""`GibbsInfiniteSVC`: a Dirichlet process mixture of SVMs by Gibbs sampling (Wang and Zhu 2015)."""

from __future__ import annotations

from typing import Any

import numpy as np

from infinimix.estimators.common.labels import Labels
from infinimix.estimators.common.parameters import check_parameters, seed_sequence
from infinimix.estimators.common.state import layout_of
from infinimix.families.given import resolve_prior
from infinimix.families.priors import blank, find_families
from infinimix.families.seam import empty, score_rows
from infinimix.inference.ensemble.bank import pool_rows
from infinimix.maxmargin.experts.training import check_lengths
from infinimix.maxmargin.gibbs.chain import Chain, Kept, effective_size, join
from infinimix.maxmargin.gibbs.rows import (
    class_shares,
    experts_rows,
    first_clusters,
    mean_of_columns,
    round_digits,
)
from infinimix.maxmargin.objective.rows import read_rows, signs
from infinimix.maxmargin.parameters import RULES
from infinimix.scikit import BaseEstimator, ClassifierMixin, check_is_fitted
from infinimix.tables import Schema, encode, read_schema

CHUNK = 1024


class GibbsInfiniteSVC(ClassifierMixin, BaseEstimator):
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

    Attributes
    ----------
    traces_ : dict of arrays
        "n_clusters" and "hinge" (the sum of the hinges) after each sweep.
    effective_sample_size_ : dict
        Of these traces, after the burn-in.
    labels_ : array
        Clusters of the training rows in the last state.
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

    _rules = RULES
    _labels: Labels
    _schema: Schema
    _families: Any
    _kept: Kept

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
        random_state: Any = None,
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

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_kept")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def fit(self, X: Any, y: Any) -> GibbsInfiniteSVC:
        """Run the chain on a table and its labels."""
        check_parameters(self)
        if self.burn_in >= self.n_iter:
            raise ValueError(
                f"The 'burn_in' parameter of GibbsInfiniteSVC must be less than n_iter="
                f"{self.n_iter}; got {self.burn_in}."
            )
        labels = Labels()
        codes, new = labels.read(y)
        X = round_digits(read_rows(self, X, reset=True))
        check_lengths(len(X), len(codes))
        labels.extend(new)
        codes = np.argsort(labels.order)[codes]
        schema, blocks = self._encode_first(X)
        families = self._find_families(schema, blocks)
        filled = mean_of_columns(X)
        Y = signs(codes, len(new))
        rng = np.random.default_rng(seed_sequence(self.random_state))
        chain = Chain(
            families, blocks, experts_rows(X, filled), Y, float(self.alpha), float(self.c),
            float(self.nu), float(self.margin), first_clusters(rng, X), rng,
        )  # fmt: skip
        kept = self._run(chain)
        self._labels, self._schema, self._families, self._fill = labels, schema, families, filled
        self._kept, self.labels_ = kept, chain.labels()
        self.traces_ = {name: np.array(trace) for name, trace in chain.traces.items()}
        return self

    def _run(self, chain: Chain) -> Kept:
        """Run the chain; keep states evenly after the burn-in."""
        count = min(self.n_samples, self.n_iter - self.burn_in)
        wanted = {int(t) for t in np.linspace(self.n_iter - 1, self.burn_in, count)}
        states = []
        for t in range(self.n_iter):
            chain.step()
            if t in wanted:
                states.append(chain.keep())
        return join(states)

    def _frame(self, X: np.ndarray) -> Any:
        names = getattr(self, "feature_names_in_", None)
        if names is None:
            return X
        import pandas as pd  # slow to load, and arrays need none

        return pd.DataFrame(X, columns=names)

    def _encode_first(self, X: np.ndarray) -> tuple[Schema, tuple[np.ndarray, ...]]:
        frame = self._frame(X)
        schema = read_schema(frame, self.clusters, [])
        odd = [c.name for c in schema.columns if c.kind == "categorical"]
        if odd:
            raise ValueError(
                f"Column {odd[0]!r} is categorical, and experts take numbers; encode it first, "
                "with OneHotEncoder for example, or name another kind in 'clusters'."
            )
        return schema, encode(schema, frame, learn=True, who=type(self).__name__).blocks

    def _find_families(self, schema: Schema, blocks: tuple[np.ndarray, ...]) -> Any:
        layout = layout_of(schema)
        shape = blank(layout)
        pool = empty(shape, 1)
        pool_rows(shape, pool, blocks, 0, len(blocks[0]))
        prior = resolve_prior(self.cluster_prior, schema.kinds(), schema.gaussian_blocks)
        return find_families(layout, prior, pool)

    @property
    def classes_(self) -> np.ndarray:
        """The labels, sorted."""
        check_is_fitted(self)
        return self._labels.classes

    @property
    def effective_sample_size_(self) -> dict[str, float]:
        """Effective sample sizes of the traces after the burn-in."""
        check_is_fitted(self)
        return {name: effective_size(t[self.burn_in :]) for name, t in self.traces_.items()}

    @property
    def n_clusters_posterior_(self) -> np.ndarray:
        """Probability of each number of clusters after the burn-in."""
        check_is_fitted(self)
        counts = np.bincount(self.traces_["n_clusters"][self.burn_in :].astype(int))
        return counts / counts.sum()

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probability of each class, averaged over states and clusters.

        Within a cluster it is the pseudo-likelihood of a class beside that of the others; the
        weight of a cluster is its size times the predictive density of the row.
        """
        check_is_fitted(self)
        X = read_rows(self, X, reset=False)
        parts = [self._chunk_proba(X[i : i + CHUNK]) for i in range(0, len(X), CHUNK)]
        return np.vstack(parts)

    def _chunk_proba(self, X: np.ndarray) -> np.ndarray:
        kept, L = self._kept, len(self.classes_)
        frame = self._frame(X)
        blocks = encode(self._schema, frame, learn=False, who=type(self).__name__).blocks
        weight = self._cluster_weights(blocks, len(X))
        if L == 1:
            return np.ones((len(X), 1))
        scores = np.einsum("ip,mcp->imc", experts_rows(X, self._fill), kept.eta)
        p = class_shares(scores, float(self.c), float(self.margin))
        proba = np.einsum("im,iml->il", weight, p)
        return proba + (1.0 - weight.sum(axis=1, keepdims=True)) / L  # a new cluster knows nothing

    def _cluster_weights(self, blocks: tuple[np.ndarray, ...], n: int) -> np.ndarray:
        """Return the weight of every kept cluster for every row; with new ones they sum to 1."""
        kept = self._kept
        M, T = len(kept.sizes), int(kept.owner[-1]) + 1
        logp, log_new = np.zeros((n, M)), np.zeros((n, 1))
        score_rows(self._families, kept.stats, np.arange(M), blocks, logp)
        score_rows(self._families, empty(self._families, 1), np.arange(1), blocks, log_new)
        logp += np.log(kept.sizes)
        log_new += np.log(self.alpha)
        top = np.maximum(logp.max(axis=1, keepdims=True), log_new)
        mass, new = np.exp(logp - top), np.exp(log_new - top)
        total = np.add.reduceat(mass, np.searchsorted(kept.owner, np.arange(T)), axis=1) + new
        with np.errstate(divide="ignore", invalid="ignore"):
            weight = mass / total[:, kept.owner]
        return np.nan_to_num(weight) / T

    def decision_function(self, X: Any) -> np.ndarray:
        """Return the log odds of the second class, or the log probabilities if there are more."""
        with np.errstate(divide="ignore"):
            log_p = np.log(self.predict_proba(X))
        return log_p[:, -1] - log_p[:, 0] if log_p.shape[1] <= 2 else log_p

    def predict(self, X: Any) -> np.ndarray:
        """Return the most probable class of each row."""
        return self.classes_[self.predict_proba(X).argmax(axis=1)]
