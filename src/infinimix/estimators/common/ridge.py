"""Ridge regression, and what it says of each row when that row is left out."""

from __future__ import annotations

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
