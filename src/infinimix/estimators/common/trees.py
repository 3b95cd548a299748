"""A model as a tree of plain values and arrays, and back: its parameters and its state."""

from __future__ import annotations

from typing import Any

from infinimix.estimators.common.mixture_estimator import check_whole
from infinimix.estimators.common.parameters import check_parameters
from infinimix.estimators.common.plain_parameters import plain, unplain
from infinimix.estimators.common.state import MixtureState

TREE_VERSION = 2


def tree_of(model: Any) -> dict[str, Any]:
    """Return what a file keeps of a fitted model."""
    check_parameters(model)
    state = model._state
    if isinstance(state, MixtureState):
        check_whole(state.bank)
    return {
        "version": TREE_VERSION,
        "parameters": {k: plain(v) for k, v in model.get_params(deep=False).items()},
        **state.to_tree(),
    }


def rebuild(cls: type[Any], tree: dict[str, Any]) -> Any:
    """Return the model of `tree_of`; raise an error if its parts do not fit together."""
    model = cls(**{k: unplain(v) for k, v in tree["parameters"].items()})
    check_parameters(model)
    model._state = cls.State.from_tree(tree, model)
    return model
