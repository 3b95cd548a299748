"""What the models of this room write to a file, and how they are checked when read.

A model is its parameters, its labels and a few arrays, each with the dimensions that its class
names in `_shapes`. A file may say anything: nothing is taken over before it fits.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin

from infinimix.estimators.labels import Labels, check_labels
from infinimix.estimators.parameters import check_parameters
from infinimix.estimators.storage import plain, unplain
from infinimix.maxmargin.divergences import NAMES, Divergence
from infinimix.maxmargin.dpmeans import DPMeans
from infinimix.maxmargin.m2dpm import MaxMarginDPMeans
from infinimix.maxmargin.search import MaxMarginDPMeansCV
from infinimix.maxmargin.svc import DPMeansSVC

KNOWN = (DPMeans, DPMeansSVC, MaxMarginDPMeans, MaxMarginDPMeansCV)
CLASSES: dict[str, type[Any]] = {cls.__name__: cls for cls in KNOWN}


def to_tree(model: Any) -> dict[str, Any]:
    """Return what a fitted model is, as arrays and plain values."""
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
    model = CLASSES[name](**{k: unplain(v) for k, v in tree["parameters"].items()})
    check_parameters(model)
    sizes: dict[str, int] = {"3": 3}
    if isinstance(model, ClassifierMixin):
        model._labels = _check_labels(tree["labels"])
        sizes["L"] = len(model._labels.values)
        sizes["C"] = sizes["L"] if sizes["L"] > 2 else 1
    for key, shape in model._shapes.items():
        setattr(model, key, _check_array(key, tree["fitted"][key], shape, sizes))
    model._divergence = _check_divergence(tree["divergence"], sizes["d"])
    if sizes.get("e", sizes["d"] + 1) != sizes["d"] + 1:
        raise ValueError("its experts do not fit its clusters")
    _check_clusters(model, sizes)
    model.n_features_in_ = sizes["d"]
    if tree["names"] is not None:
        model.feature_names_in_ = _check_names(tree["names"], sizes["d"])
    return model


def _check_array(name: str, value: Any, shape: str, sizes: dict[str, int]) -> Any:
    """Return a fitted attribute if it has the dimensions that it should have."""
    whole = name in ("labels_", "n_iter_")
    if shape == "":
        if isinstance(value, bool) or not isinstance(value, int if whole else float):
            raise ValueError(f"{name} is no number")
        if not np.isfinite(value):
            raise ValueError(f"{name} is not finite")
        return value
    kind = np.int64 if whole else np.float64
    if not isinstance(value, np.ndarray) or value.dtype != kind or value.ndim != len(shape):
        raise ValueError(f"{name} is no array of {len(shape)} dimensions")
    for letter, size in zip(shape, value.shape, strict=True):
        if letter != "*" and sizes.setdefault(letter, size) != size:
            raise ValueError(f"{name} does not fit the others")
    if not np.isfinite(value).all():
        raise ValueError(f"{name} has numbers that are not finite")
    return value


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


def _check_names(names: Any, d: int) -> np.ndarray:
    if not isinstance(names, list) or len(names) != d or not all(isinstance(n, str) for n in names):
        raise ValueError("its names of columns do not fit")
    return np.array(names, dtype=object)


def _check_labels(values: Any) -> Labels:
    labels = Labels()
    if not isinstance(values, list) or not values or len(set(check_labels(values))) != len(values):
        raise ValueError("its labels do not fit its classes")
    labels.extend(values)
    return labels
