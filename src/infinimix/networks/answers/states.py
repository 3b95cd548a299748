"""What a fitted model of any kind of graph shows: its columns, and the states it visited."""

from __future__ import annotations

from typing import Any

import numpy as np

from infinimix.networks.engine.graphs import to_adjacency
from infinimix.networks.learning.columns import Columns
from infinimix.scikit import check_is_fitted


class States:
    """The kinds of the columns, distinct states and the best one."""

    _columns: Columns
    _draws: Any
    _places: np.ndarray
    _weights: np.ndarray
    edge_marginals_: np.ndarray
    roles_: np.ndarray

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_draws")

    def _name_features(self, columns: Columns) -> None:
        self.n_features_in_ = columns.schema.width
        self.__dict__.pop("feature_names_in_", None)
        if columns.schema.named:
            self.feature_names_in_ = np.array(columns.schema.names, dtype=object)

    @property
    def columns_(self) -> dict[str, str]:
        """The kind of each column, and its transform, as decided in `fit`."""
        check_is_fitted(self)
        return self._columns.schema.requests()

    @property
    def discretised_(self) -> dict[str, np.ndarray]:
        """Where the columns that were discretised are cut."""
        check_is_fitted(self)
        names = self._columns.schema.names
        return {names[j]: edges for j, edges in self._columns.edges.items()}

    def _adjacencies(self, places: np.ndarray) -> np.ndarray:
        return to_adjacency(self._draws.graphs[places])

    @property
    def states_(self) -> list[dict[str, Any]]:
        """Distinct states, the heaviest first."""
        check_is_fitted(self)
        return [self._state(p, w) for p, w in zip(self._places, self._weights, strict=True)]

    @property
    def best_state_(self) -> dict[str, Any]:
        """The state with the highest log joint among those that were kept."""
        check_is_fitted(self)
        return self._state(int(self._draws.log_joint.argmax()), None)

    def _state(self, place: int, weight: float | None) -> dict[str, Any]:
        state = {
            "adjacency": self._adjacencies(np.array([place]))[0],
            "classes": self._draws.classes[place].astype(np.int64),
            "log_joint": float(self._draws.log_joint[place]),
        }
        return state if weight is None else {"weight": float(weight), **state}

    def _answer_graph(self, threshold: float | None) -> np.ndarray:
        check_is_fitted(self)
        if threshold is None:
            return np.asarray(self.best_state_["adjacency"])
        return (self.edge_marginals_ >= threshold).astype(np.uint8)
