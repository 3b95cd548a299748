"""The hinge of a row over the outputs of an expert, and the expert of a single row.

One against the rest sums a binary hinge for each output (with two classes there is one output, and
this is the paper's loss). Crammer and Singer's, of the paper's appendix C, is one hinge over all
classes,

    max_y (Delta_y + eta_y.x - eta_{y_i}.x),   Delta_y = l (1 - [y = y_i])

(the appendix prints l [y = y_i], which would reward errors). An expert of one row is in closed form
for both. With a = min(2c, l (C - 1) / (C nu^2 |x|^2)) Crammer and Singer's has nu^2 a x for the
class of the row and -nu^2 a x / (C - 1) for the others.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np


class LossWeights(NamedTuple):
    """The numbers that weigh the terms, and which hinge and which experts there are."""

    lam: float
    s: float = 1.0
    c: float = 1.0
    nu: float = 1.0
    margin: float = 1.0
    joint: bool = False  # one hinge over all classes where there are more than two
    constant: float = 1.0  # the last coordinate of a row: 0 for experts without a bias

    @property
    def ridge(self) -> float:
        """The factor of |eta|^2 / 2."""
        return 1.0 / self.nu**2

    def is_joint(self, n_outputs: int) -> bool:
        """Tell whether an expert of so many outputs has one hinge over all of them."""
        return self.joint and n_outputs > 1

    def hinges_of_zero(self, n_outputs: int) -> float:
        """Return what a row costs an expert that is zero."""
        return 2.0 * self.c * self.margin * (1 if self.is_joint(n_outputs) else n_outputs)


def hinges(scores: np.ndarray, Y: np.ndarray, w: LossWeights) -> np.ndarray:
    """Return the hinge of each row, not weighted; outputs are on the last axis of both arrays."""
    if not w.is_joint(Y.shape[-1]):
        return np.maximum(w.margin - Y * scores, 0.0).sum(axis=-1)
    own = np.where(Y > 0, scores, 0.0).sum(axis=-1)
    return np.asarray((scores + w.margin * (Y < 0)).max(axis=-1) - own)


def one_point(squares: np.ndarray, w: LossWeights, weight: Any = 1.0) -> np.ndarray:
    """Return a of the SVM of one point: eta* = a y x, a = min(2 c nu^2, l / |x|^2).

    The weight of a row multiplies c, here and below.
    """
    with np.errstate(divide="ignore"):  # a row of zeros, without a bias
        return np.minimum(2.0 * w.c * weight * w.nu**2, w.margin / squares)


def one_point_experts(
    X: np.ndarray, Y: np.ndarray, w: LossWeights, weight: Any = 1.0
) -> np.ndarray:
    """Return the expert of each row alone, (n, C, p)."""
    squares, C = np.einsum("ij,ij->i", X, X), Y.shape[1]
    if w.is_joint(C):
        pull = np.where(Y > 0, 1.0, -1.0 / (C - 1))
        a = _one_point_jointly(squares, C, w, weight)
        return a[:, None, None] * pull[:, :, None] * X[:, None, :]
    return one_point(squares, w, weight)[:, None, None] * Y[:, :, None] * X[:, None, :]


def one_point_costs(squares: np.ndarray, C: int, w: LossWeights, weight: Any = 1.0) -> np.ndarray:
    """Return hinge and penalty of the expert of each row alone (eq. 32 without lambda)."""
    if w.is_joint(C):
        a, shared = _one_point_jointly(squares, C, w, weight), C / (C - 1)
        gaps = np.maximum(w.margin - shared * a * squares, 0.0)
        return 2.0 * w.c * weight * gaps + 0.5 * w.ridge * shared * a**2 * squares
    a = one_point(squares, w, weight)
    hinge = 2.0 * w.c * weight * np.maximum(w.margin - a * squares, 0.0)
    return np.asarray(C * (hinge + 0.5 * w.ridge * a**2 * squares))


def _one_point_jointly(squares: np.ndarray, C: int, w: LossWeights, weight: Any) -> np.ndarray:
    """Return the factor of x in the output of a row's own class, nu^2 a."""
    with np.errstate(divide="ignore"):
        return np.minimum(2.0 * w.c * weight * w.nu**2, w.margin * (C - 1) / (C * squares))
