"""Fitted models of this room as trees of arrays and plain values, and back: for `save` and `load`.

The parameters are written here; what a model has learned is written and checked by its state.
"""

from __future__ import annotations

from typing import Any

from infinimix.estimators.common.parameters import check_parameters
from infinimix.estimators.common.plain_parameters import plain, unplain
from infinimix.maxmargin.dpmeans import DPMeans
from infinimix.maxmargin.isvm import GibbsInfiniteSVC
from infinimix.maxmargin.m2dpm import MaxMarginDPMeans
from infinimix.maxmargin.search import MaxMarginDPMeansCV
from infinimix.maxmargin.svc import DPMeansSVC

CLASSES: dict[str, type[Any]] = {
    cls.__name__: cls
    for cls in (DPMeans, DPMeansSVC, GibbsInfiniteSVC, MaxMarginDPMeans, MaxMarginDPMeansCV)
}


def to_tree(model: Any) -> dict[str, Any]:
    """Return what a fitted model is: its parameters and its state."""
    check_parameters(model)
    parameters = {k: plain(v) for k, v in model.get_params(deep=False).items()}
    return {"parameters": parameters, **model._fitted.to_tree()}


def from_tree(name: str, tree: dict[str, Any]) -> Any:
    """Return the model that `to_tree` described; raise ValueError if its parts do not fit."""
    model = CLASSES[name](**{k: unplain(v) for k, v in tree["parameters"].items()})
    check_parameters(model)
    model._state = model.State.from_tree(tree, model)
    return model
