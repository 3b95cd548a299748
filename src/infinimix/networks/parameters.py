"""What each parameter of `BlockmodelBayesNet` may be, as data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from numbers import Integral, Real
from typing import Any

import numpy as np

PRIORS = ("blockmodel", "ordered", "sparse", "uniform")


def _whole(least: int) -> Callable[[Any], bool]:
    return lambda v: isinstance(v, Integral) and not isinstance(v, bool) and int(v) >= least


def _positive(v: Any) -> bool:
    return isinstance(v, Real) and not isinstance(v, bool) and 0 < float(v) < np.inf


def _is_learn(v: Any) -> bool:
    return isinstance(v, str) and v == "learn"


def _beta(v: Any) -> bool:
    return _is_learn(v) or (
        isinstance(v, tuple | list | np.ndarray) and len(v) == 2 and all(map(_positive, v))
    )


def _seed(v: Any) -> bool:
    kinds = (np.random.Generator, np.random.RandomState)
    return v is None or _whole(0)(v) or isinstance(v, kinds)


def _among(*words: str) -> tuple[Callable[[Any], bool], str]:
    listed = ", ".join(map(repr, words))
    return (lambda v: isinstance(v, str) and v in words), f"one of {listed}"


RULES: dict[str, tuple[Callable[[Any], bool], str]] = {
    "prior": _among(*PRIORS),
    "normalise": _among("partition", "global"),
    "alpha": (lambda v: _is_learn(v) or _positive(v), "'learn' or a positive finite number"),
    "beta": (_beta, "'learn' or two positive finite numbers"),
    "gamma": (lambda v: _is_learn(v) or _positive(v), "'learn' or a positive finite number"),
    "n_chains": (_whole(1), "a whole number from 1 on"),
    "n_iter": (_whole(1), "a whole number from 1 on"),
    "burn_in": (lambda v: v is None or _whole(0)(v), "None or a whole number from 0 on"),
    "averaging": _among("mcmc", "best"),
    "n_best": (_whole(1), "a whole number from 1 on"),
    "likelihood": _among("auto", "discrete", "gaussian"),
    "bdeu": (lambda v: isinstance(v, bool | np.bool_), "True or False"),
    "n_bins": (_whole(2), "a whole number from 2 on"),
    "n_temperatures": (_whole(1), "a whole number from 1 on"),
    "max_parents": (lambda v: v is None or _whole(0)(v), "None or a whole number from 0 on"),
    "known_roles": (lambda v: v is None or isinstance(v, Mapping), "None or a mapping"),
    "shared_roles": (lambda v: v is None or isinstance(v, Mapping), "None or a mapping"),
    "role_template": (lambda v: v is None or isinstance(v, Mapping), "None or a mapping"),
    "n_jobs": (
        lambda v: v is None or (isinstance(v, Integral) and not isinstance(v, bool) and v != 0),
        "None or a whole number other than 0",
    ),
    "verbose": (lambda v: isinstance(v, bool | np.bool_) or _whole(0)(v), "True or False"),
    "random_state": (_seed, "None, a whole number from 0 on, or a NumPy Generator"),
}


def check_parameters(model: Any) -> None:
    """Raise ValueError for the first parameter that is not what it may be."""
    for name, value in model.get_params(deep=False).items():
        holds, words = RULES.get(name, (None, ""))
        if holds is not None and not holds(value):
            raise ValueError(
                f"The {name!r} parameter of {type(model).__name__} must be {words}; got {value!r}."
            )
    if _is_learn(model.gamma) and model.prior == "ordered":
        raise ValueError("gamma='learn' needs a prior other than 'ordered'; give a number.")
    learned = any(_is_learn(v) for v in (model.alpha, model.beta, model.gamma))
    if model.n_temperatures > 1 and (learned or model.prior == "ordered"):
        raise ValueError(
            "n_temperatures above 1 needs fixed alpha, beta and gamma, and a prior other than "
            "'ordered', whose graphs are summed out anyway."
        )
    for name in ("role_template", "shared_roles"):
        if getattr(model, name) is not None and model.prior != "blockmodel":
            raise ValueError(f"{name} needs prior='blockmodel'.")


def seed_sequence(random_state: Any) -> np.random.SeedSequence:
    """Return the root of all random streams of one fit."""
    if random_state is None or isinstance(random_state, Integral):
        return np.random.SeedSequence(random_state if random_state is None else int(random_state))
    draw = getattr(random_state, "integers", None) or random_state.randint
    return np.random.SeedSequence([int(x) for x in draw(0, 2**31 - 1, size=4)])
