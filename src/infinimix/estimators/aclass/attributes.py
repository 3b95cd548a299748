"""What an `AClassClassifier` shows of itself once it has learned."""

from __future__ import annotations

from typing import Any

import numpy as np

from infinimix.estimators.aclass.calibration import Calibration
from infinimix.estimators.common.table_estimator import check_fitted
from infinimix.inference.ensemble.agreement import class_rows, log_evidence_given_labels
from infinimix.inference.partition.assignments import best_particle


class ClassAttributes:
    """Attributes that are read from the bank, or from what `fit` has found."""

    _bank: Any
    _schema: Any
    _labels: Any
    _calibration: Calibration
    _log_slopes: float

    @property
    def classes_(self) -> np.ndarray:
        """The labels, sorted."""
        check_fitted(self)
        return self._labels.classes

    @property
    def likelihood_power_(self) -> float:
        """The power of the likelihood in the probabilities of the classes."""
        check_fitted(self)
        return self._calibration.power

    @property
    def loo_log_loss_(self) -> float:
        """Mean log-loss of the training rows, each left out in turn, at the end of `fit`."""
        check_fitted(self)
        return self._calibration.loss

    @property
    def unlabelled_gain_(self) -> float:
        """What rows without labels did for the log-loss of labelled rows, held out in `fit`."""
        check_fitted(self)
        return float(getattr(self, "_gain", np.nan))

    @property
    def feature_relevance_(self) -> np.ndarray:
        """The probability of each column that it differs between groups."""
        check_fitted(self)
        found = getattr(self, "_relevance", None)
        return np.ones(self._schema.width) if found is None else found.inclusion.copy()

    @property
    def marked_(self) -> tuple[str, ...]:
        """The columns whose missing cells are marked."""
        check_fitted(self)
        return tuple(self._schema.names[j] for j in self._schema.marked)

    @property
    def class_count_(self) -> np.ndarray:
        """Rows of each class; rows without label count as the islands have labelled them."""
        check_fitted(self)
        return class_rows(self._bank)[self._labels.order]

    @property
    def n_groups_(self) -> np.ndarray:
        """Number of groups of each class, in its best particle."""
        check_fitted(self)
        return np.array([len(best_particle(self._bank, c)[1]) for c in self._labels.order])

    @property
    def log_evidence_(self) -> float:
        """Log of an unbiased estimate of the probability of all rows given their labels."""
        check_fitted(self)
        found = getattr(self, "_relevance", None)
        shared = 0.0 if found is None else found.log_shared
        return log_evidence_given_labels(self._bank) + self._log_slopes + shared
