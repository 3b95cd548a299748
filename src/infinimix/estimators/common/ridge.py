"""Ridge regression, and what it says of each row when that row is left out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

LEAST = 1e-6  # of one minus the leverage: a row that the others say nothing of


class Ridge(NamedTuple):
    """A line through rows, y = intercept + x . coefficients."""

    intercept: float
    coefficients: np.ndarray  # (features,)
    left_out: np.ndarray  # (rows,) residual of each row by the line through the others


def solve_ridge(X: np.ndarray, y: np.ndarray, penalty: np.ndarray) -> Ridge:
    """Return the line of least squares plus the sum of penalty times squared coefficients.

    The intercept has no penalty. A ridge knows its residuals of left-out rows without solving
    again: e_i / (1 - H_ii).
    """
    middle, start = X.mean(axis=0), float(y.mean())
    D = X - middle
    solution = np.linalg.solve(D.T @ D + np.diag(penalty), D.T)
    w = solution @ (y - start)
    leverage = 1.0 / len(y) + np.einsum("ij,ji->i", D, solution)
    left_out = (y - start - D @ w) / np.maximum(1.0 - leverage, LEAST)
    return Ridge(start - float(middle @ w), w, left_out)


def solve_ridges(X: np.ndarray, y: np.ndarray, penalties: Sequence[float]) -> Iterator[Ridge]:
    """Yield what `solve_ridge` finds for each of several penalties, the same for all coefficients.

    In the eigenvectors of the squares X'X every ridge is diagonal, so all cost about one.
    """
    middle, start = X.mean(axis=0), float(y.mean())
    D = X - middle
    sizes, vectors = np.linalg.eigh(D.T @ D)
    E = D @ vectors
    along, squares = E.T @ (y - start), E * E
    for penalty in penalties:
        shrunk = 1.0 / (np.maximum(sizes, 0.0) + penalty)
        w = vectors @ (shrunk * along)
        leverage = 1.0 / len(y) + squares @ shrunk
        left_out = (y - start - E @ (shrunk * along)) / np.maximum(1.0 - leverage, LEAST)
        yield Ridge(start - float(middle @ w), w, left_out)
