"""What each parameter of the networks may be, as data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from infinimix.estimators.common import parameters
from infinimix.estimators.common.parameters import POSITIVE, Rule, is_positive, is_whole, one_of
from infinimix.networks.engine.monotone import MOST_SIGNED

PRIORS = ("blockmodel", "ordered", "sparse", "uniform")


def _whole(least: int) -> Callable[[Any], bool]:
    return lambda v: is_whole(v, least)


def _is_auto(v: Any) -> bool:
    return isinstance(v, str) and v == "auto"


def _is_learn(v: Any) -> bool:
    return isinstance(v, str) and v == "learn"


def _beta(v: Any) -> bool:
    return _is_learn(v) or (
        isinstance(v, tuple | list | np.ndarray) and len(v) == 2 and all(map(is_positive, v))
    )


NETWORK_RULES: dict[str, Rule] = {
    "prior": one_of(*PRIORS),
    "normalise": one_of("partition", "global"),
    "moves": one_of("all", "published"),
    "alpha": (lambda v: _is_learn(v) or is_positive(v), "'learn' or a positive finite number"),
    "beta": (_beta, "'learn' or two positive finite numbers"),
    "gamma": (
        lambda v: _is_auto(v) or _is_learn(v) or is_positive(v),
        "'auto', 'learn' or a positive finite number",
    ),
    "n_chains": (_whole(1), "a whole number from 1 on"),
    "n_iter": (lambda v: _is_auto(v) or _whole(1)(v), "'auto' or a whole number from 1 on"),
    "burn_in": (lambda v: v is None or _whole(0)(v), "None or a whole number from 0 on"),
    "averaging": one_of("mcmc", "best"),
    "n_best": (_whole(1), "a whole number from 1 on"),
    "likelihood": one_of("auto", "discrete", "gaussian"),
    "bdeu": (lambda v: isinstance(v, bool | np.bool_), "True or False"),
    "n_bins": (_whole(2), "a whole number from 2 on"),
    "n_temperatures": (lambda v: v is None or _whole(1)(v), "None or a whole number from 1 on"),
    "max_parents": (lambda v: v is None or _whole(0)(v), "None or a whole number from 0 on"),
    "known_roles": (lambda v: v is None or isinstance(v, Mapping), "None or a mapping"),
    "shared_roles": (lambda v: v is None or isinstance(v, Mapping), "None or a mapping"),
    "role_template": (lambda v: v is None or isinstance(v, Mapping), "None or a mapping"),
}


BAYES_NET_RULES: dict[str, Rule] = NETWORK_RULES | {
    "likelihood": one_of("auto", "discrete", "gaussian", "mixed"),
    "effects": one_of("any", "signed"),
}


UNCONSTRAINED_RULES: dict[str, Rule] = NETWORK_RULES | {
    "prior": one_of("blockmodel", "sparse", "uniform"),
    "max_parents": (lambda v: v is None or _whole(1)(v), "None or a whole number from 1 on"),
    "n_temperatures": (_whole(1), "a whole number from 1 on"),
}


FRANCHISE_RULES: dict[str, Rule] = {
    **NETWORK_RULES,
    "sharing": one_of("franchise", "common"),
    "normalise": one_of("global", "network"),
    "alpha": POSITIVE,
    "alpha_network": POSITIVE,
    "beta": (lambda v: _beta(v) and not _is_learn(v), "two positive finite numbers"),
    "gamma": (lambda v: _is_auto(v) or is_positive(v), "'auto' or a positive finite number"),
    "likelihood": BAYES_NET_RULES["likelihood"],
    "n_temperatures": (_whole(1), "a whole number from 1 on"),
}


def check_each(model: Any) -> None:
    """Raise ValueError for the first parameter that is not what it may be by itself.

    "auto" compares chains, so that it needs two: one alone would end after its first round.
    """
    parameters.check_parameters(model)
    if _is_auto(model.n_iter) and model.n_chains < 2:
        raise ValueError(
            "n_iter='auto' runs chains until they agree, and n_chains=1 leaves nothing to compare: "
            "let n_chains be 2 or more, or n_iter a number."
        )


def check_unconstrained_parameters(model: Any) -> None:
    """Raise ValueError as `check_parameters` does, for graphs that may have cycles."""
    check_each(model)
    if model.n_temperatures > 1 and any(map(_is_learn, (model.alpha, model.beta, model.gamma))):
        raise ValueError("n_temperatures above 1 needs fixed alpha, beta and gamma.")


def read_seconds(seconds: Any) -> float:
    """Return a time to run; ValueError if it is none."""
    if not is_positive(seconds):
        raise ValueError(f"seconds must be a positive finite number; got {seconds!r}")
    return float(seconds)


def read_count(n: Any, name: str = "n_samples") -> int:
    """Return a number of rows; ValueError if it is none."""
    if not is_whole(n, 0):
        raise ValueError(f"{name}, the number of rows, must be a whole number from 0 on; got {n!r}")
    return int(n)


def check_parameters(model: Any) -> None:
    """Raise ValueError for the first parameter that is not what it may be, alone or with others."""
    check_each(model)
    learned = any(_is_learn(v) for v in (model.alpha, model.beta, model.gamma))
    if (model.n_temperatures or 1) > 1 and (learned or model.prior == "ordered"):
        raise ValueError(
            "n_temperatures above 1 needs fixed alpha, beta and gamma, and a prior other than "
            "'ordered', whose graphs are summed out anyway."
        )
    if model.moves == "published" and (learned or model.required or model.known_roles):
        raise ValueError(
            "moves='published' needs fixed alpha, beta and gamma, no required edges and no known "
            "roles; moves='all' has all of these."
        )
    if model.effects == "signed":
        check_signed_parameters(model)
    for name in ("role_template", "shared_roles"):
        if getattr(model, name) is not None and model.prior != "blockmodel":
            raise ValueError(f"{name} needs prior='blockmodel'.")
    if model.role_order is not None and model.prior != "ordered":
        raise ValueError("role_order needs prior='ordered'.")
    if model.known_roles and model.prior in ("sparse", "uniform"):
        raise ValueError(f"known_roles needs a prior with roles; {model.prior!r} has none.")


NO_ORDER = (
    "whose sums over graphs would change with every class: take 'blockmodel', with forbidden for "
    "directions that are known"
)
NO_SLOPES = "with n_bins=2: the coefficients of gaussian_network() have signs of their own"
NO_MORE = "as tables of more take too long: fit with effects='any'"


def check_signed_parameters(model: Any) -> None:
    """Raise ValueError for the first parameter that does not go with effects="signed"."""
    most = MOST_SIGNED if model.max_parents is None else int(model.max_parents)
    for wrong, needed in (
        (model.prior == "ordered", f"a prior other than 'ordered', {NO_ORDER}"),
        (
            model.likelihood in ("gaussian", "mixed"),
            f"likelihood='auto' or 'discrete', {NO_SLOPES}",
        ),
        (_is_learn(model.gamma), "a fixed gamma, such as the default"),
        (bool(model.bdeu), "bdeu=False"),
        (model.moves != "all", "moves='all'"),
        ((model.n_temperatures or 1) > 1, "n_temperatures=1 or None, and more sweeps or chains"),
        (most > MOST_SIGNED, f"max_parents of at most {MOST_SIGNED}, {NO_MORE}"),
    ):
        if wrong:
            raise ValueError(f"effects='signed' needs {needed}.")
