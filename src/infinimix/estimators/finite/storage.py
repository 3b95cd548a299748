"""What a file holds of a `FiniteMixtureClassifier`: its rows, its labels and its mixtures.

The training rows are there too: `predict_batch` learns from them again.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from infinimix.estimators.common.labels import Labels, check_labels
from infinimix.estimators.common.schema_checks import check_schema
from infinimix.estimators.finite.binning import lay_out
from infinimix.estimators.finite.classifier import FiniteMixtureClassifier
from infinimix.families.priors import Layout
from infinimix.inference.ensemble.storage import fits
from infinimix.inference.finite.ensemble import Plan
from infinimix.inference.finite.storage import ensemble_from_tree, ensemble_to_tree
from infinimix.tables import Schema


def finite_to_tree(model: FiniteMixtureClassifier) -> dict[str, Any]:
    """Return all that a model knows."""
    return {
        "schema": model._schema.to_json(),
        "edges": list(model._edges),
        "blocks": list(model._blocks),
        "codes": model._codes,
        "labels": model._labels.values,
        "entropy": model._seed.entropy,
        "spawn_key": tuple(model._seed.spawn_key),
        "plan": model._plan_fitted._asdict(),
        "gain": model._gain,
        "ensemble": ensemble_to_tree(model._ensemble),
    }


def finite_from_tree(
    model: FiniteMixtureClassifier, tree: dict[str, Any]
) -> FiniteMixtureClassifier:
    """Give a model all that it knew."""
    schema = Schema.from_json(tree["schema"])
    check_schema(schema)
    labels = Labels()
    values = check_labels(tree["labels"])
    if not values or len(set(values)) != len(values):
        raise ValueError("its labels do not fit its classes")
    labels.extend(values)
    edges = tuple(map(_check_edges, tree["edges"]))
    real = len(schema.positions("real"))
    if edges and len(edges) != real:
        raise ValueError("its bins are not those of its columns")
    plan = _check_plan(tree["plan"], len(values))
    model._ensemble = ensemble_from_tree(tree["ensemble"], plan, lay_out(schema, edges))
    model._plan_fitted, model._schema, model._edges, model._labels = plan, schema, edges, labels
    model._codes = check_codes(tree["codes"], len(values))
    model._blocks = check_blocks(schema, tree["blocks"], len(model._codes))
    model._seed = np.random.SeedSequence(tree["entropy"], spawn_key=tree["spawn_key"])
    model._gain = float(tree.get("gain", np.nan))
    model.n_features_in_ = schema.width
    if schema.named:
        model.feature_names_in_ = np.array(schema.names, dtype=object)
    return model


def _check_plan(saved: Any, n_classes: int) -> Plan:
    plan = Plan(**saved)
    number = plan.n_components
    sound = (
        (number in ("auto", "bic", "classes") if isinstance(number, str) else _positive(number))
        and all(map(_positive, (plan.n_restarts, plan.most_steps)))
        and plan.n_classes == n_classes
        and type(plan.owned) is type(plan.mode) is bool
    )
    if not sound:
        raise ValueError("it was fitted to no plan")
    return plan


def _positive(value: Any) -> bool:
    return type(value) is int and value > 0


def _check_edges(saved: Any) -> np.ndarray:
    edges = np.asarray(saved)
    if edges.ndim != 1 or edges.dtype != np.float64 or not (np.diff(edges) > 0).all():
        raise ValueError("its bins have no edges")
    return edges


def check_codes(codes: Any, n_classes: int) -> np.ndarray:
    """Return the classes of training rows; raise ValueError if they are none."""
    if not isinstance(codes, np.ndarray) or codes.ndim != 1 or codes.dtype != np.int64:
        raise ValueError("its training rows have no labels")
    if codes.size and (codes.min() < -1 or codes.max() >= n_classes):
        raise ValueError("its training rows have labels that it does not know")
    return codes


def check_blocks(schema: Schema, saved: Any, n_rows: int) -> tuple[np.ndarray, ...]:
    """Return training rows; raise ValueError if they do not fit the columns."""
    layout: Layout = lay_out(schema, ())
    blocks = tuple(map(np.ascontiguousarray, saved))
    sound = len(blocks) == len(layout.names) and all(
        fits(layout, n_rows, block, kind) for block, kind in zip(blocks, layout.names, strict=True)
    )
    if not sound:
        raise ValueError("its training rows are not those of its columns")
    return blocks
