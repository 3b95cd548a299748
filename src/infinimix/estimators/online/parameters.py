"""What the parameters of `OnlineCRPClassifier` may be, and what they mean to its learner."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Real
from typing import Any

import numpy as np

from infinimix.estimators.common.parameters import POSITIVE, Rule, is_positive, is_whole, one_of
from infinimix.estimators.online.rows import RULES, TableInput, TextInput
from infinimix.families.base_measures import FOUND
from infinimix.inference.online_crp.learner import CAP, NEW_CLASS_TERMS, OnlineSettings
from infinimix.partitions.relaxed import ALPHA_RULES
from infinimix.tables.text import Text

NEGATIVES = (0.0, 1.0)  # run side by side for negative="auto"
STEPS = (0.25, 1.0)  # of the refinement, for refine="auto"
ALGORITHMS = ("collapsed", "sampled", "redrawn")


def _not_negative(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool) and 0.0 <= float(value) < np.inf


def _auto_or_weight(value: Any) -> bool:
    return value == "auto" if isinstance(value, str) else _not_negative(value)


def _regret(value: Any) -> bool:
    if not isinstance(value, tuple | list) or len(value) not in (2, 3):
        return False
    return all(map(_not_negative, value[:2])) and value[1] < 1 and _cap(value[2:])


def _cap(rest: Any) -> bool:
    return all(isinstance(v, Real) and float(v) >= 0.0 for v in rest)


def _prior(value: Any) -> bool:
    if isinstance(value, str):
        return value in ("auto", *FOUND[:2])
    return isinstance(value, Mapping) or is_positive(value)


RULES_ONLINE: dict[str, Rule] = {
    "alpha": POSITIVE,
    "alpha_rule": one_of(*ALPHA_RULES),
    "regret": (
        _regret,
        "two rates from 0 on, the second below 1, such as (0.01, 0.01), and, if wanted, a cap",
    ),
    "positive": (_not_negative, "a number from 0 on"),
    "negative": (_auto_or_weight, "'auto' or a number from 0 on"),
    "refine": (_auto_or_weight, "'auto' or a number from 0 on"),
    "prior": (_prior, "'auto', a positive pseudo-count of each word, or as in CRPMixture"),
    "weighting": one_of(*RULES),
    "algorithm": one_of(*ALGORITHMS),
    "decision": one_of("argmax", "sample"),
    "open_world": (lambda v: isinstance(v, bool | np.bool_), "True or False"),
    "new_class": one_of(*NEW_CLASS_TERMS),
    "n_shards": (lambda v: is_whole(v, 1), "a whole number from 1 on"),
    "shard_rows": (lambda v: is_whole(v, 1), "a whole number from 1 on"),
    "half_life": (lambda v: v is None or is_positive(v), "None or a positive number of rows"),
    "max_classes": (lambda v: v is None or is_whole(v, 1), "None or a whole number from 1 on"),
    "max_features": (lambda v: v is None or is_whole(v, 1), "None or a whole number from 1 on"),
}


def is_text(columns: Any) -> bool:
    """Are the rows text?"""
    return isinstance(columns, Text) or (isinstance(columns, str) and columns == "text")


def check_together(model: Any) -> None:
    """Raise ValueError if parameters do not go together."""
    text = is_text(model.columns)
    auto = isinstance(model.prior, str) and model.prior == "auto"
    if text and not auto and not is_positive(model.prior):
        raise ValueError(
            "The 'prior' parameter must be 'auto' or a pseudo-count of each word where the rows "
            f"are text; got {model.prior!r}."
        )
    if not text and not isinstance(model.prior, str | Mapping):
        raise ValueError(
            "The 'prior' parameter must be 'auto', 'empirical', 'reference' or a mapping where the "
            f"rows are a table; got {model.prior!r}."
        )


def check_shards(model: Any) -> None:
    """Raise ValueError if what is asked for cannot be learned in shards."""
    wrong = {
        "columns": not is_text(model.columns),
        "algorithm": model.algorithm != "collapsed",
        "decision": model.decision != "argmax",
        "alpha_rule": model.alpha_rule == "posterior-published",
        "half_life": model.half_life is not None,
        "max_classes": model.max_classes is not None,
        "max_features": model.max_features is not None,
    }
    for name, cannot in wrong.items():
        if cannot:
            raise ValueError(
                f"n_shards={model.n_shards} does not go with {name}={getattr(model, name)!r}: only "
                "rows of text without draws, forgetting and bounds are learned in shards. Leave "
                "n_shards at 1."
            )


def read_settings(model: Any) -> OnlineSettings:
    """Return what the parameters ask of the learner."""
    up, down, cap = (*map(float, model.regret), CAP)[:3]
    negatives, steps = _side_by_side(model.negative, model.refine)
    return OnlineSettings(
        float(model.alpha), model.alpha_rule, (up, down, cap), float(model.positive),
        negatives, steps, bool(model.calibrate), model.decision == "sample",
        bool(model.open_world), None if model.half_life is None else float(model.half_life),
        model.new_class,
    )  # fmt: skip


def _side_by_side(negative: Any, refine: Any) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return the negative weights and the steps of the replicas: two if one is left open."""
    auto = isinstance(negative, str), isinstance(refine, str)
    if not any(auto):
        return (float(negative),), (float(refine),)
    negatives = NEGATIVES if auto[0] else (float(negative),) * 2
    steps = STEPS if auto[1] else (float(refine),) * 2
    return negatives, steps


def new_source(columns: Any, max_features: int | None) -> TextInput | TableInput:
    """Return what reads rows: words or a table, as `columns` says."""
    if not is_text(columns):
        return TableInput(columns)
    text = columns if isinstance(columns, Text) else Text()
    return TextInput(text, max_features and int(max_features))
