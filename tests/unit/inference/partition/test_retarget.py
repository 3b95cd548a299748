"""A filter under other hyper-parameters: one call for all groups is what it is step by step."""

import copy
import pickle

import numpy as np
import pytest

from infinimix.families.grids import centred
from infinimix.families.priors import Base, Layout, blank
from infinimix.families.product import evidence_of, refresh_of
from infinimix.families.reweighing import copy_one_by_one
from infinimix.families.seam import arrays_of, empty, widen
from infinimix.inference.ensemble.bank import pool_rows
from infinimix.inference.partition.filter import ParticleFilter
from infinimix.inference.partition.population import LIVE, ORDER

NAMES = {"binary": ("a", "b"), "categorical": ("c", "d"), "real": ("x", "y", "z"), "count": ("k",)}


def base_of(counts, n=60):
    """A base measure over columns of four kinds, and rows with holes."""
    rng, layout = np.random.default_rng(0), Layout(NAMES, np.array(counts))
    reals = rng.normal(size=(n, 3))
    reals[::7, 1] = np.nan
    X = (
        rng.integers(-1, 2, (n, 2)).astype(np.int8),
        rng.integers(-1, 2, (n, 2)).astype(np.int32),
        reals,
        rng.poisson(3.0, (n, 1)).astype(float),
    )
    pool = empty(blank(layout), 1)
    pool_rows(blank(layout), pool, X, 0, n)
    return Base(layout, "learn", pool), X


def step_by_step(f, family):
    """The same with a call for each array and each family, as it was written first."""
    live, free = np.split(f.slots[ORDER].copy(), f.counters[LIVE : LIVE + 1])
    gain = np.zeros(f.slots.shape[1])
    gain[live] -= evidence_of(f.family, f.stats, live)
    f.stats, f.family = widen(f.family, f.stats, family), family
    gain[live] += evidence_of(family, f.stats, live)
    refresh_of(family, f.stats, live)
    copy_one_by_one(f.stats, free)
    for r in range(f.n_particles):
        f.logw[r] += gain[f.held(r)].sum()


@pytest.mark.parametrize("counts", [(2, 2), (3, 2)])  # the second has a new category
@pytest.mark.parametrize("resampling", ["optimal", "systematic"])
def test_a_new_family_in_one_call_has_the_bits_of_one_step_after_the_other(counts, resampling):
    base, X = base_of((2, 2))
    positions = centred(base.layout)
    f = ParticleFilter(base.families(positions), 1.0, 4, resampling, None, np.random.default_rng(1))
    f.update(X, np.arange(40))
    other, _ = base_of(counts)
    for own in positions.values():
        own[:] = np.random.default_rng(2).integers(-6, 7, own.shape)
    for family in (other.families(positions), other.families(centred(base.layout))):
        slow = copy.deepcopy(f)
        f.retarget(family, f.alpha)
        step_by_step(slow, family)
        np.testing.assert_array_equal(f.logw, slow.logw)
        for a, b in zip(arrays_of(f.stats), arrays_of(slow.stats), strict=True):
            np.testing.assert_array_equal(a, b)
        f.update(X, np.arange(40, 60))
        slow.update(X, np.arange(40, 60))
        np.testing.assert_array_equal(f.logw, slow.logw)


def test_a_base_measure_from_another_process_has_the_same_families():
    base, _ = base_of((2, 2))
    positions = centred(base.layout)
    assert base.families(positions) is base.families(positions)  # where all islands begin
    positions["real"][0] = 2
    again = pickle.loads(pickle.dumps(base))
    for a, b in zip(base.families(positions), again.families(positions), strict=True):
        for mine, its in zip(a, b, strict=True):
            np.testing.assert_array_equal(mine, its)


def test_filters_that_begin_with_one_family_share_no_groups():
    base, X = base_of((2, 2))
    family = base.families(centred(base.layout))
    one, other = (
        ParticleFilter(family, 1.0, 2, "optimal", None, np.random.default_rng(1)) for _ in range(2)
    )
    one.update(X, np.arange(10))
    assert all((array.n == 0.0).all() for array in other.stats)
