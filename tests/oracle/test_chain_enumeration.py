"""Gibbs sweeps and split-merge moves against all 877 partitions of seven rows.

A long chain visits every partition as often as the posterior says. Averages are judged by
batch means: with BATCHES - 1 degrees of freedom a single one of the 28 figures of a case is
off by more than LIMIT standard errors with probability 2e-6, any of all cases below 1e-3.
That is so with any number of batches; with `INFINIMIX_SEEDS` there are twice as many, which see
errors of three fifths of the size.
"""

import os
from functools import cache

import numpy as np
import pytest
from scipy import stats

from infinimix.inference.partition import chain as chains
from infinimix.inference.partition.chain import Chain
from infinimix.inference.partition.filter import ParticleFilter
from infinimix.inference.partition.soundness import check_population
from tests.oracle.enumeration import Enumeration, stack
from tests.oracle.worlds import WORLDS, N, log_density

BATCHES, LENGTH = 50 if "INFINIMIX_SEEDS" in os.environ else 25, 80
LIMIT = stats.t.isf(1e-6, BATCHES - 1)  # 5.4 for 50, 6.2 for 25


def started(name, alpha, bound=None, resampling="optimal", size=3, seed=0):
    """A chain on a particle that a filter has drawn."""
    world, rng = WORLDS[name], np.random.default_rng(seed)
    f = ParticleFilter(world.families, alpha, size, resampling, bound, rng)
    trace = np.empty((N, 2, len(f.logw)), np.int32)
    f.update(world.X, np.arange(N), trace)
    return f, Chain.drawn(f, world.X, np.arange(N), trace)


@cache
def exact(name, alpha, bound):
    world = WORLDS[name]
    return Enumeration(world.families, world.X, alpha, bound)


def features(z):
    """Which rows are together, and how many groups there are, in each of these partitions."""
    alike, (i, j) = z[:, :, None] == z[:, None, :], np.triu_indices(N, 1)
    sizes = (alike.argmax(axis=2) == np.arange(N)).sum(axis=1)  # rows that are the first of a group
    return np.concatenate([alike[:, i, j], sizes[:, None] == np.arange(1, N + 1)], axis=1)


def assert_visits(name, alpha, bound=None):
    f, chain = started(name, alpha, bound)
    seen = np.empty((BATCHES * LENGTH, N), chain.z.dtype)
    for z in seen:
        chain.sweep()
        z[:] = chain.z
    check_population(f)
    truth = exact(name, alpha, bound)
    expected = truth.weights @ features(truth.z)
    means = features(seen).reshape(BATCHES, LENGTH, -1).mean(axis=1)
    error = means.std(axis=0, ddof=1) / np.sqrt(BATCHES)
    # what was never or always seen has no error of its own: the rule of three with a margin
    error = np.maximum(error, 1.0 / (BATCHES * LENGTH))
    assert (np.abs(means.mean(axis=0) - expected) < LIMIT * error).all()


@pytest.mark.parametrize("bound", [None, 2])
@pytest.mark.parametrize("name", ["binary-holes", "real", "product-holes"])
def test_sweeps_visit_partitions_as_often_as_they_should(name, bound):
    assert_visits(name, 1.5, bound)


@pytest.mark.parametrize("alpha", [0.3, 6.0])
def test_gibbs_alone(monkeypatch, alpha):
    monkeypatch.setattr(chains, "MOVES", 0)
    assert_visits("product-holes", alpha)


@pytest.mark.parametrize("bound", [None, 2])
def test_split_and_merge_alone(monkeypatch, bound):
    """All partitions can be reached by these moves alone."""
    monkeypatch.setattr(chains, "sweep", lambda *args: N)
    assert_visits("product-holes", 1.5, bound)


def test_leave_one_out_densities_are_exact_conditionals():
    """Under a partition that stays, p(x_i | the others) follows from evidences of its groups."""
    _, chain = started("product-holes", 1.5)
    world, z = WORLDS["product-holes"], chain.z.copy()
    loo = chain.leave_one_out(np.arange(N))
    assert (chain.z == z).all()
    others, row = np.arange(1, N), 0
    X = tuple(block[others] for block in world.X)
    y = tuple(block[row : row + 1] for block in world.X)
    kept = Enumeration(world.families, X, 1.5)
    start = _canonical(z[others])
    joint = Enumeration(world.families, stack(X, y), 1.5)
    weights = {tuple(p): w for p, w in zip(joint.z.tolist(), joint.weights, strict=True)}
    total = sum(weights[(*start, k)] for k in range(max(start) + 2))
    before = dict(zip(map(tuple, kept.z.tolist()), kept.weights, strict=True))[start]
    expected = np.log(total / before) + joint.log_evidence - kept.log_evidence
    assert loo[row] == pytest.approx(expected, abs=1e-8)


def _canonical(z):
    names = {}
    return tuple(names.setdefault(int(k), len(names)) for k in z)


@pytest.mark.parametrize("resampling", ["optimal", "systematic"])
def test_states_set_aside_stay_as_they_were(resampling):
    f, chain = started("product-holes", 1.5, resampling=resampling)
    evidence = f.log_evidence()
    densities = []
    for _ in range(3):
        densities.append(np.exp(log_density_of_first(f)))
        if len(densities) < 3:
            chain.keep()
            chain.sweep()
    check_population(f)
    assert f.n_particles == 3
    assert f.log_evidence() == pytest.approx(evidence)
    world = WORLDS["product-holes"]
    mixed = np.exp(log_density(f, world.Y))
    np.testing.assert_allclose(mixed, np.mean(densities, axis=0), rtol=1e-9)


def log_density_of_first(f):
    """Log predictive density of the first particle alone."""
    particles, logw, counters = f.particles.copy(), f.logw.copy(), f.counters.copy()
    from infinimix.inference.partition.population import UNIQUE

    f.counters[UNIQUE] = 1
    found = log_density(f, WORLDS["product-holes"].Y)
    f.particles[:], f.logw[:], f.counters[:] = particles, logw, counters
    return found
