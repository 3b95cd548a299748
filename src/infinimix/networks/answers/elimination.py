"""Exact answers in one discrete network: variables are summed out, those with few ties first."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

Factor = tuple[tuple[int, ...], np.ndarray]  # variables, and a table with one axis for each


def eliminate(
    factors: Sequence[Factor], given: dict[int, int], targets: Iterable[int]
) -> np.ndarray:
    """Return P(targets, given): a table with an axis for each target, in their order.

    Examples
    --------
    >>> rain, wet = ((0,), np.array([0.8, 0.2])), ((0, 1), np.array([[0.9, 0.1], [0.2, 0.8]]))
    >>> eliminate([rain, wet], {1: 1}, [0]).round(2).tolist()
    [0.08, 0.16]
    """
    targets = list(targets)
    return _product(_sum_rest(factors, given, targets), targets)


def maximise(
    factors: Sequence[Factor], given: dict[int, int], targets: Iterable[int]
) -> tuple[dict[int, int], float]:
    """Return the most probable values of the targets together, and P(these, given).

    Other variables are summed out first, so this is exact for some targets as for all.

    Examples
    --------
    >>> rain, wet = ((0,), np.array([0.8, 0.2])), ((0, 1), np.array([[0.9, 0.1], [0.2, 0.8]]))
    >>> found, p = maximise([rain, wet], {1: 1}, [0])
    >>> found, round(p, 2)
    ({0: 1}, 0.16)
    """
    targets = list(targets)
    pool, rest, steps = _sum_rest(factors, given, targets), set(targets), []
    while rest:
        v = min(rest, key=lambda v: (_width(pool, v), v))
        touched = [f for f in pool if v in f[0]]
        pool = [f for f in pool if v not in f[0]]
        names = sorted({u for held, _ in touched for u in held} - {v})
        table = _product(touched, [*names, v])
        steps.append((v, names, table.argmax(axis=-1)))
        pool.append((tuple(names), table.max(axis=-1)))
        rest.discard(v)
    found: dict[int, int] = {}
    for v, names, choice in reversed(steps):
        found[v] = int(choice[tuple(found[u] for u in names)])
    return {t: found[t] for t in targets}, float(_product(pool, []))


def _sum_rest(factors: Sequence[Factor], given: dict[int, int], targets: list[int]) -> list[Factor]:
    """Return factors over the targets alone, the given values put in and the rest summed out."""
    pool = [_reduce(factor, given) for factor in _needed(factors, {*targets, *given})]
    rest = {v for names, _ in pool for v in names} - set(targets)
    while rest:
        v = min(rest, key=lambda v: (_width(pool, v), v))
        touched = [f for f in pool if v in f[0]]
        pool = [f for f in pool if v not in f[0]]
        pool.append(_sum_out(touched, v))
        rest.discard(v)
    return pool


def _needed(factors: Sequence[Factor], wanted: set[int]) -> list[Factor]:
    """Return the factors of wanted variables and their ancestors; the others sum to one."""
    own = {names[-1]: names for names, _ in factors}
    todo, kept = list(wanted), set()
    while todo:
        v = todo.pop()
        if v not in kept:
            kept.add(v)
            todo.extend(own[v][:-1])
    return [f for f in factors if f[0][-1] in kept]


def _reduce(factor: Factor, given: dict[int, int]) -> Factor:
    names, table = factor
    at = tuple(given.get(v, slice(None)) for v in names)
    return tuple(v for v in names if v not in given), table[at]


def _width(pool: list[Factor], v: int) -> int:
    sizes = {u: n for names, t in pool if v in names for u, n in zip(names, t.shape, strict=True)}
    return int(np.prod([float(n) for n in sizes.values()]))


def _sum_out(touched: list[Factor], v: int) -> Factor:
    names = sorted({u for held, _ in touched for u in held} - {v})
    return tuple(names), _product(touched, names)


def _product(pool: list[Factor], names: list[int]) -> np.ndarray:
    """Return the product of factors, summed over all variables but `names`; 1 of no factor."""
    if not pool:
        return np.ones(())
    places = {
        v: k for k, v in enumerate(sorted({u for held, _ in pool for u in held} | set(names)))
    }
    arguments: list[Any] = []
    for held, table in pool:
        arguments += [table, [places[v] for v in held]]
    einsum: Any = np.einsum  # its stubs know only the form with letters
    return np.asarray(einsum(*arguments, [places[v] for v in names], optimize="greedy"))
