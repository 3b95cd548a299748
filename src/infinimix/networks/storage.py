"""Fitted networks as trees of arrays and plain values, and back: for `save` and `load`."""

from __future__ import annotations

from typing import Any

from infinimix.estimators.common.plain_parameters import plain, unplain
from infinimix.networks.bayes_net import BlockmodelBayesNet
from infinimix.networks.dynamic_net import BlockmodelDynamicNet
from infinimix.networks.franchise import NetworkFranchise
from infinimix.networks.graph_net import GraphNet
from infinimix.networks.markov_net import BlockmodelMarkovNet

CLASSES: dict[str, type[Any]] = {
    cls.__name__: cls
    for cls in (BlockmodelBayesNet, BlockmodelDynamicNet, BlockmodelMarkovNet, NetworkFranchise)
}


def to_tree(model: Any) -> dict[str, Any]:
    """Return what a fitted model is: its parameters and its state."""
    model._check_parameters()
    parameters = {k: plain(v) for k, v in model.get_params(deep=False).items()}
    return {"parameters": parameters, **model._fitted.to_tree()}


def from_tree(name: str, tree: dict[str, Any]) -> Any:
    """Return the model that `to_tree` described; ValueError if its parts do not fit together."""
    model = CLASSES[name](**{k: unplain(v) for k, v in tree["parameters"].items()})
    model._check_parameters()
    state = model.State.from_tree(tree, model)
    if isinstance(model, GraphNet):
        model._knowledge(state.names)  # what the parameters say of columns must still hold
    model._state = state
    return model
