"""Linear online learners of many classes, as in LIBOL (Hoi, Wang and Zhao, 2012), row by row.

A class has weights; a row x of class y is compared with its strongest rival s, the other class with
the highest score, and an update moves y towards x and s away from it. With phi = x for y and -x for
s, the margin is m = w.phi = w_y.x - w_s.x. Second-order learners have a variance for each weight:
here a diagonal for each class, where LIBOL keeps one full matrix for all (thirteen hours a run, in
the paper). Rows without words teach nothing; without that rule PA and ROMMA divide by zero there.
"""

from __future__ import annotations

from math import sqrt
from statistics import NormalDist

import numpy as np
import scipy.sparse as sp

C = 1.0  # aggressiveness of PA-I, PA-II, SCW; rate of OGD
R = 1.0  # of AROW
CONFIDENCE = 0.75  # of CW and SCW
SMALLEST = 1e-100  # scale that weights are divided by


class Linear:
    """Weights of features by classes; subclasses say how far an update goes."""

    def __init__(self, n_features: int, n_classes: int) -> None:
        self.W = np.zeros((n_features, n_classes))
        self.scale = 1.0  # of all weights, so that ROMMA need not touch each
        self.t = 0  # rows so far

    def run(self, X: sp.csr_matrix, y: np.ndarray) -> np.ndarray:
        """Predict each row, then learn it; return what was predicted."""
        answers = np.zeros(len(y), np.int64)
        for i, label in enumerate(y.tolist()):
            part = slice(*X.indptr[i : i + 2])
            answers[i] = self.learn(X.indices[part], X.data[part], label)
        return answers

    def learn(self, index: np.ndarray, value: np.ndarray, y: int) -> int:
        """Learn one row, given by its features; return what was predicted for it."""
        scores = self.scale * (value @ self.W[index])
        answer = int(scores.argmax())
        own, scores[y] = scores[y], -np.inf
        rival = int(scores.argmax())
        self.t += 1
        if value.any():
            self._update(index, value, y, rival, float(own - scores[rival]))
        return answer

    def _update(self, index: np.ndarray, value: np.ndarray, y: int, rival: int, m: float) -> None:
        """Move the weights of y and its rival along the row."""
        step = self._step(m, 2.0 * float(value @ value))
        if step > 0.0:
            self._move(index, step * value, y, rival)

    def _move(self, index: np.ndarray, change: np.ndarray, y: int, rival: int) -> None:
        """Add a change to y, and take it from the rival."""
        self.W[index, y] += change / self.scale
        self.W[index, rival] -= change / self.scale

    def _step(self, m: float, square: float) -> float:
        """Return how far to go, at margin m and |phi|^2 = square."""
        raise NotImplementedError


class PA(Linear):
    """Passive-aggressive: the least change that reaches a margin of one."""

    def _step(self, m: float, square: float) -> float:
        return max(1.0 - m, 0.0) / square


class PA1(Linear):
    """PA-I: at most C."""

    def _step(self, m: float, square: float) -> float:
        return min(C, max(1.0 - m, 0.0) / square)


class PA2(Linear):
    """PA-II: a squared slack."""

    def _step(self, m: float, square: float) -> float:
        return max(1.0 - m, 0.0) / (square + 1.0 / (2.0 * C))


class OGD(Linear):
    """Gradient descent on the hinge loss, with steps that shrink by the root of time."""

    def _step(self, m: float, square: float) -> float:
        return C / sqrt(self.t) if m < 1.0 else 0.0


class Romma(Linear):
    """Relaxed online maximum margin, after mistakes (Li and Long, 2002)."""

    needed = 0.0  # a margin up to this is a mistake
    norm = 0.0  # |w|^2 of all classes

    def _update(self, index: np.ndarray, value: np.ndarray, y: int, rival: int, m: float) -> None:
        if m > self.needed or (m == self.needed > 0.0):
            return
        square = 2.0 * float(value @ value)
        c, d = self._coefficients(m, square)
        self.norm = max(c * c * self.norm + 2.0 * c * d * m + d * d * square, 0.0)
        if c == 0.0:
            self.W[:], self.scale = 0.0, 1.0
        else:
            self.scale *= c
        if self.scale < SMALLEST:
            self.W *= self.scale
            self.scale = 1.0
        self._move(index, d * value, y, rival)

    def _coefficients(self, m: float, square: float) -> tuple[float, float]:
        """Return c and d of the new weights c w + d phi.

        They are the shortest in the half-space of the row and in that of the weights so far; if
        the former lies within the latter, or nothing was learned yet, in the former alone.
        """
        if self.norm == 0.0 or m >= square * self.norm:
            return 0.0, 1.0 / square
        both = square * self.norm
        rest = both - m * m
        if rest <= 1e-12 * both:  # the row is along the weights
            return 0.0, 1.0 / square
        return (both - m) / rest, self.norm * (1.0 - m) / rest


class AggressiveRomma(Romma):
    """aROMMA: also after rows whose margin is below one."""

    needed = 1.0


class SecondOrder(Linear):
    """Weights with variances; subclasses say how far means and variances move."""

    def __init__(self, n_features: int, n_classes: int) -> None:
        super().__init__(n_features, n_classes)
        self.variance = np.ones((n_features, n_classes))

    def _update(self, index: np.ndarray, value: np.ndarray, y: int, rival: int, m: float) -> None:
        own, other = self.variance[index, y], self.variance[index, rival]
        alpha, beta = self._rates(m, float((own + other) @ value**2))
        if alpha <= 0.0:
            return
        self.W[index, y] += alpha * own * value
        self.W[index, rival] -= alpha * other * value
        self.variance[index, y] = own - beta * (own * value) ** 2
        self.variance[index, rival] = other - beta * (other * value) ** 2

    def _rates(self, m: float, v: float) -> tuple[float, float]:
        """Return the steps of means and of variances, at margin m of variance v."""
        raise NotImplementedError


class Arow(SecondOrder):
    """Adaptive regularisation of weights."""

    def _rates(self, m: float, v: float) -> tuple[float, float]:
        beta = 1.0 / (v + R)
        return max(1.0 - m, 0.0) * beta, beta


class CW(SecondOrder):
    """Confidence-weighted: the row is right with the wanted probability afterwards."""

    phi = NormalDist().inv_cdf(CONFIDENCE)

    def _rates(self, m: float, v: float) -> tuple[float, float]:
        phi, alpha = self.phi, self._alpha(m, v)
        if alpha <= 0.0:
            return 0.0, 0.0
        root = 0.5 * (-alpha * v * phi + sqrt(alpha**2 * v**2 * phi**2 + 4.0 * v))
        return alpha, alpha * phi / (root + v * alpha * phi)

    def _alpha(self, m: float, v: float) -> float:
        """Return the step that the constraint asks for."""
        phi2 = self.phi**2
        psi, xi = 1.0 + phi2 / 2.0, 1.0 + phi2
        return (-m * psi + sqrt(m * m * phi2**2 / 4.0 + v * phi2 * xi)) / (v * xi)


class SCW1(CW):
    """Soft confidence-weighted, SCW-I: at most C."""

    def _alpha(self, m: float, v: float) -> float:
        return min(C, super()._alpha(m, v))


class SCW2(CW):
    """SCW-II: a squared slack."""

    def _alpha(self, m: float, v: float) -> float:
        phi2, n = self.phi**2, v + 1.0 / (2.0 * C)
        root = self.phi * sqrt(phi2 * m * m * v * v + 4.0 * n * v * (n + v * phi2))
        return (-(2.0 * m * n + phi2 * m * v) + root) / (2.0 * (n * n + n * v * phi2))


LEARNERS: dict[str, type[Linear]] = {
    "ROMMA": Romma, "aROMMA": AggressiveRomma, "OGD": OGD, "PA": PA, "PA-I": PA1, "PA-II": PA2,
    "CW": CW, "AROW": Arow, "SCW-I": SCW1, "SCW-II": SCW2,
}  # fmt: skip
