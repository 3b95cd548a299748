"""How fitted states are written to files, and checked when they are read.

A field of a state says under which key it is stored and which dimensions it has. A file may say
anything: no value becomes part of a state before it fits the others.
"""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np

from infinimix.maxmargin.objective.divergences import NAMES, Divergence


def stored(key: str, shape: str, whole: bool = False) -> dict[str, Any]:
    """Return the metadata of a field that stands in files as `key`.

    The shape has a letter for each dimension, and equal letters are equal sizes: n rows, d columns,
    e = d + 1, K clusters, C outputs of an expert, "*" any size. A number has the shape "".
    """
    return {"key": key, "shape": shape, "whole": whole}


def stored_values(state: Any) -> dict[str, Any]:
    """Return the stored fields of a state by their keys."""
    known = [own for own in fields(state) if own.metadata]
    return {own.metadata["key"]: getattr(state, own.name) for own in known}


def read_stored(cls: type, tree: dict[str, Any], sizes: dict[str, int]) -> dict[str, Any]:
    """Return the stored fields of a state by their names; `sizes` learns the dimensions."""
    found = {}
    for own in fields(cls):
        if own.metadata:
            key, shape, whole = (own.metadata[part] for part in ("key", "shape", "whole"))
            found[own.name] = check_value(key, tree[key], shape, sizes, whole)
    return found


def check_value(
    name: str, value: Any, shape: str, sizes: dict[str, int], whole: bool = False
) -> Any:
    """Return a number or an array if it has the dimensions that it should have."""
    if shape == "":
        if isinstance(value, bool) or not isinstance(value, int if whole else float):
            raise ValueError(f"{name} is no number")
        if not np.isfinite(value):
            raise ValueError(f"{name} is not finite")
        return value
    kind = np.int64 if whole else np.float64
    if not isinstance(value, np.ndarray) or value.dtype != kind or value.ndim != len(shape):
        raise ValueError(f"{name} is no array of {len(shape)} dimensions")
    for letter, size in zip(shape, value.shape, strict=True):
        if letter != "*" and sizes.setdefault(letter, size) != size:
            raise ValueError(f"{name} does not fit the others")
    if not np.isfinite(value).all():
        raise ValueError(f"{name} has numbers that are not finite")
    return value


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
