"""The answers of a learner that holds a model: those of the model, whatever becomes of the disk."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np


class AnswersAsModel:
    """Answers as its model does."""

    model: Any

    def __sklearn_is_fitted__(self) -> bool:
        return bool(self.model.__sklearn_is_fitted__())

    @property
    def classes_(self) -> np.ndarray:
        """The labels, sorted."""
        found: np.ndarray = self.model.classes_
        return found

    def predict(self, X: Any) -> np.ndarray:
        """Return the answers of the model.

        Parameters
        ----------
        X : table
            The rows.
        """
        return np.asarray(self.model.predict(X))

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probabilities of the model.

        Parameters
        ----------
        X : table
            The rows.
        """
        return np.asarray(self.model.predict_proba(X))

    def predict_one(self, x: Mapping[Any, Any]) -> Any:
        """Return the answer of the model for one row.

        Parameters
        ----------
        x : dict from feature to value
            The row.
        """
        return self.model.predict_one(x)

    def predict_proba_one(self, x: Mapping[Any, Any]) -> dict[Any, float]:
        """Return the probabilities of the model for one row.

        Parameters
        ----------
        x : dict from feature to value
            The row.
        """
        found: dict[Any, float] = self.model.predict_proba_one(x)
        return found
