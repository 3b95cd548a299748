"""Sums without logarithms, and sets listed class by class: against those with them, or plain loops.

A move whose sums are off leaves another posterior than that of `test_network_moves`; here small
errors show at once, and numbers that are out of range are met on purpose.
"""

from math import lgamma

import numpy as np
import pytest

from infinimix.kernels.compile import entry
from infinimix.networks.engine import link_weights, orders, relocation
from infinimix.networks.engine.candidates import full_layout
from infinimix.networks.engine.graphs import to_adjacency
from infinimix.networks.engine.link_weights import (
    CHILD_CODE,
    LOGS,
    PARENT_CODE,
    PLACES,
    PLAIN,
)
from infinimix.networks.engine.model import (
    CHILD_COUNT,
    CHILD_STRIDE,
    CHILDREN,
    INTO,
    OUT,
    PARENT_COUNT,
    PARENT_STRIDE,
    PARENTS,
)
from infinimix.networks.engine.ordered_alone import Others, list_alone
from infinimix.networks.engine.plain_orders import add_plainly
from infinimix.networks.learning.ordered_chains import OrderedChain
from infinimix.networks.learning.problem import Problem
from tests.oracle.networks import table
from tests.oracle.test_layers import CARDS, GRAPHS, NEAR, exact_edges, posed
from tests.plain import plain


@pytest.mark.parametrize("size", [0, 1, 2, 3, 5])
def test_sums_over_subsets_are_those_of_plain_loops(size):
    values = np.random.default_rng(size).random(1 << size)
    sums = values.copy()
    plain(add_plainly)(sums)
    slow = [sum(values[t] for t in range(s + 1) if t & ~s == 0) for s in range(1 << size)]
    np.testing.assert_allclose(sums, slow, rtol=1e-12)


@pytest.mark.parametrize("k", [0, 1, 2])
def test_links_weigh_the_same_with_and_without_logarithms(k):
    """Node 3 is out of its class; without the row of plain weights nothing is left of the sums."""
    *_, model, state, rng = posed(5, "blockmodel", 4)
    plain(relocation.draw_own)(model.prior, state, model.tables, rng)
    count, kids = plain(relocation.cut)(model, state, 3, rng)
    size = plain(relocation.weigh_parents)(model, state, 3, count, 1.0)
    kids = plain(relocation.weigh_children)(model, state, 3, kids, size, 1.0)
    plain(relocation.shift_node)(model.prior, state, 3, -1)
    plain(relocation.count_links)(state, 3, model.room[OUT], model.room[INTO])
    K, room = len(state.m), model.room
    for nodes, n, many, stride, code in (
        (room[PARENTS], size, room[PARENT_COUNT], room[PARENT_STRIDE], PARENT_CODE),
        (room[CHILDREN], kids, room[CHILD_COUNT], room[CHILD_STRIDE], CHILD_CODE),
    ):
        plain(link_weights.number_sets)(state.z, nodes, n, many, stride, model.codes[code], K)
    weigh, found, places = plain(link_weights.weigh_class), [], []
    for _ in range(2):
        found.append(weigh(model, state, k, size, kids))
        places.append(model.sheets[PLACES, : 1 << kids] / model.sheets[PLACES, : 1 << kids].sum())
        model.sheets[PLAIN + LOGS] = 0.0
    assert size >= 3
    assert kids >= 3
    assert [way for _, way in found] == [True, False]
    assert found[0][0] == pytest.approx(found[1][0], abs=1e-9)
    np.testing.assert_allclose(*places, rtol=1e-9, atol=1e-12)


def test_orders_are_summed_with_logarithms_where_odds_lift_sets_that_were_dropped():
    *_, model, state, _ = posed(5, "blockmodel", 3)
    room = orders.new_orders(5, 6, 13)
    for odds, without in ((20.0, True), (50.0, False), (-300.0, True)):
        room.odds[:] = odds
        assert orders.fill_tables(model, state, room, 1.0) == without


@pytest.mark.parametrize("prior", ["uniform", "sparse", "blockmodel"])
def test_whole_graphs_have_their_posterior(prior, seed):
    """Tables of the uniform prior are filled once, and weights without odds once for all priors."""
    N = 5 if prior == "blockmodel" else 4
    *_, model, state, rng = posed(N, prior, seed)
    room, graphs = orders.new_orders(N, N + 1, 13), np.empty((GRAPHS, *state.pa.shape), np.uint64)
    redraw = entry(orders.redraw, model, state, room, 2, 1.0, rng)
    redraw(model, state, room, 0, 0.5, rng)  # another power, whose tables must not stay
    for k in range(GRAPHS):
        redraw(model, state, room, 2, 1.0, rng)
        graphs[k] = state.pa
    edges = to_adjacency(graphs).mean(axis=0)
    assert np.abs(edges - exact_edges(N, prior, seed)).max() < NEAR


def test_sets_of_parents_of_a_node_alone_have_the_weights_of_their_numbers_in_each_class():
    X, z = table(3, 20, CARDS), np.array([0, 1, 1, 0, -1])
    b1, b2 = 0.7, 2.0
    problem = Problem(
        X, np.zeros(X.shape, bool), CARDS, full_layout(~np.eye(5, dtype=bool)), prior="ordered",
        beta=(b1, b2),
    )  # fmt: skip
    chain = OrderedChain(problem, np.random.SeedSequence(0), False)
    sums, state = chain.sums, chain.state
    state.z[:] = z
    others = Others(4, 2, np.array([2, 2, 0]), np.zeros((2, 5)), np.zeros(7), np.zeros(7, int))
    plain(list_alone)(sums, state, others)

    def log_share(n, k):
        parts = lgamma(b1 + k) + lgamma(b2 + n - k) - lgamma(b1 + b2 + n)
        return parts - lgamma(b1) - lgamma(b2) + lgamma(b1 + b2)

    assert others.ends[:3].tolist() == [1, 4, 16]
    assert len({int(word) for word in sums.words[:16]}) == 16
    for word, weight in zip(sums.words[:16], sums.prods[:16], strict=True):
        members = [[k for k in range(4) if int(word) >> k & 1 and z[k] == a] for a in (0, 1)]
        slow = sum(log_share(2, len(own)) - log_share(2, 0) for own in members)
        assert np.log(weight) == pytest.approx(slow, abs=1e-9)
    assert all(int(word) & 0b0110 == 0 for word in sums.words[:4])  # class 0 comes first
    assert sums.blocks[2, 0] == pytest.approx(np.exp(log_share(2, 0)))
