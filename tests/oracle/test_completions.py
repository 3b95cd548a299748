"""Missing cells of networks whose graphs may have cycles, against enumeration of completions."""

from itertools import product

import numpy as np
import pytest
from scipy.special import logsumexp

from infinimix import BlockmodelBayesNet
from infinimix.networks import BlockmodelDynamicNet
from infinimix.networks.engine.blocks import DYNAMIC, UNDIRECTED
from infinimix.networks.engine.families import NOT_SHARED
from infinimix.networks.engine.scores import compute_score, gaussian_data, new_cache
from infinimix.networks.engine.unconstrained import unconstrained_layout
from infinimix.networks.learning.completion import OWN_FAMILY
from infinimix.networks.learning.slices import first_log_probabilities, pair_rows, tie_slices
from infinimix.networks.learning.unconstrained_chains import (
    UnconstrainedChain,
    UnconstrainedProblem,
)
from tests.oracle.free_networks import dynamic_world, undirected_graphs
from tests.oracle.networks import World, log_discrete, marginals, table

pytestmark = pytest.mark.filterwarnings("ignore:Chains disagree")


def tally(chain, steps, cells):
    """Return how often each completion was there, by cells, and each edge, after a burn-in."""
    chain.advance(50, False)
    counts = {}
    for _ in range(steps):
        chain.advance(1, True)
        key = tuple(cells(chain).tolist())
        counts[key] = counts.get(key, 0) + 1
    return {k: v / steps for k, v in counts.items()}, chain.record.edges / steps


def dynamic_problem(X, holes, cards, sequences=None):
    before, now = pair_rows(len(X), sequences)
    ties = tie_slices(before, now, len(X))
    N = X.shape[1]
    if cards is not None:
        ties = ties._replace(start=first_log_probabilities(X, holes, cards, (0.5, NOT_SHARED)))
    layout = unconstrained_layout(np.ones((N, N), bool), DYNAMIC, N)
    return UnconstrainedProblem(
        ties.table(X), ties.table(holes), None if cards is None else np.tile(cards, 2), layout,
        prior="uniform", shape=DYNAMIC, rows=X, holes=holes, ties=ties, n_iter=10**4,
    )  # fmt: skip


# 1,500 completions with autocorrelation times of at most 6 (neighbouring cells of one column):
# standard errors below .5 / sqrt(250) = .032; a gap of .16 in one of 12 figures: below 12 x 6e-7
def test_cells_of_sequences_are_drawn_as_all_completions_weigh():
    cards = np.array([2, 2])
    X = table(3, 9, cards)
    X[1:, 0] = np.where(np.arange(8) % 4 > 0, X[:-1, 1], X[1:, 0])
    sequences = np.array([0, 0, 0, 0, 0, 1, 1, 1, 1])
    holes = np.zeros(X.shape, bool)
    holes[[2, 3, 5], [0, 0, 1]] = True  # two neighbours in time, and one in a first row
    given = dynamic_problem(X, holes, cards, sequences)
    logs, edges, fills, T = [], [], list(product(range(2), repeat=3)), X.copy()
    for fill in fills:
        T[holes] = fill
        before, now = pair_rows(len(T), sequences)
        world = dynamic_world(T[before], T[now], cards)
        edges.append(marginals(*world.posterior("uniform"))[0])
        logs.append(logsumexp(world.log_likelihood) + given.ties.start[1][fill[2]])
    p = np.exp(logs - logsumexp(logs))
    chain = UnconstrainedChain(given, np.random.SeedSequence(0), apart=False)
    seen, shares = tally(chain, 1500, lambda c: c.rows[holes])
    assert max(abs(seen.get(f, 0.0) - q) for f, q in zip(fills, p, strict=True)) < 0.16
    assert np.abs(shares - np.einsum("f,fij->ij", p, np.array(edges))).max() < 0.16
    assert np.array_equal(chain.X, given.ties.table(chain.rows))  # both copies of a row are one


# one variable that persists: p(cells) is proportional to the score of the completed rows, on a
# grid. 1,200 draws, autocorrelation below 3: errors of means below .05 of the spread
def test_numbers_of_sequences_are_drawn_from_their_density():
    rng = np.random.default_rng(0)
    X = np.zeros((14, 1))
    for t in range(1, 14):
        X[t] = 0.8 * X[t - 1] + 0.5 * rng.standard_normal()
    X = (X - X.mean()) / X.std()
    holes = np.zeros(X.shape, bool)
    holes[[0, 6], 0] = True
    given = dynamic_problem(X, holes, None)
    given.bonus = np.array([[np.inf]])  # persistence is required
    grid, T = np.linspace(-4.0, 4.0, 41), X.copy()
    logs = np.empty((41, 41))
    for (i, first), (j, later) in product(enumerate(grid), enumerate(grid)):
        T[[0, 6], 0] = first, later
        data = gaussian_data(given.ties.table(T))
        if i == j == 0:
            cache = new_cache(data, given.layout)
        score = compute_score(data, given.layout, cache, 0, np.uint64(1))
        logs[i, j] = score - 0.5 * first**2  # a first number is standard normal
    p = np.exp(logs - logs.max())
    p /= p.sum()
    chain = UnconstrainedChain(given, np.random.SeedSequence(0), apart=False)
    chain.advance(50, False)
    draws = []
    for _ in range(1200):
        chain.advance(1, True)
        draws.append(chain.rows[holes])
    for axis, drawn in enumerate(np.transpose(draws)):
        own = p.sum(axis=1 - axis)
        mean = own @ grid
        spread = np.sqrt(own @ (grid - mean) ** 2)
        assert abs(drawn.mean() - mean) < 0.25 * spread
        assert abs(drawn.std() / spread - 1.0) < 0.2


def test_cells_of_an_undirected_graph_are_drawn_given_their_neighbours():
    """There is no joint likelihood, so the chain itself is the reference: its stationary law."""
    cards = np.array([2, 2, 2])
    X = table(4, 10, cards)
    X[:, 1] = np.where(np.arange(10) % 4 > 0, X[:, 0], X[:, 1])
    holes = np.zeros(X.shape, bool)
    holes[[1, 5], [0, 1]] = True
    kernel, graphs, fills = markov_kernel(X, holes, cards)
    values, vectors = np.linalg.eig(kernel.T)
    law = np.real(vectors[:, np.argmax(values.real)])
    law = (law / law.sum()).reshape(len(graphs), len(fills))
    layout = unconstrained_layout(~np.eye(3, dtype=bool), UNDIRECTED, 3)
    given = UnconstrainedProblem(
        X, holes, cards, layout, prior="uniform", shape=UNDIRECTED, n_iter=10**4, ties=OWN_FAMILY
    )
    chain = UnconstrainedChain(given, np.random.SeedSequence(0), apart=False)
    seen, shares = tally(chain, 2500, lambda c: c.X[holes])
    # autocorrelation below 4: standard errors below .02
    assert max(abs(seen.get(f, 0.0) - q) for f, q in zip(fills, law.sum(axis=0), strict=True)) < 0.1
    edges = np.einsum("g,gij->ij", law.sum(axis=1), np.array(graphs))
    assert np.abs(shares - edges).max() < 0.1


def markov_kernel(X, holes, cards):
    """One sweep of the slots, then cells given parameters drawn given all rows, column by column.

    With one hole in a column the mean of its table is all that matters; tables are drawn given the
    rows as they were before any of the cells was drawn.
    """
    graphs, fills = list(undirected_graphs(3)), list(product(range(2), repeat=int(holes.sum())))
    place = {A.tobytes(): g for g, A in enumerate(graphs)}
    F, cells = len(fills), np.argwhere(holes)
    moves, draws = (np.zeros((len(graphs) * F,) * 2) for _ in range(2))
    for f, fill in enumerate(fills):
        T = X.copy()
        T[holes] = fill
        logs = [
            sum(log_discrete(T, cards, j, tuple(np.flatnonzero(A[:, j])), 0.5) for j in range(3))
            for A in graphs
        ]
        sweep = np.eye(len(graphs))
        for i, j in ((0, 1), (0, 2), (1, 2)):
            slot = np.zeros((len(graphs),) * 2)
            for g, A in enumerate(graphs):
                other = A.copy()
                other[i, j] = other[j, i] = 1 - A[i, j]
                h = place[other.tobytes()]
                slot[g, h] = 1.0 / (1.0 + np.exp(logs[g] - logs[h]))
                slot[g, g] = 1.0 - slot[g, h]
            sweep = sweep @ slot
        moves[f::F, f::F] = sweep
        for g, A in enumerate(graphs):
            for to, new in enumerate(fills):
                draws[g * F + f, g * F + to] = draw_probability(T, A, cells, new)
    return moves @ draws, graphs, fills


def draw_probability(T, A, cells, new):
    p, now = 1.0, T.copy()
    for (row, j), value in zip(cells[np.argsort(cells[:, 1])], new, strict=True):
        near = np.flatnonzero(A[:, j])
        alike = (T[:, near] == now[row, near]).all(axis=1)
        counts = np.bincount(T[alike, j], minlength=2) + 0.5
        p *= counts[value] / counts.sum()
        now[row, j] = value
    return p


def predictive(T, cards, A, rows, before=None):
    """P(row) under mean tables: each cell given its parents, in the row or in the row before."""
    own, p = T if before is None else before[0], np.ones(len(rows))
    above = rows if before is None else before[1]
    for j in range(len(cards)):
        near = np.flatnonzero(A[:, j])
        for k, row in enumerate(rows):
            alike = (own[:, near] == above[k, near]).all(axis=1)
            counts = np.bincount(T[alike, j], minlength=cards[j]) + 0.5
            p[k] *= counts[row[j]] / counts.sum()
    return p


# 80 pairs of a graph and a completion; predictions differ between pairs by a standard deviation of
# at most .08, so the error of their mean is below .02
def test_predictions_are_averages_over_all_completions_and_networks():
    cards = np.array([2, 2, 2])
    T = table(5, 10, cards)
    holes = np.zeros(T.shape, bool)
    holes[[0, 3, 7, 8], [0, 1, 1, 2]] = True
    F = np.where(holes, np.nan, T)
    every = np.array(list(product(range(2), repeat=3)))
    total, mass = np.zeros(8), 0.0
    for fill in product(range(2), repeat=4):
        T[holes] = fill
        world = World(T, cards)
        w = np.exp(world.log_likelihood)
        total += sum(
            v * predictive(T, cards, A, every) for A, v in zip(world.graphs, w, strict=True)
        )
        mass += w.sum()
    options = {"prior": "uniform", "n_iter": 600, "n_chains": 4, "random_state": 0}
    model = BlockmodelBayesNet(**options).fit(F)
    assert len(model._state.completions.graphs) == 4 * 30
    found = np.exp(model.score_samples(every))
    assert found.sum() == pytest.approx(1.0)
    assert np.abs(found - total / mass).max() < 0.06
    one = [
        predictive(X, cards, model.best_state_["adjacency"], every) for X in model._state.completed
    ]
    assert max(np.abs(p - total / mass).max() for p in one) > 0.06  # a single completion is worse


def test_steps_are_averages_over_all_completions_and_networks():
    cards = np.array([2, 2])
    X = table(3, 8, cards)
    holes = np.zeros(X.shape, bool)
    holes[[2, 3, 6], [0, 1, 0]] = True
    every, T = np.array(list(product(range(2), repeat=2))), X.copy()
    total, mass, was = np.zeros(4), 0.0, np.tile([1, 0], (4, 1))
    for fill in product(range(2), repeat=3):
        T[holes] = fill
        world = dynamic_world(T[:-1], T[1:], cards)
        w = np.exp(world.log_likelihood)
        for A, v in zip(world.graphs, w, strict=True):
            total += v * predictive(T[1:], cards, A, every, (T[:-1], was))
        mass += w.sum()
    options = {"prior": "uniform", "n_iter": 600, "n_chains": 4, "random_state": 0}
    model = BlockmodelDynamicNet(max_parents=2, **options).fit(np.where(holes, np.nan, X))
    found = [np.exp(model.score_steps([[1, 0], row])[1]) for row in every.tolist()]
    assert np.abs(found - total / mass).max() < 0.06


def test_a_model_of_sequences_with_holes_and_set_cells_is_fitted():
    rng = np.random.default_rng(1)
    X = rng.integers(2, size=(160, 3)).astype(float)
    X[1:, 1] = np.where(rng.random(159) < 0.9, X[:-1, 0], X[1:, 1])
    holed = np.where(rng.random(X.shape) < 0.1, np.nan, X)
    options = {"prior": "uniform", "n_iter": 200, "n_chains": 1, "random_state": 0}
    model = BlockmodelDynamicNet(**options).fit(holed)
    assert model.edge_marginals_[0, 1] > 0.95
    told = np.zeros(X.shape, bool)
    told[:, 1] = True  # whoever sets all of a column says nothing about its parents
    model = BlockmodelDynamicNet(**options).fit(holed, interventions=told)
    assert abs(model.edge_marginals_[0, 1] - 0.5) < 0.2
