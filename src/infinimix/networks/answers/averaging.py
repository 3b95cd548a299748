"""The networks that predictions are averaged over, made from what a fit has found.

Without missing cells these are the distinct states with their weights. With missing cells they are
pairs of a graph and the cells that were drawn given it, which weigh alike: as states differ in
their rows then, so do their tables. In a dynamic network the variables before are nodes of their
own, behind the variables now, and have no parents.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from infinimix.networks.answers.mixed import MixedMixture
from infinimix.networks.answers.predictive import Mixture
from infinimix.networks.answers.signed import SignedMixture, signed_graphs, with_signs
from infinimix.networks.engine.blocks import DYNAMIC
from infinimix.networks.engine.families import GAMMA, Data
from infinimix.networks.engine.graphs import to_adjacency
from infinimix.networks.engine.hyper import RECORDED_GAMMA
from infinimix.networks.engine.scores import set_logs
from infinimix.networks.learning.problem import Problem, make_data

MOST_NETWORKS = 300  # that predictions are averaged over
MOST_PAIRS = 100  # of a graph and completed rows, no two of which share a table


def make_mixture(state: Any) -> Mixture:
    """Return the networks of a `NetworkState`, with weights."""
    if state.completions is not None:
        return _completed_mixture(state)
    places, weights = state.places, state.weights
    if len(places) > MOST_NETWORKS:
        step = np.linspace(0, len(places) - 1, MOST_NETWORKS).astype(int)
        equal = weights.max() < 2.5 * weights.min()
        pick = step if equal else np.argsort(-weights)[:MOST_NETWORKS]
        places, weights = places[pick], weights[pick]
    chain = state.draws.chain[places] if len(state.completed) > 1 else 0 * places
    data = [make_rows(state, X) for X in state.completed]
    graphs = _graphs(state, places)
    return _mixture(state, graphs, weights, chain, data, state.completed)


def best_mixture(state: Any) -> Mixture:
    """Return the best network alone."""
    k = int(state.draws.chain[state.best]) if len(state.completed) > 1 else 0
    graph, X = _graphs(state, [state.best]), state.completed[k]
    return _mixture(state, graph, np.ones(1), np.zeros(1, int), [make_rows(state, X)], [X])


def _mixture(state: Any, *parts: Any) -> Mixture:
    """Return networks of the kind of the columns."""
    if state.signed:
        return SignedMixture(*parts)
    return MixedMixture(state.names, *parts) if state.columns.mixed else Mixture(*parts)


def _graphs(state: Any, places: Any) -> np.ndarray:
    """Return graphs over the columns of the rows, with the signs of effects if they have some."""
    return signed_graphs(state, places) if state.signed else lift(state, state.adjacencies(places))


def _completed_mixture(state: Any) -> Mixture:
    """Return pairs of graphs and completed rows."""
    pairs, all_of_them = state.completions, len(state.completions.graphs)
    pick = np.linspace(0, all_of_them - 1, min(all_of_them, MOST_PAIRS)).astype(int)
    tables = [pairs.table(state.completed[0], m) for m in pick]
    if pairs.negative is None:
        graphs = lift(state, to_adjacency(pairs.graphs[pick]))
    else:
        graphs = with_signs(pairs.graphs[pick], pairs.negative[pick])
    data = [make_rows(state, X) for X in tables]
    return _mixture(state, graphs, np.ones(len(pick)), np.arange(len(pick)), data, tables)


def make_rows(state: Any, X: np.ndarray) -> Data:
    """Return completed rows as scores read them, with the mean of gamma."""
    problem = Problem(
        X,
        np.zeros(X.shape, bool),
        all_cards(state),
        None,
        shared_by=state.shared_by,
        skip=state.skip,
    )
    data = make_data(problem, X)
    data.settings[GAMMA] = float(np.mean(state.draws.hyper[:, RECORDED_GAMMA]))
    set_logs(data)
    return data


def all_cards(state: Any) -> np.ndarray | None:
    """Return the categories of the columns of the rows; of a dynamic network now and before."""
    cards = state.columns.cards
    return np.tile(cards, 2) if state.shape == DYNAMIC and cards is not None else cards


def lift(state: Any, A: np.ndarray) -> np.ndarray:
    """Return graphs over the columns of the rows; of a dynamic network now and before."""
    if state.shape != DYNAMIC:
        return A
    N = A.shape[-1]
    both = np.zeros((len(A), 2 * N, 2 * N), A.dtype)
    both[:, N:, :N] = A
    return both
