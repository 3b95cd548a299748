"""What a `GibbsInfiniteSVC` has learned: its columns, its base measure, and the states it kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from infinimix.artifacts.expectations import Expected
from infinimix.estimators.common.labels import Labels
from infinimix.estimators.common.state import layout_of, read_labels, read_schema
from infinimix.families.priors import blank
from infinimix.families.product import refresh_all
from infinimix.inference.ensemble.storage import statistics
from infinimix.maxmargin.gibbs.chain import Kept, SVMHyper
from infinimix.maxmargin.stored import check_value, names_from_tree, names_to_tree
from infinimix.tables import Schema

TRACES = ("n_clusters", "hinge")


@dataclass(frozen=True)
class InfiniteSVCState:
    """States of a chain, and what it takes to ask them."""

    names: np.ndarray | None  # of the columns
    labels: Labels
    schema: Schema
    families: Any  # the base measure
    kept: Kept
    fill: np.ndarray  # (d,) what experts see for missing cells
    z: np.ndarray  # the cluster of each row in the last state
    traces: dict[str, np.ndarray]
    hyper: SVMHyper  # that the chain had: answers follow these, whatever the parameters are now
    burn_in: int

    def to_tree(self) -> dict[str, Any]:
        """Return arrays and plain values."""
        kept = self.kept
        return {
            "names": names_to_tree(self.names),
            "labels": self.labels.values,
            "schema": self.schema.to_json(),
            "base": [_fields_to_tree(family) for family in self.families],
            "counts": [own.n for own in kept.stats],
            "kept": {"sizes": kept.sizes, "eta": kept.eta, "owner": kept.owner},
            "fill": self.fill,
            "rows": self.z,
            "traces": self.traces,
            "hyper": self.hyper._asdict(),
            "burn_in": self.burn_in,
        }

    @classmethod
    def from_tree(cls, tree: dict[str, Any], model: Any) -> InfiniteSVCState:
        """Return the state that `to_tree` wrote; raise ValueError if its parts do not fit."""
        labels, schema = read_labels(tree["labels"]), read_schema(tree["schema"])
        L, d = len(labels.values), schema.width
        sizes = {"d": d, "e": d + 1, "C": L if L > 2 else 1}
        families = _read_families(schema, tree["base"])
        return cls(
            names_from_tree(tree["names"], d), labels, schema, families,
            kept=_read_kept(tree, families, sizes),
            fill=check_value("fill", tree["fill"], "d", sizes),
            z=Expected("n", "i8", low=-1).check("labels_", tree["rows"], sizes),
            traces=_read_traces(tree["traces"], sizes),
            **_stored_settings(tree, model, sizes),
        )  # fmt: skip


def _read_traces(saved: dict[str, np.ndarray], sizes: dict[str, int]) -> dict[str, np.ndarray]:
    """Return what the chain has noted; there are never more clusters than rows."""
    clusters = Expected("t", low=1.0, high=float(sizes["n"]))
    expected = {"n_clusters": clusters, "hinge": Expected("t", low=0.0)}
    return {name: expected[name].check(name, saved[name], sizes) for name in TRACES}


def read_settings(model: Any) -> tuple[SVMHyper, int]:
    """Return what the parameters of a model say of its chain: hyper-parameters and burn-in."""
    return SVMHyper(*(float(getattr(model, name)) for name in SVMHyper._fields)), int(model.burn_in)


def _stored_settings(tree: dict[str, Any], model: Any, sizes: dict[str, int]) -> dict[str, Any]:
    """Return the settings of a file; older ones have them among the parameters of the model."""
    if "hyper" not in tree:
        hyper, burn_in = read_settings(model)
        return {"hyper": hyper, "burn_in": burn_in}
    values = [check_value(name, tree["hyper"][name], "", sizes) for name in SVMHyper._fields]
    burn_in = check_value("burn_in", tree["burn_in"], "", sizes, whole=True)
    if min(values) <= 0.0 or not 0 <= burn_in < sizes["t"]:
        raise ValueError("its settings are out of range")
    return {"hyper": SVMHyper(*values), "burn_in": burn_in}


def _read_kept(tree: dict[str, Any], families: Any, sizes: dict[str, int]) -> Kept:
    """Return the kept states of a file, if their clusters have rows and are in order."""
    parts = tree["kept"]
    counts = check_value("sizes", parts["sizes"], "M", sizes)
    eta = check_value("eta", parts["eta"], "MCe", sizes)
    owner = check_value("owner", parts["owner"], "M", sizes, whole=True)
    runs, M = np.unique(owner), sizes["M"]
    if M < 1 or (np.diff(owner) < 0).any() or runs[0] != 0 or runs[-1] != len(runs) - 1:
        raise ValueError("its states are not in order")
    if (counts < 1).any():
        raise ValueError("clusters without rows")
    stats = statistics(families, M, tree["counts"])
    refresh_all(families, stats, M)
    return Kept(counts, eta, owner, stats)


def _fields_to_tree(family: Any) -> list[np.ndarray]:
    """Return the hyper-parameters of a family; the grain, its last field, is in the schema."""
    return [field for name, field in family._asdict().items() if name != "grain"]


def _read_families(schema: Schema, base: list[list[np.ndarray]]) -> Any:
    """Return the families with the hyper-parameters of a file, if they have the right shapes."""
    shapes = blank(layout_of(schema))
    found = []
    for shape, fields in zip(shapes, base, strict=True):
        fields = [*fields, *shape[len(_fields_to_tree(shape)) :]]
        for expected, field in zip(shape, fields, strict=True):
            fits = field.shape == expected.shape and field.dtype == expected.dtype
            if not fits or not np.isfinite(field).all():
                raise ValueError("a base measure of other columns")
        found.append(type(shape)._make(fields))
    return tuple(found)
