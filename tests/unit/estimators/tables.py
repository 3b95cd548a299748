"""Small tables of every kind, with groups in them, holes, and categories that come late."""

import numpy as np

KINDS = {
    "binary": ["binary"] * 3,
    "categorical": ["categorical"] * 2,
    "real": ["real"] * 2,
    "count": ["count"] * 2,
    "spiked": ["spiked"] * 2,
    "gaussian": ["gaussian"] * 3,
    "mixed": ["binary", "categorical", "real", "binary", "categorical", "count"],
}


def columns_of(kind):
    return dict(enumerate(KINDS[kind]))


def make_table(kind, n, seed=0, holes=0.15):
    """Return n rows of numbers; NaN is a hole."""
    rng = np.random.default_rng(seed)
    group = rng.integers(0, 3, n)
    late = np.arange(n) > n // 2
    shared = rng.normal(size=n)
    makers = {
        "binary": lambda: rng.random(n) < 0.1 + 0.4 * group,
        "categorical": lambda: group + rng.integers(0, 2, n) + late * rng.integers(0, 5, n),
        "real": lambda: rng.normal(size=n) + 4 * group,
        "count": lambda: rng.poisson(0.5 + 7 * group),
        "spiked": lambda: (1 + rng.gamma(2, size=n) + 4 * group) * (rng.random(n) < 0.6),
        "gaussian": lambda: shared + rng.normal(size=n) + 4 * group,
    }
    X = np.array([makers[k]() for k in KINDS[kind]], dtype=float).T
    X[rng.random(X.shape) < holes] = np.nan
    X[:1, [k == "spiked" for k in KINDS[kind]]] = 0.0  # however few rows are first, it is common
    return X


def make_labels(n, seed=0):
    """Return n labels; two of the four come late."""
    rng = np.random.default_rng(seed + 1)
    late = np.arange(n) > 0.6 * n
    codes = np.minimum(rng.integers(0, 2, n) + late * rng.integers(0, 3, n), 3)
    return np.array(["m", "b", "z", "a"])[codes]
