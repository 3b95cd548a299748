"""Rows ready for matrix products: features, missing cells, potentials, signs of the labels.

A row is F = [x - centre, 1] or, where cells are missing, [x - centre with 0 for these, 1,
missingness indicators]. A cluster is a vector of the same length for its divergence, and one for
each output of its expert, so that scores of all rows are F @ W.T. In place of a missing cell stands
the cluster's own mean: that part of the score depends on the cluster alone, and the column of the
indicator picks it up.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from infinimix.maxmargin.objective.divergences import Divergence

CHUNK = 1024  # rows of one matrix product: what it writes stays in the cache
SPAN = 64 * CHUNK  # rows of one task, where there are more


class FeatureRows(NamedTuple):
    """Rows as the engine takes them."""

    F: np.ndarray  # (n, d + 1), or (n, 2 d + 1) with missingness indicators
    phi: np.ndarray  # (n,) potential
    Y: np.ndarray  # (n, C) signs: +1 or -1 for each output of an expert; C = 0 without labels
    d: int
    weight: np.ndarray  # (n,) what multiplies the cost of a row, 1 unless the user says otherwise

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.F)

    @property
    def total(self) -> float:
        """The sum of the weights: the number of rows, if all count once."""
        return float(self.weight.sum())

    @property
    def arrays(self) -> tuple[np.ndarray, ...]:
        """All that grows with the rows."""
        return self.F, self.phi, self.Y, self.weight

    @property
    def incomplete(self) -> bool:
        """Are cells missing?"""
        return self.F.shape[1] > self.d + 1

    def take(self, index: Any) -> FeatureRows:
        """Return some of the rows."""
        return FeatureRows(
            self.F[index], self.phi[index], self.Y[index], self.d, self.weight[index]
        )

    def without_labels(self) -> FeatureRows:
        """Return the same rows for plain DP-means."""
        return self._replace(Y=self.Y[:, :0])

    def missing(self) -> np.ndarray:
        """Return 1.0 where a cell is missing."""
        return self.F[:, self.d + 1 :]

    def chunks(self) -> Iterator[slice]:
        """Slices that cover all rows."""
        for start in range(0, self.n, CHUNK):
            yield slice(start, min(start + CHUNK, self.n))


def make_rows(
    X: np.ndarray,
    divergence: Divergence,
    Y: np.ndarray | None = None,
    weight: np.ndarray | None = None,
) -> FeatureRows:
    """Return rows for the engine; NaN is a missing cell, and without weights all count once."""
    missing = np.isnan(X)
    n, d = X.shape
    incomplete = bool(missing.any())
    centred = X - divergence.centre
    if incomplete:
        centred = np.where(missing, 0.0, centred)
    F = np.empty((n, (2 * d if incomplete else d) + 1))
    F[:, :d], F[:, d] = centred, 1.0
    if incomplete:
        F[:, d + 1 :] = missing
    phi = divergence.potential(centred, ~missing)
    if not np.isfinite(phi).all():
        row = int(np.flatnonzero(~np.isfinite(phi))[0])
        raise ValueError(f"Row {row} of X has numbers too large to square; scale the columns.")
    weight = np.ones(n) if weight is None else weight
    return FeatureRows(F, phi, np.empty((n, 0)) if Y is None else Y, d, weight)


def signs(codes: np.ndarray, n_classes: int) -> np.ndarray:
    """Return the signs of labels: one column for two classes, one a class for more.

    The second of two classes is the positive one; a single class is positive too.
    """
    if n_classes <= 2:
        return np.where(codes == n_classes - 1, 1.0, -1.0)[:, None]
    return np.where(codes[:, None] == np.arange(n_classes), 1.0, -1.0)
