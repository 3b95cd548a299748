"""Bregman divergences D(x, m), written so that one matrix product gives all of them.

D(x, m) = phi(x) - phi(m) - <x - m, grad phi(m)> is linear in x except for phi(x):

    D(x, m) = phi(x) + b(m) - <x, g(m)>,   g = grad phi,   b(m) = <m, g(m)> - phi(m).

So rows against clusters are a product of matrices, whichever the divergence, and the mean of its
rows is the best centre of a cluster in each of them. The sums over columns run over the observed
cells of a row only; that is the divergence of the row with the cluster's own mean filled in.

Hidden here: means of the Kullback-Leibler and Itakura-Saito divergences are kept above a floor of
1e-12 of the data, where a logarithm is still finite, and those of the Bernoulli divergence as far
below 1, too; the best centre within bounds is the mean or the bound, so descent stays descent.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.special import logit, xlogy

NAMES = ("euclidean", "kl", "itakura-saito", "bernoulli", "mahalanobis")
GATED = tuple(name for name in NAMES if name != "mahalanobis")  # what clusters with experts take
FLOOR = 1e-12


class Divergence(NamedTuple):
    """A divergence with what it needs to know of the data."""

    name: str
    centre: np.ndarray  # (d,) taken off every row: keeps the digits where only differences count
    least: np.ndarray  # (d,) floor of the means
    usual: np.ndarray  # (d,) centred mean of all rows: stands where a cluster has no cell
    matrix: np.ndarray | None = None  # of the Mahalanobis distance

    def bound(self, means: np.ndarray) -> np.ndarray:
        """Return centred means, kept where the divergence is finite."""
        means = np.maximum(means, self.least)
        return np.minimum(means, 1.0 - self.least) if self.name == "bernoulli" else means

    def potential(self, X: np.ndarray, seen: np.ndarray) -> np.ndarray:
        """Return phi(x) of centred rows, summed over the observed cells."""
        if self.name == "euclidean":
            return np.einsum("ij,ij->i", X, X)
        if self.matrix is not None:
            return np.einsum("ij,ij->i", X @ self.matrix, X)
        if self.name == "bernoulli":
            return np.where(seen, xlogy(X, X) + xlogy(1.0 - X, 1.0 - X), 0.0).sum(axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            cells = X * np.log(X) - X if self.name == "kl" else -np.log(X)
        return np.where(seen & ((X > 0) | (self.name != "kl")), cells, 0.0).sum(axis=1)

    def slopes(self, means: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return g and the parts of b by column, of centred means of shape (K, d)."""
        if self.name == "euclidean":
            return 2.0 * means, means**2
        if self.matrix is not None:
            half = means @ self.matrix
            return 2.0 * half, means * half
        if self.name == "kl":
            return np.log(means), means
        if self.name == "bernoulli":
            return logit(means), -np.log1p(-means)
        return -1.0 / means, np.log(means) - 1.0


def find_divergence(
    name: str, X: np.ndarray, matrix: Any = None, weight: np.ndarray | None = None
) -> Divergence:
    """Return a divergence for these rows; raise ValueError if it has no meaning for them."""
    seen = ~np.isnan(X)
    d = X.shape[1]
    mean = _column_means(X, seen, weight)
    if name == "bernoulli":
        _check_signs(name, X)
        chosen = Divergence(name, np.zeros(d), np.full(d, FLOOR), mean)
        return chosen._replace(usual=chosen.bound(mean))
    if name in ("kl", "itakura-saito"):
        _check_signs(name, X)
        level = _column_means(np.abs(X), seen, weight)
        least = FLOOR * np.where(level > 0, level, 1.0)
        return Divergence(name, np.zeros(d), least, np.maximum(mean, least))
    unbounded = np.full(d, -np.inf)
    if name == "mahalanobis":
        return Divergence(name, mean, unbounded, np.zeros(d), _check_matrix(matrix, X))
    return Divergence(name, mean, unbounded, np.zeros(d))


def _column_means(X: np.ndarray, seen: np.ndarray, weight: np.ndarray | None) -> np.ndarray:
    """Return the mean of the observed cells of each column, 0 where there are none."""
    cells = np.where(seen, X, 0.0)
    if weight is None:
        return np.asarray(cells.sum(axis=0) / np.maximum(seen.sum(axis=0), 1))
    mass = weight @ seen
    return np.asarray(weight @ cells / np.where(mass > 0, mass, 1.0))


def check_rows(divergence: Divergence, X: np.ndarray) -> None:
    """Raise ValueError if the divergence has no meaning for these later rows."""
    if divergence.name in ("kl", "itakura-saito", "bernoulli"):
        _check_signs(divergence.name, X)
    if divergence.matrix is not None and np.isnan(X).any():
        raise ValueError("The Mahalanobis distance takes no missing cells.")


def _check_signs(name: str, X: np.ndarray) -> None:
    if name == "bernoulli":
        _check_shares(X)
        return
    bad = X < 0 if name == "kl" else X <= 0
    if bad.any():
        row, column = (int(k) for k in np.argwhere(bad)[0])
        words = "negative numbers" if name == "kl" else "numbers that are not positive"
        raise ValueError(
            f"Negative values in data passed to the divergence {name!r}, which takes no {words}; "
            f"row {row} of column {column} has {X[row, column]!r}."
        )


def _check_shares(X: np.ndarray) -> None:
    bad = (X < 0) | (X > 1)
    if bad.any():
        row, column = (int(k) for k in np.argwhere(bad)[0])
        raise ValueError(
            f"The divergence 'bernoulli' takes numbers from 0 to 1; row {row} of column {column} "
            f"has {X[row, column]!r}."
        )


def _check_matrix(matrix: Any, X: np.ndarray) -> np.ndarray:
    d = X.shape[1]
    if matrix is None:
        raise ValueError("divergence='mahalanobis' needs its 'matrix', positive definite.")
    A = np.asarray(matrix, dtype=float)
    if A.shape != (d, d) or not np.isfinite(A).all() or not np.allclose(A, A.T):
        raise ValueError(f"'matrix' must be symmetric, of shape ({d}, {d}); got {A.shape}.")
    if np.linalg.eigvalsh(A)[0] <= 0:
        raise ValueError("'matrix' must be positive definite.")
    if np.isnan(X).any():
        raise ValueError("The Mahalanobis distance takes no missing cells.")
    return (A + A.T) / 2
