"""The mean of the target, stacked from what models say of held-out rows and from the cells.

    m(x) = c + sum_k a_k m_k(x) + z . B

m_k are the conditional means of the models, of rows that they have not learned, and z are the cells
as numbers (`features`). B has a ridge; an infinite one, for which B = 0, is among the STRENGTHS.
a has a weak ridge around an equal share of all models. The strength is the one with the least error
where each row is left out.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from infinimix.estimators.common.ridge import solve_ridge

STRENGTHS = (np.inf, 1000.0, 300.0, 100.0, 30.0, 10.0, 3.0, 1.0, 0.3)
OWN_STRENGTH = 1.0  # of the ridge of a, in the units of the target's deviation
MOST_FEATURES = 1000  # more are not worth their time: there is no linear part then


class Stack(NamedTuple):
    """The parameters of a mean."""

    intercept: float
    shares: np.ndarray  # (models,)
    coefficients: np.ndarray  # (features,), or (0,) without linear part

    def mean(self, means: np.ndarray, features: np.ndarray | None) -> np.ndarray:
        """Return m(x) from the means of the models (rows, models) and the features."""
        out = self.intercept + means @ self.shares
        if self.coefficients.size:
            out = out + features @ self.coefficients
        return np.asarray(out)


class Solved(NamedTuple):
    """A stack, and its means of the rows by which it was found, each without itself."""

    stack: Stack
    left_out: np.ndarray  # (rows,)

    def error(self, t: np.ndarray) -> float:
        """Return the mean squared error of rows that are left out."""
        return float(((t - self.left_out) ** 2).mean())


def solve(means: np.ndarray, features: np.ndarray, t: np.ndarray, strength: float) -> Solved:
    """Return the stack for one strength of the ridge."""
    n_models = means.shape[1]
    if not np.isfinite(strength):
        features = features[:, :0]
    unit = float(t.std()) or 1.0
    centre, start = np.full(n_models, 1.0 / n_models), float(t.mean())
    D = np.concatenate([means / unit, features], axis=1)
    penalty = np.full(D.shape[1], strength if features.size else 1.0)
    penalty[:n_models] = OWN_STRENGTH
    line = solve_ridge(D, (t - start) / unit - D[:, :n_models] @ centre, penalty)
    shares, coefficients = line.coefficients[:n_models] + centre, line.coefficients[n_models:]
    stack = Stack(start + unit * line.intercept, shares, unit * coefficients)
    left_out = t - unit * line.left_out
    return Solved(stack, left_out)


def find_stack(means: np.ndarray, features: np.ndarray, t: np.ndarray) -> Solved:
    """Return the stack that held-out rows call for."""
    strengths = STRENGTHS if 0 < features.shape[1] <= MOST_FEATURES else STRENGTHS[:1]
    found = [solve(means, features, t, strength) for strength in strengths]
    return min(found, key=lambda solved: solved.error(t))
