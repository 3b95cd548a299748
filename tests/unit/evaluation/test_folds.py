"""Folds are those of scikit-learn."""

import warnings

import numpy as np
import pytest
from sklearn.model_selection import StratifiedKFold

from infinimix.evaluation.folds import deal


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
