"""The file of a `GibbsInfiniteSVC`: its columns, its base measure and the states it kept."""

from __future__ import annotations

from typing import Any

import numpy as np

from infinimix.estimators.common.parameters import check_parameters
from infinimix.estimators.common.plain_parameters import plain, unplain
from infinimix.estimators.common.state import layout_of, read_schema
from infinimix.families.priors import blank
from infinimix.families.product import refresh_all
from infinimix.inference.ensemble.storage import statistics
from infinimix.maxmargin.gibbs.chain import Kept
from infinimix.maxmargin.isvm import GibbsInfiniteSVC
from infinimix.maxmargin.tree_checks import check_array, check_labels_of, check_names
from infinimix.tables import Schema


def chain_to_tree(model: GibbsInfiniteSVC) -> dict[str, Any]:
    """Return what a fitted model is, as arrays and plain values."""
    check_parameters(model)
    kept = model._kept
    names = getattr(model, "feature_names_in_", None)
    return {
        "parameters": {k: plain(v) for k, v in model.get_params(deep=False).items()},
        "names": None if names is None else [str(name) for name in names],
        "labels": model._labels.values,
        "schema": model._schema.to_json(),
        "base": [list(family) for family in model._families],
        "counts": [own.n for own in kept.stats],
        "kept": {"sizes": kept.sizes, "eta": kept.eta, "owner": kept.owner},
        "fill": model._fill,
        "rows": model.labels_,
        "traces": model.traces_,
    }


def chain_from_tree(tree: dict[str, Any]) -> GibbsInfiniteSVC:
    """Return the model of a tree; raise ValueError if its parts do not fit."""
    model = GibbsInfiniteSVC(**{k: unplain(v) for k, v in tree["parameters"].items()})
    check_parameters(model)
    model._labels = check_labels_of(tree["labels"])
    model._schema = schema = read_schema(tree["schema"])
    n_classes = len(model._labels.values)
    sizes = {"d": schema.width, "e": schema.width + 1, "C": n_classes if n_classes > 2 else 1}
    parts = tree["kept"]
    counts = check_array("sizes", parts["sizes"], "M", sizes)
    eta = check_array("eta", parts["eta"], "MCe", sizes)
    owner = check_array("owner", parts["owner"], "M", sizes, whole=True)
    runs = np.unique(owner)
    if sizes["M"] < 1 or (np.diff(owner) < 0).any() or runs[0] != 0 or runs[-1] != len(runs) - 1:
        raise ValueError("its states are not in order")
    if (counts < 1).any():
        raise ValueError("clusters without rows")
    model._families = _families(schema, tree["base"])
    model._kept = Kept(counts, eta, owner, _statistics(model._families, tree["counts"], sizes["M"]))
    model._fill = check_array("fill", tree["fill"], "d", sizes)
    model.labels_ = check_array("labels_", tree["rows"], "n", sizes, whole=True)
    model.traces_ = {
        name: check_array(name, tree["traces"][name], "t", sizes)
        for name in ("n_clusters", "hinge")
    }
    model.n_features_in_ = schema.width
    if tree["names"] is not None:
        model.feature_names_in_ = check_names(tree["names"], schema.width)
    return model


def _families(schema: Schema, base: list[list[np.ndarray]]) -> Any:
    """Return the families with the hyper-parameters of a file, if they have the right shapes."""
    shapes = blank(layout_of(schema))
    found = []
    for shape, fields in zip(shapes, base, strict=True):
        for expected, field in zip(shape, fields, strict=True):
            fits = field.shape == expected.shape and field.dtype == expected.dtype
            if not fits or not np.isfinite(field).all():
                raise ValueError("a base measure of other columns")
        found.append(type(shape)._make(fields))
    return tuple(found)


def _statistics(families: Any, counts: list[np.ndarray], slots: int) -> Any:
    stats = statistics(families, slots, counts)
    refresh_all(families, stats, slots)
    return stats
