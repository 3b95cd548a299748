"""Undirected graphs and dynamic networks against enumeration of all graphs and partitions."""

from functools import cache

import numpy as np
import pytest
from scipy.stats import chi2

from infinimix.networks.engine import class_moves, unconstrained
from infinimix.networks.engine.blocks import DYNAMIC, UNDIRECTED, ChainState, new_state
from infinimix.networks.engine.graphs import to_adjacency
from infinimix.networks.engine.hyper import SWEEPS
from infinimix.networks.engine.unconstrained import unconstrained_layout
from infinimix.networks.learning.unconstrained_chains import (
    UnconstrainedChain,
    UnconstrainedProblem,
)
from tests.oracle.free_networks import dynamic_world, undirected_world
from tests.oracle.networks import marginals, table
from tests.oracle.test_network_moves import DRAWS, canonical
from tests.plain import typed_once

CARDS = np.array([2, 3, 2, 2])
PRIORS = ("blockmodel", "sparse", "uniform")
HYPER = {"alpha": 0.7, "beta": (1.0, 2.0)}


def problem(shape, n=24, N=None, **options):
    """Return a small world and the problem that has the same posterior."""
    N = N or (4 if shape == UNDIRECTED else 3)
    X, cards = table(n, n + 1, CARDS[:N]), CARDS[:N]
    if shape == DYNAMIC:
        X[1:, 0] = np.where(np.arange(n) % 3 > 0, X[:-1, 1] % 2, X[1:, 0])
        world = dynamic_world(X[:-1], X[1:], cards)
        X, cards = np.hstack([X[1:], X[:-1]]), np.tile(cards, 2)
    else:
        world = undirected_world(X, cards)
    allowed = np.ones((N, N), bool)
    if shape == UNDIRECTED:
        np.fill_diagonal(allowed, False)
    layout = unconstrained_layout(allowed, shape, N)
    return world, UnconstrainedProblem(
        X, np.zeros(X.shape, bool), cards, layout, shape=shape, burn_in=300, **options
    )


# 12,000 sweeps with autocorrelation times of at most 1.5, say 2: standard errors below
# .5 / sqrt(6000) = .0065; a gap of .035 in one of 15 figures has a probability below 15 x 8e-8.
@pytest.mark.parametrize("shape", [UNDIRECTED, DYNAMIC])
@pytest.mark.parametrize("prior", PRIORS)
def test_chains_visit_states_as_often_as_they_should(prior, shape):
    world, given = problem(shape, prior=prior, n_iter=12_000, **HYPER)
    states, w = world.posterior(prior, **HYPER)
    edges, together = marginals(states, w)
    record = UnconstrainedChain(given, np.random.SeedSequence(0), apart=True).run()
    assert np.abs(record.edges / record.counters[SWEEPS] - edges).max() < 0.035
    assert np.abs(record.together / record.counters[SWEEPS] - together).max() < 0.035
    logs = {(A.tobytes(), z): p for (A, z, _), p in zip(states, np.log(w), strict=True)}
    graphs = to_adjacency(record.graphs).astype(int)
    kept = [logs[A.tobytes(), canonical(z)] for A, z in zip(graphs, record.classes, strict=True)]
    assert np.ptp(record.log_joint - kept) < 1e-8  # the log joint, up to a constant


MOVES = {
    "slots": (unconstrained.slot_gibbs, 1.0),
    "class": (class_moves.visit_classes,),
    "swap": (class_moves.swap_classes,),
    "split and merge": (class_moves.split_merge,),
}
BONUS = {
    UNDIRECTED: np.array([[0.0, 0.7, 0.0], [0.0, 0.0, -0.4], [0.0, 0.0, 0.0]]),
    DYNAMIC: np.array([[0.5, 0.7, 0.0], [0.0, -0.3, -0.4], [0.3, 0.0, 0.0]]),
}


# from exact draws, as in `test_network_moves`: a false alarm has a probability of 1e-6 in each case
@pytest.mark.parametrize("shape", [UNDIRECTED, DYNAMIC])
@pytest.mark.parametrize("move", MOVES)
def test_a_move_leaves_the_posterior_as_it_is(move, shape):
    world, given = problem(shape, 12, 3, alpha=1.5, bonus=BONUS[shape])
    states, w = world.posterior("blockmodel", 1.5, bonus=BONUS[shape])
    model = UnconstrainedChain(given, np.random.SeedSequence(0), apart=False).model
    rng, layout = np.random.default_rng(7), given.layout
    place = {(A.tobytes(), z): k for k, (A, z, _) in enumerate(states)}
    counts = np.zeros(len(states))
    kernel, *power = MOVES[move]
    step = typed_once(kernel)

    @cache
    def fresh(graph, z):
        A = np.frombuffer(graph, int).reshape(3, 3)
        return new_state(model.prior, layout, A, np.array(z))

    for k in rng.choice(len(states), DRAWS, p=w):
        A, z, _ = states[k]
        state = ChainState(*(part.copy() for part in fresh(A.tobytes(), z)))
        step(model, state, *power, rng)
        after = to_adjacency(state.pa).astype(int)
        counts[place[after.tobytes(), canonical(state.z)]] += 1
        again = fresh(after.tobytes(), tuple(state.z))  # the counts it keeps are right
        assert (again.plus == state.plus).all()
        assert (again.fam == state.fam).all()
    expected = DRAWS * w
    many = expected >= 5
    gap = np.append(counts[many] - expected[many], counts[~many].sum() - expected[~many].sum())
    size = np.append(expected[many], max(expected[~many].sum(), 1.0))
    assert (gap**2 / size).sum() < chi2.isf(1e-6, len(gap) - 1)
