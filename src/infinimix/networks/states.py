"""The states that chains have visited, as a fitted model shows them."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from infinimix.networks.engine.graphs import to_adjacency


class States:
    """Distinct states and the best one, of any kind of graph."""

    _draws: Any
    _places: np.ndarray
    _weights: np.ndarray
    edge_marginals_: np.ndarray

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
