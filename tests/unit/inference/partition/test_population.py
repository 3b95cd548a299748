"""The arrays of a population fit together after any number of rows."""

from functools import cache

import numpy as np
import pytest

from infinimix.families import BetaBernoulli
from infinimix.families.seam import empty
from infinimix.inference.ensemble.bank import pool_rows
from infinimix.inference.ensemble.storage import check_population
from infinimix.inference.partition import population
from infinimix.inference.partition.filter import ParticleFilter, is_n_to_m
from infinimix.partitions.crp import UNBOUNDED

ALL = pytest.mark.parametrize("resampling", ["optimal", "lookahead", "multinomial", "systematic"])
WIDTH = 12
FAMILY = (BetaBernoulli(np.full((2, WIDTH), 0.5)),)


@cache
def table(n=500):
    """Six modes in twelve columns, a fifth of the cells missing, some rows altogether."""
    rng = np.random.default_rng(5)
    z = rng.integers(0, 6, n)
    X = (rng.random((n, WIDTH)) < rng.beta(0.4, 0.4, (6, WIDTH))[z]).astype(np.int8)
    X[rng.random(X.shape) < 0.2] = -1
    X[::50] = -1
    return (X,)


def new_filter(resampling, size=15, bound=None, slots=64, alpha=3.0):
    return ParticleFilter(
        FAMILY, alpha, size, resampling, bound, np.random.default_rng(2), slots=slots
    )


def check(f, X, n):
    """Check every count of the filter against its own particles."""
    unique, n_live = f.counters[population.UNIQUE], f.counters[population.LIVE]
    live = f.slots[population.ORDER, :n_live]
    held = [f.held(r) for r in range(unique)]
    order = f.slots[population.ORDER]
    assert f.counters[population.ROWS] == n
    assert f.counters[population.WIDEST] >= max(len(h) for h in held) + 1
    assert sorted(order) == list(range(len(order)))
    assert (f.slots[population.PLACE, order] == np.arange(len(order))).all()
    assert set(live) == {0}.union(*map(set, held))
    assert (f.slots[population.CHOSEN] == 0).all()
    references = np.bincount(np.concatenate(held), minlength=len(order))
    references[0] = unique + 1  # every particle holds the empty group, and so does the filter
    assert (f.slots[population.REF, live] == references[live]).all()
    for r, h in enumerate(held):
        assert f.groups[r, 0] == 0
        assert len(set(h)) == len(h)
        assert f.mass[population.MASS, h].sum() == n
        assert (f.mass[population.MASS, h] >= 1.0).all()
    assert len({tuple(sorted(h)) for h in held}) == unique or not is_n_to_m(f.resampling)
    whole = empty(FAMILY, 1)  # one observed cell is one count in one group of each particle
    pool_rows(FAMILY, whole, X, 0, n)
    for h in held:
        np.testing.assert_array_equal(f.stats[0].n[h].sum(axis=0), whole[0].n[0])
    assert (f.stats[0].n[0] == 0.0).all()
    assert f.mixture()[1].sum() == pytest.approx(1.0)
    check_population(f)


@ALL
@pytest.mark.parametrize("size", [1, 15])
@pytest.mark.parametrize("bound", [None, 4])
def test_all_counts_agree_after_many_rows(resampling, size, bound):
    X = table()
    f = new_filter(resampling, size, bound)
    for first, last in [(0, 1), (1, 2), (2, 40), (40, 500)]:
        f.update(X, np.arange(first, last))
        check(f, X, last)
    copies = f.particles[population.COPIES, : f.counters[population.UNIQUE]]
    assert (copies == 1).all() if is_n_to_m(resampling) else copies.sum() == size
    assert bound is None or f.n_groups().max() <= bound


@ALL
def test_growing_is_having_had_room(resampling):
    """Slots have other numbers; particles, their groups and weights are the same bits."""
    X = table()
    small, large = (new_filter(resampling, alpha=20.0, slots=s) for s in (2, 4096))
    assert small.slots.shape[1] < 40
    large.groups = np.zeros((len(large.groups), 512), np.int64)
    large.update(X, np.arange(500))
    for i in range(500):
        small.update(X, np.array([i]))
    assert small.slots.shape[1] >= 64  # it did grow
    assert small.groups.shape[1] >= 32
    assert large.slots.shape[1] == 4096
    check(small, X, 500)
    unique = small.counters[population.UNIQUE]
    assert unique == large.counters[population.UNIQUE]
    assert (small.particles[:, :unique] == large.particles[:, :unique]).all()
    assert (small.logw[:unique] == large.logw[:unique]).all()
    for r in range(unique):
        a, b = small.held(r), large.held(r)
        assert (small.mass[population.MASS, a] == large.mass[population.MASS, b]).all()
        for one, other in zip(small.stats[0], large.stats[0], strict=True):
            assert (one[a] == other[b]).all()


@ALL
def test_memory_is_flat_at_the_bound(resampling):
    X = table()
    f = new_filter(resampling, bound=5)
    f.update(X, np.arange(500))
    shapes = [a.shape for a in (f.slots, f.mass, f.groups, f.particles, f.logw, f.u, *f.stats[0])]
    for _ in range(20):
        f.update(X, np.arange(500))
    after = [a.shape for a in (f.slots, f.mass, f.groups, f.particles, f.logw, f.u, *f.stats[0])]
    assert f.n_rows == 10500
    assert shapes == after
    # at most a slot for each group of each particle and for a new one, rounded up by doubling
    assert f.slots.shape[1] <= 2 * (f.size * (5 + 1) + 2)


@ALL
def test_pieces_of_a_stream_leave_the_same_bits(resampling):
    X = table()
    whole = new_filter(resampling)
    whole.update(X, np.arange(300))
    for step in (1, 7, 100):
        f = new_filter(resampling)
        for i in range(0, 300, step):
            f.update(X, np.arange(i, min(i + step, 300)))
        f.update(X, np.arange(0))  # no row is no change
        for name in ("slots", "mass", "groups", "particles", "logw", "counters", "u"):
            np.testing.assert_array_equal(getattr(f, name), getattr(whole, name))
        for one, other in zip(f.stats[0], whole.stats[0], strict=True):
            np.testing.assert_array_equal(one, other)


@ALL
def test_seeds_decide(resampling):
    X = table()

    def evidence(seed):
        rng = np.random.default_rng(seed)
        f = ParticleFilter(FAMILY, 1.0, 5, resampling, None, rng)
        f.update(X, np.arange(200))
        return f.log_evidence()

    assert evidence(1) == evidence(1)
    assert len({evidence(s) for s in range(5)}) > 1


def test_options_keep_their_own_scale_far_from_the_best_group():
    mass = np.array([[0.8, 5.0, 9.0], [-1000.0, -1001.0, 0.0], [0.0, 0.0, 9.0]])
    w = np.empty(2)
    total, scale = population.options(np.array([0, 1]), 2, UNBOUNDED, mass, 0.0, w)
    exact = np.logaddexp(np.log(0.8) - 1000.0, np.log(5.0) - 1001.0)
    assert scale + np.log(total) == pytest.approx(exact, abs=1e-12)
    np.testing.assert_allclose(w / total, [0.8, 5.0 / np.e] / np.add(0.8, 5.0 / np.e))


def test_options_open_no_group_at_the_bound():
    mass = np.array([[0.8, 5.0], [0.0, -1.0], [0.8, 5.0 / np.e]])
    for top in (0.0, 90.0):
        scaled = mass.copy()
        scaled[1] -= 90.0 - top
        scaled[2] *= np.exp(top - 90.0)
        w = np.empty(2)
        total, scale = population.options(np.array([0, 1]), 2, 1, scaled, 0.0, w)
        assert w[0] == 0.0
        assert total == w[1]
        assert scale + np.log(total) == pytest.approx(np.log(5.0) - 1.0 - (90.0 - top))


def test_a_filter_without_rows_is_the_prior():
    f = new_filter("optimal")
    live, weights = f.mixture()
    assert live.tolist() == [0]
    assert weights.tolist() == [1.0]
    assert f.log_evidence() == 0.0
    assert f.n_groups().tolist() == [0]
    assert f.particles[population.SIZE, 0] == 1


def test_more_particles_than_a_filter_keeps_are_refused():
    """A kernel that splits them all would write beyond the arrays."""
    f = new_filter("optimal", size=4)
    f.update(table(), np.arange(20))
    while f.n_particles < 5:
        f.set_aside()
    check_population(f)
    f.set_aside()
    with pytest.raises(ValueError, match="do not fit together"):
        check_population(f)
