"""What the parameters of this room may be, as data for `check_parameters`."""

from __future__ import annotations

from typing import Any

import numpy as np

from infinimix.estimators.common.parameters import (
    CLASS_WEIGHT,
    POSITIVE,
    Rule,
    is_positive,
    is_whole,
    one_of,
)
from infinimix.maxmargin.objective.divergences import GATED, NAMES

AUTO: Rule = (
    lambda v: v == "auto" if isinstance(v, str) else is_positive(v),
    "'auto' or a positive finite number",
)

SQUARED: Rule = (  # 1 / nu^2 must be a number, too
    lambda v: is_positive(v) and 1e-100 <= v <= 1e100,
    "a positive number from 1e-100 to 1e100",
)


def _whole(least: int) -> Rule:
    return (lambda v: is_whole(v, least), f"a whole number from {least} on")


def _grid(value: Any) -> bool:
    if value is None:
        return True
    numbers = isinstance(value, list | tuple | np.ndarray) and len(value) > 0
    return numbers and all(is_positive(v) for v in value)


FLAG: Rule = (lambda v: isinstance(v, bool | np.bool_), "True or False")
GRID: Rule = (_grid, "None or a sequence of positive numbers")
RULES: dict[str, Rule] = {
    "lam": AUTO,
    "s": AUTO,
    "c": POSITIVE,
    "nu": SQUARED,
    "margin": POSITIVE,
    "alpha": POSITIVE,
    "tol": POSITIVE,
    "divergence": one_of(*NAMES),
    "creation": one_of("delayed", "sequential"),
    "gating": one_of("hard", "soft"),
    "multi_class": one_of("one-vs-rest", "crammer-singer"),
    "fit_intercept": FLAG,
    "n_init": _whole(1),
    "max_iter": _whole(1),
    "max_clusters": (lambda v: v is None or is_whole(v, 1), "None or a whole number from 1 on"),
    "n_iter": _whole(1),
    "burn_in": _whole(0),
    "n_samples": _whole(1),
    "cv": _whole(2),
    "warm_start": FLAG,
    "calibrate": FLAG,
    "lams": GRID,
    "ss": GRID,
    "cs": GRID,
    "class_weight": CLASS_WEIGHT,
}
GATED_RULES: dict[str, Rule] = RULES | {"divergence": one_of(*GATED)}
