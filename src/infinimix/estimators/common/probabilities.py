"""What follows from the probabilities of classes: their logs, and the most probable class."""

from __future__ import annotations

from typing import Any

import numpy as np

from infinimix.estimators.common.partitioned_rows import over_partitions
from infinimix.scikit import ClassifierMixin


class ClassProbabilities(ClassifierMixin):  # type: ignore[misc]
    """A classifier that defines `predict_proba` or `predict_log_proba`."""

    classes_: Any

    @over_partitions
    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probability of each class for each row, as in `classes_`.

        Parameters
        ----------
        X : table
            The rows. Of a table in partitions the answer is an iterator of arrays; of a frame or
            array of Dask, an array of Dask.
        """
        return np.exp(self.predict_log_proba(X))

    @over_partitions
    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Return the log of `predict_proba`.

        Parameters
        ----------
        X : table
            The rows.
        """
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    @over_partitions
    def predict(self, X: Any) -> np.ndarray:
        """Return the most probable class of each row.

        Parameters
        ----------
        X : table
            The rows.
        """
        return np.asarray(self.classes_[self._class_scores(X).argmax(axis=1)])

    def _class_scores(self, X: Any) -> np.ndarray:
        """Return what is highest for the most probable class."""
        return self.predict_proba(X)


class BatchProbabilities(ClassProbabilities):
    """One that can also learn rows without labels along with the others."""

    predict_proba_batch: Any

    def predict_batch(self, X: Any) -> np.ndarray:
        """Return the most probable class of rows that are learned along with the others.

        Parameters
        ----------
        X : table
            The rows.
        """
        return np.asarray(self.classes_[self.predict_proba_batch(X).argmax(axis=1)])
