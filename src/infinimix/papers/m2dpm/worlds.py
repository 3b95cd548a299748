"""The synthetic data of the paper: clusters on a line, with a linear rule in each.

Cluster k has its mean at (k, ..., k), and P(y = 1) = sigmoid(eta_k.(x - mu_k)) with eta_k standard
normal (eq. 37). Setting I: a CRP with alpha = 1 and at most ten clusters, normal with deviation .5.
Setting II: ten clusters of equal probability, uniform on cubes of side 1, which do not overlap. For
table 2 Setting I without a bound on the number of clusters.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import expit

COLUMNS, MOST = 10, 10


class LabelledWorld(NamedTuple):
    """Rows, their classes, their true clusters, and the probability of class 1."""

    X: np.ndarray
    y: np.ndarray
    z: np.ndarray
    p: np.ndarray


def seat(n: int, rng: np.random.Generator, most: int | None, alpha: float = 1.0) -> np.ndarray:
    """Return clusters of rows by a CRP, the last ones opened only below `most`."""
    z = np.empty(n, np.int64)
    counts: np.ndarray = np.zeros(0)
    for i in range(n):
        opens = alpha if most is None or len(counts) < most else 0.0
        w = np.append(counts, opens).cumsum()
        z[i] = int(np.searchsorted(w, rng.random() * w[-1], side="right"))
        if z[i] == len(counts):
            counts = np.append(counts, 0.0)
        counts[z[i]] += 1.0
    return z


def setting_one(n: int, seed: int, most: int | None = MOST) -> LabelledWorld:
    """Normal clusters whose sizes are those of a CRP."""
    rng = np.random.default_rng(seed)
    z = seat(n, rng, most)
    return _label(rng, 0.5 * rng.normal(size=(n, COLUMNS)), z)


def setting_two(n: int, seed: int) -> LabelledWorld:
    """Ten disjoint cubes."""
    rng = np.random.default_rng(seed)
    return _label(rng, rng.uniform(-0.5, 0.5, (n, COLUMNS)), rng.integers(0, MOST, n))


def endless(n: int, seed: int) -> LabelledWorld:
    """Setting I with as many clusters as the CRP opens."""
    return setting_one(n, seed, None)


def _label(rng: np.random.Generator, U: np.ndarray, z: np.ndarray) -> LabelledWorld:
    rules = rng.normal(size=(max(MOST, int(z.max()) + 1), U.shape[1]))
    p = expit((U * rules[z]).sum(axis=1))
    return LabelledWorld(U + 1.0 + z[:, None], (rng.random(len(z)) < p).astype(int), z, p)


def divide(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return 80% of the rows for training and the others for the test, at random."""
    train, test = np.split(np.random.default_rng(seed).permutation(n), [int(0.8 * n)])
    return train, test
