"""The baselines of the AClass paper (its section 3).

- Naive Bayes that leaves missing cells out, with the pseudo-count of scikit-learn's
  `BernoulliNB`; on complete tables it is `BernoulliNB`.
- Online mean imputation: a missing cell gets the running average of the observed cells of
  its column seen before it, starting with .5. Test rows get the averages at the end of
  training.
- Logistic regression with lambda = 1e-2. The paper does not say whether lambda stands
  against the mean or the sum of the losses, so there are two: C = 1 / (lambda n) and
  C = 1 / lambda.
- Regularised least squares with a polynomial kernel of degree 2, one against all; lambda and
  the scale s of (1 + x.z / s)^2 minimise each classifier's leave-one-out squared error, in
  closed form (Rifkin and Lippert 2007).
- The Forgetron (Dekel, Shalev-Shwartz and Singer 2006), which the paper names as a benchmark to
  come: a kernel perceptron with a fixed budget of rows, with the same kernel, one against all.

All choices are made on training rows alone.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression

LAMBDA = 1e-2
RLS_SCALES = (1.0, 10.0, 100.0)
RLS_LAMBDAS = 10.0 ** np.arange(-6.0, 6.5, 0.5)


class NaiveBayes:
    """Bernoulli naive Bayes whose missing cells count in nothing."""

    def fit(self, X: np.ndarray, y: np.ndarray) -> NaiveBayes:
        """Count ones among the observed cells of each class."""
        self.classes_ = np.unique(y)
        members = (y == self.classes_[:, None]).astype(float)
        ones, seen = members @ (X == 1), members @ ~np.isnan(X)
        p = (ones + 1.0) / (seen + 2.0)
        self.log_one, self.log_zero = np.log(p), np.log1p(-p)
        self.log_prior = np.log(members.mean(axis=1))
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Return the most probable class."""
        one, zero = (X == 1).astype(float), (X == 0).astype(float)
        joint = one @ self.log_one.T + zero @ self.log_zero.T + self.log_prior
        return np.asarray(self.classes_[joint.argmax(axis=1)])


class RunningMean:
    """Online mean imputation; `fit_transform` is the training stream."""

    def fit_transform(self, X: np.ndarray) -> np.ndarray:
        """Fill the training rows, each from those before it."""
        seen = ~np.isnan(X)
        total = np.cumsum(np.where(seen, X, 0.0), axis=0)
        number = np.cumsum(seen, axis=0)
        mean = np.where(number > 0, total / np.maximum(number, 1), 0.5)
        self.mean_ = mean[-1]
        before = np.vstack([np.full((1, X.shape[1]), 0.5), mean[:-1]])
        return np.asarray(np.where(seen, X, before))

    def transform(self, X: np.ndarray) -> np.ndarray:
        """Fill test rows."""
        return np.asarray(np.where(np.isnan(X), self.mean_, X))


class PolynomialRLS:
    """Regularised least squares with the kernel (1 + x.z / s)^2, one against all."""

    def fit(self, X: np.ndarray, y: np.ndarray) -> PolynomialRLS:
        """Choose scale and lambda of each class by leave-one-out, and solve."""
        self.classes_, self.X = np.unique(y), X
        Y = np.where(y[:, None] == self.classes_, 1.0, -1.0)
        best = np.full(Y.shape[1], np.inf)
        self.scale, self.coef = np.empty(Y.shape[1]), np.empty(Y.shape)
        for scale in RLS_SCALES:
            values, vectors = np.linalg.eigh((1.0 + X @ X.T / scale) ** 2)
            rotated, squares = vectors.T @ Y, vectors**2
            for lam in RLS_LAMBDAS * values[-1] / len(X):
                shrunk = 1.0 / (np.maximum(values, 0.0) + lam)
                coef = vectors @ (shrunk[:, None] * rotated)
                left_out = coef / (squares @ shrunk)[:, None]
                error = (left_out**2).mean(axis=0)
                better = error < best
                best[better], self.scale[better] = error[better], scale
                self.coef[:, better] = coef[:, better]
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Return the class with the largest value."""
        gram = X @ self.X.T
        margins = [
            (1.0 + gram / scale) ** 2 @ coef
            for scale, coef in zip(self.scale, self.coef.T, strict=True)
        ]
        return np.asarray(self.classes_[np.argmax(margins, axis=0)])


class Forgetron:
    """The self-tuned Forgetron, one against all: on a full budget it shrinks, then forgets a row.

    The kernel is (1 + x.z)^2, normalised so that K(x, x) = 1 as its analysis asks. Before the
    oldest row is dropped, all weights are multiplied by the largest phi <= 1 for which the total
    damage Q of forgetting stays below 15/32 of the number of mistakes M.
    """

    def __init__(self, budget: int = 100) -> None:
        self.budget = budget

    def fit(self, X: np.ndarray, y: np.ndarray) -> Forgetron:
        """Read the rows once, in their order."""
        self.classes_, self.X = np.unique(y), X
        gram = self._kernel(X)
        signs = np.where(y[:, None] == self.classes_, 1.0, -1.0)
        self.weights = np.stack([self._learn(gram, column) for column in signs.T], axis=1)
        return self

    def _kernel(self, X: np.ndarray) -> np.ndarray:
        own, known = (1.0 + (Z**2).sum(axis=1) for Z in (X, self.X))
        return np.asarray(((1.0 + X @ self.X.T) / np.sqrt(np.outer(own, known))) ** 2)

    def _learn(self, gram: np.ndarray, sign: np.ndarray) -> np.ndarray:
        """Return the weight of each row, 0 where it is not kept; `sign` is its class."""
        w, mistakes, damage = np.zeros(len(sign)), 0, 0.0
        kept: list[int] = []
        for t in range(len(sign)):
            if sign[t] * (gram[t][kept] @ w[kept]) > 0.0:
                continue
            mistakes += 1
            w[t] = sign[t]
            kept.append(t)
            if len(kept) > self.budget:
                r = kept[0]
                size, margin = abs(w[r]), sign[r] * (gram[r][kept] @ w[kept])
                phi, more = _shrink(size, margin, 15.0 / 32.0 * mistakes - damage)
                damage += more
                w *= phi
                w[r] = 0.0
                del kept[0]
        return w

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Return the class with the largest margin."""
        return np.asarray(self.classes_[(self._kernel(X) @ self.weights).argmax(axis=1)])


def _shrink(size: float, margin: float, room: float) -> tuple[float, float]:
    """Return the largest phi <= 1 with a phi^2 + b phi <= room, and that damage."""
    a, b = size**2 - 2.0 * size * margin, 2.0 * size
    if a + b <= room:
        return 1.0, a + b
    phi = (-b + np.sqrt(max(b**2 + 4.0 * a * room, 0.0))) / (2.0 * a) if a else room / b
    return phi, a * phi**2 + b * phi


def logistic(n: int, per_row: bool) -> LogisticRegression:
    """Logistic regression with the paper's lambda against the mean, or the sum, of n losses."""
    return LogisticRegression(C=1.0 / (LAMBDA * (n if per_row else 1)), max_iter=2000)


def imputed(learner: Any, X: np.ndarray, y: np.ndarray, test: np.ndarray) -> np.ndarray:
    """Predict a test table by a learner that needs complete tables."""
    fill = RunningMean()
    answer = learner.fit(fill.fit_transform(X), y).predict(fill.transform(test))
    return np.asarray(answer)
