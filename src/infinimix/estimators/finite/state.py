"""What a `FiniteMixtureClassifier` has learned.

The training rows are part of it, unless a cluster had read them: `predict_batch` learns from them
again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from infinimix.estimators.common.labels import Labels
from infinimix.estimators.common.state import (
    TableState,
    read_codes,
    read_labels,
    read_rows,
    read_schema,
)
from infinimix.estimators.finite.binning import Edges, lay_out
from infinimix.inference.finite.ensemble import CLASS_PSEUDO, Ensemble, Plan
from infinimix.inference.finite.storage import ensemble_from_tree, ensemble_to_tree
from infinimix.tables import EncodedTable


@dataclass
class FiniteState(TableState):
    """Mixtures by EM, and the rows and labels that they were found from."""

    table: EncodedTable | None  # None if workers have kept the rows
    codes: np.ndarray  # of the classes of its rows, -1 without label; empty without rows
    labels: Labels
    edges: Edges  # of the bins of real columns; empty without bins
    plan: Plan
    seed: np.random.SeedSequence
    ensemble: Ensemble
    unlabelled_gain: float
    weight: np.ndarray | None = None  # of the rows, if they do not count once each

    def to_tree(self) -> dict[str, Any]:
        """Return plain values and arrays."""
        return {
            "schema": self.schema.to_json(),
            "edges": list(self.edges),
            "blocks": None if self.table is None else list(self.table.blocks),
            "codes": self.codes,
            "labels": self.labels.values,
            "entropy": self.seed.entropy,
            "spawn_key": tuple(self.seed.spawn_key),
            "plan": self.plan._asdict(),
            "gain": self.unlabelled_gain,
            "ensemble": ensemble_to_tree(self.ensemble),
            "weight": self.weight,
        }

    @classmethod
    def from_tree(cls, tree: dict[str, Any], model: Any) -> FiniteState:
        """Return the state that `to_tree` wrote; raise ValueError if its parts do not fit."""
        schema = read_schema(tree["schema"])
        labels = read_labels(tree["labels"])
        edges = tuple(map(_read_edges, tree["edges"]))
        if edges and len(edges) != len(schema.positions("real")):
            raise ValueError("its bins are not those of its columns")
        plan = _read_plan(tree["plan"], len(labels.values))
        codes = read_codes(tree["codes"], len(labels.values))
        return cls(
            schema,
            None if tree["blocks"] is None else read_rows(schema, tree["blocks"], len(codes)),
            codes,
            labels,
            edges,
            plan,
            np.random.SeedSequence(tree["entropy"], spawn_key=tree["spawn_key"]),
            ensemble_from_tree(tree["ensemble"], plan, lay_out(schema, edges)),
            float(tree.get("gain", np.nan)),
            _read_weight(tree.get("weight"), len(codes)),
        )


def _read_plan(saved: Any, n_classes: int) -> Plan:
    plan = Plan(**saved)
    number = plan.n_components
    sound = (
        (number in ("auto", "bic", "classes") if isinstance(number, str) else _positive(number))
        and all(map(_positive, (plan.n_restarts, plan.most_steps)))
        and plan.n_classes == n_classes
        and type(plan.owned) is type(plan.mode) is bool
        and plan.class_pseudo in (CLASS_PSEUDO, 1.0)
    )
    if not sound:
        raise ValueError("it was fitted to no plan")
    return plan


def _read_weight(saved: Any, n_rows: int) -> np.ndarray | None:
    if saved is None:
        return None
    weight = np.asarray(saved)
    sound = weight.shape == (n_rows,) and weight.dtype == np.float64
    if not sound or not (np.isfinite(weight) & (weight > 0)).all():
        raise ValueError("the weights of its rows are no positive numbers")
    return weight


def _positive(value: Any) -> bool:
    return type(value) is int and value > 0


def _read_edges(saved: Any) -> np.ndarray:
    edges = np.asarray(saved)
    if edges.ndim != 1 or edges.dtype != np.float64 or not (np.diff(edges) > 0).all():
        raise ValueError("its bins have no edges")
    return edges
