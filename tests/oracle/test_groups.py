"""Families of a few nodes redrawn together: orders against a plain count, posteriors against exact.

Calls of `redraw_groups` follow those of `redraw_layers`, which fills the tables; where groups are
tested alone, that one makes no rounds and moves a copy.
"""

from itertools import permutations

import numpy as np
import pytest

from infinimix.kernels.compile import entry
from infinimix.networks.engine import groups, layer_tables, layers
from infinimix.networks.engine.graphs import ancestors, to_adjacency
from tests.oracle.test_layers import copied, exact_edges, posed


def all_others(N):
    return np.array([[i for i in range(N) if i != c] for c in range(N)])


def test_orders_of_a_group_are_those_that_close_no_cycle():
    """An order suits a graph if no member is reached from a later one, through whomever."""
    *_, model, state, rng = posed(5, "uniform", 1)
    own, group = layer_tables.new_layers(all_others(5), 6), groups.new_group(5, 4, 3)
    seen = set()
    for _ in range(60):
        layers.redraw_layers(model, state, own, 2, 1.0, rng)
        n = groups.choose_group(own, group, rng)
        assert n == 3
        assert len(set(group.nodes)) == 3
        groups.find_reach(state, group, n)
        for k, c in enumerate(group.nodes):
            groups.weigh_needs(model, own, group, n, k)
            group.sets[0, k] = layer_tables.to_set(model, own, c, state.fam[c])
        reached = ancestors(to_adjacency(state.pa))[np.ix_(group.nodes, group.nodes)]
        plain = sum(
            not any(reached[b, a] for k, a in enumerate(order) for b in order[k + 1 :])
            for order in permutations(range(3))
        )
        assert groups.orders_of(group, n, group.sets[0]) == plain
        seen.add(plain)
    assert len(seen) > 2


@pytest.mark.parametrize(("N", "prior"), [(4, "sparse"), (4, "blockmodel"), (5, "uniform")])
@pytest.mark.parametrize("size", ["all", "three"])
def test_groups_that_are_redrawn_leave_the_posterior_of_the_enumeration(N, prior, size, seed):
    """Groups of up to all nodes alone, so that every graph is reached; of three beside levels.

    Means of 20,000 graphs, correlated over at most 10: five standard errors of .011.
    """
    *_, model, state, rng = posed(N, prior, seed)
    own, n, edges = layer_tables.new_layers(all_others(N), N + 1), 20_000, np.zeros((N, N))
    alone = size == "all"
    group = groups.new_group(N, N - 1, N if alone else 3)
    moved, accepted = copied(state) if alone else state, 0
    redraw = entry(layers.redraw_layers, model, state, own, 1, 1.0, rng)
    again = entry(groups.redraw_groups, model, state, own, group, 1, rng)
    for _ in range(n):
        if alone:
            for part, now in zip(moved, state, strict=True):
                part[:] = now
        redraw(model, moved, own, 0 if alone else 1, 1.0, rng)
        accepted += again(model, state, own, group, 1, rng)
        edges += to_adjacency(state.pa)
    assert accepted > 0.2 * n
    assert np.abs(edges / n - exact_edges(N, prior, seed)).max() < 0.055


@pytest.mark.parametrize("prior", ["sparse", "blockmodel"])
def test_parents_that_are_no_candidates_are_kept(prior, seed):
    """Two candidates of three: who has the third as a parent keeps it, and groups go round it."""
    *_, model, state, rng = posed(4, prior, seed)
    order = all_others(4)[:, :2]
    own, group = layer_tables.new_layers(order, 5), groups.new_group(4, 2, 3)
    outside = np.array([[i != c and i not in order[c] for c in range(4)] for i in range(4)])
    for _ in range(300):
        layers.redraw_layers(model, state, own, 1, 1.0, rng)
        before = to_adjacency(state.pa)
        groups.redraw_groups(model, state, own, group, 1, rng)
        after = to_adjacency(state.pa)
        assert np.array_equal(before[outside], after[outside])
        assert not np.trace(ancestors(after))
