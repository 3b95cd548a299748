"""A forest and boosted trees: rows that trees have not learned, and when they say nothing."""

import numpy as np
import pytest

from infinimix.inference.trees import ensembles
from infinimix.inference.trees.arrays import BinnedCells, are_trees
from infinimix.inference.trees.cuts import HOLE
from infinimix.inference.trees.ensembles import (
    as_classes,
    boost,
    grow_forest,
    log_softmax,
    n_outputs,
    smoothed,
)
from infinimix.inference.trees.slopes import find_slopes


def parity(n, seed=0, classes=2):
    """Classes that no column alone says anything of."""
    rng = np.random.default_rng(seed)
    bins = rng.integers(4, size=(5, n)).astype(np.uint8)
    codes = (bins[0] // 2 + bins[1] // 2) % 2 + (classes - 2) * (bins[2] == 0)
    return BinnedCells(bins, np.array([False, False, True, False, True])), codes.astype(np.int64)


def loss(log_p, codes):
    return -log_p[np.arange(len(codes)), codes].mean()


@pytest.mark.parametrize("classes", [2, 3])
def test_held_out_scores_are_those_of_new_rows(classes):
    """The loss of left-out rows is that of new ones, within what 400 rows can tell."""
    cells, codes = parity(400, classes=classes)
    new, truth = parity(2000, seed=1, classes=classes)
    prior = np.bincount(codes) / 400
    forest, shares = grow_forest(cells, codes, classes, np.random.default_rng(0))
    fresh = loss(np.log(smoothed(forest, new, prior)), truth)
    assert loss(np.log(shares), codes) == pytest.approx(fresh, abs=0.08)
    assert fresh < 0.35
    fold = np.arange(400) % 5
    boosted, scores = boost(cells, codes, fold, classes, np.random.default_rng(0))
    fresh = loss(log_softmax(np.log(prior) + as_classes(boosted.total(new), classes)), truth)
    held_out = loss(log_softmax(np.log(prior) + as_classes(scores, classes)), codes)
    assert held_out == pytest.approx(fresh, abs=0.08)
    assert fresh < 0.2


def test_noise_is_boosted_little():
    """Of noise the best number of rounds is small, and no answer is far from the shares."""
    cells, codes = parity(400)
    codes = np.random.default_rng(5).integers(2, size=400)
    found = boost(cells, codes, np.arange(400) % 5, 2, np.random.default_rng(0))
    assert found is None or np.abs(as_classes(found[1], 2)).max() < 0.5


def test_large_tables_are_left_to_the_others(monkeypatch):
    monkeypatch.setattr(ensembles, "WORK", 1e4)
    cells, codes = parity(400)
    assert boost(cells, codes, np.arange(400) % 5, 2, np.random.default_rng(0)) is None
    forest, _ = grow_forest(cells, codes, 2, np.random.default_rng(0))
    assert len(forest.roots) == ensembles.FEWEST_TREES


def test_broken_arrays_are_no_trees():
    cells, codes = parity(100)
    forest, _ = grow_forest(cells, codes, 2, np.random.default_rng(0))
    assert are_trees(forest, 5, 2)
    inner = int(np.flatnonzero(forest.column >= 0)[0])

    def broken(name, at, value):
        array = getattr(forest, name).copy()
        array[at] = value
        return forest._replace(**{name: array})

    assert not are_trees(broken("child", inner, 0), 5, 2)  # a cycle
    assert not are_trees(broken("child", inner, 2**30), 5, 2)
    assert not are_trees(broken("column", inner, 5), 5, 2)
    assert not are_trees(broken("column", inner, -2), 5, 2)
    assert not are_trees(broken("value", 0, np.nan), 5, 2)
    assert not are_trees(broken("share", 0, 2.0), 5, 2)
    assert not are_trees(broken("roots", 0, 1), 5, 2)
    assert not are_trees(forest._replace(share=forest.share.astype(float)), 5, 2)
    assert not are_trees(forest, 5, 3)


def test_a_row_without_cells_has_about_the_shares_of_all():
    cells, codes = parity(300)
    codes[:200] = 0
    forest, _ = grow_forest(cells, codes, 2, np.random.default_rng(0))
    nothing = BinnedCells(np.full((5, 1), HOLE, np.uint8), cells.is_category)
    prior = np.bincount(codes) / 300
    np.testing.assert_allclose(smoothed(forest, nothing, prior)[0], prior, atol=0.03)


@pytest.mark.parametrize("classes", [2, 4])
def test_slopes_are_those_of_the_loss(classes, seed):
    """Minus the first and the second derivative of the log-loss, by differences."""
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=(30, n_outputs(classes))) * 2.0
    codes, prior = rng.integers(classes, size=30), np.log(rng.dirichlet(np.ones(classes)))
    g, h, rows = np.zeros_like(scores), np.zeros_like(scores), np.arange(0, 30, 2)

    def losses(x):
        log_p = log_softmax(prior + as_classes(x, classes))
        return -log_p[np.arange(30), codes]

    total = find_slopes(scores, prior, codes, rows, g, h)
    assert total == pytest.approx(losses(scores)[rows].sum(), rel=1e-12)
    assert (g[1::2] == 0.0).all()
    for k in range(scores.shape[1]):
        step = 1e-4 * np.eye(scores.shape[1])[k]
        up, down = losses(scores + step), losses(scores - step)
        np.testing.assert_allclose(g[rows, k], -((up - down) / 2e-4)[rows], atol=1e-6)
        bend = (up + down - 2.0 * losses(scores)) / 1e-8
        np.testing.assert_allclose(h[rows, k], np.maximum(bend, 1e-6)[rows], atol=1e-5)
