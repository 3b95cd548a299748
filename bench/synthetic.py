"""Synthetic tables: each class a mixture of Bernoulli vectors with Beta(.5, .5) parameters.

As in the experiments of the AClass paper: mixing weights are uniform, cells are knocked out
at random.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


class Mixtures:
    """One mixture per class; `modes` says how many components each has."""

    def __init__(self, modes: Sequence[int], width: int, rng: np.random.Generator) -> None:
        self.modes, self.width = np.asarray(modes), width
        self.p = [rng.beta(0.5, 0.5, size=(m, width)).astype(np.float32) for m in modes]

    def draw(self, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Return n rows as booleans, and their classes, which are equally probable."""
        y = rng.integers(len(self.modes), size=n)
        z = rng.integers(self.modes[y])
        first = np.cumsum([0, *self.modes[:-1]])
        p = np.concatenate(self.p)[first[y] + z]
        return rng.random(p.shape, dtype=np.float32) < p, y


def knock_out(X: np.ndarray, share: float, rng: np.random.Generator) -> np.ndarray:
    """Return the table as floats, each cell missing with this probability."""
    X = np.asarray(X, dtype=float)
    return np.where(rng.random(X.shape) < share, np.nan, X)


def two_classes(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return the table of the speed bars: 100 columns, two classes of 20 modes each."""
    rng = np.random.default_rng(seed)
    return Mixtures((20, 20), 100, rng).draw(n, rng)
