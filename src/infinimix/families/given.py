"""Base measures that the user gives, checked and made plain.

A mapping may name a column, a position, a gaussian block (as a tuple of its columns) or a kind;
a column's own entry wins over its kind's, and columns that it does not name are empirical (spiked
ones, which "auto" may make of real ones, as the word for real says). What numbers may stand for a
kind is in the `catalogue`.
"""

from collections.abc import Mapping
from numbers import Integral

import numpy as np

from infinimix.families.base_measures import FOUND
from infinimix.families.catalogue import CATALOGUE
from infinimix.families.gaussian_priors import has_covariance, n_directions

LEAST, MOST = 1e-100, 1e100  # of what must be positive: squares and logs of it stay normal


def resolve_prior(prior, kinds, blocks=()):
    """Return one word of FOUND for all, or what each column has: one of these or a tuple.

    Parameters
    ----------
    prior : str or mapping
        As the user gave it.
    kinds : dict
        The kind of each column, in table order.
    blocks : tuple of tuples
        The names of the columns of each gaussian block.

    Raises
    ------
    ValueError
        If a mapping names no column, or gives what the kind of the column cannot take.
    """
    if isinstance(prior, str):
        return prior
    entries, resolved = {}, {}
    for key, value in prior.items():
        for place in _find_block(key, kinds, blocks) or [_find_key(key, kinds)]:
            if place in entries:
                twice = f"as {entries[place][0]!r} and {key!r}"
                raise ValueError(f"prior names one column twice, {twice}.")
            entries[place] = key, value
    for name, kind in kinds.items():
        own = entries.get(("column", name), entries.get(("kind", kind)))
        key, value = own or (name, _word_for(kind, entries))
        resolved[name] = _read_entry(key, value, kind)
    for (what, name), (key, value) in entries.items():
        if what == "kind":  # wrong even if no column is of that kind
            _read_entry(key, value, name)
    _check_agreement(resolved, blocks)
    return resolved


def _word_for(kind, entries):
    """Return the word for a kind without an entry: spiked columns have that of real ones."""
    _, value = entries.get(("kind", CATALOGUE[kind].like), (None, None))
    return value if isinstance(value, str) else FOUND[0]


def _find_block(key, kinds, blocks):
    """Return the places that a key means if it is a tuple of columns, else nothing."""
    if not isinstance(key, tuple):
        return []
    names = [find_column(member, kinds) for member in key]
    if sorted(map(str, names)) not in [sorted(block) for block in blocks]:
        raise ValueError(
            f"prior names {key!r}, which is not a gaussian block; there are {list(blocks)!r}."
        )
    return [("column", name) for name in names]


def _check_agreement(resolved, blocks):
    """Raise ValueError if the columns of a gaussian block have different entries, or too few."""
    for block in blocks:
        entry = resolved[block[0]]
        if has_covariance(entry) and not _has_sound_covariance(entry, len(block)):
            raise ValueError(
                f"prior[{block!r}] must have 2 + {len(block)} * (2 + directions) numbers (kappa, "
                f"nu, means, own variances, loadings), the variances positive; got {entry!r}."
            )
        if len({resolved[name] for name in block}) > 1:
            raise ValueError(
                f"prior gives the columns of a gaussian block different entries; name the block "
                f"as a whole, as in prior={{{block!r}: 'empirical'}}."
            )


def _has_sound_covariance(entry, d):
    own = np.array(entry[2 + d : 2 + 2 * d])
    in_range = bool((np.abs(entry) <= MOST).all() and (own >= LEAST).all())
    return n_directions(entry, d) is not None and in_range


def find_column(key, names):
    """Return the name of the column that a key means, or None.

    A whole number is a position, unless a column has it as its name (frames may have numbers
    as names): `columns` takes it for the name too.
    """
    if isinstance(key, str):
        return key if key in names else None
    if not isinstance(key, Integral) or isinstance(key, bool):
        return None
    if str(int(key)) in names:
        return str(int(key))
    return list(names)[int(key)] if 0 <= key < len(names) else None


def _find_key(key, kinds):
    name = find_column(key, kinds)
    if name is not None:
        return "column", name
    if isinstance(key, str) and key in CATALOGUE:
        return "kind", key
    raise ValueError(
        f"prior names {key!r}, which is neither a column nor one of the kinds "
        f"{', '.join(map(repr, CATALOGUE))}."
    )


def _read_entry(key, value, kind):
    if isinstance(value, str) and value in FOUND:
        return value
    size, words, free, one_for_all, longer = CATALOGUE[kind].given
    try:
        numbers = np.asarray(value, dtype=float).ravel()
    except (TypeError, ValueError):
        numbers = np.empty(0)
    if one_for_all and numbers.size == 1:
        numbers = np.repeat(numbers, size)
    long = longer > 0 and numbers.size > size
    sound = (long or numbers.size == size) and bool(np.isfinite(numbers).all())
    positive = numbers[:longer] if long else np.delete(numbers, free) if sound else numbers
    sound = sound and bool(((positive >= LEAST) & (positive <= MOST)).all())
    if isinstance(value, Mapping) or not sound:
        raise ValueError(
            f"prior[{key!r}] must be one of {', '.join(map(repr, FOUND))}, or {words}; "
            f"got {value!r}."
        )
    return tuple(numbers.tolist())
