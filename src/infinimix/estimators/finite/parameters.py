"""What the parameters of `FiniteMixtureClassifier` may be, and what they mean to its learner."""

from __future__ import annotations

from typing import Any

import numpy as np

from infinimix.estimators.common.parameters import Rule, is_positive, is_whole, one_of
from infinimix.families.catalogue import CATALOGUE
from infinimix.families.given import resolve_prior
from infinimix.inference.finite.ensemble import CLASS_PSEUDO, Plan
from infinimix.tables import Schema

NUMBERS = ("auto", "bic", "classes")
PRIORS = ("reference", "uniform", "empirical")
UNIFORM: dict[str, Any] = {kind: entry.uniform for kind, entry in CATALOGUE.items()}

FINITE_RULES: dict[str, Rule] = {
    "n_components": (
        lambda v: v in NUMBERS if isinstance(v, str) else is_whole(v, 1),
        f"one of {', '.join(map(repr, NUMBERS))} or a whole number from 1 on",
    ),
    "estimate": one_of("mean", "map"),
    "class_model": one_of("variable", "owned"),
    "n_init": (lambda v: is_whole(v, 1), "a whole number from 1 on"),
    "bins": (lambda v: v is None or is_whole(v, 2), "None or a whole number from 2 on"),
    "prior": (
        lambda v: v in PRIORS if isinstance(v, str) else hasattr(v, "items"),
        f"one of {', '.join(map(repr, PRIORS))} or a mapping from columns or kinds to numbers",
    ),
    "unlabelled_weight": (
        lambda v: v == 0 or (is_positive(v) and v <= 1),
        "a number from 0 to 1",
    ),
    "max_iter": (lambda v: is_whole(v, 1), "a whole number from 1 on"),
}


def make_plan(model: Any, n_classes: int) -> Plan:
    """Return what EM is asked for."""
    number, uniform = model.n_components, isinstance(model.prior, str) and model.prior == "uniform"
    return Plan(
        number if isinstance(number, str) else int(number), int(model.n_init), n_classes,
        model.class_model == "owned", model.estimate == "map", int(model.max_iter),
        1.0 if uniform else CLASS_PSEUDO,
    )  # fmt: skip


def weigh_unlabelled(share: Any, codes: np.ndarray) -> np.ndarray:
    """Return what multiplies the weight of each row: `share` where there is no label."""
    return np.where(codes < 0, float(share), 1.0)


def find_prior(prior: Any, schema: Schema, edges: Any) -> Any:
    """Return the prior as the families take it; real columns that are cut have pseudo-counts."""
    prior = UNIFORM if isinstance(prior, str) and prior == "uniform" else prior
    found = resolve_prior(prior, schema.kinds(), schema.gaussian_blocks)
    if isinstance(found, str) or not edges:
        return found
    pseudo = (1.0,) if prior is UNIFORM else "reference"
    return {k: pseudo if schema.kinds()[k] == "real" else v for k, v in found.items()}
