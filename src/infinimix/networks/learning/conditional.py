"""A number given categories and numbers: a regression for each configuration of the categories.

`ConditionalFamily` has the posterior of these regressions given rows without holes. The compiled
scores (`engine.mixed_scores`) sum the parameters out; here they are wanted one by one, to draw
missing cells and to predict rows. A configuration without rows has the prior.
"""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np

from infinimix.networks.engine.families import GROUP_MU, PRIOR_MU, PRIOR_T, Data
from infinimix.networks.learning.completion import code_parents, regress


class Lines(NamedTuple):
    """Regressions, one for each of some rows."""

    intercept: np.ndarray  # (m,)
    slopes: np.ndarray  # (m, real parents)
    variance: np.ndarray  # (m,)

    def at(self, X: np.ndarray) -> np.ndarray:
        """Return the means, given the real parents in each row."""
        return np.asarray(self.intercept + (X * self.slopes).sum(axis=1))

    def log_density(self, X: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Return the log densities of numbers y, given the real parents in each row."""
        gap = y - self.at(X)
        return np.asarray(-0.5 * (gap**2 / self.variance + np.log(2 * np.pi * self.variance)))


class ConfigurationPosterior(NamedTuple):
    """The posterior of the rows of one configuration: of the real parents, then the child."""

    R: np.ndarray  # scatter
    n: float
    mean: np.ndarray


class ConditionalFamily:
    """A number c with its parents, discrete ones and real ones, in rows X."""

    def __init__(self, X: np.ndarray, c: int, parents: np.ndarray, data: Data) -> None:
        self.c, self.cards, self.settings = c, data.cards, data.settings.copy()
        self.discrete = parents[data.cards[parents] > 0]
        self.real = parents[data.cards[parents] == 0]
        if len(self.discrete):
            self.settings[PRIOR_MU] = self.settings[GROUP_MU]
        self._rows = X if data.skip.shape[1] == 0 else X[data.skip[c] == 0]
        self._drawn: dict[int, tuple[float, np.ndarray, float]] = {}

    def configurations(self, X: np.ndarray) -> np.ndarray:
        """Return the number of the configuration of the discrete parents in each row."""
        return code_parents(X.astype(np.int64), self.discrete, self.cards)

    @cached_property
    def _groups(self) -> dict[int, np.ndarray]:
        """Configuration -> its rows, of the real parents and the child."""
        cells = self._rows[:, [*self.real, self.c]]
        if not len(self.discrete) and len(cells):
            return {0: cells[np.arange(len(cells))]}  # laid out as those of a configuration
        code = self.configurations(self._rows)
        order = np.argsort(code, kind="stable")
        found, first = np.unique(code[order], return_index=True)
        parts = np.split(cells[order], first[1:]) if len(found) else []
        return dict(zip(found.tolist(), parts, strict=True))

    def group(self, configuration: int) -> ConfigurationPosterior:
        """Return the posterior of a configuration."""
        d, mu = len(self.real) + 1, self.settings[PRIOR_MU]
        rows = self._groups.get(configuration, np.zeros((0, d)))
        n, sums = len(rows), rows.sum(axis=0)
        mean = sums / max(n, 1)
        centred = rows - mean
        R = centred.T @ centred + n * mu / (n + mu) * np.outer(mean, mean)
        R.flat[:: d + 1] += self.settings[PRIOR_T]
        return ConfigurationPosterior(R, float(n), sums / (n + mu))

    def regression(
        self, configuration: int, rng: np.random.Generator | None
    ) -> tuple[float, np.ndarray, float]:
        """Return intercept, slopes and variance in a configuration: drawn, or their means."""
        own, k = self.group(configuration), len(self.real)
        return regress(own.R, own.n, own.mean, k, np.arange(k), self.settings, rng)

    def lines(self, X: np.ndarray, rng: np.random.Generator | None = None) -> Lines:
        """Return the regressions of rows X: their means, or each configuration drawn once.

        What is drawn is remembered, and drawn when it is first needed: given the rows,
        configurations are independent.
        """
        if not len(self.discrete) and len(X):  # the usual way: one configuration
            codes, at = np.zeros(1, np.int64), np.zeros(len(X), np.int64)
        else:
            codes, at = np.unique(self.configurations(X), return_inverse=True)
        for code in codes.tolist():
            if code not in self._drawn:
                self._drawn[code] = self.regression(code, rng)
        own = [self._drawn[code] for code in codes.tolist()]
        a, v = (np.array([line[k] for line in own], float) for k in (0, 2))
        b = np.array([line[1] for line in own], float).reshape(len(own), len(self.real))
        return Lines(a[at], b[at], v[at])
