"""Families at several positions of a grid at once: the bits of one after the other."""

import numpy as np
import pytest

from infinimix.families import registration, seam
from infinimix.families.base_measures import (
    POOLED,
    REAL_EMPIRICAL,
    REAL_REFERENCE,
    REFERENCE,
    STRENGTH,
    location_and_scale,
    temper,
)
from infinimix.families.catalogue import modelled
from infinimix.families.grids import GRID, Factors
from infinimix.families.priors import ColumnPriors, Layout, blank
from infinimix.families.product import refresh_all

GIVEN = {
    "binary": ["learn", "reference", (2.0, 3.0), "empirical", "learn"],
    "real": ["learn", "reference", (0.5, 2.0, 3.0, 1.5), "empirical", "learn"],
    "categorical": ["learn", "reference", (0.7,), "empirical", "learn"],
    "count": ["learn", "reference", (2.0, 3.0), "empirical", "learn"],
    "spiked": ["learn", "reference", (2.0, 3.0, 0.5, 2.0, 3.0, 1.5), "empirical", "learn"],
}


def one_beta(given, zeros, ones, strength, odds):
    """The pseudo-counts of one position, as they were written before there were several."""
    share = (ones + 0.5) / (zeros + ones + 1.0)
    table = STRENGTH["binary"] * strength * np.array([1.0 - share, share * odds])
    table /= 1.0 + share * (odds - 1.0)
    for d, own in enumerate(given):
        if own == "reference":
            table[:, d] = REFERENCE
        elif own not in POOLED:
            table[:, d] = own[1], own[0]
    return table


def one_normal(given, moments, own_factors):
    table = np.empty((4, len(given)))
    table[0], variance = location_and_scale(*moments[:3])
    table[1:3], table[3] = np.array(REAL_EMPIRICAL[:2])[:, None], REAL_EMPIRICAL.variance * variance
    for d, own in enumerate(given):
        if own == "reference":
            kappa, nu, scale = REAL_REFERENCE
            table[1:, d] = kappa, nu, scale * variance[d]
        elif not isinstance(own, str):
            mean, kappa, nu, scale = own[-4:]
            table[:, d] = mean, kappa, nu, scale**2
    kappa, nu, variance = own_factors
    table[1:] *= kappa * variance, nu, variance
    return table


def one_categorical(family, given, counts, own_factors):
    columns, (strength, heat) = [], own_factors
    for d, own in enumerate(given):
        n = counts[family.start[d] : family.start[d + 1]]
        if own in POOLED:
            share = temper((n + 0.5) / (n.sum() + 0.5 * n.size), heat[d])
            columns.append(STRENGTH["categorical"] * strength[d] * share)
        else:
            columns.append(np.full(n.size, REFERENCE if own == "reference" else own[0]))
    return np.concatenate(columns)


def world(kind):
    """A family, a pool of some rows, and factors: each hyper-parameter along the grid in turn."""
    rng, names = np.random.default_rng(0), tuple("abcde")
    counts = np.array([2, 3, 1, 4, 2]) if kind == "categorical" else np.zeros(0, np.int64)
    family = blank(Layout({kind: names}, counts))[0]
    pool = seam.empty(family, 1)
    pool.n[:] = rng.integers(1, 9, pool.n.shape)
    hypers = modelled(kind).grid
    tables = []
    for j in range(len(hypers)):
        table = np.repeat(rng.integers(-6, 7, (1, len(hypers), 5)), len(GRID), axis=0)
        table[:, j] = GRID[:, None]
        tables.append(table)
    return family, pool, Factors(hypers, GIVEN[kind]).at(np.concatenate(tables))


def at_each(family, pool, given, many):
    """The families at several positions, taken out of their stack."""
    stack = seam.prior_finder(family, pool, given)(many)
    assert {len(array) for array in stack} <= {1, len(many)}
    return [seam.unstacked(stack, i) for i in range(len(many))]


@pytest.mark.parametrize("kind", GIVEN)
def test_all_at_once_are_those_one_after_the_other(kind):
    family, pool, many = world(kind)
    found = at_each(family, pool, GIVEN[kind], many)
    for own, one in zip(found, many, strict=True):
        expected = seam.prior(family, pool, GIVEN[kind], one)
        assert type(own) is type(expected)
        for a, b in zip(own, expected, strict=True):
            assert a.flags.c_contiguous
            np.testing.assert_array_equal(a, b)


def test_they_have_the_bits_of_the_formulas_for_one():
    for kind, formula in (
        ("binary", lambda f, n, own: one_beta(GIVEN["binary"], *n, *own)),
        ("real", lambda f, n, own: one_normal(GIVEN["real"], n, own)),
        ("categorical", lambda f, n, own: one_categorical(f, GIVEN["categorical"], n, own)),
    ):
        family, pool, many = world(kind)
        found = at_each(family, pool, GIVEN[kind], many)
        for own, one in zip(found, many, strict=True):
            np.testing.assert_array_equal(own.prior, formula(family, pool.n[0], one))


@pytest.mark.parametrize("kind", GIVEN)
def test_the_default_is_one_position_after_the_other(kind):
    family, pool, many = world(kind)
    expected = at_each(family, pool, GIVEN[kind], many)
    plain = registration.find_one_by_one(family, pool, GIVEN[kind])
    pool.n[:] = 7.0  # what is counted later is not in it
    for i, own in enumerate(expected):
        for a, b in zip(seam.unstacked(plain(many), i), own, strict=True):
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("kind", GIVEN)
def test_a_block_along_its_grid_is_the_block_at_each_position(kind):
    """Of a stack no array is copied, and a column that stays has its factor of 1."""
    names = tuple("abcde")
    counts = np.array([2, 3, 1, 4, 2]) if kind == "categorical" else np.zeros(0, np.int64)
    layout = Layout({kind: names}, counts)
    _, pool, _ = world(kind)
    prior = dict(zip(names, GIVEN[kind], strict=True))
    own = ColumnPriors(kind, layout, prior, pool)
    positions = np.random.default_rng(1).integers(-6, 7, (len(own.hypers), 5))
    for j in range(len(own.hypers)):
        stack = own.each(positions, j)
        for i, v in enumerate(GRID):
            moved = positions.copy()
            moved[j] = v
            for a, b in zip(seam.unstacked(stack, i), own.family(moved), strict=True):
                np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("kind", GIVEN)
@pytest.mark.parametrize("slots", [0, 1, 64])
def test_empty_groups_are_ready_as_if_each_had_been_refreshed(kind, slots):
    family, pool, many = world(kind)
    family = seam.prior(family, pool, GIVEN[kind], many[0])
    stats, each = seam.empty(family, slots), seam.empty(family, slots)
    refresh_all(family, each, slots)
    seam.map_arrays(np.testing.assert_array_equal, stats, each)
