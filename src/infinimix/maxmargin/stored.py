"""How fitted states are written to files, and checked when they are read.

A field of a state says under which key it is stored and which dimensions it has. A file may say
anything: no value becomes part of a state before it fits the others.
"""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np

from infinimix.artifacts.expectations import Expected
from infinimix.maxmargin.objective.divergences import NAMES, Divergence
from infinimix.tables.scans import LARGEST


def stored(key: str, shape: str, whole: bool = False, **bounds: Any) -> dict[str, Any]:
    """Return the metadata of a field that stands in files as `key`.

    The letters of its dimensions are: n rows, d columns, e = d + 1, K clusters, C outputs of an
    expert. Numbers are at most as large as their squares can be added up.
    """
    bounds = bounds if whole else {"low": -LARGEST, "high": LARGEST} | bounds
    return {"key": key, "expected": Expected(shape, "i8" if whole else "f8", **bounds)}


def stored_values(state: Any) -> dict[str, Any]:
    """Return the stored fields of a state by their keys."""
    known = [own for own in fields(state) if own.metadata]
    return {own.metadata["key"]: getattr(state, own.name) for own in known}


def read_stored(cls: type, tree: dict[str, Any], sizes: dict[str, int]) -> dict[str, Any]:
    """Return the stored fields of a state by their names; `sizes` learns the dimensions."""
    found = {}
    for own in fields(cls):
        if own.metadata:
            key = own.metadata["key"]
            found[own.name] = own.metadata["expected"].check(key, tree[key], sizes)
    return found


def check_value(
    name: str, value: Any, shape: str, sizes: dict[str, int], whole: bool = False
) -> Any:
    """Return a number or an array if it has the dimensions that it should have."""
    return Expected(shape, "i8" if whole else "f8").check(name, value, sizes)


def names_to_tree(names: Any) -> list[str] | None:
    """Return the names of columns as a list, if there are any."""
    return None if names is None else [str(name) for name in names]


def names_from_tree(names: Any, d: int) -> np.ndarray | None:
    """Return the names of columns; raise ValueError unless there is one for each."""
    if names is None:
        return None
    if not isinstance(names, list) or len(names) != d or not all(isinstance(n, str) for n in names):
        raise ValueError("its names of columns do not fit")
    return np.array(names, dtype=object)


def divergence_from_tree(parts: Any, d: int) -> Divergence:
    """Return a divergence; raise ValueError unless it is one of d columns."""
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
