"""Parameters of estimators as values that a file can hold, and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

import infinimix
from infinimix.scikit import BaseEstimator
from infinimix.tables.text import Text

NESTED = ("AClassClassifier", "CRPMixture")  # models that are parameters of others


def plain(value: Any) -> Any:
    """Return a parameter as plain values; a mapping as pairs, as its keys may be numbers."""
    if isinstance(value, Mapping):
        return {"pairs": [(plain(k), plain(v)) for k, v in value.items()]}
    if isinstance(value, Text):
        return {"text": value.state()}
    if isinstance(value, BaseEstimator):
        own = {name: plain(v) for name, v in value.get_params(deep=False).items()}
        return {"model": type(value).__name__, "parameters": own}
    if isinstance(value, list | tuple):
        return type(value)(map(plain, value)) if type(value) in (list, tuple) else list(value)
    if isinstance(value, np.random.RandomState):
        raise TypeError("A model with a RandomState cannot be saved; use an int or a Generator.")
    return value


def unplain(value: Any) -> Any:
    """Undo `plain`."""
    if isinstance(value, dict) and "text" in value:
        return Text.from_state(value["text"])
    if isinstance(value, dict) and "model" in value:
        return find_nested(value["model"])(
            **{k: unplain(v) for k, v in value["parameters"].items()}
        )
    if isinstance(value, dict):
        return {unplain(k): unplain(v) for k, v in value["pairs"]}
    if isinstance(value, list | tuple):
        return type(value)(map(unplain, value))
    return value


def find_nested(name: str) -> type[Any]:
    """Return the class of a model that another one holds; raise ValueError if it is none."""
    if name not in NESTED:
        raise ValueError(f"it holds a {name!r}, which is none of {', '.join(NESTED)}")
    found: type[Any] = getattr(infinimix, name)
    return found
