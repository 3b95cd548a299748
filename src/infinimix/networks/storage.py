"""A fitted network as a tree of arrays and plain values, and back."""

from __future__ import annotations

from typing import Any

import numpy as np

from infinimix.estimators.plain_parameters import plain, unplain
from infinimix.networks.bayes_net import BlockmodelBayesNet
from infinimix.networks.learning.columns import Columns
from infinimix.networks.learning.parameters import check_parameters
from infinimix.networks.learning.posterior import Draws
from infinimix.tables import Schema

FOUND = (
    "edge_marginals_",
    "co_class_marginals_",
    "roles_",
    "edge_gap_",
    "rhat_",
    "ess_",
    "outside_mass_",
)


def to_tree(model: BlockmodelBayesNet) -> dict[str, Any]:
    """Return what a fitted model is, as arrays and plain values."""
    parameters = {k: plain(v) for k, v in model.get_params(deep=False).items()}
    return {"parameters": parameters, **network_to_tree(model)}


def from_tree(name: str, tree: dict[str, Any]) -> BlockmodelBayesNet:
    """Return the model that `to_tree` described."""
    parameters = {k: unplain(v) for k, v in tree["parameters"].items()}
    return network_from_tree(BlockmodelBayesNet(**parameters), tree)


def network_to_tree(model: BlockmodelBayesNet) -> dict[str, Any]:
    """Return what a fitted model knows; its parameters are written by the caller."""
    check_parameters(model)
    columns = model._columns
    return {
        "schema": columns.schema.to_json(),
        "gaussian": columns.gaussian,
        "edges": [[j, x] for j, x in columns.edges.items()],
        "centre": columns.centre,
        "scale": columns.scale,
        "draws": dict(model._draws._asdict()),
        "completed": list(model._completed),
        "skip": model._skip,
        "places": model._places,
        "weights": model._weights,
        "template": dict(model.template_),
        "found": {name: getattr(model, name) for name in FOUND},
    }


def network_from_tree(model: BlockmodelBayesNet, tree: dict[str, Any]) -> BlockmodelBayesNet:
    """Fill a model that has its parameters with what `network_to_tree` wrote."""
    check_parameters(model)
    schema = Schema.from_json(tree["schema"])
    edges = {int(j): x for j, x in tree["edges"]}
    columns = Columns(schema, bool(tree["gaussian"]), edges, tree["centre"], tree["scale"])
    draws = Draws(**tree["draws"])
    N, S = schema.width, len(draws.log_joint)
    sound = (
        all(tree["found"][name].shape[0] == N for name in FOUND)
        and draws.graphs.shape[:2] == (S, N)
        and draws.classes.shape == draws.ranks.shape == (S, N)
        and len(draws.chain) == S > 0
        and len(tree["places"]) == len(tree["weights"]) > 0
        and 0 <= tree["places"].min() <= tree["places"].max() < S
        and all(x.ndim == 2 and x.shape[1] == N for x in tree["completed"])
        and (len(tree["completed"]) == 1 or draws.chain.max() < len(tree["completed"]))
    )
    if not sound:
        raise ValueError("its parts do not fit together")
    if columns.cards is not None:
        for X in tree["completed"]:
            if (X < 0).any() or (columns.cards <= X).any():
                raise ValueError("its rows hold categories that its columns do not have")
    model._columns, model._draws = columns, draws
    model._completed, model._skip = tree["completed"], tree["skip"]
    model._places, model._weights = tree["places"], tree["weights"]
    model.template_ = tree["template"]
    for name in FOUND:
        setattr(model, name, np.asarray(tree["found"][name]))
    model._name_features(columns)
    model._known = model._knowledge(schema.names)
    return model
