"""Cells of rows in an undirected graph, given the other cells.

Numbers have the joint normal distributions of `markov_joint`, and categories its table of all
possible rows, where there is one: answers are exact then. With more columns of categories a cell is
known by its conditional distribution given its neighbours alone, averaged over graphs. Of a row
with one missing cell that is the answer. Several are drawn in turn, each from its conditional
distribution given the others (Gibbs), and these distributions are averaged. As conditionals that
were learned one by one need not fit together, what such draws come to is no distribution that could
be written down: that of a dependency network (Heckerman and others 2000).
"""

from __future__ import annotations

import numpy as np

from infinimix.networks.answers.markov_joint import MOST_ROWS
from infinimix.networks.answers.predictive import Mixture
from infinimix.networks.answers.queries import condition_normal
from infinimix.networks.answers.state import NetworkState
from infinimix.networks.learning.completion import code_parents

BURN_IN, SWEEPS = 20, 200
Cells = dict[int, np.ndarray]  # column -> what is known of it in each row


def few_rows(state: NetworkState) -> bool:
    """Are so few rows of categories possible that all can be enumerated?"""
    cards = state.columns.cards
    return cards is not None and float(np.log(cards).sum()) <= np.log(MOST_ROWS) + 1e-9


def cell_means(state: NetworkState, t: int, X: np.ndarray, missing: np.ndarray) -> np.ndarray:
    """Return the mean of number t in each row, standardised; its own cells are not looked at."""
    means = np.empty(len(X))
    for i, (x, holes) in enumerate(zip(X, missing, strict=True)):
        seen = {int(j): float(x[j]) for j in np.flatnonzero(~holes) if j != t}
        means[i] = condition_normal(state.normals, t, seen, {})[0]
    return means


def cell_probabilities(
    state: NetworkState, X: np.ndarray, missing: np.ndarray, rng: np.random.Generator
) -> Cells:
    """Return the probabilities of the categories of each column that has missing cells.

    What it says of a cell that is not missing means nothing.
    """
    if few_rows(state):
        return _sum_table(state.joint, X, missing)
    return _average_conditionals(state.mixture, X, missing, rng)


def _sum_table(joint: np.ndarray, X: np.ndarray, missing: np.ndarray) -> Cells:
    """Return the probabilities of missing cells, from those of all possible rows."""
    holes = np.flatnonzero(missing.any(axis=0)).tolist()
    out = {j: np.zeros((len(X), joint.shape[j])) for j in holes}
    for i in np.flatnonzero(missing.any(axis=1)):
        at = tuple(slice(None) if hole else x for x, hole in zip(X[i], missing[i], strict=True))
        left, p = np.flatnonzero(missing[i]).tolist(), joint[at]
        for k, j in enumerate(left):
            own = p.sum(axis=tuple(axis for axis in range(len(left)) if axis != k))
            out[j][i] = own / own.sum()
    return out


def _average_conditionals(
    mixture: Mixture, X: np.ndarray, missing: np.ndarray, rng: np.random.Generator
) -> Cells:
    """Return the same from draws, each cell given its neighbours."""
    X, holes = X.copy(), np.flatnonzero(missing.any(axis=0)).tolist()
    rows = {j: np.flatnonzero(missing[:, j]) for j in holes}
    out = {j: np.zeros((len(X), int(mixture.cards[j]))) for j in holes}
    for j in holes:
        X[rows[j], j] = rng.integers(mixture.cards[j], size=len(rows[j]))
    alone = bool((missing.sum(axis=1) <= 1).all())  # nothing depends on what is drawn
    for sweep in range(1 if alone else BURN_IN + SWEEPS):
        for j in holes:
            p = conditional(mixture, j, X[rows[j]])
            if alone or sweep >= BURN_IN:
                out[j][rows[j]] += p
            u = rng.random((len(p), 1))
            X[rows[j], j] = np.minimum((u > p.cumsum(axis=1)).sum(axis=1), p.shape[1] - 1)
    return {j: p / np.maximum(p.sum(axis=1, keepdims=True), 1e-300) for j, p in out.items()}


def conditional(mixture: Mixture, j: int, X: np.ndarray) -> np.ndarray:
    """Return P(x_j | its neighbours) in complete rows, averaged over graphs."""
    weights = np.bincount(mixture.index[:, j], mixture.weights)
    total = np.zeros((len(X), int(mixture.cards[j])))
    for f in np.flatnonzero(weights).tolist():
        table, parents = mixture.cpt(f), mixture.families[f][2]
        total += weights[f] * table[code_parents(X, parents, mixture.cards)]
    return total


def fill_undirected(
    state: NetworkState, X: np.ndarray, missing: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """Return rows whose missing cells have the most probable category, or the mean."""
    out = X.copy()
    if state.columns.gaussian:
        for t in np.flatnonzero(missing.any(axis=0)).tolist():
            rows = np.flatnonzero(missing[:, t])
            out[rows, t] = cell_means(state, t, X[rows], missing[rows])
        return out
    for t, p in cell_probabilities(state, X, missing, rng).items():
        rows = np.flatnonzero(missing[:, t])
        out[rows, t] = p[rows].argmax(axis=1)
    return out
