"""Each move leaves the posterior as it is: start from exact draws, move once, count.

Three nodes, all 25 graphs x 5 partitions enumerated. If a move is right, states after it are draws
from the posterior again; chi-squared over states with an expected count of at least 5 then exceeds
its 1e-6 quantile with a probability of 1e-6, however many draws there are: `INFINIMIX_SEEDS` makes
them 4,000, which sees smaller errors.

Moves are called by the kernels that the chains call, so that nothing is compiled for these tests.
"""

import os
from functools import cache

import numpy as np
import pytest
from scipy.stats import chi2

from infinimix.networks.engine import (
    class_moves,
    graph_moves,
    layer_tables,
    layers,
    node_swaps,
    orders,
    relocation,
    reversal,
    set_moves,
    sites,
)
from infinimix.networks.engine.blocks import ChainState, Known, new_prior, new_state
from infinimix.networks.engine.candidates import full_layout
from infinimix.networks.engine.chain import new_model
from infinimix.networks.engine.constants import Constants
from infinimix.networks.engine.graphs import to_adjacency
from infinimix.networks.engine.scores import discrete_data, new_cache
from tests.oracle.networks import World, log_discrete, table
from tests.plain import typed_once

CARDS = np.array([2, 3, 2])
X = table(3, 12, CARDS)
BONUS = np.array([[0.0, 0.7, 0.0], [0.0, 0.0, -0.4], [0.3, 0.0, 0.0]])
ALL = ~np.eye(3, dtype=bool)
DRAWS = 4000 if "INFINIMIX_SEEDS" in os.environ else 1500
ROOM = orders.new_orders(3, 4, 3)
SETS = np.array([[2, 1], [0, 2], [1, -1]])  # 0 -> 2 is no strong candidate
LEVELS = layer_tables.new_layers(SETS, 4)

MOVES = {  # a kernel, and what it takes between state and random numbers
    "pairs": (graph_moves.visit_pairs, 1.0),
    "edges": (sites.toggle_edges, 1.0),
    "sets": (set_moves.redraw_set, 1.0),
    "reversal": (reversal.reverse_edge, 1.0),
    "relocation": (relocation.relocate_some, 1.0),
    "names": (node_swaps.swap_nodes, 1.0),
    "orders": (orders.redraw, ROOM, 2, 1.0),
    "layers": (layers.redraw_layers, LEVELS, 2, 1.0),
    "class": (class_moves.visit_classes,),
    "swap": (class_moves.swap_classes,),
    "split and merge": (class_moves.split_merge,),
}


def canonical(z):
    seen = {}
    return tuple(seen.setdefault(int(k), len(seen)) for k in z)


def check_counts(counts, expected):
    many = expected >= 5
    observed = np.append(counts[many], counts[~many].sum())
    expected = np.append(expected[many], expected[~many].sum())
    statistic = ((observed - expected) ** 2 / expected).sum()
    assert statistic < chi2.isf(1e-6, len(expected) - 1)


@pytest.mark.parametrize("per_partition", [True, False])
@pytest.mark.parametrize("move", MOVES)
def test_a_move_leaves_the_posterior_as_it_is(move, per_partition):
    states, w = World(X, CARDS).posterior(
        "blockmodel", alpha=1.5, beta=(1.0, 1.0), per_partition=per_partition, bonus=BONUS
    )
    data, layout = discrete_data(X, CARDS), full_layout(ALL)
    prior = new_prior(
        3,
        "blockmodel",
        per_partition,
        (1.5, 1.0, 1.0),
        known=Known(bonus=BONUS),
        constants=Constants.empty(3),
    )
    model = new_model(data, layout, prior, new_cache(data, layout))
    rng = np.random.default_rng(7)
    place = {(A.tobytes(), z): k for k, (A, z, _) in enumerate(states)}
    counts = np.zeros(len(states))
    kernel, *given = MOVES[move]
    step = typed_once(kernel)

    @cache
    def fresh(graph, z):
        return new_state(prior, layout, np.frombuffer(graph, int).reshape(3, 3), np.array(z))

    for k in rng.choice(len(states), DRAWS, p=w):
        A, z, _ = states[k]
        state = ChainState(*(part.copy() for part in fresh(A.tobytes(), z)))
        step(model, state, *given, rng)
        after = to_adjacency(state.pa).astype(int)
        counts[place[after.tobytes(), canonical(state.z)]] += 1
        again = fresh(after.tobytes(), tuple(state.z))  # the counts that it keeps are right
        assert (again.plus == state.plus).all()
        assert (again.m == state.m).all()
        assert again.key == state.key
    check_counts(counts, DRAWS * w)


def test_two_weak_choices_keep_their_odds_when_a_strong_one_would_close_a_cycle():
    """With many rows log weights differ by thousands, and exp(-708) is the smallest number.

    0 -> 1 -> 2 is required, so 2 -> 0, whose log weight is 2000, is always struck off; what is
    left, 0 -> 2 or nothing, has log odds of a few nats. Five standard errors: 6e-7.
    """
    bonus = np.zeros((3, 3))
    bonus[0, 1] = bonus[1, 2] = np.inf
    bonus[2, 0], bonus[0, 2] = 2000.0, 3.0
    data, layout = discrete_data(X, CARDS), full_layout(ALL)
    constants = Constants.empty(3)
    prior = new_prior(3, "uniform", False, known=Known(bonus=bonus), constants=constants)
    model = new_model(data, layout, prior, new_cache(data, layout))
    state = new_state(prior, layout, np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]]), np.zeros(3, int))
    gain = log_discrete(X, CARDS, 2, [0, 1], 0.5) - log_discrete(X, CARDS, 2, [1], 0.5)
    p = 1.0 / (1.0 + np.exp(-gain - 3.0))
    rng, n, seen = np.random.default_rng(3), 4000, 0
    visit = typed_once(graph_moves.visit_pairs)
    for _ in range(n):
        visit(model, state, 1.0, rng)
        seen += int(to_adjacency(state.pa)[0, 2])
    assert abs(p - 0.5) > 0.1
    assert abs(seen / n - p) < 5 * np.sqrt(p * (1 - p) / n)
