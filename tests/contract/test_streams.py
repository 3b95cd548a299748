"""Laws of what streams ask of every family: room, forgetting, corrections, features of a row."""

import numpy as np
import pytest
from hypothesis import strategies as st

from infinimix.families import SpikedNormal, product, seam
from infinimix.families.product import engine
from infinimix.kernels.holes import is_hole
from tests.contract.examples import EXAMPLES
from tests.contract.groups import (
    SLOTS,
    add,
    all_scores,
    counts,
    grown,
    law,
    rows_of_any,
    without_cells,
)

shares = st.sampled_from([0.25, 0.5, 0.9, 1.0])


@engine("features")
def features_of_row(family, stats, X, i, first, index, value):
    return seam.features(family, stats, X, i, first, index, value)


def refreshed(family, stats):
    product.refresh_all(family, stats, SLOTS)
    return stats


def leaves(stats):
    found = []
    seam.map_arrays(found.append, stats)
    return found


@law(rows=rows_of_any)
def test_room_for_more_groups_changes_none(example, rows):
    stats = grown(example, rows)
    wider = seam.reserve(as_tuple(example.family), as_tuple(stats), SLOTS + 3)
    wider = wider if isinstance(example.family, tuple) and is_product(example) else wider[0]
    fresh = seam.empty(example.family, 3)
    for old, new, blank in zip(leaves(stats), leaves(wider), leaves(fresh), strict=True):
        assert np.array_equal(new[:SLOTS], old)
        assert np.array_equal(new[SLOTS:], blank)


def is_product(example):
    return not hasattr(example.family, "_fields")


def as_tuple(part):
    return (part,) if hasattr(part, "_fields") else part


@law(rows=rows_of_any)
def test_to_fade_by_nothing_changes_nothing(example, rows):
    stats, before = grown(example, rows), grown(example, rows)
    seam.fade(example.family, stats, 1.0)
    for a, b in zip(leaves(refreshed(example.family, stats)), leaves(before), strict=True):
        assert np.array_equal(a, b)


@law(rows=rows_of_any, share=shares, later=rows_of_any)
def test_faded_rows_are_rows_of_less_weight(example, rows, share, later):
    """Up to the digits of the largest number there was, as numbers of any size are summed."""
    faded, light = grown(example, rows), grown(example, rows, share)
    seam.fade(example.family, faded, share)
    for stats in (faded, light):
        add(example, refreshed(example.family, stats), 0, later)
    for a, b in zip(counts(faded), counts(light), strict=True):
        size = np.abs(a[0]).max(axis=-1, keepdims=True, initial=1.0)
        assert (np.abs(a[0] - b[0]) <= 1e-9 * size).all()
    assert seam.sound(example.family, faded)


@law(rows=rows_of_any, others=rows_of_any, w=st.sampled_from([0.3, 1.0, 2.5]))
def test_rows_may_be_taken_away_that_were_never_there(example, rows, others, w):
    """A correction takes from a class what it predicted wrongly; the group stays one."""
    stats = grown(example, rows)
    for other in others:
        add(example, stats, 0, [other], w=-w)
        assert seam.sound(example.family, stats)
        assert all(np.isfinite(array).all() for array in leaves(stats))
    add(example, stats, 0, rows)
    assert np.isfinite(all_scores(example, stats)).all()


@law(rows=rows_of_any, first=st.integers(0, 5))
def test_features_of_a_row_have_numbers_of_their_own(example, rows, first):
    stats = grown(example, rows)
    room = seam.MOST_FEATURES * sum(block.shape[1] for block in as_blocks(example.X))
    index, value = np.full(room, -1), np.full(room, np.nan)
    for i in range(example.n):
        used = features_of_row(example.family, stats, example.X, i, first, index, value)
        assert used == n_features(example, i)
        assert (np.diff(index[:used]) > 0).all()
        assert ((index[:used] >= first) & (index[:used] < first + all_features(example))).all()
        assert (np.abs(value[:used]) <= seam.FAR).all()
    empty = without_cells(example.X)
    assert features_of_row(example.family, stats, empty, 0, first, index, value) == 0


def n_features(example, i):
    """One a cell, but two if the cell of a spiked column is not the common value."""
    total = 0
    for family, block in zip(as_tuple(example.family), as_blocks(example.X), strict=True):
        total += int((~is_hole(block[i])).sum())
        if isinstance(family, SpikedNormal):
            total += int(np.isfinite(block[i]).sum())
    return total


def as_blocks(X):
    return X if isinstance(X, tuple) else (X,)


def all_features(example):
    return seam.n_features(example.family)


@pytest.mark.parametrize("name", ["normal", "gaussian", "poisson"])
def test_a_number_is_marked_by_its_distance_from_the_mean_of_all(name):
    example = EXAMPLES[name][0]
    stats = grown(example, range(example.n))
    index, value = np.zeros(9, np.int64), np.zeros(9)
    width = example.X.shape[1]
    rows = []
    for i in range(example.n):
        features_of_row(example.family, stats, example.X, i, 0, index, value)
        rows.append(value[:width].copy())
    for d in range(width):
        along = np.argsort(example.X[:, d], kind="stable")
        assert (np.diff(np.array(rows)[along, d]) >= 0).all()
    assert np.abs(np.mean(rows, axis=0)).max() < 1.0


def test_a_spiked_cell_is_marked_by_what_it_is_and_where():
    example = EXAMPLES["spiked"][0]
    stats, plain = grown(example, range(example.n)), EXAMPLES["normal"][0].X
    for i in range(example.n):
        index, value = np.zeros(4, np.int64), np.zeros(4)
        used = features_of_row(example.family, stats, example.X, i, 5, index, value)
        found = dict(zip(index[:used].tolist(), value[:used].tolist(), strict=True))
        for d, x in enumerate(example.X[i]):
            assert found.pop(5 + 2 * d) == (1.0 if x == np.inf else -1.0)
            if x != np.inf:
                above = plain[i, d] > stats.t[0, 0, d]
                assert (found.pop(6 + 2 * d) > 0.0) == above
        assert not found
