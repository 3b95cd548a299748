"""Each move of the ordered chain leaves the posterior as it is, as in `test_network_moves`.

A graph, classes and an order are drawn from the enumeration, edge probabilities given these; after
a move on what is left when the graph is summed out, the graph is drawn again.
"""

import numpy as np
import pytest
from scipy.stats import chi2

from infinimix.networks.engine import ordered_moves
from infinimix.networks.engine.candidates import full_layout
from infinimix.networks.engine.graphs import from_adjacency, to_adjacency
from infinimix.networks.engine.ordered import N_CLASSES, draw_eta, draw_graph
from infinimix.networks.learning.ordered_chains import OrderedChain
from infinimix.networks.learning.problem import Problem
from tests.oracle.networks import World
from tests.oracle.test_network_moves import ALL, BONUS, CARDS, DRAWS, X

MOVES = {
    "relocation": lambda s, r, rng: ordered_moves.relocate(s, r, int(rng.integers(3)), rng),
    "swap of classes": lambda s, r, rng: ordered_moves.move_class(s, r, True, rng),
    "jump of a class": lambda s, r, rng: ordered_moves.move_class(s, r, False, rng),
    "swap of nodes": lambda s, r, rng: ordered_moves.swap_nodes(s, r, rng),
}


@pytest.mark.parametrize("move", MOVES)
def test_a_move_leaves_the_posterior_as_it_is(move):
    states, w = World(X, CARDS).posterior("ordered", alpha=1.5, bonus=BONUS)
    problem = Problem(
        X, np.zeros(X.shape, bool), CARDS, full_layout(ALL), prior="ordered", alpha=1.5, bonus=BONUS
    )
    chain = OrderedChain(problem, np.random.SeedSequence(0), False)
    sums, state, rng = chain.sums, chain.state, np.random.default_rng(11)
    ranks = [tuple(o[k] for k in z) for _, z, o in states]
    place = {(A.tobytes(), ranks[k]): k for k, (A, _, _) in enumerate(states)}
    counts = np.zeros(len(states))
    for k in rng.choice(len(states), DRAWS, p=w):
        state.z[:], state.info[N_CLASSES] = ranks[k], max(ranks[k]) + 1
        state.pa[:] = from_adjacency(states[k][0])
        draw_eta(sums, state, rng)
        MOVES[move](sums, state, rng)
        draw_graph(sums, state, rng)
        after = to_adjacency(state.pa).astype(int)
        counts[place[after.tobytes(), tuple(int(r) for r in state.z)]] += 1
    expected = DRAWS * w
    many = expected >= 5
    observed = np.append(counts[many], counts[~many].sum())
    expected = np.append(expected[many], expected[~many].sum())
    assert ((observed - expected) ** 2 / expected).sum() < chi2.isf(1e-6, len(expected) - 1)
