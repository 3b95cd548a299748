"""What models of clusters with means have learned: one object each, which `fit` assigns once.

`to_tree` and `from_tree` are the form of files; the Gibbs sampler's state is in `gibbs`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from infinimix.estimators.common.labels import Labels
from infinimix.estimators.common.state import read_labels
from infinimix.maxmargin.objective.divergences import Divergence
from infinimix.maxmargin.objective.problem import Clusters
from infinimix.maxmargin.stored import (
    divergence_from_tree,
    names_from_tree,
    names_to_tree,
    read_stored,
    stored,
    stored_values,
)


@dataclass(frozen=True)
class MeansState:
    """Clusters of DP-means."""

    names: np.ndarray | None  # of the columns
    divergence: Divergence
    means: np.ndarray = field(metadata=stored("cluster_means_", "Kd"))  # in natural units
    z: np.ndarray = field(metadata=stored("labels_", "n", whole=True))  # the cluster of each row
    history: np.ndarray = field(metadata=stored("objective_history_", "*"))
    lam: float = field(metadata=stored("lam_", ""))

    def to_tree(self) -> dict[str, Any]:
        """Return arrays and plain values; there are no labels."""
        return _to_tree(self, None)

    @classmethod
    def from_tree(cls, tree: dict[str, Any], model: Any) -> MeansState:
        """Return the state that `to_tree` wrote; raise ValueError if its parts do not fit."""
        return cls(**_from_tree(cls, tree, {}))


@dataclass(frozen=True)
class ExpertsState:
    """Clusters, and a linear expert in each."""

    names: np.ndarray | None  # of the columns
    labels: Labels
    divergence: Divergence
    soft: bool  # gating, for which the slope was found
    means: np.ndarray = field(metadata=stored("cluster_means_", "Kd"))  # in natural units
    sizes: np.ndarray = field(metadata=stored("cluster_sizes_", "K"))
    z: np.ndarray = field(metadata=stored("labels_", "n", whole=True))  # of the rows last learned
    history: np.ndarray = field(metadata=stored("objective_history_", "*"))
    lam: float = field(metadata=stored("lam_", ""))
    s: float = field(metadata=stored("s_", ""))
    c: float = field(metadata=stored("c_", ""))
    purity: float = field(metadata=stored("label_purity_", ""))
    precision: float = field(metadata=stored("gating_precision_", ""))  # of soft gating
    slope: float = field(metadata=stored("probability_slope_", ""))
    eta: np.ndarray = field(metadata=stored("_eta", "KCe"))  # the experts, bias last

    @property
    def clusters(self) -> Clusters:
        """Means and experts as the objective takes them."""
        return Clusters(self.means - self.divergence.centre, self.eta)

    def to_tree(self) -> dict[str, Any]:
        """Return arrays and plain values."""
        return _to_tree(self, self.labels) | {"soft": self.soft}

    @classmethod
    def from_tree(cls, tree: dict[str, Any], model: Any) -> Any:
        """Return the state that `to_tree` wrote; raise ValueError if its parts do not fit."""
        labels = read_labels(tree["labels"])
        soft = tree.get("soft", model.gating == "soft")  # older files have the parameter only
        if not isinstance(soft, bool):
            raise ValueError("its gating is neither hard nor soft")
        L = len(labels.values)
        found = _from_tree(cls, tree, {"C": L if L > 2 else 1, "3": 3})
        return cls(labels=labels, soft=soft, **found)


@dataclass(frozen=True)
class MaxMarginState(ExpertsState):
    """The same, with what mini-batches need: observed cells and equations of the experts.

    A batch adds to the equations in place. They are empty if they would be too many.
    """

    cells: np.ndarray = field(metadata=stored("_cells", "Kd"))
    equations: np.ndarray = field(metadata=stored("_equations", "KCe*"))  # [A, v]


@dataclass(frozen=True)
class SearchState(MaxMarginState):
    """The same, with what was tried to choose the weights of the objective."""

    best_score: float = field(metadata=stored("best_score_", ""))
    grid: np.ndarray = field(metadata=stored("_cv_table", "3G"))  # lam, s and c
    scores: np.ndarray = field(metadata=stored("_cv_scores", "G"))


def _to_tree(state: MeansState | ExpertsState, labels: Labels | None) -> dict[str, Any]:
    return {
        "names": names_to_tree(state.names),
        "labels": None if labels is None else labels.values,
        "divergence": tuple(state.divergence),
        "fitted": stored_values(state) | {"n_iter_": len(state.history)},
    }


def _from_tree(cls: type, tree: dict[str, Any], sizes: dict[str, int]) -> dict[str, Any]:
    """Return the fields of a state, checked."""
    found = read_stored(cls, tree["fitted"], sizes)
    K, d, z = sizes["K"], sizes["d"], found["z"]
    if sizes.get("e", d + 1) != d + 1:
        raise ValueError("its experts do not fit its clusters")
    divergence = divergence_from_tree(tree["divergence"], d)
    if K < 1 or d < 1 or len(found["history"]) < 1:
        raise ValueError("it has no clusters")
    if len(z) and not 0 <= z.min() <= z.max() < K:
        raise ValueError("labels_ names clusters that are not there")
    if tree["fitted"]["n_iter_"] != len(found["history"]):
        raise ValueError("n_iter_ does not fit the others")
    return {"names": names_from_tree(tree["names"], d), "divergence": divergence, **found}
