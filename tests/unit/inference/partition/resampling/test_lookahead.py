"""Looking one row ahead: what a pair may hope for, and that nothing else changes."""

import numpy as np
import pytest

from infinimix.inference.partition.filter import ParticleFilter
from infinimix.inference.partition.population import Population
from infinimix.inference.partition.resampling.lookahead import (
    LEAST_DENSITY,
    SLIGHT,
    first_stage_weights,
)
from infinimix.partitions.crp import UNBOUNDED
from tests.oracle.enumeration import log_marginal
from tests.oracle.worlds import WORLDS, run
from tests.unit.inference.partition.resampling.weighing import weigh_pairs
from tests.unit.inference.partition.test_population import FAMILY, check, new_filter, table

STATE = ("slots", "mass", "groups", "particles", "logw", "counters", "u")


def density_ahead(world, z, ahead, alpha, bound):
    """Sum of mass times density of a row over the groups of a partition, and a new one."""
    total = 0.0
    for k in range(z.max() + 1):
        rows = np.flatnonzero(z == k).tolist()
        ratio = log_marginal(world.families, world.X, [*rows, ahead]) - log_marginal(
            world.families, world.X, rows
        )
        total += len(rows) * np.exp(ratio)
    if z.max() + 1 < bound:
        total += alpha * np.exp(log_marginal(world.families, world.X, [ahead]))
    return total


@pytest.mark.parametrize("rho", [1.0, 0.5])
@pytest.mark.parametrize("bound", [None, 2, 3])
@pytest.mark.parametrize("name", ["binary", "product-holes"])
def test_hope_is_the_weight_times_the_density_of_the_next_row(name, bound, rho):
    """All children of all partitions of five rows, the marginals written independently."""
    world, alpha = WORLDS[name], 1.3
    f, z = run(world._replace(X=tuple(x[:5] for x in world.X)), alpha, 52, "optimal", bound=bound)
    q, first_stage = np.empty((2, 1000))
    owner, pick = np.empty((2, 1000), np.int64)
    n, _ = weigh_pairs(
        f.family, f.stats, world.X, *f.population(), f.bound, rho, q, first_stage, owner, pick
    )
    assert n == {None: 203, 2: 32, 3: 122}[bound]
    expected = np.empty(n)
    for j in range(n):
        k = z[owner[j]].max() + 1 if pick[j] == 0 else pick[j] - 1
        child = np.r_[z[owner[j]], k]
        expected[j] = density_ahead(world, child, 6, alpha, bound or UNBOUNDED)
    expected, heavy = q[:n] * expected**rho, q[:n] > SLIGHT
    assert heavy.sum() > 0.6 * n
    assert first_stage[:n].sum() == pytest.approx(1.0)
    ratio = first_stage[:n] / expected
    np.testing.assert_allclose(ratio[heavy] / ratio[heavy][0], 1.0, rtol=1e-9)
    assert (first_stage[:n] > 0.0).all()


def test_no_pair_is_without_hope():
    """Next to a group 5,000 nats better, a child has little hope but a chance."""
    now, then = np.array([0.0, 8.0, 0.0]), np.array([0.0, 9.0, 0.0])
    groups, particles = np.array([[0, 1], [0, 2]]), np.full((4, 2), 2)
    q, first_stage = np.array([0.5, 0.5]), np.empty(2)
    p = Population(*new_filter("optimal").population())._replace(groups=groups, particles=particles)
    first_stage_weights(2, q, np.array([0, 1]), np.array([1, 1]), p, 9, now, then, 1.0, first_stage)
    np.testing.assert_allclose(first_stage, [1.0, LEAST_DENSITY / 9.0])


def test_a_stream_is_filtered_as_without_looking_ahead():
    X = table()
    one, other = new_filter("lookahead"), new_filter("optimal")
    one.update(X, np.arange(300))
    other.update(X, np.arange(300))
    for name in STATE:
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


@pytest.mark.parametrize("size", [2, 15])
@pytest.mark.parametrize("bound", [None, 4])
def test_all_counts_agree_after_looking_ahead(size, bound):
    X = table()
    f, blind = (new_filter(how, size, bound) for how in ("lookahead", "optimal"))
    for first, last in [(0, 1), (1, 40), (40, 500)]:
        f.update(X, np.arange(first, last), ahead=True)
        check(f, X, last)
    blind.update(X, np.arange(500))
    assert f.n_particles <= size
    assert f.log_evidence() != blind.log_evidence()


def test_looking_ahead_while_growing_is_having_had_room():
    """The kernel returns for room and goes on with the same row, whose next one it still sees."""
    X = table()
    small, large = (new_filter("lookahead", alpha=20.0, slots=s) for s in (2, 4096))
    large.groups = np.zeros((len(large.groups), 512), np.int64)
    for f in (small, large):
        f.update(X, np.arange(500), ahead=True)
    assert large.slots.shape[1] == 4096 > small.slots.shape[1]
    unique = small.n_particles
    assert (small.particles[:, :unique] == large.particles[:, :unique]).all()
    assert (small.logw[:unique] == large.logw[:unique]).all()


def test_a_last_row_is_kept_by_its_weight():
    """Two calls of one row each have no next row to look at."""
    X = table()
    one, other = (
        ParticleFilter(FAMILY, 1.0, 3, how, None, np.random.default_rng(0))
        for how in ("lookahead", "optimal")
    )
    for i in range(60):
        one.update(X, np.array([i]), ahead=True)
        other.update(X, np.array([i]))
    assert one.log_evidence() == other.log_evidence()
