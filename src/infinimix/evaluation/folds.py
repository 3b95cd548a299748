"""Folds of cross-validation in which each class has its share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np


def deal(codes: Sequence[int] | np.ndarray, n_folds: int, seed: int) -> np.ndarray:
    """Return the fold of each row, given the number of its class.

    Sorted by class, rows are dealt to the folds one after the other; which row of a class goes to
    which of its folds is drawn. Classes are taken in the order in which they appear. These are
    the folds of scikit-learn's `StratifiedKFold(shuffle=True)`, which comes with all of
    `sklearn.model_selection`: half a second for a few lines.
    """
    rng = np.random.RandomState(seed)
    out = np.empty(len(codes), dtype=int)
    dealt = 0
    for c in dict.fromkeys(codes):
        rows = np.flatnonzero(np.asarray(codes) == c)
        folds = np.sort(np.arange(dealt, dealt + len(rows)) % n_folds)
        rng.shuffle(folds)
        out[rows] = folds
        dealt += len(rows)
    return out


def deal_groups(
    codes: Sequence[int] | np.ndarray, groups: np.ndarray, n_folds: int, seed: int
) -> np.ndarray:
    """Return the fold of each row, the same for all rows of a group.

    Each class has its share of each fold as far as the groups allow; these are the folds of
    scikit-learn's `StratifiedGroupKFold` with groups in a random order. (Its `shuffle=True` did
    not keep the shares before version 1.8.)
    """
    import warnings

    from sklearn.model_selection import StratifiedGroupKFold  # slow to load

    out = np.empty(len(codes), dtype=int)
    found, number = np.unique(groups, return_inverse=True)
    drawn = np.random.RandomState(seed).permutation(len(found))[number]
    dealer = StratifiedGroupKFold(n_folds)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The least populated class")
        for k, (_, test) in enumerate(dealer.split(np.zeros(len(codes)), codes, drawn)):
            out[test] = k
    return np.unique(out, return_inverse=True)[1]  # large groups may leave a fold empty


def splits(folds: np.ndarray, n_folds: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield for each fold the rows to learn and the rows to predict."""
    for k in range(n_folds):
        yield np.flatnonzero(folds != k), np.flatnonzero(folds == k)
