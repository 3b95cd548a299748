"""Densities and predictions of a dynamic network: what comes next, given what was.

Given a network, a row given the row before is a product over variables of posterior mean tables, or
of Student t's. The networks are those over pairs of rows (`averaging.lift`): missing cells now are
summed out, and missing cells before are averaged over by how often values of their column occur.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.special import logsumexp

from infinimix.networks.answers.predictive import patterns
from infinimix.networks.answers.queries import (
    condition_normal,
    condition_tables,
    impossible,
    read_cells,
)
from infinimix.networks.answers.state import NetworkState
from infinimix.networks.learning.names import find_targets
from infinimix.networks.learning.slices import pair_rows, tie_slices
from infinimix.tables import EncodedTable


def log_steps(
    state: NetworkState, encoded: EncodedTable, sequences: Any
) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows that have a row before, and log p of each given it, (networks, rows)."""
    codes, missing = state.columns.codes(encoded)
    before, now = pair_rows(len(codes), sequences)
    ties = tie_slices(before, now, len(codes))
    logs = _log_pairs(state, ties.table(codes), ties.table(missing))
    return now, logs + state.columns.log_slopes(encoded, missing)[now]


def _log_pairs(state: NetworkState, pairs: np.ndarray, missing: np.ndarray) -> np.ndarray:
    mixture, N = state.mixture, len(state.names)
    out = np.zeros((len(mixture.graphs), len(pairs)))
    for rows, holes in patterns(missing):
        if holes.any():
            without = holes.copy()
            without[:N] = True
            both, before = (mixture.log_holed(pairs[rows], h) for h in (holes, without))
            out[:, rows] = (both - before).T
        else:
            out[:, rows] = mixture.log_families(pairs[rows], slice(N))
    return out


def score_rows(state: NetworkState, encoded: EncodedTable, sequences: Any) -> np.ndarray:
    """Return log p of each row given the row before; NaN where there is none."""
    now, logs = log_steps(state, encoded, sequences)
    out = np.full(encoded.n_rows, np.nan)
    out[now] = logsumexp(logs, axis=0, b=state.mixture.weights[:, None])
    return out


def score_whole(state: NetworkState, encoded: EncodedTable, sequences: Any) -> dict[Any, float]:
    """Return log p of each sequence given its first row: one network for all of its rows."""
    now, logs = log_steps(state, encoded, sequences)
    labels = np.zeros(encoded.n_rows, int) if sequences is None else np.asarray(sequences)
    own, weights = labels[now], state.mixture.weights
    return {
        label: float(logsumexp(logs[:, own == label].sum(axis=1), b=weights))
        for label in dict.fromkeys(own.tolist())
    }


def answer_next(
    state: NetworkState, target: str, given: Mapping[str, Any] | None
) -> dict[Any, float]:
    """Return what is known of a column, given cells of the row before."""
    columns, N = state.columns, len(state.names)
    (t,) = find_targets(state.names, [target], None)
    seen = {N + j: value for j, value in read_cells(columns, given).items()}
    if columns.gaussian:
        mean, std = condition_normal(state.mixture, t, seen, {})
        scale, centre = columns.scale[t], columns.centre[t]
        return {"mean": float(mean * scale + centre), "std": float(std * scale)}
    p = condition_tables(state.mixture, [t], seen, {})
    if p is None:
        raise impossible(given)
    return dict(zip(columns.states(t), p.tolist(), strict=True))


def draw_sequence(
    state: NetworkState, n: int, given: Mapping[str, Any] | None, rng: np.random.Generator
) -> np.ndarray:
    """Return n rows that follow each other in one network; `given` are cells before the first."""
    mixture, N = state.mixture, len(state.names)
    s = int(rng.choice(len(mixture.weights), p=mixture.weights))
    pair = np.zeros((1, 2 * N), float if mixture.gaussian else np.int64)
    known = read_cells(state.columns, given)
    for j in range(N):
        pair[0, N + j] = known[j] if j in known else mixture.draw_cell(s, N + j, pair, rng)[0]
    rows = np.zeros((n, N), pair.dtype)
    for t in range(n):
        for j in range(N):
            pair[0, j] = mixture.draw_cell(s, j, pair, rng)[0]
        rows[t] = pair[0, :N]
        pair[0, N:] = rows[t]
    return rows
