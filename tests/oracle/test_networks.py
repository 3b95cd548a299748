"""Chains against enumeration of all graphs, partitions and orders, and sums over subsets."""

import os

import numpy as np
import pytest
from scipy.special import multigammaln

from bench.exact_edges import all_scores, exact_uniform_edges
from infinimix.networks.engine.candidates import full_layout
from infinimix.networks.engine.families import BY_CONFIGURATION, BY_TABLE, NOT_SHARED
from infinimix.networks.engine.hyper import SWEEPS
from infinimix.networks.engine.scores import (
    discrete_data,
    family_score,
    gaussian_data,
    new_cache,
)
from infinimix.networks.learning.ordered_chains import make_chain
from infinimix.networks.learning.problem import Problem
from tests.oracle.networks import World, log_discrete, marginals, table

CARDS = np.array([2, 3, 2, 2])
LONG = "INFINIMIX_SEEDS" in os.environ


def run(X, cards, n_iter=6000, seed=0, apart=False, **options):
    N = X.shape[1]
    problem = Problem(
        X, np.zeros(X.shape, bool), cards, full_layout(~np.eye(N, dtype=bool)),
        n_iter=n_iter, burn_in=300, **options,
    )  # fmt: skip
    record = make_chain(problem, np.random.SeedSequence(seed), apart).run()
    return record.edges / record.counters[SWEEPS], record.together / record.counters[SWEEPS], record


@pytest.mark.parametrize("gamma", [0.5, 2.0])
@pytest.mark.parametrize("shared_by", [NOT_SHARED, BY_TABLE, BY_CONFIGURATION])
def test_discrete_scores_are_those_of_the_formula(gamma, shared_by):
    X = table(0, 40, CARDS)
    data, layout = discrete_data(X, CARDS, gamma, shared_by), full_layout(~np.eye(4, dtype=bool))
    cache = new_cache(data, layout)
    for c in range(4):
        for mask in range(8):
            parents = tuple(layout.cand[c][[k for k in range(3) if mask >> k & 1]])
            expected = log_discrete(X, CARDS, c, parents, gamma, shared_by)
            assert np.isclose(family_score(data, layout, cache, c, np.uint64(mask)), expected)


def log_normal_wishart(X, nodes, mu=1.0):
    """BGe marginal likelihood of some columns (Kuipers, Moffa and Heckerman 2014, equation 4)."""
    n, N = X.shape
    k, w = len(nodes), N + mu + 1.0
    t = mu * (w - N - 1.0) / (mu + 1.0)
    rows = X[:, list(nodes)]
    mean = rows.mean(axis=0)
    R = t * np.eye(k) + (rows - mean).T @ (rows - mean) + n * mu / (n + mu) * np.outer(mean, mean)
    free = w - N + k
    return (
        -0.5 * k * n * np.log(np.pi) + 0.5 * k * np.log(mu / (n + mu))
        + (multigammaln(0.5 * (n + free), k) - multigammaln(0.5 * free, k) if k else 0.0)
        + 0.5 * free * k * np.log(t) - 0.5 * (n + free) * np.linalg.slogdet(R)[1]
    )  # fmt: skip


def test_gaussian_scores_are_ratios_of_marginal_likelihoods():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 4)) @ rng.standard_normal((4, 4)) + rng.standard_normal(4)
    data, layout = gaussian_data(X), full_layout(~np.eye(4, dtype=bool))
    cache = new_cache(data, layout)
    for c in range(4):
        for mask in range(8):
            parents = [int(i) for k, i in enumerate(layout.cand[c]) if mask >> k & 1]
            expected = log_normal_wishart(X, [*parents, c]) - log_normal_wishart(X, parents)
            assert np.isclose(family_score(data, layout, cache, c, np.uint64(mask)), expected)


# Runs of 2,000 sweeps with ten seeds are off by .0196 (root of the mean square) in the worst figure
# of the worst of these ten cases, and by .04 at most: a gap of .1 in one of 22 figures, five of
# these, has a probability below 22 x 6e-7. `INFINIMIX_SEEDS` sweeps 12,000 times.
@pytest.mark.parametrize(
    ("prior", "per_partition"),
    [("uniform", False), ("sparse", False), ("blockmodel", True), ("blockmodel", False),
     ("ordered", False)],
)  # fmt: skip
@pytest.mark.parametrize("n", [8, 40])
def test_chains_visit_states_as_often_as_they_should(prior, per_partition, n):
    X = table(n, n, CARDS)
    edges, together = marginals(
        *World(X, CARDS).posterior(prior, per_partition=per_partition, alpha=0.7, beta=(1.0, 2.0))
    )
    ours, classes, _ = run(
        X, CARDS, 12_000 if LONG else 2000, prior=prior, per_partition=per_partition, alpha=0.7,
        beta=(1.0, 2.0),
    )  # fmt: skip
    near = 0.045 if LONG else 0.1  # 5.6 and 5 standard deviations
    assert np.abs(ours - edges).max() < near
    assert np.abs(classes - together).max() < near


# Runs of 2,000 sweeps over ten nodes, with ten seeds, are off by .021 (root of the mean square) in
# the worst edge, by .037 at most, and by .006 to .009 in the mean.
def test_uniform_edges_of_many_nodes_are_those_of_the_sum_over_all_graphs():
    N, sweeps = (12, 4000) if LONG else (10, 2000)
    X, cards = table(1, 60, np.full(N, 2)), np.full(N, 2)
    exact = exact_uniform_edges(all_scores(X, cards), N)
    ours, _, _ = run(X, cards, sweeps, prior="uniform")
    assert np.abs(ours - exact).max() < 0.15
    assert np.abs(ours - exact).mean() < 0.02


def test_the_sum_over_subsets_is_the_enumeration():
    X = table(2, 30, CARDS)
    exact, _ = marginals(*World(X, CARDS).posterior("uniform"))
    score = np.full((4, 16), -np.inf)
    for c in range(4):
        for S in range(16):
            if not S >> c & 1:
                parents = tuple(i for i in range(4) if S >> i & 1)
                score[c, S] = log_discrete(X, CARDS, c, parents, 0.5)
    assert np.allclose(exact_uniform_edges(score, 4), exact)
