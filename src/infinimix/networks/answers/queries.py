"""Conditionals of a column given cells of a row, averaged over networks."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import Any

import numpy as np

from infinimix.networks.answers.elimination import eliminate
from infinimix.networks.answers.mixed import Evidence, MixedMixture
from infinimix.networks.answers.predictive import Mixture
from infinimix.networks.answers.state import BayesNetState
from infinimix.networks.learning.columns import NetworkColumns
from infinimix.networks.learning.names import by_place, check_different, find_targets
from infinimix.tables import encode

Cells = dict[int, float]


def answer_query(
    state: BayesNetState,
    target: str,
    given: Mapping[str, Any] | None,
    do: Mapping[str, Any] | None,
) -> dict[Any, float]:
    """Return the probabilities of categories, or mean and standard deviation of a number."""
    columns = state.columns
    (t,) = find_targets(columns.schema.names, [target], given)
    seen, fixed = read_cells(columns, given), read_cells(columns, do)
    mixture: Any = state.mixture
    if columns.numbers[t]:
        condition = condition_mixed_number if columns.mixed else condition_normal
        mean, std = condition(mixture, t, seen, fixed)
        scale, centre = columns.scale[t], columns.centre[t]
        return {"mean": float(mean * scale + centre), "std": float(std * scale)}
    if columns.mixed:
        p = condition_category(mixture, t, seen, fixed)
    else:
        p = condition_tables(mixture, [t], seen, fixed)
    if p is None:
        raise impossible(given)
    return dict(zip(columns.states(t), p.tolist(), strict=True))


def condition_joint(
    state: BayesNetState,
    targets: Any,
    given: Mapping[str, Any] | None,
    do: Mapping[str, Any] | None,
) -> dict[Any, Any]:
    """Return probabilities of tuples of categories, or mean and covariance of numbers."""
    columns = state.columns
    at = find_targets(columns.schema.names, targets, given)
    if not at:
        raise ValueError("joint: targets must name a column or several")
    check_different(columns.schema.names, at, "joint")
    refuse_mixed(columns, "joint", "ask query of one column after the other")
    seen, fixed = read_cells(columns, given), read_cells(columns, do)
    if columns.gaussian:
        mean, cov = condition_normals(state.mixture, at, seen, fixed)
        scale = columns.scale[at]
        return {"mean": mean * scale + columns.centre[at], "cov": cov * np.outer(scale, scale)}
    p = condition_tables(state.mixture, at, seen, fixed)
    if p is None:
        raise impossible(given)
    states = product(*(columns.states(t) for t in at))
    return dict(zip(states, p.ravel().tolist(), strict=True))


def impossible(given: Mapping[str, Any] | None) -> ValueError:
    """Return the error about evidence of probability 0."""
    cells = ", ".join(f"{name}={value!r}" for name, value in (given or {}).items())
    return ValueError(f"what is given is impossible in this network, its probability is 0: {cells}")


def condition_tables(
    mixture: Mixture, at: list[int], seen: Cells, fixed: Cells
) -> np.ndarray | None:
    """Return the probabilities of the categories of columns; None if `seen` is impossible."""
    total: Any = 0.0
    for s, w in enumerate(mixture.weights):
        factors = mixture.factors(s, {j: int(v) for j, v in fixed.items()})
        total = total + w * eliminate(factors, {j: int(v) for j, v in seen.items()}, at)
    return np.asarray(total / total.sum()) if total.sum() > 0.0 else None


def condition_normal(mixture: Any, t: int, seen: Cells, fixed: Cells) -> tuple[float, float]:
    """Return mean and standard deviation of column t, in standardised numbers."""
    mean, cov = condition_normals(mixture, [t], seen, fixed)
    return float(mean[0]), float(np.sqrt(cov[0, 0]))


def evidence_of(mixture: MixedMixture, seen: Cells, fixed: Cells) -> Evidence:
    """Return cells as a row of a mixed network."""
    x, there, held = np.zeros((1, mixture.N)), *np.zeros((2, mixture.N), bool)
    for cells, mark in ((seen, there), (fixed, held)):
        for j, value in cells.items():
            x[0, j], mark[j] = value, True
    return Evidence(x, there & ~held, held)


def condition_mixed_number(
    mixture: MixedMixture, t: int, seen: Cells, fixed: Cells
) -> tuple[float, float]:
    """Return mean and standard deviation of number t of a mixed network."""
    row = evidence_of(mixture, seen, fixed)
    if row.fixed[t]:
        return float(row.X[0, t]), 0.0
    mean, std = mixture.number_moments(t, row.X, ~(row.seen | row.fixed)[None], row.fixed)
    return float(mean[0]), float(std[0])


def condition_category(
    mixture: MixedMixture, t: int, seen: Cells, fixed: Cells
) -> np.ndarray | None:
    """Return the probabilities of the categories of column t of a mixed network."""
    row = evidence_of(mixture, seen, fixed)
    if row.fixed[t]:
        return np.asarray(np.eye(int(mixture.cards[t]))[int(row.X[0, t])])
    rows = np.repeat(row.X, int(mixture.cards[t]), axis=0)
    rows[:, t] = np.arange(len(rows))
    row.seen[t] = True
    logs = mixture.log_given(row._replace(X=rows))
    p = np.exp(logs - logs.max())
    return np.asarray(p / p.sum())


def refuse_mixed(columns: NetworkColumns, what: str, instead: str) -> None:
    """Raise ValueError where a mixed network has no answer."""
    if columns.mixed:
        number, names = int(columns.numbers.argmax()), columns.schema.names
        category = int((~columns.numbers).argmax())
        raise ValueError(
            f"a mixed network has no {what}, as {names[number]!r} is a number and "
            f"{names[category]!r} has categories: {instead}"
        )


def condition_normals(
    mixture: Any, targets: list[int], seen: Cells, fixed: Cells
) -> tuple[np.ndarray, np.ndarray]:
    """Return mean and covariance of columns, in standardised numbers."""
    at, t = np.array(sorted(seen), dtype=int), np.array(targets, dtype=int)
    x = np.array([seen[j] for j in at])
    logs, means, spreads = [], [], []
    for s in range(len(mixture.graphs)):
        mean, cov = mixture.moments(s, fixed)
        inner = cov[np.ix_(at, at)] + 1e-12 * np.eye(len(at))
        gain = np.linalg.solve(inner, cov[np.ix_(at, t)])
        means.append(mean[t] + (x - mean[at]) @ gain)
        spreads.append(cov[np.ix_(t, t)] - gain.T @ cov[np.ix_(at, t)])
        gap = x - mean[at]
        logs.append(-0.5 * (gap @ np.linalg.solve(inner, gap) + np.linalg.slogdet(inner)[1]))
    w = mixture.weights * np.exp(np.array(logs) - max(logs))
    w /= w.sum()
    middle = w @ np.array(means)
    off = np.array(means) - middle
    return middle, np.einsum("s,sij->ij", w, np.array(spreads)) + (off.T * w) @ off


def read_cells(columns: NetworkColumns, values: Mapping[str, Any] | None) -> Cells:
    """Return cells by name as codes or standardised numbers by column."""
    names = columns.schema.names
    known = by_place(names, values)
    if not known:
        return {}
    row = [{name: known.get(j) for j, name in enumerate(names)}]
    codes, missing = columns.codes(encode(columns.schema, row, learn=False, strict=True))
    for j in sorted(known):
        if missing[0, j]:
            raise ValueError(f"{names[j]!r} has no value {known[j]!r}")
    return {j: codes[0, j] for j in sorted(known)}
