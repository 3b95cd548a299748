"""The N-to-M filter: what it keeps, and with which weight."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from infinimix.inference.partition.population import (
    COPIES,
    FULL,
    LOGP,
    MASS,
    ORDER,
    ORIGIN,
    PICK,
    PLACE,
    PROB,
    SIZE,
    UNIQUE,
    USED,
    Population,
)
from infinimix.inference.partition.resampling.optimal import (
    FLOOR,
    is_room_at,
    select,
    threshold,
)
from infinimix.inference.partition.resampling.pairs import NEGLIGIBLE, candidates
from infinimix.partitions.crp import UNBOUNDED
from tests.oracle.worlds import WORLDS, run
from tests.unit.inference.partition.resampling.weighing import weigh_pairs

weights = st.lists(st.floats(1e-12, 1.0), min_size=2, max_size=60)


@given(weights=weights, share=st.floats(0.0, 1.0))
def test_the_threshold_solves_its_equation(weights, share):
    q = np.array(weights) / sum(weights)
    size = 1 + int(share * (len(q) - 2))
    kappa = threshold(q, len(q), size)
    assert np.minimum(q / kappa, 1.0).sum() == pytest.approx(size, rel=1e-9)


@given(weights=weights, share=st.floats(0.0, 1.0), height=st.floats(-12.0, 0.0))
def test_there_is_room_at_the_threshold_and_above(weights, share, height):
    q, kappa = np.array(weights) / sum(weights), 10.0**height
    size = 1 + int(share * (len(q) - 1))
    solution = threshold(q, len(q), size)  # 0 when all fit
    if abs(kappa / solution - 1.0 if solution > 0.0 else 1.0) > 1e-9:
        assert is_room_at(kappa, q, len(q), size) == (kappa > solution)


def test_without_a_crowd_there_is_no_threshold():
    assert threshold(np.full(5, 0.2), 5, 5) == 0.0
    assert threshold(np.full(9, 0.2), 5, 7) == 0.0  # only the first five count


@pytest.mark.parametrize("q", [np.full(8, 1 / 8), np.array([1.0, 1e-300, 1e-300]), [0.5, 0.5, 0]])
def test_a_threshold_of_ties_and_of_nothing(q):
    kappa = threshold(np.array(q), len(q), 2)
    assert 0.0 < kappa <= 0.5


def list_pairs(p, bound, top, q, owner, pick):
    """Call `candidates` with scratch for a thousand slots."""
    w, near, share = np.empty(1000), np.empty(1000, np.int64), np.empty(1000)
    return candidates(p, bound, top, w, near, share, q, owner, pick)


def all_live(n):
    """Return the slots of a population of which each is live."""
    slots = np.zeros((5, n), np.int64)
    slots[ORDER] = slots[PLACE] = np.arange(n)
    return slots


def crowded_row(seed=0):
    """A population of 52 before its sixth row, and all its 203 children."""
    world = WORLDS["product-holes"]
    f, _ = run(world._replace(X=tuple(x[:5] for x in world.X)), 1.0, 52, "optimal", seed)
    q, hope = np.empty((2, 1000))
    owner, pick = np.empty((2, 1000), np.int64)
    n, level = weigh_pairs(
        f.family, f.stats, world.X, *f.population(), f.bound, 1.0, q, hope, owner, pick
    )
    return f, n, q, owner, pick, level


@pytest.mark.parametrize("rho", [0.0, 1.0])
@pytest.mark.parametrize(("size", "crowded"), [(20, 0), (5, 0), (52, 1)])
def test_the_kept_stand_for_all(size, crowded, rho, seed):
    """A pair of hope above kappa keeps its weight q; one below survives hope / kappa of the time.

    Its weight is then q kappa / hope; hope is q, or q times anything positive.

    So the mean weight of a pair is its own. The number of times is binomial: a tail below
    1e-7 at 203 pairs in six cases is a false alarm in one of 4,000 runs.
    """
    f, n, q, owner, pick, level = crowded_row()
    assert n == 203
    assert q[:n].sum() == pytest.approx(1.0)
    rng, runs = np.random.default_rng(seed), 3000
    first_stage = q[:n] * rng.gamma(1.0, size=n) ** rho
    first_stage /= first_stage.sum()
    kappa = max(threshold(first_stage, n, size), FLOOR)
    chance = np.minimum(first_stage / kappa, 1.0)
    fair = np.zeros((52, 8))
    fair[owner[:n], pick[:n]] = q[:n] / chance
    times = np.zeros((52, 8), np.int64)
    f.counters[USED] = 0
    for _ in range(runs):
        p = Population(*(array.copy() for array in f.population()))
        particles, logw, counters = p.particles, p.logw, p.counters
        counters[FULL], u = crowded, rng.random(1)
        select(n, q.copy(), first_stage, owner, pick, level, size, p, u)
        kept = counters[UNIQUE]
        assert kept <= size if crowded else kept == size
        assert (particles[COPIES, :kept] == 1).all()
        at = particles[ORIGIN, :kept], particles[PICK, :kept]
        np.testing.assert_allclose(np.exp(logw[:kept] - level), fair[at], rtol=1e-9)
        times[at] += 1
    law = binom(runs, chance)
    found = times[owner[:n], pick[:n]]
    assert times.sum() == found.sum()
    assert np.minimum(law.cdf(found), law.sf(found - 1)).min() > 1e-7


def test_a_particle_far_from_the_others_keeps_its_weight():
    """Log weights and log densities may each span thousands of nats: only their sums count.

    Particle 0 weighs e^1000 more than particle 1, but its best group is 3,000 nats worse.
    """
    mass = np.array([[0.5, 4.0, 4.0], [-3000.0, -3000.0, 0.0], [0.5, 4.0, 4.0]])
    mass[2] *= np.exp(mass[LOGP])
    groups = np.array([[0, 1], [0, 2]])
    particles = np.zeros((4, 2), np.int64)
    particles[COPIES], particles[SIZE] = 1, 2
    logw, counters = np.array([0.0, -1000.0]), np.array([4, 3, 2, 2, 0, 0])
    for order in ([0, 1], [1, 0]):
        q, owner, pick = np.empty(4), np.empty(4, np.int64), np.empty(4, np.int64)
        p = Population(all_live(3), mass, groups[order], particles, logw[order], counters)
        n, level = list_pairs(p, UNBOUNDED, 0.0, q, owner, pick)
        assert n == 1
        assert (order[owner[0]], pick[0]) == (1, 1)
        assert level == pytest.approx(-1000.0 + np.log(4.0 / 4.5))


def listed_plainly(mass, groups, sizes, logw, bound):
    """Return log weights of all pairs, of those within 1e-13 of the best, and their log total."""
    pairs = [
        (r, k, logw[r] + np.log(mass[MASS, groups[r, k]]) + mass[LOGP, groups[r, k]])
        for r, size in enumerate(sizes)
        for k in range(1 if size > bound else 0, size)
    ]
    best = max(log_q for *_, log_q in pairs)
    kept = [pair for pair in pairs if pair[2] - best > np.log(NEGLIGIBLE)]
    return kept, np.logaddexp.reduce([log_q for *_, log_q in kept])


@pytest.mark.parametrize("bound", [UNBOUNDED, 3])
@pytest.mark.parametrize("spread", [1.0, 20.0, 300.0])  # nats: faint particles, and leaps
def test_candidates_are_those_of_a_plain_list(spread, bound):
    """Groups and particles near and far, in any order: only the sums of their logs count."""
    rng = np.random.default_rng(int(spread) + bound)
    for _ in range(50):
        slots, sizes = 12, rng.integers(2, 5, size=6)
        mass = np.array([rng.integers(1, 50, slots), spread * rng.normal(size=slots), np.zeros(12)])
        mass[MASS, 0] = rng.gamma(1.0)
        top = mass[LOGP].max()
        mass[PROB] = mass[MASS] * np.exp(mass[LOGP] - top)
        groups = np.array([[0, *rng.permutation(np.arange(1, slots))[:4]] for _ in sizes])
        particles, logw = np.ones((4, 6), np.int64), spread * rng.normal(size=6)
        particles[SIZE] = sizes
        counters = np.array([100, slots, 6, 5, 0, 0])
        q, owner, pick = np.empty(30), np.empty(30, np.int64), np.empty(30, np.int64)
        p = Population(all_live(slots), mass, groups, particles, logw, counters)
        n, level = list_pairs(p, bound, top, q, owner, pick)
        kept, total = listed_plainly(mass, groups, sizes, logw, bound)
        assert list(zip(owner[:n], pick[:n], strict=True)) == [(r, k) for r, k, _ in kept]
        np.testing.assert_allclose(q[:n], [np.exp(x - total) for *_, x in kept], rtol=1e-11)
        assert level == pytest.approx(total - np.log(100.0 + mass[MASS, 0]), abs=1e-11)


def test_masses_of_the_kept():
    """In a particles the number of particles stays at the size, each with rows of its own."""
    f, z = run(WORLDS["product"], 1.0, 3, "optimal")
    assert f.counters[UNIQUE] <= 3
    assert f.counters[FULL] == 1
    for r in range(f.counters[UNIQUE]):
        assert f.mass[MASS, f.held(r)].tolist() == np.bincount(z[r]).tolist()


def test_ties_with_the_threshold_come_to_an_end():
    """Ties lie on the threshold but for rounding; the search must not swing about them."""
    rng = np.random.default_rng(0)
    for _ in range(2000):
        ties, large = rng.integers(2, 7), rng.integers(0, 3)
        same = 0.1 * rng.random() * (1 + rng.integers(-2, 3, ties) * 2.2e-16)
        q = rng.permutation(np.r_[rng.random(large) + 0.2, same, 1e-17])
        q /= q.sum()
        kappa = threshold(q, len(q), ties + large)
        assert np.minimum(q / kappa, 1).sum() == pytest.approx(ties + large)
