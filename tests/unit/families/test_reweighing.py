"""Groups under other hyper-parameters: all positions in one call are those one after the other."""

import pickle

import numpy as np
import pytest

from infinimix.families import seam
from infinimix.families.catalogue import modelled
from infinimix.families.priors import Layout
from infinimix.families.product import Bound, are_like, engine, table_of
from infinimix.families.reweighing import (
    EVIDENCE,
    Along,
    Copies,
    copy_one_by_one,
    weigh_along,
    weigh_one_by_one,
)
from infinimix.kernels.compile import INTERPRETED
from tests.unit.families.test_prior_finder import GIVEN, world

compiled = pytest.mark.skipif(INTERPRETED, reason="tables are for compiled code")


def some_stats(family, slots, seed=0):
    stats = seam.empty(family, slots)
    stats.n[:] = np.random.default_rng(seed).integers(0, 9, stats.n.shape)
    return stats


@engine(*EVIDENCE)
def walk(family, steps, n_groups, out):
    """Weigh groups at all positions."""
    weigh_along(family, steps, n_groups, out)


@compiled
@pytest.mark.parametrize("kind", GIVEN)
@pytest.mark.parametrize("slots", [0, 1, 6])
def test_all_positions_in_one_call_have_the_bits_of_one_call_each(kind, slots):
    family, pool, many = world(kind)
    families, stats = seam.prior_finder(family, pool, GIVEN[kind])(many), some_stats(family, slots)
    found, expected = np.ones((len(many), 5)), np.ones((len(many), 5))
    walk.run(*Along(stats)(families), slots, found)
    weigh_one_by_one(families, stats, expected)
    np.testing.assert_array_equal(found, expected)
    assert (found == 1.0).all() == (slots == 0)


@pytest.mark.parametrize("slots", [[], [3], [5, 1, 2]])
def test_copies_of_the_first_group_have_all_its_arrays(slots):
    families = tuple(world(kind)[0] for kind in GIVEN)
    stats = tuple(some_stats(family, 7, seed) for seed, family in enumerate(families))
    expected = seam.map_arrays(np.copy, stats)
    copies, slots = Copies(), np.array(slots, np.int64)
    copies(stats, slots)
    copy_one_by_one(expected, slots)
    seam.map_arrays(np.testing.assert_array_equal, stats, expected)
    again = seam.map_arrays(np.copy, expected)  # statistics that lie elsewhere
    again[0].n[0] = 5.0
    pickle.loads(pickle.dumps(copies))(again, slots)
    assert (again[0].n[slots] == 5.0).all()


def test_groups_without_cells_are_copied_too():
    """A column of which no category is known yet has arrays of no size."""
    family = modelled("categorical").blank(("a",), layout(0))
    stats = seam.empty(family, 4)
    Copies()(stats, np.array([1, 3]))
    assert stats.n.shape == (4, 0)


def layout(count):
    return Layout({"categorical": ("a",)}, np.array([count]))


@compiled
def test_a_bound_table_with_other_hyper_parameters_is_the_one_made_anew():
    families, others = ([], [])
    for kind in GIVEN:
        family, pool, many = world(kind)
        find = seam.prior_finder(family, pool, GIVEN[kind])
        families.append(seam.unstacked(find(many), 1))
        others.append(seam.unstacked(find(many), 2))
    families, others = tuple(families), tuple(others)
    stats, bound = tuple(some_stats(family, 3) for family in families), Bound(("refresh",))
    assert are_like(families, others)
    np.testing.assert_array_equal(
        bound(families, stats)[0], table_of(families, stats, ("refresh",))
    )
    np.testing.assert_array_equal(bound(others, stats)[0], table_of(others, stats, ("refresh",)))


def test_families_of_more_categories_are_not_like_those_of_fewer():
    few, more = (modelled("categorical").blank(("a",), layout(n)) for n in (2, 3))
    assert are_like(few, few)
    assert not are_like((few,), (more,))
