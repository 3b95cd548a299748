"""What the models of this room write to a file, and how they are checked when read.

A model is its parameters, its labels and a few arrays, each with the dimensions that its class
names in `_shapes`. A file may say anything: nothing is taken over before it fits.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from infinimix.estimators.common.parameters import check_parameters
from infinimix.estimators.common.plain_parameters import plain, unplain
from infinimix.maxmargin.dpmeans import DPMeans
from infinimix.maxmargin.gibbs.state import chain_from_tree, chain_to_tree
from infinimix.maxmargin.isvm import GibbsInfiniteSVC
from infinimix.maxmargin.m2dpm import MaxMarginDPMeans
from infinimix.maxmargin.objective.divergences import NAMES, Divergence
from infinimix.maxmargin.search import MaxMarginDPMeansCV
from infinimix.maxmargin.svc import DPMeansSVC
from infinimix.maxmargin.tree_checks import check_array, check_labels_of, check_names
from infinimix.scikit import ClassifierMixin

KNOWN = (DPMeans, DPMeansSVC, MaxMarginDPMeans, MaxMarginDPMeansCV)
CLASSES: dict[str, type[Any]] = {cls.__name__: cls for cls in KNOWN}


def to_tree(model: Any) -> dict[str, Any]:
    """Return what a fitted model is, as arrays and plain values."""
    if isinstance(model, GibbsInfiniteSVC):
        return chain_to_tree(model)
    check_parameters(model)
    names = getattr(model, "feature_names_in_", None)
    labels = getattr(model, "_labels", None)
    return {
        "parameters": {k: plain(v) for k, v in model.get_params(deep=False).items()},
        "names": None if names is None else [str(name) for name in names],
        "labels": None if labels is None else labels.values,
        "divergence": tuple(model._divergence),
        "fitted": {name: getattr(model, name) for name in model._shapes},
    }


def from_tree(name: str, tree: dict[str, Any]) -> Any:
    """Return the model of a tree; raise ValueError if its parts do not fit."""
    if name == GibbsInfiniteSVC.__name__:
        return chain_from_tree(tree)
    model = CLASSES[name](**{k: unplain(v) for k, v in tree["parameters"].items()})
    check_parameters(model)
    sizes: dict[str, int] = {"3": 3}
    if isinstance(model, ClassifierMixin):
        model._labels = check_labels_of(tree["labels"])
        sizes["L"] = len(model._labels.values)
        sizes["C"] = sizes["L"] if sizes["L"] > 2 else 1
    for key, shape in model._shapes.items():
        whole = key in ("labels_", "n_iter_")
        setattr(model, key, check_array(key, tree["fitted"][key], shape, sizes, whole))
    model._divergence = _check_divergence(tree["divergence"], sizes["d"])
    if sizes.get("e", sizes["d"] + 1) != sizes["d"] + 1:
        raise ValueError("its experts do not fit its clusters")
    _check_clusters(model, sizes)
    model.n_features_in_ = sizes["d"]
    if tree["names"] is not None:
        model.feature_names_in_ = check_names(tree["names"], sizes["d"])
    return model


def _check_clusters(model: Any, sizes: dict[str, int]) -> None:
    labels = model.labels_
    if sizes["K"] < 1 or sizes["d"] < 1 or len(model.objective_history_) < 1:
        raise ValueError("it has no clusters")
    if len(labels) and not 0 <= labels.min() <= labels.max() < sizes["K"]:
        raise ValueError("labels_ names clusters that are not there")


def _check_divergence(parts: Any, d: int) -> Divergence:
    divergence = Divergence(*parts)
    vectors = (divergence.centre, divergence.least, divergence.usual)
    A = divergence.matrix
    sound = (
        divergence.name in NAMES
        and all(isinstance(v, np.ndarray) and v.shape == (d,) for v in vectors)
        and all(v.dtype == np.float64 and not np.isnan(v).any() for v in vectors)
        and (A is not None) == (divergence.name == "mahalanobis")
        and (A is None or (A.shape == (d, d) and bool(np.isfinite(A).all())))
    )
    if not sound:
        raise ValueError("its divergence does not fit its clusters")
    return divergence
