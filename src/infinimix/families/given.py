"""Base measures that the user gives, checked and made plain.

A mapping may name a column, a position or a kind; a column's own entry wins over its kind's,
and columns that it does not name are empirical.
"""

from collections.abc import Mapping
from numbers import Integral

import numpy as np

FOUND = ("empirical", "reference")  # in the data, or by convention
SHAPES = {  # per kind: how many numbers, how many of them must be positive, and in words
    "binary": (2, 2, "pseudo-counts (a, b) of ones and zeros, both positive"),
    "categorical": (1, 1, "a positive pseudo-count, the same for every category"),
    "real": (4, 3, "(mean, kappa, nu, scale), the last three positive"),
    "count": (2, 2, "(a, b), shape and rate of the Gamma prior, both positive"),
}


def resolve_prior(prior, kinds):
    """Return "empirical", "reference", or what each column has: one of these or a tuple.

    Parameters
    ----------
    prior : str or mapping
        As the user gave it.
    kinds : dict
        The kind of each column, in table order.

    Raises
    ------
    ValueError
        If a mapping names no column, or gives what the kind of the column cannot take.
    """
    if isinstance(prior, str):
        return prior
    entries = {_find_key(key, kinds): (key, value) for key, value in prior.items()}
    resolved = {}
    for name, kind in kinds.items():
        key, value = entries.get(("column", name), entries.get(("kind", kind), (name, FOUND[0])))
        resolved[name] = _read_entry(key, value, kind)
    for (what, name), (key, value) in entries.items():
        if what == "kind":  # wrong even if no column is of that kind
            _read_entry(key, value, name)
    return resolved


def _find_key(key, kinds):
    if isinstance(key, str) and key in kinds:
        return "column", key
    if isinstance(key, str) and key in SHAPES:
        return "kind", key
    if isinstance(key, Integral) and 0 <= key < len(kinds):
        return "column", list(kinds)[key]
    raise ValueError(
        f"prior names {key!r}, which is neither a column nor one of the kinds "
        f"{', '.join(map(repr, SHAPES))}."
    )


def _read_entry(key, value, kind):
    if isinstance(value, str) and value in FOUND:
        return value
    size, positive, words = SHAPES[kind]
    try:
        numbers = np.asarray(value, dtype=float).ravel()
    except (TypeError, ValueError):
        numbers = np.empty(0)
    if kind == "binary" and numbers.size == 1:
        numbers = np.repeat(numbers, 2)
    sound = numbers.size == size and np.isfinite(numbers).all() and (numbers[-positive:] > 0).all()
    if isinstance(value, Mapping) or not sound:
        raise ValueError(
            f"prior[{key!r}] must be 'empirical', 'reference' or {words}; got {value!r}."
        )
    return tuple(numbers.tolist())
