"""Trees that are grown into the same arrays are those that are grown alone, bit for bit."""

import numpy as np

from infinimix.inference.trees.arrays import (
    FIRST_ROOM,
    BinnedCells,
    Growth,
    Trees,
    TreeStore,
    Votes,
    are_trees,
)

rng = np.random.default_rng(0)
CELLS = BinnedCells(rng.integers(9, size=(3, 80)).astype(np.uint8), np.array([False, True, False]))
VOTES = Votes(rng.integers(2, size=80), np.empty((0, 2)), np.ones((80, 1)))
HOW = Growth(2, 30, 1, 0.0)


def grow(store, seed):
    rows = np.random.default_rng(seed).permutation(80)[:60]
    return store.grow(CELLS, VOTES, rows, HOW, seed + 1)


def test_shared_arrays_hold_what_arrays_of_their_own_would():
    store, alone = TreeStore(2), [grow(TreeStore(2), seed) for seed in range(20)]
    for seed, tree in enumerate(alone):
        np.testing.assert_equal(grow(store, seed)._asdict(), tree._asdict())
    assert sum(len(tree.column) for tree in alone) > 2 * FIRST_ROOM  # they had to move
    for n in (1, 7, 20):
        found = store.first(n)
        assert are_trees(found, 3, 2)
        np.testing.assert_equal(found._asdict(), Trees.joined(alone[:n])._asdict())
        each = [tree.total(CELLS) for tree in alone[:n]]
        np.testing.assert_allclose(found.total(CELLS), np.sum(each, axis=0))


def test_a_tree_is_changed_in_place_and_what_was_taken_is_not():
    store = TreeStore(2)
    taken = [grow(store, 0), store.first(1)]
    taken[0].value[:] = 7.0
    assert (store.first(1).value == 7.0).all()
    assert (taken[1].value != 7.0).all()
    grow(store, 1)
    assert (store.first(2).value[: len(taken[0].value)] == 7.0).all()
