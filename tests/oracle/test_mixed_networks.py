"""Chains over graphs of categories and numbers, against enumeration; completions of their cells."""

import os
from functools import cache
from itertools import combinations, product

import numpy as np
import pytest
from scipy.special import logsumexp

from bench.exact_edges import exact_uniform_edges
from infinimix.kernels.compile import entry
from infinimix.networks.engine.candidates import full_layout
from infinimix.networks.engine.hyper import SWEEPS
from infinimix.networks.engine.scores import compute_score, mixed_data, new_cache
from infinimix.networks.learning import layered_chains
from infinimix.networks.learning.layered_chains import LayeredChain
from infinimix.networks.learning.ordered_chains import make_chain
from infinimix.networks.learning.problem import Problem
from infinimix.networks.shared.joint import JointChain, Sharing
from tests.oracle.franchise import common, posterior
from tests.oracle.mixed_networks import barred, mixed_table, mixed_world
from tests.oracle.networks import marginals, table

CARDS = np.array([2, 0, 3, 0])
LONG = "INFINIMIX_SEEDS" in os.environ
VISITS = 12_000 if LONG else 2000


def problem(X, cards, missing=None, **options):
    allowed = ~np.eye(len(cards), dtype=bool) & ~barred(cards)
    holes = np.zeros(X.shape, bool) if missing is None else missing
    return Problem(
        X, holes, cards, full_layout(allowed), bonus=np.where(allowed, 0.0, -np.inf), **options
    )


# Runs of 2,000 sweeps with ten seeds are off by .017 (root of the mean square) in the worst figure:
# a gap of .1 in one of 22 figures, nearly six of these, has a probability below 22 x 6e-7, as in
# `test_networks`. `INFINIMIX_SEEDS` sweeps 12,000 times.
@pytest.mark.parametrize(
    ("prior", "per_partition"),
    [("uniform", False), ("sparse", False), ("blockmodel", True), ("blockmodel", False),
     ("ordered", False)],
)  # fmt: skip
@pytest.mark.parametrize("n", [8, 40])
def test_chains_visit_states_as_often_as_they_should(prior, per_partition, n):
    X = mixed_table(n, n, CARDS)
    options = {"prior": prior, "per_partition": per_partition, "alpha": 0.7, "beta": (1.0, 2.0)}
    edges, together = marginals(*mixed_world(X, CARDS).posterior(**options))
    given = problem(X, CARDS, n_iter=VISITS, burn_in=300, **options)
    record = make_chain(given, np.random.SeedSequence(0), apart=False).run()
    assert np.abs(record.edges / record.counters[SWEEPS] - edges).max() < 0.1
    assert np.abs(record.together / record.counters[SWEEPS] - together).max() < 0.1
    assert not record.edges[barred(CARDS)].any()


# 1,500 sweeps, as in `test_franchise`: standard errors below .026
def test_several_networks_of_both_kinds_share_roles():
    cards = [np.array([2, 2]), np.array([2, 0, 0])]
    tables = [table(1, 12, cards[0]), mixed_table(2, 12, cards[1])]
    options = {"per_partition": False, "alpha": 0.8, "beta": (1.0, 2.0)}
    edges, together = posterior(tables, cards, common((2, 3), 0.8), (1.0, 2.0))
    given = [
        problem(X, r, n_iter=1500, burn_in=100, **options)
        for X, r in zip(tables, cards, strict=True)
    ]
    chain = JointChain(given, Sharing(0.8, None), (1.0,), np.random.SeedSequence(0), True)
    chain.run()
    for g in range(2):
        assert np.abs(chain.records[g].edges / 1500 - edges[g]).max() < 0.1
    assert np.abs(chain.together / 1500 - together).max() < 0.1


@cache
def many_columns(N):
    """A table with its layout, and the edges of the sum over all graphs: for both starts."""
    cards = np.where(np.arange(N) % 2, 0, 2)
    X = mixed_table(1, 60, cards)
    score = np.full((N, 1 << N), -np.inf)
    allowed = ~np.eye(N, dtype=bool) & ~barred(cards)
    data, layout = mixed_data(X, cards), full_layout(allowed, 3)
    cache = new_cache(data, layout)
    score_of = entry(compute_score, data, layout, cache, 0, np.uint64(0))
    for c in range(N):
        for size in range(4):
            for parents in combinations(np.flatnonzero(allowed[:, c]).tolist(), size):
                word = np.uint64(sum(1 << int(layout.pos[c, p]) for p in parents))
                score[c, sum(1 << p for p in parents)] = score_of(data, layout, cache, c, word)
    return X, cards, layout, exact_uniform_edges(score, N)


# Whole graphs are drawn by levels: 1,500 sweeps from two starts; the bounds are those of
# `test_networks` for many binary columns. That is for 14 columns and more, of which 12 are
# candidates, but the sum over graphs of 14 takes 80 times as long as that of ten: these come with
# `INFINIMIX_SEEDS`. Of ten columns and ten seeds the worst edge is off by .034, the mean by .0043.
@pytest.mark.parametrize("apart", [False, True])
def test_edges_of_many_columns_are_those_of_the_sum_over_all_graphs(apart, monkeypatch):
    N = 14 if LONG else 10
    monkeypatch.setattr(layered_chains, "ALL", N - 1)
    monkeypatch.setattr(layered_chains, "CANDIDATES", N - 2)
    X, cards, layout, exact = many_columns(N)
    given = problem(X, cards, prior="uniform", n_iter=1500, burn_in=500)
    given.layout = layout
    chain = make_chain(given, np.random.SeedSequence(0), apart)
    assert isinstance(chain, LayeredChain)
    record = chain.run()
    ours = record.edges / record.counters[SWEEPS]
    assert np.abs(ours - exact).max() < 0.15
    assert np.abs(ours - exact).mean() < 0.02


# Runs of 600 completions with ten seeds are off by .0323 (root of the mean square) in the worst
# figure, so those of 1,000 by .025: a gap of .13 in one of 14 figures: below 14 x 4e-7.
# `INFINIMIX_SEEDS` draws 2,000.
def test_missing_categories_are_drawn_as_all_completions_weigh():
    cards = np.array([2, 0, 2])
    X = mixed_table(3, 12, cards)
    holes = np.zeros(X.shape, bool)
    holes[[1, 5, 7], [0, 2, 0]] = True
    fills, logs, edges, T = list(product(range(2), repeat=3)), [], [], X.copy()
    for fill in fills:
        T[holes] = fill
        one = mixed_world(T, cards)
        logs.append(logsumexp(one.log_likelihood))
        edges.append(marginals(*one.posterior("uniform"))[0])
    p = np.exp(logs - logsumexp(logs))
    given = problem(X, cards, holes, prior="uniform", n_iter=10**4)
    seen, shares = tally(given, holes, 2000 if LONG else 1000)
    for fill, q in zip(fills, p, strict=True):
        assert abs((seen == np.array(fill)).all(axis=1).mean() - q) < 0.13
    assert np.abs(shares - np.einsum("f,fij->ij", p, np.array(edges))).max() < 0.13


# a category and a number of one row, the number on a grid: means of 3,000 draws, autocorrelation
# below 5, so errors below .05 of the spread
def test_a_missing_number_and_a_missing_category_are_drawn_together():
    cards = np.array([2, 0, 0])
    X = mixed_table(4, 14, cards)
    holes = np.zeros(X.shape, bool)
    holes[[2, 2], [0, 1]] = True
    grid, T = np.linspace(-5.0, 5.0, 81), X.copy()
    logs = np.empty((2, 81))
    for v, (k, x) in product(range(2), enumerate(grid)):
        T[holes] = v, x
        logs[v, k] = logsumexp(mixed_world(T, cards).log_likelihood)
    p = np.exp(logs - logsumexp(logs))
    seen, _ = tally(problem(X, cards, holes, prior="uniform", n_iter=10**4), holes, 3000)
    assert abs(seen[:, 0].mean() - p[1].sum()) < 0.1
    for v in range(2):
        own = p[v] / p[v].sum()
        mean = own @ grid
        spread = np.sqrt(own @ (grid - mean) ** 2)
        drawn = seen[seen[:, 0] == v, 1]
        assert abs(drawn.mean() - mean) < 0.25 * spread
        assert abs(drawn.std() / spread - 1.0) < 0.25


def tally(given, holes, steps):
    """Return the completions of a chain, and the shares of edges."""
    chain = make_chain(given, np.random.SeedSequence(0), apart=False)
    chain.advance(50, False)
    seen = []
    for _ in range(steps):
        chain.advance(1, True)
        seen.append(chain.X[holes])
    return np.array(seen), chain.record.edges / steps
