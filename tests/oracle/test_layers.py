"""Whole graphs drawn by levels: sums against plain loops, and posteriors against exact ones."""

import os
from functools import cache
from itertools import chain, combinations, permutations

import numpy as np
import pytest

from bench.exact_edges import all_scores, exact_uniform_edges
from infinimix import BlockmodelBayesNet
from infinimix.kernels.compile import entry
from infinimix.networks import sample_network
from infinimix.networks.engine import layer_tables, layers, orders
from infinimix.networks.engine.blocks import ChainState, Known, new_prior, new_state
from infinimix.networks.engine.candidates import full_layout
from infinimix.networks.engine.chain import new_model
from infinimix.networks.engine.constants import Constants
from infinimix.networks.engine.graphs import to_adjacency
from infinimix.networks.engine.order_jumps import jump_orders, list_orders
from infinimix.networks.engine.scores import discrete_data, new_cache
from tests.oracle.networks import World, log_discrete, marginals, table
from tests.plain import plain

CARDS = np.array([2, 3, 2, 2, 2])
# Runs of 2,000 graphs with ten seeds are off by .023 (root of the mean square) in the worst edge,
# so those of 10,000 by .0103: a gap of .055 is five of these, and 6e-7 an edge. `INFINIMIX_SEEDS`
# draws twice as many, for which it is seven.
GRAPHS, NEAR = 20_000 if "INFINIMIX_SEEDS" in os.environ else 10_000, 0.055


def make_model(X, cards, prior="uniform", bonus=None):
    N = len(cards)
    data, layout = discrete_data(X, cards), full_layout(~np.eye(N, dtype=bool))
    known = Known(bonus=np.zeros((N, N)) if bonus is None else bonus)
    belief = new_prior(N, prior, True, (0.5, 1.0, 1.0), known=known, constants=Constants.empty(N))
    return new_model(data, layout, belief, new_cache(data, layout))


def subsets(nodes):
    return chain.from_iterable(combinations(nodes, k) for k in range(len(nodes) + 1))


def gap_of(d):
    weights = np.arange(1, layer_tables.WIDEST + 1) ** -layer_tables.DECAY
    return weights[d - 1] / weights.sum() if 1 <= d <= layer_tables.WIDEST else 0.0


def slow_sum(weight, t, c, candidates, kept):
    """The sum over the parents of c below it, by plain enumeration."""
    total = 0.0
    for S in subsets([i for i in candidates if t[i] < t[c]]):
        parents = sorted((*S, *kept))
        if all(t[i] < t[c] for i in parents) and len(parents) <= layer_tables.MOST_DRAWN:
            above = max((t[i] for i in parents), default=-1)
            total += weight(c, parents) * gap_of(t[c] - above)
    return total


def copied(state):
    return ChainState(*(part.copy() for part in state))


def posed(N, prior, seed):
    """A small table with log odds and classes, a model of it and a state, and what draws."""
    X, rng = table(seed, 30, CARDS[:N]), np.random.default_rng(seed)
    bonus = 0.5 * rng.standard_normal((N, N))
    model = make_model(X, CARDS[:N], prior, bonus)
    z = np.array([0, 0, 1, 1, 1][:N]) if prior == "blockmodel" else np.zeros(N, int)
    state = new_state(model.prior, model.layout, np.zeros((N, N), int), z)
    return X, bonus, z, model, state, rng


@cache
def exact_edges(N, prior, seed):
    X, bonus, z, *_ = posed(N, prior, seed)
    states, w = World(X, CARDS[:N]).posterior(prior, bonus=bonus)
    w = np.where([s[1] == tuple(z) for s in states], w, 0.0)
    return marginals(states, w / w.sum())[0]


def test_sums_over_sets_of_parents_are_those_of_plain_loops():
    """Node 4 has the parent 0, which is not among its candidates, so it draws few and keeps 0."""
    X, N = table(5, 40, CARDS), 5
    model = make_model(X, CARDS)
    A = np.zeros((N, N), int)
    A[0, 4] = A[1, 4] = A[2, 3] = 1
    state = new_state(model.prior, model.layout, A, np.zeros(N, int))
    order = np.array([[1, 2, 3, 4], [0, 2, 3, 4], [0, 1, 3, 4], [0, 1, 2, 4], [1, 2, 3, -1]])
    own, rng = layer_tables.new_layers(order, 6), np.random.default_rng(2)
    layers.redraw_layers(model, copied(state), own, 0, 1.0, rng)  # fills the tables of this state

    @cache
    def score(c, parents):
        return log_discrete(X, CARDS, c, parents, 0.5)

    def weight(c, parents):
        kept = [0] if c == 4 else []
        drawn = subsets([i for i in order[c] if i >= 0])
        best = max(score(c, tuple(sorted((*S, *kept)))) for S in drawn)
        return np.exp(score(c, tuple(parents)) - best)  # times exp(TOP) in the tables

    def sums(v, p):
        own.t[v] = p
        return [
            slow_sum(weight, own.t, c, [i for i in order[c] if i >= 0], [0] if c == 4 else [])
            for c in range(N)
        ]

    weigh_own, weigh_child = plain(layers.weigh_own), plain(layers.weigh_child)
    for _ in range(10):
        own.t[:] = rng.integers(6, size=N)
        v = int(rng.integers(N))
        before = own.t.copy()
        top = int(np.delete(own.t, v).max()) + 1
        weigh_own(model, own, v, top, top + 1)
        mine = own.levels[layer_tables.VALUES, : top + 1] / np.exp(layer_tables.TOP)
        slow = np.array([sums(v, p) for p in range(top + 1)])
        own.t[:] = before
        np.testing.assert_allclose(mine, slow[:, v], rtol=1e-9, atol=1e-12)
        for c in range(N):
            if c != v:
                later = weigh_child(model, own, c, v)
                fast = np.r_[own.levels[layer_tables.VALUES, : before[c]], later]
                fast /= np.exp(layer_tables.TOP)
                np.testing.assert_allclose(fast, slow[: before[c] + 1, c], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(("N", "prior"), [(4, "sparse"), (4, "blockmodel"), (5, "uniform")])
def test_graphs_drawn_by_levels_alone_have_the_posterior_of_the_enumeration(N, prior, seed):
    """With three candidates each, and the classes fixed: one move, so every graph is reached.

    Roles do not move here, so the block prior is that of one partition.
    """
    *_, model, state, rng = posed(N, prior, seed)
    order = np.array([[i for i in range(N) if i != c] for c in range(N)])
    own = layer_tables.new_layers(order, N + 1)
    graphs = np.empty((GRAPHS, *state.pa.shape), state.pa.dtype)
    redraw = entry(layers.redraw_layers, model, state, own, 1, 1.0, rng)
    for k in range(GRAPHS):
        redraw(model, state, own, 1, 1.0, rng)
        graphs[k] = state.pa
    edges = to_adjacency(graphs).mean(axis=0)
    assert np.abs(edges - exact_edges(N, prior, seed)).max() < NEAR


@pytest.mark.parametrize(("N", "prior"), [(4, "sparse"), (4, "blockmodel"), (5, "uniform")])
@pytest.mark.parametrize("listed", ["all orders", "three orders"])
def test_jumps_along_listed_orders_leave_the_posterior_of_the_enumeration(N, prior, listed, seed):
    """Jumps alone if all orders are listed, so that every graph is reached; else besides levels.

    A jump needs the tables of its state, which `redraw_layers` fills; for jumps alone it then moves
    a copy.
    """
    *_, model, state, rng = posed(N, prior, seed)
    others = np.array([[i for i in range(N) if i != c] for c in range(N)])
    own = layer_tables.new_layers(others, N + 1)
    graphs = np.empty((GRAPHS, *state.pa.shape), state.pa.dtype)
    ranks = np.array(list(permutations(range(N))))
    alone = listed == "all orders"
    orders = list_orders(ranks if alone else ranks[::7][:3], others)
    moved = copied(state) if alone else state
    redraw = entry(layers.redraw_layers, model, state, own, 1, 1.0, rng)
    jump = entry(jump_orders, model, state, own, orders, 1, rng)
    for k in range(GRAPHS):
        if alone:
            for part, now in zip(moved, state, strict=True):
                part[:] = now
        redraw(model, moved, own, 0 if alone else 1, 1.0, rng)
        jump(model, state, own, orders, 1, rng)
        graphs[k] = state.pa
    edges = to_adjacency(graphs).mean(axis=0)
    assert np.abs(edges - exact_edges(N, prior, seed)).max() < NEAR


def test_sums_over_orders_without_logarithms_are_those_with_them():
    *_, model, state, rng = posed(5, "blockmodel", 3)
    room = orders.new_orders(5, 6, 13)
    orders.draw_odds(model.prior, state, room.odds, rng)
    assert orders.fill_tables(model, state, room, 1.0)
    plain = np.log(room.first)
    for c in range(5):
        top = orders.weigh_family(model, state.z, room, c)
        orders.add_subsets(room.logs[c], room.sums[c], top)
    orders.weigh_orders(room)
    members = np.array([[U >> c & 1 for c in range(5)] for U in range(32)])
    np.testing.assert_allclose(plain, room.first - members @ room.sums[:, -1], rtol=1e-9, atol=1e-9)


def test_graphs_are_drawn_where_a_family_is_far_worse_than_children_as_parents_would_be():
    """Four copies of one column: without parents it is 900 nats worse than with a copy."""
    X = np.repeat(np.random.default_rng(0).integers(4, size=(700, 1)), 4, axis=1)
    cards, N = np.full(4, 4), 4
    model, rng = make_model(X, cards), np.random.default_rng(1)
    order = np.array([[i for i in range(N) if i != c] for c in range(N)])
    A = np.zeros((N, N), int)
    A[0, 1:] = 1
    state = new_state(model.prior, model.layout, A, np.zeros(N, int))
    own, first = layer_tables.new_layers(order, N + 1), set()
    for _ in range(200):
        assert layers.redraw_layers(model, state, own, 1, 1.0, rng)
        first.add(int(np.flatnonzero(to_adjacency(state.pa).sum(axis=0) == 0)[0]))
    assert first == set(range(N))  # each of them is the root now and then


@pytest.mark.skipif("INFINIMIX_SEEDS" not in os.environ, reason="takes half a minute")
@pytest.mark.parametrize("sizes", [(5, 5, 4)])
def test_chains_over_14_nodes_have_the_exact_edge_probabilities(sizes, seed):
    net = sample_network(sizes, random_state=seed)
    drawn = net.sample(75, random_state=seed)
    X = np.stack([np.unique(x, return_inverse=True)[1] for x in drawn.T], axis=1)
    N = X.shape[1]
    exact = exact_uniform_edges(all_scores(X, X.max(axis=0) + 1), N)  # the categories there are
    model = BlockmodelBayesNet(
        prior="uniform", columns="categorical", max_parents=N, n_iter=8000, random_state=seed
    ).fit(X)
    assert np.abs(model.edge_marginals_ - exact).max() < 0.05
