"""Trees against a slow, obvious version, and against what their criterion means."""

import numpy as np
import pytest

from infinimix.inference.trees.arrays import BinnedCells, Growth, Trees, TreeStore, Votes
from infinimix.inference.trees.cuts import HOLE
from infinimix.inference.trees.ensembles import NO_CODES
from infinimix.inference.trees.growth import LEAF


def grow_tree(cells, votes, rows, how, seed):
    """One tree, in arrays of its own."""
    return TreeStore(votes.g.shape[1]).grow(cells, votes, rows, how, seed)


def slow_gain(cells, left, g, h, ridge):
    """What a split brings: sums over both sides, minus the whole, of rows whose cell is there."""

    def score(rows):
        G, H = g[rows].sum(axis=0), h[rows].sum(axis=0) + ridge
        return float(np.divide(G**2, H, out=np.zeros_like(G), where=H > 1e-12).sum())

    seen = cells != HOLE
    return score(seen & left) + score(seen & ~left) - score(seen)


def slow_split(data, g, h, rows, least, ridge):
    """Return the gain, column and bin of the best split, by trying all."""
    best = (1e-9, LEAF, 0)
    for f, (cells, category) in enumerate(zip(data.bins[:, rows], data.is_category, strict=True)):
        seen = cells != HOLE
        for b in np.unique(cells[seen]):
            left = cells == b if category else cells <= b
            sizes = (left & seen).sum(), (~left & seen).sum()
            if min(sizes) >= least:
                gain = slow_gain(cells, left, g[rows], h[rows], ridge)
                best = max(best, (gain, f, int(b)))
    return best


def example(seed, n=60, holes=0.0, classes=3, n_bins=6):
    rng = np.random.default_rng(seed)
    bins = rng.integers(n_bins, size=(4, n)).astype(np.uint8)
    coarse = bins.astype(int) * 6 // n_bins
    codes = (coarse[0] > 2).astype(int) + (coarse[1] == coarse[2])
    bins[rng.random(bins.shape) < holes] = HOLE
    own = np.eye(classes)[codes]
    return BinnedCells(bins, np.array([False, True, False, True])), own, np.ones_like(own)


def as_votes(g, h):
    """The same of rows that vote for one class, as often as h says."""
    return Votes(np.argmax(g, axis=1), np.empty((0, g.shape[1])), h[:, :1].copy())


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("holes", [0.0, 0.3])
@pytest.mark.parametrize("n_bins", [6, 120])
@pytest.mark.parametrize("vote", [False, True])
def test_the_first_split_is_the_best_of_all(seed, holes, n_bins, vote):
    cells, g, h = example(seed, holes=holes, n_bins=n_bins)
    times = np.random.default_rng(seed).integers(1, 4, size=(60, 1))
    g, h, rows = times * g, times * h, np.arange(60)
    votes = as_votes(g, h) if vote else Votes(NO_CODES, g, h)
    tree = grow_tree(cells, votes, rows.copy(), Growth(4, 1, 3, 0.5), seed + 1)
    gain, _, _ = slow_split(cells, g, h, rows, 3, 0.5)
    f, b = int(tree.column[0]), int(tree.threshold[0])
    left = cells.bins[f] == b if cells.is_category[f] else cells.bins[f] <= b
    assert slow_gain(cells.bins[f], left, g, h, 0.5) == pytest.approx(gain)
    seen = cells.bins[f] != HOLE
    assert tree.share[0] == pytest.approx((left & seen).sum() / seen.sum())


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("vote", [False, True])
def test_leaves_hold_the_shares_of_their_rows(seed, vote):
    """Without holes each row falls into the leaf that learned it; every split is the best one."""
    cells, g, h = example(seed, n=200)
    votes = as_votes(g, h) if vote else Votes(NO_CODES, g, h)
    tree = grow_tree(cells, votes, np.arange(200), Growth(4, 30, 2, 0.0), seed + 1)
    todo = [(0, np.arange(200))]
    while todo:
        node, rows = todo.pop()
        np.testing.assert_allclose(tree.value[node], g[rows].mean(axis=0), atol=1e-6)
        gain, _, _ = slow_split(cells, g, h, rows, 2, 0.0)
        f = int(tree.column[node])
        if f == LEAF:
            assert gain <= 1e-9 or len(rows) < 4
            said = tree.total(cells)[rows]
            np.testing.assert_allclose(said, np.tile(tree.value[node], (len(rows), 1)), atol=1e-6)
            continue
        bins = cells.bins[f, rows]
        left = (
            bins == tree.threshold[node] if cells.is_category[f] else bins <= tree.threshold[node]
        )
        assert slow_gain(bins, left, g[rows], h[rows], 0.0) == pytest.approx(gain)
        first = int(tree.child[node])
        todo += [(first, rows[left]), (first + 1, rows[~left])]


def test_a_missing_cell_follows_both_sides():
    """By enumeration of all leaves, each weighted by the shares on its path."""
    cells, g, h = example(1, holes=0.2)
    tree = grow_tree(cells, Votes(NO_CODES, g, h), np.arange(60), Growth(4, 6, 1, 0.0), 5)

    def expected(node, row):
        f = int(tree.column[node])
        if f == LEAF:
            return tree.value[node].astype(float)
        first, b = int(tree.child[node]), row[f]
        if b == HOLE:
            share = float(tree.share[node])
            return share * expected(first, row) + (1 - share) * expected(first + 1, row)
        left = b == tree.threshold[node] if cells.is_category[f] else b <= tree.threshold[node]
        return expected(first if left else first + 1, row)

    said = tree.total(cells)
    for i in range(60):
        np.testing.assert_allclose(said[i], expected(0, cells.bins[:, i]), atol=1e-9)
    both = Trees.joined([tree, tree])
    np.testing.assert_allclose(both.total(cells), 2 * said)
