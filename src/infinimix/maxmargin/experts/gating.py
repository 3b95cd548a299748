"""Classifiers of linear experts in clusters: which expert speaks, and how sure it is.

Hard gating asks the expert of the nearest mean. Soft gating asks all, with weights n_k exp(-b D(x,
mu_k)): a mixture of normals (or of what corresponds to another divergence) with the b = d / (2 mean
D) of the training rows. The discriminant is that of the expert, or the weighted mean of them.

Probabilities are a logistic function of the discriminant (a softmax with more than two classes)
with one slope, found in `fit` on rows that their experts have not seen.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import expit, softmax

from infinimix.estimators.common.labels import Labels
from infinimix.estimators.common.parameters import one_of
from infinimix.maxmargin.objective.divergences import Divergence, check_rows
from infinimix.maxmargin.objective.problem import Clusters, Problem, Weights
from infinimix.maxmargin.objective.rows import Rows, make_rows, read_rows
from infinimix.maxmargin.parameters import RULES
from infinimix.scikit import BaseEstimator, ClassifierMixin, check_is_fitted

# Fitted attributes, for files: n rows, d columns, K clusters, L classes; "" is a number, "*" any
# length, "eta" the experts as (K, outputs, d + 1).
SHAPES = {
    "cluster_means_": "Kd",
    "cluster_sizes_": "K",
    "labels_": "n",
    "objective_history_": "*",
    "lam_": "",
    "s_": "",
    "c_": "",
    "n_iter_": "",
    "label_purity_": "",
    "gating_precision_": "",
    "probability_slope_": "",
    "_eta": "KCe",
}
GATED_RULES = RULES | {"divergence": one_of("euclidean", "kl", "itakura-saito")}


class GatedExperts(ClassifierMixin, BaseEstimator):
    """What classifiers with an expert in each cluster answer."""

    _rules = GATED_RULES
    _shapes = SHAPES
    _labels: Labels
    _divergence: Divergence
    _eta: np.ndarray  # (K, C, d + 1)
    gating: str
    cluster_means_: np.ndarray
    cluster_sizes_: np.ndarray
    gating_precision_: float
    probability_slope_: float

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "cluster_means_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    @property
    def classes_(self) -> np.ndarray:
        """The labels, sorted."""
        check_is_fitted(self)
        return self._labels.classes

    @property
    def n_clusters_(self) -> int:
        """Number of clusters."""
        check_is_fitted(self)
        return len(self.cluster_means_)

    @property
    def coef_(self) -> np.ndarray:
        """Slopes of the experts, (K, d), or (K, classes, d) with more than two classes."""
        check_is_fitted(self)
        slopes = self._eta[:, :, :-1]
        return slopes[:, 0] if slopes.shape[1] == 1 else slopes

    @property
    def intercept_(self) -> np.ndarray:
        """Biases of the experts, (K,), or (K, classes) with more than two classes."""
        check_is_fitted(self)
        return self._eta[:, 0, -1] if self._eta.shape[1] == 1 else self._eta[:, :, -1]

    def _clusters(self) -> Clusters:
        return Clusters(self.cluster_means_ - self._divergence.centre, self._eta)

    def _read(self, X: Any) -> Rows:
        check_is_fitted(self)
        X = read_rows(self, X, reset=False)
        check_rows(self._divergence, X)
        return make_rows(X, self._divergence)

    def _discriminants(self, X: Any) -> np.ndarray:
        rows = self._read(X)
        gate = Gate(
            self._divergence, self._clusters(), self.cluster_sizes_,
            self.gating_precision_, self.gating == "soft",
        )  # fmt: skip
        return np.vstack([gate.discriminants(rows.take(part)) for part in rows.chunks()])

    def decision_function(self, X: Any) -> np.ndarray:
        """Return the discriminant: of the second class if there are two, of each if more."""
        f = self._discriminants(X)
        return f[:, 0] if f.shape[1] == 1 else f

    def predict(self, X: Any) -> np.ndarray:
        """Return the class of each row."""
        f = self._discriminants(X)
        if len(self.classes_) == 1:
            return np.repeat(self.classes_, len(f))
        return self.classes_[f.argmax(axis=1) if f.shape[1] > 1 else (f[:, 0] > 0).astype(int)]

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probability of each class, as in `classes_`."""
        f = self._discriminants(X)
        if len(self.classes_) == 1:
            return np.ones((len(f), 1))
        return probabilities(f, self.probability_slope_)

    def predict_cluster(self, X: Any) -> np.ndarray:
        """Return the nearest cluster of each row."""
        rows = self._read(X)
        gate = Gate(self._divergence, self._clusters(), self.cluster_sizes_, 1.0, False)
        parts = [gate.scores(rows.take(part))[0].argmin(axis=1) for part in rows.chunks()]
        return np.concatenate(parts)


class Gate:
    """Clusters, and how their experts are asked."""

    def __init__(
        self,
        divergence: Divergence,
        clusters: Clusters,
        sizes: np.ndarray,
        precision: float,
        soft: bool,
    ) -> None:
        self.divergence, self.clusters, self.sizes = divergence, clusters, sizes
        self.precision, self.soft = precision, soft

    def scores(self, rows: Rows) -> tuple[np.ndarray, np.ndarray]:
        """Return divergences (n, K) and scores (n, K, C)."""
        K, C = self.clusters.eta.shape[:2]
        problem = Problem(rows, self.divergence, Weights(1.0))
        S = rows.F @ problem.score_vectors(self.clusters).T
        return np.maximum(rows.phi[:, None] + S[:, :K], 0.0), S[:, K:].reshape(rows.n, K, C)

    def discriminants(self, rows: Rows) -> np.ndarray:
        """Return the discriminants, (n, C)."""
        D, f = self.scores(rows)
        if not self.soft:
            return f[np.arange(rows.n), D.argmin(axis=1)]
        weight = softmax(np.log(self.sizes) - self.precision * D, axis=1)
        return np.einsum("ik,ikc->ic", weight, f)


def probabilities(f: np.ndarray, slope: float) -> np.ndarray:
    """Return the probability of each class from discriminants."""
    if f.shape[1] > 1:
        return softmax(slope * f, axis=1)
    p = expit(slope * f[:, 0])
    return np.column_stack([1.0 - p, p])
