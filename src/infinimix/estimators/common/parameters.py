"""What each parameter may be, as data; one function that checks and names the culprit."""

from collections.abc import Callable, Mapping
from numbers import Integral, Real
from typing import Any

import numpy as np

from infinimix.estimators.common.effort import EFFORTS
from infinimix.families.base_measures import FOUND
from infinimix.inference.partition.filter import RESAMPLING

Rule = tuple[Callable[[Any], bool], str]

# For type checkers: what `random_state`, `columns` and `prior` may be.
Seed = int | np.integer[Any] | np.random.Generator | np.random.RandomState | None
Columns = str | Mapping[Any, str]
Prior = str | Mapping[Any, Any]


def is_whole(value: Any, least: int) -> bool:
    """Is it a whole number from `least` on?"""
    return isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= least


def is_positive(value: Any) -> bool:
    """Is it a positive finite number?"""
    if type(value) is float:  # asked at every row of a stream
        return 0.0 < value < np.inf
    if not isinstance(value, Real) or isinstance(value, bool):
        return False
    try:
        return 0 < float(value) < np.inf
    except OverflowError:  # a whole number beyond all floats
        return False


def one_of(*words: str) -> Rule:
    """Return the rule of a parameter that is one of these words."""
    return (lambda v: isinstance(v, str) and v in words, f"one of {', '.join(map(repr, words))}")


def _seed(value: Any) -> bool:
    kinds = (np.random.Generator, np.random.RandomState)
    return value is None or is_whole(value, 0) or isinstance(value, kinds)


def _label(value: Any) -> bool:
    if isinstance(value, str | Integral):
        return True
    return value is None or (isinstance(value, Real) and float(value).is_integer())


def _share(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool) and 0 <= float(value) <= 1


def _maps_to_positive(value: Any) -> bool:
    return isinstance(value, Mapping) and all(map(is_positive, value.values()))


#: The particle filter of the AClass paper: one pass over the rows, proper weights, fixed priors.
PUBLISHED_FILTER: dict[str, Any] = {
    "alpha": 1.0, "prior": "reference", "n_particles": 40, "n_islands": 1,
    "resampling": "multinomial", "sweeps": 0,
}  # fmt: skip
WORDS = ("auto", *FOUND)
RELEVANCE = ("all", "learn")
SPIKES = ("auto", "ignore")
CLASS_WEIGHT: Rule = (
    lambda v: v is None or (v == "balanced" if isinstance(v, str) else _maps_to_positive(v)),
    "None, 'balanced' or a mapping from labels to positive numbers",
)
POSITIVE: Rule = (is_positive, "a positive finite number")
RULES: dict[str, Rule] = {
    "alpha": (
        lambda v: v == "learn" if isinstance(v, str) else is_positive(v),
        "'learn' or a positive finite number",
    ),
    "gamma": POSITIVE,
    "prior": (
        lambda v: v in WORDS if isinstance(v, str) else isinstance(v, Mapping),
        f"one of {', '.join(map(repr, WORDS))} or a mapping from columns or kinds to numbers",
    ),
    "effort": one_of(*EFFORTS),
    "n_particles": (lambda v: v is None or is_whole(v, 1), "None or a whole number from 1 on"),
    "n_islands": (lambda v: v is None or is_whole(v, 1), "None or a whole number from 1 on"),
    "resampling": one_of(*RESAMPLING),
    "sweeps": (lambda v: v is None or is_whole(v, 0), "None or a whole number from 0 on"),
    "window": (lambda v: is_whole(v, 0), "a whole number from 0 on"),
    "max_groups": (lambda v: v is None or is_whole(v, 1), "None or a whole number from 1 on"),
    "n_jobs": (
        lambda v: v is None or (isinstance(v, Integral) and not isinstance(v, bool) and v != 0),
        "None or a whole number other than 0",
    ),
    "class_weight": CLASS_WEIGHT,
    "calibrate": (lambda v: isinstance(v, bool | np.bool_), "True or False"),
    "correction": one_of("auto", "none"),
    "holes": one_of("auto", "ignore", "mark"),
    "relevance": one_of(*RELEVANCE),
    "shared_directions": (lambda v: is_whole(v, 0), "a whole number from 0 on"),
    "n_label_particles": (lambda v: is_whole(v, 1), "a whole number from 1 on"),
    "unlabelled_share": (_share, "a number from 0 to 1"),
    "unlabelled": (_label, "None, text or a whole number"),
    "spikes": one_of(*SPIKES),
    "verbose": (lambda v: isinstance(v, bool | np.bool_) or is_whole(v, 0), "True or False"),
    "strategy": (lambda v: v in ("mean", "draw"), "'mean' or 'draw'"),
    "n_draws": (lambda v: is_whole(v, 1), "a whole number from 1 on"),
    "random_state": (_seed, "None, a whole number from 0 on, or a NumPy Generator"),
}


def check_parameter(estimator: Any, name: str, value: Any) -> None:
    """Raise ValueError if a parameter is not what it may be."""
    own = getattr(type(estimator), "_rules", {})  # where a name means something else
    holds, words = own.get(name) or RULES.get(name) or (None, "")
    if holds is not None and not holds(value):
        raise ValueError(
            f"The {name!r} parameter of {type(estimator).__name__} must be {words}; got {value!r}."
        )


def check_parameters(estimator: Any) -> None:
    """Raise ValueError for the first parameter that is not what it may be."""
    for name, value in estimator.get_params(deep=False).items():
        check_parameter(estimator, name, value)


def child_seed(seed: np.random.SeedSequence, *key: int) -> np.random.SeedSequence:
    """Return a seed of its own for one purpose, which depends on nothing but the key."""
    return np.random.SeedSequence(seed.entropy, spawn_key=(*seed.spawn_key, *key))


def generator(random_state: Seed) -> np.random.Generator:
    """Return where the draws of one call come from: a Generator itself, or a new one."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    return np.random.default_rng(seed_sequence(random_state))


def seed_sequence(random_state: Any) -> np.random.SeedSequence:
    """Return the root of all random streams of one model."""
    if random_state is None or isinstance(random_state, Integral):
        return np.random.SeedSequence(random_state if random_state is None else int(random_state))
    draw = getattr(random_state, "integers", None) or random_state.randint
    return np.random.SeedSequence([int(x) for x in draw(0, 2**31 - 1, size=4)])
