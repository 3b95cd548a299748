"""A chain on a particle: what it says of its rows is what its groups hold."""

import numpy as np
import pytest

from infinimix.families.product import engine
from infinimix.families.seam import add, empty, map_arrays
from infinimix.inference.partition.chain import Chain, trace_back
from infinimix.inference.partition.filter import ParticleFilter
from infinimix.inference.partition.population import MASS, SIZE
from infinimix.inference.partition.soundness import check_population
from tests.oracle.enumeration import log_beside
from tests.oracle.worlds import WORLDS, N, partitions_in

WORLD = WORLDS["product-holes"]
REPEATED = tuple(np.tile(block, (4, 1)) for block in WORLD.X)  # 28 rows
ROWS = np.random.default_rng(3).permutation(4 * N)


def filtered(alpha=1.5, bound=None, size=4, resampling="optimal", seed=0, slots=64):
    rng = np.random.default_rng(seed)
    f = ParticleFilter(WORLD.families, alpha, size, resampling, bound, rng, slots)
    trace = np.empty((len(ROWS), 2, len(f.logw)), np.int32)
    f.update(REPEATED, ROWS, trace)
    return f, trace


def drawn(**settings):
    f, trace = filtered(**settings)
    return Chain.drawn(f, REPEATED, ROWS, trace)


@engine("count", "refresh")
def seat(family, stats, X, slots, rows):
    """Put each row in its slot."""
    for j in range(rows.shape[0]):
        add(family, stats, slots[j], X, rows[j], 1.0)


def assert_tells_the_truth(chain):
    """Do the groups of its particle hold the rows that z puts there, and no others?"""
    f = chain.f
    check_population(f)
    size = f.particles[SIZE, chain.r]
    held = f.groups[chain.r, :size]
    n = np.bincount(chain.z, minlength=size)
    assert n[0] == 0  # nobody is in the empty group
    assert len(n) == size
    assert (n[1:] == f.mass[MASS, held[1:]]).all()
    stats = empty(f.family, size)
    seat(f.family, stats, REPEATED, chain.z, chain.rows)
    close = {"rtol": 1e-9, "atol": 1e-9}
    for own, hand in zip(f.stats, stats, strict=True):
        map_arrays(lambda a, b: np.testing.assert_allclose(a[held], b, **close), own, hand)


@pytest.mark.parametrize("resampling", ["optimal", "systematic"])
def test_every_particle_can_be_traced_back(resampling):
    f, trace = filtered(resampling=resampling)
    for r, z in enumerate(partitions_in(f, trace)):
        assert (trace_back(trace, r) == z + 1).all()
        assert_tells_the_truth(Chain(f, REPEATED, ROWS, trace_back(trace, r), r))
    heaviest = Chain.heaviest(f, REPEATED, ROWS, trace)
    assert f.weights()[heaviest.r] == f.weights().max()
    assert_tells_the_truth(heaviest)


@pytest.mark.parametrize("resampling", ["optimal", "systematic"])
def test_one_particle_is_drawn_and_stands_for_all(resampling):
    f, trace = filtered(resampling=resampling)
    evidence = f.log_evidence()
    chain = Chain.drawn(f, REPEATED, ROWS, trace)
    assert f.n_particles == 1
    assert f.log_evidence() == pytest.approx(evidence, rel=1e-12)
    assert_tells_the_truth(chain)


@pytest.mark.parametrize("bound", [None, 3])
@pytest.mark.parametrize("alpha", [2.0, 20.0])
def test_sweeps_keep_rows_and_groups_together(alpha, bound):
    chain, widths = drawn(alpha=alpha, bound=bound), set()
    evidence = chain.f.log_evidence()
    for t in range(40):
        if t % 15 == 14:
            chain.keep()  # groups are then shared, and copied when they change
        chain.sweep()
        assert_tells_the_truth(chain)
        widths.add(int(chain.f.n_groups().max()))
    assert len(widths) > 1 or bound
    assert max(widths) <= (bound or len(ROWS))
    assert chain.made.sum() > 0
    assert chain.f.n_particles == 3
    assert chain.f.log_evidence() == pytest.approx(evidence, rel=1e-12)


def test_little_room_changes_nothing_but_the_slots():
    tight, roomy = drawn(alpha=20.0, size=1, slots=4), drawn(alpha=20.0, size=1, slots=512)
    for _ in range(15):
        tight.sweep()
        roomy.sweep()
        assert (tight.z == roomy.z).all()
    assert tight.f.slots.shape[1] < roomy.f.slots.shape[1]


def test_one_row_and_no_row_sweep_too():
    for n in (0, 1):
        f = ParticleFilter(WORLD.families, 1.0, 2, "optimal", None, np.random.default_rng(0))
        trace = np.empty((n, 2, len(f.logw)), np.int32)
        f.update(REPEATED, ROWS[:n], trace)
        chain = Chain.drawn(f, REPEATED, ROWS[:n], trace)
        chain.sweep()
        assert chain.z.tolist() == [1] * n
        check_population(f)


@pytest.mark.parametrize(("alpha", "bound"), [(1.5, None), (8.0, 3), (8.0, 1)])
def test_a_row_left_out_is_judged_by_the_others_and_nothing_moves(alpha, bound):
    chain = drawn(alpha=alpha, bound=bound)
    chain.sweep()
    z, before = chain.z.copy(), map_arrays(np.copy, chain.f.stats)
    generator = chain.f.rng.bit_generator.state
    some = np.array([0, 5, 17, 27])
    found = chain.leave_one_out(some)
    assert chain.leave_one_out(some[:0]).shape == (0,)
    assert (chain.z == z).all()
    assert chain.f.rng.bit_generator.state == generator
    assert_tells_the_truth(chain)
    live = chain.f.groups[0, : chain.f.particles[SIZE, 0]]
    map_arrays(lambda a, b: np.testing.assert_array_equal(a[live], b[live]), chain.f.stats, before)
    for j, density in zip(some, found, strict=True):
        others = np.delete(np.arange(len(z)), j)
        groups = [ROWS[others[z[others] == k]].tolist() for k in set(z[others].tolist())]
        by_hand = log_beside(WORLD.families, REPEATED, groups, int(ROWS[j]), alpha, bound)
        assert density == pytest.approx(by_hand, abs=1e-8)
