"""Folds in which each class has its share."""

from __future__ import annotations

import numpy as np


def deal_evenly(codes: np.ndarray, n_folds: int, rng: np.random.Generator) -> np.ndarray:
    """Return a fold for each row: every class is dealt out evenly, in random order."""
    order = rng.permutation(len(codes))
    order = order[np.argsort(codes[order], kind="stable")]
    folds = np.empty(len(codes), dtype=int)
    folds[order] = np.arange(len(codes)) % n_folds
    return folds
