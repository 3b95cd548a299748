"""Simulation-based calibration of draws of whole graphs, shared orders, classes and completions.

Single moves start from the graph that the rows came from, so that no burn-in is needed; whole
chains start anywhere. `tests/oracle` compares the same moves with the posterior of given rows.
"""

import os
from functools import cache
from itertools import permutations
from types import SimpleNamespace

import numpy as np
import pytest

from infinimix.networks.engine import groups, layer_tables, layers
from infinimix.networks.engine.blocks import ChainState, new_prior, new_state
from infinimix.networks.engine.candidates import full_layout
from infinimix.networks.engine.chain import new_model
from infinimix.networks.engine.constants import Constants
from infinimix.networks.engine.graphs import to_adjacency
from infinimix.networks.engine.order_jumps import jump_orders, list_orders
from infinimix.networks.engine.scores import discrete_data, new_cache
from infinimix.networks.learning import layered_chains, pooling
from infinimix.networks.learning.layered_chains import LayeredChain
from infinimix.networks.learning.ordered_chains import make_chain
from infinimix.networks.learning.pooling import burn_in_together
from infinimix.networks.learning.problem import Problem
from tests.oracle.networks import World
from tests.plain import typed_once
from tests.statistical.calibration import ALARM, changed, check_counts, draw_rows, log_score

CARDS, N, ROWS = np.array([2, 3, 2, 2]), 4, 15
LONG = "INFINIMIX_SEEDS" in os.environ
MOVED, RUN, SHARED = (2000, 1000, 600) if LONG else (125, 60, 40)  # simulations of each kind
OTHERS = np.array([[i for i in range(N) if i != c] for c in range(N)])
ORDERS = np.array(list(permutations(range(N))))
LAYOUT = full_layout(~np.eye(N, dtype=bool))
CONSTANTS = Constants.empty(N)
GROUPS = [groups.new_group(N, N - 1, size) for size in (2, 3)]
EVERY, THREE = list_orders(ORDERS, OTHERS), list_orders(ORDERS[::7][:3], OTHERS)


@cache
def states_of(prior):
    """All states with their prior probabilities."""
    return World(np.zeros((0, N), int), CARDS).posterior(prior, alpha=0.7)


def draw_states(prior, n, rng):
    states, w = states_of(prior)
    return [states[k] for k in rng.choice(len(w), n, p=w)]


def check_prior(prior, graphs):
    """Edges in all, and those that end in the node with three categories."""
    states, w = states_of(prior)
    check_counts([A.sum() for A, _, _ in states], w, [A.sum() for A in graphs])
    check_counts([A[:, 1].sum() for A, _, _ in states], w, [A[:, 1].sum() for A in graphs])


def levels(redraw, jump, model, state, own, rng):
    redraw(model, state, own, 2, 1.0, rng)


def jumps(redraw, jump, model, state, own, rng):
    """Jumps alone, along all orders, by the tables of this state: a copy is there to fill them."""
    redraw(model, ChainState(*(part.copy() for part in state)), own, 0, 1.0, rng)
    jump(model, state, own, EVERY, 2, rng)


def levels_and_jumps(redraw, jump, model, state, own, rng):
    """Jumps along three orders, so that graphs differ in how many of them suit them."""
    redraw(model, state, own, 1, 1.0, rng)
    jump(model, state, own, THREE, 2, rng)


def families(redraw, jump, model, state, own, rng):
    """Two or three families at once, beside one round of levels."""
    redraw(model, state, own, 1, 1.0, rng)
    for group in GROUPS:
        groups.redraw_groups(model, state, own, group, 1, rng)


@pytest.mark.parametrize("prior", ["sparse", "blockmodel"])
@pytest.mark.parametrize("move", [levels, jumps, levels_and_jumps, families])
def test_a_draw_of_the_whole_graph_keeps_graphs_and_rows_together(move, prior, seed):
    rng, graphs, gains = np.random.default_rng([seed, len(prior)]), [], []
    kernels = typed_once(layers.redraw_layers), typed_once(jump_orders)
    for A, z, _ in draw_states(prior, MOVED, rng):
        X = draw_rows(A, CARDS, ROWS, rng)
        data = discrete_data(X, CARDS)
        belief = new_prior(N, prior, True, (0.7, 1.0, 1.0), constants=CONSTANTS)
        model = new_model(data, LAYOUT, belief, new_cache(data, LAYOUT))
        state = new_state(belief, LAYOUT, A, np.array(z))
        own = layer_tables.new_layers(OTHERS, N + 1)
        for _ in range(2):
            move(*kernels, model, state, own, rng)
        graphs.append(to_adjacency(state.pa).astype(int))
        gains.append(log_score(graphs[-1], X, CARDS) - log_score(A, X, CARDS))
    check_prior(prior, graphs)
    assert changed(gains) > ALARM


def test_a_move_that_forgets_the_rows_is_noticed(seed):
    rng = np.random.default_rng(seed)
    pairs = zip(draw_states("sparse", 200, rng), draw_states("sparse", 200, rng), strict=True)
    gains = []
    for (A, _, _), (B, _, _) in pairs:
        X = draw_rows(A, CARDS, ROWS, rng)
        gains.append(log_score(B, X, CARDS) - log_score(A, X, CARDS))
    assert changed(gains) < ALARM


@pytest.mark.parametrize("prior", ["sparse", "blockmodel"])
def test_chains_that_share_orders_keep_graphs_and_rows_together(prior, seed, monkeypatch):
    """Two candidates of three, and six orders that two chains have met while they burned in."""
    monkeypatch.setattr(layered_chains, "CANDIDATES", 2)
    monkeypatch.setattr(pooling, "MOST_ORDERS", 6)
    rng, graphs, gains = np.random.default_rng([seed, len(prior)]), [], []
    for A, _, _ in draw_states(prior, SHARED, rng):
        X = draw_rows(A, CARDS, ROWS, rng)
        problem = Problem(
            X, np.zeros(X.shape, bool), CARDS, LAYOUT, prior=prior, alpha=0.7, n_iter=10, burn_in=40
        )
        seeds = np.random.SeedSequence([seed, int(rng.integers(1 << 30))]).spawn(2)
        chains = [LayeredChain(problem, s, apart=k > 0) for k, s in enumerate(seeds)]
        model = SimpleNamespace(n_jobs=None, n_iter=10, n_chains=2, verbose=False)
        last = burn_in_together(model, chains)[-1]
        last.run()
        graphs.append(last.adjacency().astype(int))
        gains.append(log_score(graphs[-1], X, CARDS) - log_score(A, X, CARDS))
    check_prior(prior, graphs)
    assert changed(gains) > ALARM


@pytest.mark.parametrize("prior", ["sparse", "blockmodel", "ordered"])
def test_chains_that_fill_cells_keep_graphs_and_rows_together(prior, seed):
    """The complete rows, of which the chain sees three quarters, judge the graphs."""
    rng, graphs, gains = np.random.default_rng([seed, len(prior)]), [], []
    for A, _, _ in draw_states(prior, RUN, rng):
        X = draw_rows(A, CARDS, ROWS, rng)
        holes = rng.random(X.shape) < 0.25
        problem = Problem(
            np.where(holes, 0, X), holes, CARDS, LAYOUT, prior=prior, alpha=0.7, n_iter=10
        )
        chain = make_chain(problem, np.random.SeedSequence([seed, len(gains)]), apart=True)
        for _ in range(15):
            chain.advance(2, False)
        graphs.append(chain.adjacency().astype(int))
        gains.append(log_score(graphs[-1], chain.X, CARDS) - log_score(A, X, CARDS))
    check_prior(prior, graphs)
    assert changed(gains) > ALARM
