"""Each move of the ordered chain leaves the posterior as it is, as in `test_network_moves`.

A graph, classes and an order are drawn from the enumeration, edge probabilities given these; after
a move on what is left when the graph is summed out, the graph is drawn again.

A whole sweep is made by the kernel that chains call, which contains the moves. By themselves these
run as plain Python, here and in moves of the thesis: compiling them for this test alone took 16
seconds. Chains of the thesis, compiled, meet the enumeration in `test_published_networks`.
"""

import numpy as np
import pytest

from infinimix.networks.engine import ordered_moves, ordered_sites
from infinimix.networks.engine.candidates import full_layout
from infinimix.networks.engine.graphs import from_adjacency, to_adjacency
from infinimix.networks.engine.ordered import N_CLASSES, draw_eta, draw_graph, log_sums
from infinimix.networks.engine.ordered_chain import advance_ordered
from infinimix.networks.learning.ordered_chains import OrderedChain, OrderedSitesChain
from infinimix.networks.learning.problem import Problem
from tests.oracle.networks import World
from tests.oracle.test_network_moves import ALL, BONUS, CARDS, DRAWS, X, check_counts
from tests.plain import plain


def compared(chain, move, *given):
    """A move that is told the sum of all graphs before it, and tells what it is afterwards."""
    before = plain(log_sums)(chain.sums, chain.state)
    after = plain(move)(chain.sums, chain.state, *given, before, chain.rng)
    assert after == pytest.approx(plain(log_sums)(chain.sums, chain.state), rel=1e-12, abs=1e-12)


MOVES = {
    "sweep": lambda c: advance_ordered(c.sums, c.state, 1, c.record, False, 1, c.rng),
    "swap of classes": lambda c: compared(c, ordered_moves.move_class, True),
    "jump of a class": lambda c: compared(c, ordered_moves.move_class, False),
    "swap of nodes": lambda c: compared(c, ordered_moves.swap_nodes),
    "relocation": lambda c: plain(ordered_moves.relocate)(
        c.sums, c.state, int(c.rng.integers(3)), c.rng
    ),
}


@pytest.mark.parametrize("move", MOVES)
def test_a_move_leaves_the_posterior_as_it_is(move):
    states, w = World(X, CARDS).posterior("ordered", alpha=1.5, bonus=BONUS)
    problem = Problem(
        X, np.zeros(X.shape, bool), CARDS, full_layout(ALL), prior="ordered", alpha=1.5, bonus=BONUS
    )
    chain = OrderedChain(problem, np.random.SeedSequence(0), False)
    sums, state, rng = chain.sums, chain.state, np.random.default_rng(11)
    chain.rng = rng
    ranks = [tuple(o[k] for k in z) for _, z, o in states]
    place = {(A.tobytes(), ranks[k]): k for k, (A, _, _) in enumerate(states)}
    counts = np.zeros(len(states))
    for k in rng.choice(len(states), DRAWS, p=w):
        state.z[:], state.info[N_CLASSES] = ranks[k], max(ranks[k]) + 1
        state.pa[:] = from_adjacency(states[k][0])
        plain(draw_eta)(sums, state, rng)
        MOVES[move](chain)
        plain(draw_graph)(sums, state, rng)
        after = to_adjacency(state.pa).astype(int)
        counts[place[after.tobytes(), tuple(int(r) for r in state.z)]] += 1
    check_counts(counts, DRAWS * w)


SITES = {
    "edges": plain(ordered_sites.toggle_ordered),
    "node": lambda s, r, rng: plain(ordered_sites.place_node)(s, r, int(rng.integers(3)), rng),
}


@pytest.mark.parametrize("move", SITES)
def test_a_move_of_the_thesis_leaves_the_posterior_as_it_is(move):
    states, w = World(X, CARDS).posterior("ordered", alpha=1.5, bonus=BONUS)
    layout = full_layout(ALL)
    problem = Problem(
        X, np.zeros(X.shape, bool), CARDS, layout, prior="ordered", alpha=1.5, bonus=BONUS,
        published=True,
    )  # fmt: skip
    chain = OrderedSitesChain(problem, np.random.SeedSequence(0), False)
    sums, state, rng = chain.sums, chain.state, np.random.default_rng(11)
    ranks = [tuple(o[k] for k in z) for _, z, o in states]
    place = {(A.tobytes(), ranks[k]): k for k, (A, _, _) in enumerate(states)}
    counts = np.zeros(len(states))
    for k in rng.choice(len(states), DRAWS, p=w):
        A = states[k][0]
        state.z[:], state.info[N_CLASSES] = ranks[k], max(ranks[k]) + 1
        state.pa[:] = from_adjacency(A)
        for c in range(3):
            state.fam[c] = sum(1 << int(layout.pos[c, i]) for i in np.flatnonzero(A[:, c]))
        SITES[move](sums, state, rng)
        after = to_adjacency(state.pa).astype(int)
        assert state.info[N_CLASSES] == state.z.max() + 1
        counts[place[after.tobytes(), tuple(int(r) for r in state.z)]] += 1
    check_counts(counts, DRAWS * w)
