"""The parts of a `NetworkState` from the tree of a file, checked: what loads can be asked."""

from __future__ import annotations

from typing import Any

import numpy as np

from infinimix.networks.answers.averaging import all_cards
from infinimix.networks.answers.tree_checks import (
    check_completed,
    check_completions,
    check_draws,
    check_found,
    check_graphs,
    columns_from_tree,
    read_signs,
)
from infinimix.networks.engine.blocks import ACYCLIC, DYNAMIC
from infinimix.networks.engine.families import BY_CONFIGURATION, BY_TABLE, NOT_SHARED
from infinimix.networks.learning.completed_tables import Completions
from infinimix.networks.learning.posterior import Draws

FOUND = ("edge_marginals", "co_class_marginals", "roles", "edge_gap", "rhat", "ess")


def read_parts(tree: dict[str, Any], model: Any) -> dict[str, Any]:
    """Return the fields of a `NetworkState`, in part checked."""
    columns, draws = columns_from_tree(tree), Draws(**tree["draws"])
    found = {name: np.asarray(tree["found"][f"{name}_"]) for name in FOUND}
    places, weights, N = tree["places"], tree["weights"], columns.schema.width
    check_draws(draws, places, weights, N)
    check_found(found, tree["template"], N)
    found |= read_signs(tree, draws, found["edge_marginals"], columns.cards)
    pairs = tree.get("completions")
    return {
        "columns": columns, "draws": draws, "places": places, "weights": weights,
        "template": tree["template"], **found, "shape": model._shape,
        "completed": tree.get("completed", []), "skip": tree.get("skip"),
        "shared_by": _read_shared_by(tree, model),
        "completions": None if pairs is None else Completions(**pairs),
    }  # fmt: skip


def _read_shared_by(tree: dict[str, Any], model: Any) -> int:
    """Return who shares gamma; older files say only whether scores are BDeu, or not even that."""
    bdeu = bool(tree.get("bdeu", getattr(model, "bdeu", False)))
    shared_by = tree.get("shared_by", BY_TABLE if bdeu else NOT_SHARED)
    if shared_by not in (NOT_SHARED, BY_TABLE, BY_CONFIGURATION):
        raise ValueError(f"shared_by is {shared_by!r}")
    return int(shared_by)


def check_parts(state: Any) -> None:
    """Check graphs and rows."""
    cards = all_cards(state)
    if state.completed or state.shape == ACYCLIC:
        columns = (2 if state.shape == DYNAMIC else 1) * len(state.names)
        check_completed(cards, columns, state.completed, state.skip, state.draws.chain)
    check_graphs(state.draws.graphs, state.shape, state.columns.cards)
    if state.completions is not None:
        check_completions(state.completions, state.completed, len(state.names), cards)
        check_graphs(state.completions.graphs, state.shape, state.columns.cards)
        if state.signed != (state.completions.negative is not None):
            raise ValueError("its completions and its states differ in whether effects have signs")
