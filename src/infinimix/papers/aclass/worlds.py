"""The synthetic data of section 3: mixtures of Bernoulli vectors with Beta(.5, .5) parameters.

Mixing weights are uniform, and cells are missing at random.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


class BernoulliMixture:
    """Equally probable modes over binary columns; the truth of figures 4 and 5."""

    def __init__(self, n_modes: int, width: int, rng: np.random.Generator) -> None:
        self.p = rng.beta(0.5, 0.5, size=(n_modes, width))

    def draw(self, n: int, rng: np.random.Generator) -> np.ndarray:
        """Return n rows of booleans."""
        p = self.p[rng.integers(len(self.p), size=n)]
        return rng.random(p.shape) < p

    def log_density(self, X: np.ndarray) -> np.ndarray:
        """Return the log probability of each row."""
        with np.errstate(divide="ignore"):
            logs = X @ np.log(self.p).T + ~X @ np.log1p(-self.p).T
        return np.asarray(np.logaddexp.reduce(logs, axis=1) - np.log(len(self.p)))


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
