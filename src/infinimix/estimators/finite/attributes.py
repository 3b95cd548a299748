"""What a `FiniteMixtureClassifier` shows of itself once it has learned."""

from __future__ import annotations

from typing import Any

import numpy as np

from infinimix.inference.finite.ensemble import Ensemble
from infinimix.scikit import check_is_fitted


class FiniteAttributes:
    """Attributes that are read from the mixtures, or from what `fit` has found."""

    _labels: Any
    _ensemble: Ensemble
    _gain: float = float("nan")

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_ensemble")

    @property
    def classes_(self) -> np.ndarray:
        """The labels, sorted."""
        check_is_fitted(self)
        return self._labels.classes

    @property
    def n_components_(self) -> int:
        """Number of components of each mixture, over all classes."""
        check_is_fitted(self)
        return int(self._ensemble.n_components)

    @property
    def component_scores_(self) -> dict[int, float]:
        """The mean score of each number of components that was tried."""
        check_is_fitted(self)
        return dict(self._ensemble.scores)

    @property
    def log_posterior_trace_(self) -> np.ndarray:
        """Log posterior density of the observed cells and labels, step by step."""
        check_is_fitted(self)
        return self._ensemble.trace.copy()

    @property
    def n_iter_(self) -> int:
        """Steps of EM."""
        check_is_fitted(self)
        return len(self._ensemble.trace)

    @property
    def unlabelled_gain_(self) -> float:
        """By how much rows without labels lower the log-loss of labelled rows, held out."""
        check_is_fitted(self)
        return self._gain
