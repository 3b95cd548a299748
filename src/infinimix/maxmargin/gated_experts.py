"""`GatedExperts`: what classifiers with a linear expert in each cluster show and answer."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from infinimix.estimators.common.fitted import check_fitted, feature_names
from infinimix.estimators.common.parameters import Rule
from infinimix.estimators.common.partitioned_rows import over_partitions
from infinimix.maxmargin.experts.gating import Gate, decide, probabilities
from infinimix.maxmargin.objective.divergences import check_rows
from infinimix.maxmargin.objective.rows import FeatureRows, make_rows
from infinimix.maxmargin.parameters import GATED_RULES
from infinimix.maxmargin.reading import read_more
from infinimix.maxmargin.states import ExpertsState
from infinimix.scikit import BaseEstimator, ClassifierMixin


class GatedExperts(ClassifierMixin, BaseEstimator):
    """A model with an `ExpertsState`; subclasses say how it is learned."""

    State: type[ExpertsState] = ExpertsState
    _rules: ClassVar[dict[str, Rule]] = GATED_RULES
    _state: Any = None  # an ExpertsState, once it is fitted

    def __sklearn_is_fitted__(self) -> bool:
        return self._state is not None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    @property
    def _fitted(self) -> Any:
        """The state; NotFittedError if there is none."""
        check_fitted(self)
        return self._state

    # --- Answers --------------------------------------------------------------------------------

    def _gate(self) -> Gate:
        state = self._fitted
        return Gate(state.divergence, state.clusters, state.sizes, state.precision, state.soft)

    def _read(self, X: Any) -> FeatureRows:
        divergence = self._fitted.divergence
        X = read_more(self, X)
        check_rows(divergence, X)
        return make_rows(X, divergence)

    def _discriminants(self, X: Any) -> np.ndarray:
        rows, gate = self._read(X), self._gate()
        return np.vstack([gate.discriminants(rows.take(part)) for part in rows.chunks()])

    @over_partitions
    def decision_function(self, X: Any) -> np.ndarray:
        """Return the discriminant: of the second class if there are two, of each if more.

        Parameters
        ----------
        X : table
            The rows.
        """
        f = self._discriminants(X)
        return f[:, 0] if f.shape[1] == 1 else f

    @over_partitions
    def predict(self, X: Any) -> np.ndarray:
        """Return the class of each row.

        Parameters
        ----------
        X : table
            The rows.
        """
        f = self._discriminants(X)
        if len(self.classes_) == 1:
            return np.repeat(self.classes_, len(f))
        return self.classes_[decide(f)]

    @over_partitions
    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probability of each class, as in `classes_`.

        Parameters
        ----------
        X : table
            The rows.
        """
        f = self._discriminants(X)
        if len(self.classes_) == 1:
            return np.ones((len(f), 1))
        return probabilities(f, self.probability_slope_)

    @over_partitions
    def predict_cluster(self, X: Any) -> np.ndarray:
        """Return the nearest cluster of each row.

        Parameters
        ----------
        X : table
            The rows.
        """
        rows, gate = self._read(X), self._gate()
        return np.concatenate([gate.nearest(rows.take(part)) for part in rows.chunks()])

    # --- Fitted attributes ----------------------------------------------------------------------

    @property
    def classes_(self) -> np.ndarray:
        """The labels, sorted."""
        return np.asarray(self._fitted.labels.classes)

    @property
    def labels_(self) -> np.ndarray:
        """The cluster of each training row, or of each row of the last mini-batch."""
        return np.asarray(self._fitted.z)

    @property
    def cluster_means_(self) -> np.ndarray:
        """Means of the clusters, (K, d)."""
        return np.asarray(self._fitted.means)

    @property
    def cluster_sizes_(self) -> np.ndarray:
        """Rows of each cluster."""
        return np.asarray(self._fitted.sizes)

    @property
    def n_clusters_(self) -> int:
        """Number of clusters."""
        return len(self._fitted.means)

    @property
    def coef_(self) -> np.ndarray:
        """Slopes of the experts, (K, d), or (K, classes, d) with more than two classes."""
        slopes = self._fitted.eta[:, :, :-1]
        return np.asarray(slopes[:, 0] if slopes.shape[1] == 1 else slopes)

    @property
    def intercept_(self) -> np.ndarray:
        """Biases of the experts, (K,), or (K, classes) with more than two classes."""
        eta = self._fitted.eta
        return np.asarray(eta[:, 0, -1] if eta.shape[1] == 1 else eta[:, :, -1])

    @property
    def label_purity_(self) -> float:
        """Share of rows with the most frequent label of their cluster."""
        return float(self._fitted.purity)

    @property
    def objective_history_(self) -> np.ndarray:
        """The objective after each pass."""
        return np.asarray(self._fitted.history)

    @property
    def n_iter_(self) -> int:
        """The number of passes."""
        return len(self._fitted.history)

    @property
    def lam_(self) -> float:
        """The penalty of a cluster."""
        return float(self._fitted.lam)

    @property
    def s_(self) -> float:
        """The weight of the divergence."""
        return float(self._fitted.s)

    @property
    def c_(self) -> float:
        """The weight of the hinge."""
        return float(self._fitted.c)

    @property
    def gating_precision_(self) -> float:
        """The factor of divergences in soft gating."""
        return float(self._fitted.precision)

    @property
    def probability_slope_(self) -> float:
        """The slope of the probabilities."""
        return float(self._fitted.slope)

    @property
    def n_features_in_(self) -> int:
        """The number of columns."""
        return int(self._fitted.means.shape[1])

    @property
    def feature_names_in_(self) -> np.ndarray:
        """The names of the columns, if the table had names."""
        return feature_names(self._fitted.names)
