"""Both ways to list the pairs of particles and groups come to the same."""

import numpy as np
import pytest

from infinimix.families.product import engine
from infinimix.inference.partition.population import UNIQUE, Population, weigh
from infinimix.inference.partition.resampling.pairs import (
    NEGLIGIBLE,
    keep_large,
    list_any,
    list_usual,
)
from infinimix.partitions.crp import UNBOUNDED
from tests.unit.inference.partition.test_population import new_filter, table


@engine("score")
def list_both(
    family, stats, X, i, slots, mass, groups, particles, logw, counters, bound, q, owner, pick, out
):
    """Fill both lists of pairs for row i, and how many each has and its log total."""
    p = Population(slots, mass, groups, particles, logw, counters)
    w, near, share = np.empty(1000), np.empty(1000, np.int64), np.empty(1000)
    top = weigh(family, stats, X, i, p, w)
    n, best = list_usual(p, bound, top, near, share, w, q[0], owner[0], pick[0])
    level = logw[0] + top
    out[0, 0], out[0, 1] = n, 0.0
    if n > 0:
        out[0, 0], out[0, 1] = keep_large(n, NEGLIGIBLE * best, q[0], owner[0], pick[0], level, p)
    n, best, level = list_any(p, bound, top, w, q[1], owner[1], pick[1])
    out[1, 0], out[1, 1] = keep_large(n, NEGLIGIBLE * best, q[1], owner[1], pick[1], level, p)


@pytest.mark.parametrize("bound", [UNBOUNDED, 4])
def test_the_usual_way_is_the_general_one_bit_for_bit(bound):
    X, f, usual, several = table(), new_filter("optimal", bound=bound), 0, 0
    q, out = np.empty((2, 5000)), np.empty((2, 2))
    owner, pick = np.empty((2, 5000), np.int64), np.empty((2, 5000), np.int64)
    for i in range(120):
        list_both(f.family, f.stats, X, i, *f.population(), bound, q, owner, pick, out)
        n = int(out[0, 0])
        if n > 0:
            assert np.array_equal(out[0], out[1])
            for found in (q, owner, pick):
                assert np.array_equal(found[0, :n], found[1, :n])
        usual, several = usual + (n > 0), several + (f.counters[UNIQUE] > 1)
        f.update(X, np.array([i]))
    assert usual > 100
    assert several > 50


def test_a_particle_far_above_the_others_is_left_to_the_general_way():
    X, f = table(), new_filter("optimal")
    f.update(X, np.arange(20))
    assert f.n_particles > 1
    f.logw[1] = f.logw[0] + 50.0
    q, out = np.empty((2, 5000)), np.empty((2, 2))
    owner, pick = np.empty((2, 5000), np.int64), np.empty((2, 5000), np.int64)
    list_both(f.family, f.stats, X, 20, *f.population(), UNBOUNDED, q, owner, pick, out)
    n = int(out[1, 0])
    assert out[0, 0] == 0
    assert set(owner[1, :n]) == {1}
