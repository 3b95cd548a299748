"""The particle filters against all 877 partitions of seven rows."""

import os
from functools import cache

import numpy as np
import pytest

from infinimix.families.seam import score_rows
from infinimix.inference.partition.population import COPIES, MASS, UNIQUE
from tests.oracle.enumeration import Enumeration, bell, co_assignment, log_marginal, stack
from tests.oracle.worlds import BB, WORLDS, N, World, log_density, run

ALPHAS = (0.2, 1.0, 6.0)
ALL_RUNS = "INFINIMIX_SEEDS" in os.environ  # errors are measured: fewer runs see less, as safely
FILTERS = 3000 if ALL_RUNS else 300
SAMPLED = ("multinomial", "systematic")
N_TO_M = ("optimal", "lookahead")
ALL = (*N_TO_M, *SAMPLED)


@cache
def exact(name, alpha, bound=None):
    world = WORLDS[name]
    return Enumeration(world.families, world.X, alpha, bound)


@cache
def exact_predictive(name, alpha, bound=None):
    return exact(name, alpha, bound).log_predictive(WORLDS[name].Y)


# --- with room for every partition nothing is random --------------------------------------------


def assert_exact(name, alpha, bound=None, resampling="optimal"):
    world, truth = WORLDS[name], exact(name, alpha, bound)
    f, z = run(world, alpha, bell(N), resampling, bound=bound)
    weights = f.weights()
    assert f.log_evidence() == pytest.approx(truth.log_evidence, abs=1e-6)
    np.testing.assert_allclose(
        log_density(f, world.Y), exact_predictive(name, alpha, bound), atol=1e-6
    )
    posterior = np.bincount(f.n_groups(), weights, minlength=N + 1)
    np.testing.assert_allclose(posterior, truth.n_groups_posterior(), atol=1e-6)
    np.testing.assert_allclose(co_assignment(z, weights), truth.co_assignment(), atol=1e-6)
    # more than the margins: every partition is there once, with its own probability
    found = dict(zip(map(tuple, z.tolist()), weights, strict=True))
    assert len(found) == len(z)
    every = [found.get(p, 0.0) for p in map(tuple, truth.z.tolist())]
    np.testing.assert_allclose(every, truth.weights, atol=1e-6)


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("name", WORLDS)
def test_optimal_with_room_is_exact(name, alpha):
    assert_exact(name, alpha)


@pytest.mark.parametrize("bound", [1, 2, 3, 7, 9])
@pytest.mark.parametrize("name", ["binary", "product-holes"])
def test_optimal_under_a_bound_is_exact(name, bound):
    assert_exact(name, 1.5, bound)


@pytest.mark.parametrize("bound", [None, 1, 2, 3])
@pytest.mark.parametrize("name", ["binary", "product-holes"])
def test_lookahead_with_room_is_exact(name, bound):
    assert_exact(name, 1.5, bound, "lookahead")


def test_the_order_of_rows_does_not_matter():
    world, order = WORLDS["product-holes"], [4, 2, 6, 0, 3, 5, 1]
    turned = world._replace(X=tuple(x[order] for x in world.X))
    for bound in (None, 2):
        f, g = (run(w, 0.8, bell(N), "optimal", bound=bound)[0] for w in (world, turned))
        assert f.log_evidence() == pytest.approx(g.log_evidence(), abs=1e-9)
        np.testing.assert_allclose(log_density(f, world.Y), log_density(g, world.Y), atol=1e-9)


@pytest.mark.parametrize("resampling", ALL)
def test_the_record_tells_each_particles_own_groups(resampling):
    """What a particle holds is what its recorded partition says: sizes, and scores."""
    world = WORLDS["product-holes"]
    for size in (1, 6, 40):
        f, z = run(world, 2.0, size, resampling, seed=size)
        for r in range(f.counters[UNIQUE]):
            groups = [np.flatnonzero(z[r] == k) for k in range(z[r].max() + 1)]
            held = f.held(r)
            assert f.mass[MASS, held].tolist() == [len(g) for g in groups]
            scores = np.zeros((len(world.Y[0]), len(held)))
            score_rows(f.family, f.stats, held, world.Y, scores)
            for k, g in enumerate(groups):
                inside = tuple(x[g] for x in world.X)
                for i in range(len(scores)):
                    y = tuple(b[i : i + 1] for b in world.Y)
                    both = log_marginal(world.families, stack(inside, y), range(len(g) + 1))
                    alone = log_marginal(world.families, inside, range(len(g)))
                    assert scores[i, k] == pytest.approx(both - alone, abs=1e-9)


# --- few particles: unbiased ---------------------------------------------------------------------


def functionals(f, z, Y, bound):
    """Evidence, and evidence times predictive densities, P(K = k) and co-assignment.

    The unnormalised estimate of any posterior mean is unbiased; the normalised is not. Under
    a bound the predictive is a ratio, so both its parts are taken.
    """
    weights = f.weights()
    room = f.alpha * (f.n_groups() < f.bound)
    mass = weights @ (N + room)
    values = [
        [1.0],
        [mass],
        mass * np.exp(log_density(f, Y)),
        np.bincount(f.n_groups(), weights, minlength=N + 1),
        co_assignment(z, weights)[np.triu_indices(N, 1)],
    ]
    return f.log_evidence(), np.concatenate(values)


def exact_functionals(name, alpha, bound):
    truth = exact(name, alpha, bound)
    mass = truth.weights @ (N + alpha * (truth.n_groups < (bound or np.inf)))
    values = [
        [1.0],
        [mass],
        mass * np.exp(exact_predictive(name, alpha, bound)),
        truth.n_groups_posterior(),
        truth.co_assignment()[np.triu_indices(N, 1)],
    ]
    return truth.log_evidence, np.concatenate(values)


def assert_unbiased(name, alpha, size, resampling, bound, seed, runs):
    """Every functional lies within 5 standard errors of its exact mean.

    Events rarer than .01 are left out: their estimates are far from normal. That leaves at
    most 35 numbers; for a normal estimate one of them is beyond 5 once in 50,000 calls.
    """
    level, mean = exact_functionals(name, alpha, bound)
    values = []
    for s in np.random.SeedSequence([seed, size]).spawn(runs):
        f, z = run(WORLDS[name], alpha, size, resampling, s, bound)
        log_evidence, parts = functionals(f, z, WORLDS[name].Y, bound)
        values.append(np.exp(log_evidence - level) * parts)
    values, common = np.array(values), mean > 0.01
    common[2:6] = True  # densities may be small and are no rare events
    error = values.mean(axis=0) - mean
    noise = values.std(axis=0, ddof=1) / np.sqrt(runs)
    assert (np.abs(error) <= 5 * noise + 1e-12)[common].all(), error / noise
    return values[:, 0].std()


# Families know nothing of resampling: by default each is met by one scheme, and one by both.
MET = [(n, r) for n in WORLDS for r in SAMPLED if ALL_RUNS or r == SAMPLED[1] or n == [*WORLDS][-1]]


@pytest.mark.parametrize(("name", "resampling"), MET)
def test_sampled_filters_are_right_within_their_error(name, resampling, seed):
    """20 calls at most: a false alarm in one of 2,500 runs of the suite."""
    spread = assert_unbiased(name, 1.0, 100, resampling, None, seed, 150 if ALL_RUNS else 80)
    assert spread < 0.5  # the error bars mean something


@pytest.mark.parametrize("resampling", ALL)
@pytest.mark.parametrize("bound", [1, 2, 3])
def test_filters_under_a_bound_are_right_within_their_error(resampling, bound, seed):
    """12 calls: a false alarm in one of 4,000 runs of the suite."""
    assert_unbiased("product-holes", 1.5, 20, resampling, bound, seed, 300 if ALL_RUNS else 150)


@pytest.mark.parametrize("resampling", ALL)
@pytest.mark.parametrize("size", [1, 4])
def test_the_evidence_of_few_particles_is_unbiased(resampling, size, seed):
    """Mean over all filters within 4 standard errors: a false alarm in one of 2,500 runs."""
    if resampling in N_TO_M and size == 1:
        size = 2
    world, level = WORLDS["binary"], exact("binary", 1.0).log_evidence
    ratio = np.exp(
        [
            run(world, 1.0, size, resampling, [seed, s])[0].log_evidence() - level
            for s in range(FILTERS)
        ]
    )
    assert abs(ratio.mean() - 1.0) < 4.0 * ratio.std() / np.sqrt(len(ratio))


@pytest.mark.parametrize("resampling", SAMPLED)
def test_sampled_copies_stay_complete(resampling):
    f, _ = run(WORLDS["product"], 1.0, 50, resampling)
    assert f.particles[COPIES, : f.counters[UNIQUE]].sum() == 50


# --- limits --------------------------------------------------------------------------------------


@pytest.mark.parametrize("resampling", ALL)
@pytest.mark.parametrize("name", WORLDS)
def test_alpha_to_zero_is_naive_bayes(name, resampling):
    """One group holds all rows, and its columns are independent."""
    families, X, Y = WORLDS[name]
    f, z = run(WORLDS[name], 1e-30, 10, resampling)
    one_group = log_marginal(families, X, range(N))
    joined = [
        log_marginal(families, stack(X, tuple(y[i : i + 1] for y in Y)), range(N + 1))
        for i in range(len(Y[0]))
    ]
    assert (z[f.weights() > 1e-6] == 0).all()
    # alpha also opens the group: the evidence of one group is its marginal likelihood
    assert f.log_evidence() == pytest.approx(one_group, abs=1e-6)
    np.testing.assert_allclose(log_density(f, Y), np.array(joined) - one_group, atol=1e-6)


def kernel_estimate(families, X, Y, alpha):
    """(sum_i p(y | x_i alone in a group) + alpha p(y | empty group)) / (n + alpha)."""
    n, result = len(X[0]), []
    for j in range(len(Y[0])):
        y = tuple(b[j : j + 1] for b in Y)
        logs = [np.log(alpha) + log_marginal(families, y, [0])]
        for i in range(n):
            x = tuple(b[i : i + 1] for b in X)
            logs.append(
                log_marginal(families, stack(x, y), [0, 1]) - log_marginal(families, x, [0])
            )
        result.append(np.logaddexp.reduce(logs) - np.log(n + alpha))
    return np.array(result)


@pytest.mark.parametrize("resampling", ALL)
@pytest.mark.parametrize("name", WORLDS)
def test_alpha_to_infinity_is_a_kernel_estimate(name, resampling):
    """Each row is a group of its own, so the predictive is one kernel a row and the prior."""
    alpha, (families, X, Y) = 1e12, WORLDS[name]
    f, z = run(WORLDS[name], alpha, 10, resampling)
    assert (z[f.weights().argmax()] == np.arange(N)).all()
    alone = [log_marginal(families, X, [i]) for i in range(N)]
    assert f.log_evidence() == pytest.approx(sum(alone), abs=1e-6)
    np.testing.assert_allclose(log_density(f, Y), kernel_estimate(families, X, Y, alpha), atol=1e-6)
    # all but 1e-11 of that is the prior: look at the kernels without it
    held = f.held(f.weights().argmax())
    scores = np.zeros((len(Y[0]), N))
    score_rows(f.family, f.stats, held, Y, scores)
    kernels = kernel_estimate(families, X, Y, 1e-300)
    np.testing.assert_allclose(np.logaddexp.reduce(scores, axis=1) - np.log(N), kernels, atol=1e-9)


@pytest.mark.parametrize("resampling", ALL)
@pytest.mark.parametrize(("width", "alpha"), [(60, 1e6), (110, 1e30)])
def test_kernels_decide_in_many_columns(resampling, width, alpha):
    """Rows far apart are alone whatever alpha; near one of them its kernel is the density."""
    rng = np.random.default_rng(3)
    B = rng.integers(0, 2, (N + 4, width)).astype(np.int8)
    B[N : N + 2] = B[:2]  # to predict: two rows seen before, and two fresh ones
    world = World((BB._replace(prior=np.full((2, width), 0.01)),), (B[:N],), (B[N:],))
    f, z = run(world, alpha, 10, resampling)
    assert (z[f.weights().argmax()] == np.arange(N)).all()
    expected = kernel_estimate(*world, alpha)
    np.testing.assert_allclose(log_density(f, world.Y), expected, atol=1e-6)
    prior = width * np.log(0.5)
    assert expected[0] > prior + 1.0 and abs(expected[2] - prior) < 1e-3  # noqa: PT018


@pytest.mark.parametrize(("alpha", "width"), [(1e30, 95), (1e30, 105), (1e-30, 95)])
def test_a_huge_alpha_is_not_lost_beside_a_much_better_group(alpha, width):
    """Twice the same row: 65 or 72 nats speak for one group, 69 nats of alpha against it."""
    B = np.ones((2, width), np.int8)
    world = World((BB._replace(prior=np.full((2, width), 0.01)),), (B,), (B[:1],))
    truth = Enumeration(world.families, world.X, alpha)
    f, z = run(world, alpha, 4, "optimal")
    assert f.log_evidence() == pytest.approx(truth.log_evidence, abs=1e-6)
    together = co_assignment(z, f.weights())[0, 1]
    assert together == pytest.approx(truth.co_assignment()[0, 1], abs=1e-6)
