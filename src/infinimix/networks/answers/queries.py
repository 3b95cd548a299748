"""Conditionals of a column given cells of a row, averaged over networks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from infinimix.networks.answers.elimination import eliminate
from infinimix.networks.answers.predictive import Mixture
from infinimix.networks.answers.state import BayesNetState
from infinimix.networks.learning.columns import NetworkColumns
from infinimix.tables import encode


def answer_query(
    state: BayesNetState,
    target: str,
    given: Mapping[str, Any] | None,
    do: Mapping[str, Any] | None,
) -> dict[Any, float]:
    """Return the probabilities of categories, or mean and standard deviation of a number."""
    columns = state.columns
    if target not in columns.schema.names:
        raise ValueError(f"there is no column {target!r}")
    if target in (given or {}):
        raise ValueError(f"{target!r} is both asked for and given")
    seen, fixed = read_cells(columns, given), read_cells(columns, do)
    t = list(columns.schema.names).index(target)
    if columns.gaussian:
        mean, std = _condition_normal(state.mixture, t, seen, fixed)
        scale, centre = columns.scale[t], columns.centre[t]
        return {"mean": float(mean * scale + centre), "std": float(std * scale)}
    p = _condition_tables(state.mixture, t, seen, fixed)
    return dict(zip(columns.states(t), p.tolist(), strict=True))


def _condition_tables(
    mixture: Mixture, t: int, seen: dict[int, float], fixed: dict[int, float]
) -> np.ndarray:
    """Return the probabilities of the categories of column t."""
    total = np.zeros(int(mixture.cards[t]))
    for s, w in enumerate(mixture.weights):
        factors = mixture.factors(s, {j: int(v) for j, v in fixed.items()})
        total += w * eliminate(factors, {j: int(v) for j, v in seen.items()}, [t])
    if total.sum() <= 0:
        raise ValueError("what is given has probability 0")
    return total / total.sum()


def _condition_normal(
    mixture: Mixture, t: int, seen: dict[int, float], fixed: dict[int, float]
) -> tuple[float, Any]:
    """Return mean and standard deviation of column t, in standardised numbers."""
    at = np.array(sorted(seen), dtype=int)
    x = np.array([seen[j] for j in at])
    logs, means, variances = [], [], []
    for s in range(len(mixture.graphs)):
        mean, cov = mixture.moments(s, fixed)
        inner = cov[np.ix_(at, at)] + 1e-12 * np.eye(len(at))
        gain = np.linalg.solve(inner, cov[at, t])
        means.append(mean[t] + gain @ (x - mean[at]))
        variances.append(cov[t, t] - gain @ cov[at, t])
        gap = x - mean[at]
        logs.append(-0.5 * (gap @ np.linalg.solve(inner, gap) + np.linalg.slogdet(inner)[1]))
    w = mixture.weights * np.exp(np.array(logs) - max(logs))
    w /= w.sum()
    middle = float(w @ means)
    spread = float(w @ (np.array(variances) + (np.array(means) - middle) ** 2))
    return middle, np.sqrt(spread)


def read_cells(columns: NetworkColumns, values: Mapping[str, Any] | None) -> dict[int, float]:
    """Return cells by name as codes or standardised numbers by column."""
    names = columns.schema.names
    for name in values or {}:
        if name not in names:
            raise ValueError(f"there is no column {name!r}")
    if not values:
        return {}
    row = [{name: values.get(name) for name in names}]
    codes, missing = columns.codes(encode(columns.schema, row, learn=False, strict=True))
    out = {}
    for j, name in enumerate(names):
        if name in values:
            if missing[0, j]:
                raise ValueError(f"{name!r} has no value {values[name]!r}")
            out[j] = codes[0, j]
    return out
