"""Gibbs over labels and groups against the enumeration of both, for six rows."""

import os
from itertools import product

import numpy as np
import pytest
from scipy.special import gammaln, logsumexp

from infinimix.families import BetaBernoulli, DirichletCategorical, NormalInverseChiSquared
from infinimix.inference.ensemble.label_gibbs import LabelState
from tests.oracle.enumeration import log_crp, log_marginal, partitions

rng = np.random.default_rng(4)
FAMILY = (
    BetaBernoulli(np.array([[0.5, 1.0], [0.7, 0.4]])),
    DirichletCategorical(np.array([0.5, 0.6, 0.7]), np.array([0, 3])),
    NormalInverseChiSquared(np.array([[0.2], [0.3], [2.0], [0.5]]), np.array([0.0])),
)
X = (
    np.array([[0, 1], [1, -1], [1, 1], [0, 0], [-1, 1], [0, 1]], np.int8),
    np.array([[0], [2], [-1], [1], [0], [0]], np.int32),
    np.array([[0.3], [-1.0], [0.8], [np.nan], [2.0], [0.4]]),
)
CODES = np.array([0, 1, -1, -1, -1, -1])
MORE = np.array([0, 1, 1, -1, -1, -1])
C, N = 2, 6
SWEEPS = 20_000 if "INFINIMIX_SEEDS" in os.environ else 8000
NEAR = 0.02 * np.sqrt(20_000 / SWEEPS)  # as many standard errors


def enumerate_posterior(alpha, gamma, codes, all_named=False):
    """Probability of each class of each row, of each number of groups, of rows 2 and 5 together."""
    free = np.flatnonzero(codes < 0)
    logs, labels, groups, together = [], [], [], []
    memory = {}
    for choice in product(range(C), repeat=len(free)):
        y = codes.copy()
        y[free] = choice
        m = np.bincount(y, minlength=C)
        log_y = (gammaln(m + gamma) - gammaln(gamma)).sum()
        options = []
        for c in range(C):
            rows = np.flatnonzero(y == c)
            priors = log_crp(len(rows), alpha)
            options.append([
                (prior, [tuple(rows[z == k].tolist()) for k in range(max(z, default=-1) + 1)])
                for prior, z in zip(priors, partitions(len(rows)), strict=True)
            ])  # fmt: skip
        for chosen in product(*options):
            parts = [part for _, part in chosen]
            total = log_y + sum(prior for prior, _ in chosen)
            for g in (g for part in parts for g in part):
                if g not in memory:
                    memory[g] = log_marginal(FAMILY, X, g)
                total += memory[g]
            every = [g for part in parts for g in part]
            if all_named and any((codes[list(g)] < 0).all() for g in every):
                continue
            logs.append(total)
            labels.append(y)
            groups.append(len(every))
            together.append(any(2 in g and 5 in g for g in every))
    p = np.exp(np.array(logs) - logsumexp(logs))
    labels = np.array(labels)
    proba = np.stack([p @ (labels == c) for c in range(C)], axis=1)
    return proba, np.bincount(groups, p, N + 1), p @ np.array(together)


@pytest.mark.parametrize(
    ("alpha", "gamma", "named"), [(1.0, 1.0, False), (0.3, 2.0, False), (3.0, 1.0, True)]
)
def test_long_chains_visit_labels_and_groups_as_often_as_they_should(alpha, gamma, named, seed):
    """Chains are correlated: of 20,000 sweeps, 0.02 is more than 4 standard errors."""
    codes = MORE if named else CODES
    proba, sizes, together = enumerate_posterior(alpha, gamma, codes, named)
    chain = LabelState(FAMILY, alpha, gamma, X, codes, C, np.random.default_rng(seed), named)
    smooth, drawn, counts, pairs = np.zeros((N, C)), np.zeros((N, C)), np.zeros(N + 1), 0
    for _ in range(SWEEPS):
        table = chain.sweep()
        smooth += table[chain.z]
        drawn[np.arange(N), chain.labels] += 1
        counts[len(chain.held)] += 1
        pairs += chain.z[2] == chain.z[5]
    for found in (smooth, drawn):
        assert np.abs(found / SWEEPS - proba).max() < NEAR
    assert np.abs(counts / SWEEPS - sizes).max() < NEAR
    assert abs(pairs / SWEEPS - together) < NEAR


def test_labels_that_are_known_stay():
    chain = LabelState(FAMILY, 1.0, 1.0, X, CODES, C, np.random.default_rng(0))
    for _ in range(50):
        chain.sweep()
        assert chain.labels[:2].tolist() == [0, 1]
        assert np.bincount(chain.labels, minlength=C).tolist() == chain.class_rows.tolist()
        assert (np.bincount(chain.z, minlength=64)[chain.held] == chain.slots[0, chain.held]).all()


def test_many_groups_find_room():
    n = 300
    table = (np.arange(n, dtype=float)[:, None] * 100,)
    family = (NormalInverseChiSquared(np.array([[15e3], [1e-11], [1e4], [1e-3]]), np.zeros(1)),)
    codes = np.where(np.arange(n) < 2, np.arange(n), -1)
    chain = LabelState(family, 50.0, 1.0, table, codes, 2, np.random.default_rng(0))
    chain.sweep()
    assert len(chain.held) > 64
    assert chain.class_rows.sum() == n
