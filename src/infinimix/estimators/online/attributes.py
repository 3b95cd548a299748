"""What an `OnlineCRPClassifier` shows of itself once it has learned."""

from __future__ import annotations

from typing import Any

import numpy as np

from infinimix.estimators.common.table_estimator import check_fitted
from infinimix.estimators.online.rows import TableInput
from infinimix.inference.online_crp import model as at


class OnlineAttributes:
    """Attributes that are read from the learner when they are asked for."""

    _learner: Any
    _input: Any
    _roster: Any

    @property
    def classes_(self) -> np.ndarray:
        """The labels, sorted."""
        check_fitted(self)
        return self._roster.classes

    @property
    def columns_(self) -> dict[str, str]:
        """The kind of each column of a table."""
        check_fitted(self)
        if not isinstance(self._input, TableInput):
            raise AttributeError("Rows of text have words instead of columns_.")
        assert self._input.schema is not None
        return dict(self._input.schema.requests())

    @property
    def class_count_(self) -> np.ndarray:
        """Rows of each class."""
        check_fitted(self)
        return self._learner.model.classes[at.HELD, self._roster.order]

    @property
    def alpha_(self) -> float:
        """The concentration now."""
        check_fitted(self)
        return float(self._learner.model.course[at.ALPHA])

    @property
    def temperature_(self) -> float:
        """What the log densities are divided by, in the mean."""
        check_fitted(self)
        replicas = self._learner.model.replicas
        return float(np.exp(-replicas[at.SHARE] @ replicas[at.LOG_BETA]))

    @property
    def negative_weights_(self) -> dict[tuple[float, float], float]:
        """How much the settings that run side by side count."""
        check_fitted(self)
        rows = self._learner.model.replicas[[at.NEGATIVE, at.STEP, at.SHARE]].T
        return {(float(n), float(s)): float(w) for n, s, w in rows}
