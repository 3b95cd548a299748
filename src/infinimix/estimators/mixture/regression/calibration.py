"""Distributions that cover: the scale and the levels that held-out rows call for.

The target of a row is distributed as the mixture says, around another mean and on another scale:
t = m(x) + s (u - E u), u ~ p(. | x). If that were right, the level at which the target of a
held-out row lies, F(t | x), would be uniform. `Levels` maps levels to the share of held-out rows
below them, by straight lines between some quantiles: what the distribution calls its 5% quantile
becomes one that 5% of the held-out rows lie below. This is conformal prediction with all quantiles
at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from infinimix.estimators.common.bounded import minimise
from infinimix.estimators.mixture.regression.conditional import TargetDensity

WANTED = (0.01, 0.025, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.975, 0.99)
LEAST_ROWS = 3  # that must lie beyond a quantile for it to be a knot
BLEND = 1e-3  # with the identity, so that no slope is infinite
LARGEST = 6.0  # of the log of the scale, up or down
MOST_ROWS = 1000  # by which the scale is found


class Levels(NamedTuple):
    """Increasing straight lines from 0 to 1: levels of the mixture, and shares of rows below."""

    level: np.ndarray  # (knots,) from 0 to 1
    share: np.ndarray  # (knots,) from 0 to 1

    @classmethod
    def learn(cls, levels: np.ndarray) -> Levels:
        """Find the map from the levels of held-out rows."""
        n = len(levels)
        wanted = [p for p in WANTED if min(p, 1.0 - p) * (n + 1) >= LEAST_ROWS]
        share = np.array([0.0, *wanted, 1.0])
        ordered = np.concatenate([[0.0], np.sort(levels), [1.0]])
        level = np.interp(share * (n + 1), np.arange(n + 2), ordered)
        return cls((1.0 - BLEND) * level + BLEND * share, share)

    def to_share(self, level: np.ndarray) -> np.ndarray:
        """Return the share of rows below a level."""
        return np.interp(level, self.level, self.share)

    def to_level(self, share: np.ndarray) -> np.ndarray:
        """Return the level below which a share of rows lies."""
        return np.interp(share, self.share, self.level)

    def log_slope(self, level: np.ndarray) -> np.ndarray:
        """Return the log of the slope of `to_share`."""
        piece = np.searchsorted(self.level, level, side="right") - 1
        piece = np.clip(piece, 0, len(self.level) - 2)
        return np.asarray(np.log(np.diff(self.share)[piece] / np.diff(self.level)[piece]))

    def sound(self) -> bool:
        """Return whether rows could have left this map."""
        return all(
            isinstance(x, np.ndarray) and x.dtype == np.float64 and x.ndim == 1
            and len(x) == len(self.level) >= 2 and bool(x[0] == 0.0 and x[-1] == 1.0)
            and bool((np.diff(x) > 0.0).all())
            for x in self
        )  # fmt: skip


SAME = Levels(np.array([0.0, 1.0]), np.array([0.0, 1.0]))


@dataclass
class Outlook:
    """The corrected distribution of the target of some rows, in the units of the transform."""

    conditional: TargetDensity
    mean: np.ndarray  # (rows,) m(x)
    scale: float = 1.0
    levels: Levels = SAME

    def _inner(self, t: np.ndarray) -> np.ndarray:
        return self.conditional.mean + (t - self.mean) / self.scale

    def cdf(self, t: np.ndarray) -> np.ndarray:
        """Return the probability of a value below t."""
        return self.levels.to_share(self.conditional.cdf(self._inner(t)))

    def log_density(self, t: np.ndarray) -> np.ndarray:
        """Return the log density at t."""
        inner = self._inner(t)
        found = self.conditional.log_density(inner) - np.log(self.scale)
        if self.levels is not SAME:
            found += self.levels.log_slope(self.conditional.cdf(inner))
        return np.asarray(found)

    def quantile(self, p: np.ndarray) -> np.ndarray:
        """Return where the probability below is p, one for each row."""
        inner = self.conditional.quantile(self.levels.to_level(p))
        return np.asarray(self.mean + self.scale * (inner - self.conditional.mean))

    def shares_of_cells(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the middles of many small intervals, and the probability of each, by row."""
        knots = self.conditional.students.knots
        below = self.conditional.weight @ self.conditional.students.below_knots
        share = np.diff(self.levels.to_share(np.clip(below, 0.0, 1.0)), axis=1)
        inner = 0.5 * (knots[1:] + knots[:-1])
        middles = self.mean[:, None] + self.scale * (inner - self.conditional.mean[:, None])
        return middles, share / share.sum(axis=1, keepdims=True)


def find_scale(parts: Sequence[Any], mean: Sequence[np.ndarray], t: Sequence[np.ndarray]) -> float:
    """Return the scale under which held-out rows are most probable, given their means."""
    share = min(1.0, MOST_ROWS / max(sum(map(len, t)), 1))
    some = [
        (part.take(slice(round(len(at) * share))), *(x[: round(len(at) * share)] for x in (m, at)))
        for part, m, at in zip(parts, mean, t, strict=True)
    ]

    def loss(log_scale: float) -> float:
        scale = float(np.exp(log_scale))
        return -sum(float(Outlook(part, m, scale).log_density(at).sum()) for part, m, at in some)

    return float(np.exp(minimise(loss, -LARGEST, LARGEST)))
