"""Folds are those of scikit-learn."""

import warnings

import numpy as np
import pytest
from sklearn.model_selection import StratifiedKFold

from infinimix.evaluation.folds import deal, deal_groups


@pytest.mark.parametrize("n_folds", [2, 3, 5, 10])
@pytest.mark.parametrize("n_classes", [2, 3, 7])
def test_folds_are_those_of_scikit_learn(n_folds, n_classes, seed):
    rng = np.random.default_rng(seed)
    for n_rows in (60, 101):
        codes = (n_classes * rng.random(n_rows) ** 2).astype(int).tolist()
        fold = deal(codes, n_folds, 7)
        splitter = StratifiedKFold(n_folds, shuffle=True, random_state=7)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "The least populated class")
            splits = list(splitter.split(codes, codes))
        for k, (train, test) in enumerate(splits):
            np.testing.assert_array_equal(np.flatnonzero(fold == k), test)
            np.testing.assert_array_equal(np.flatnonzero(fold != k), train)


def test_groups_stay_together_and_classes_keep_their_shares():
    rng = np.random.default_rng(0)
    groups = rng.integers(0, 40, 300)
    codes = (rng.random(300) < np.where(groups % 3 == 0, 0.6, 0.2)).astype(int)
    fold = deal_groups(codes, groups, 5, 0)
    assert all(len(set(fold[groups == g])) == 1 for g in set(groups))
    shares = [codes[fold == k].mean() for k in range(5)]
    assert np.ptp(shares) < 0.1
    assert sorted(set(fold)) == [0, 1, 2, 3, 4]


def test_no_fold_is_empty_though_groups_are_large():
    groups = np.array([0] * 50 + [1] * 50 + [2, 3, 4])
    fold = deal_groups(np.arange(103) % 2, groups, 5, 0)
    assert sorted(set(fold)) == list(range(fold.max() + 1))
