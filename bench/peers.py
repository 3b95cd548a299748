"""The peers of the quality bars, as the AClass paper has them (its section 3).

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

All choices are made on training rows alone.
"""

from __future__ import annotations

import numpy as np
from sklearn.linear_model import LogisticRegression

LAMBDA = 1e-2
RLS_SCALES = (1.0, 10.0, 100.0)
RLS_LAMBDAS = 10.0 ** np.arange(-6.0, 6.5, 0.5)


class NaiveBayes:
    """Bernoulli naive Bayes whose missing cells count in nothing."""

    def fit(self, X: np.ndarray, y: np.ndarray) -> NaiveBayes:
        self.classes_ = np.unique(y)
        members = (y == self.classes_[:, None]).astype(float)
        ones, seen = members @ (X == 1), members @ ~np.isnan(X)
        p = (ones + 1.0) / (seen + 2.0)
        self.log_one, self.log_zero = np.log(p), np.log1p(-p)
        self.log_prior = np.log(members.mean(axis=1))
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        one, zero = (X == 1).astype(float), (X == 0).astype(float)
        joint = one @ self.log_one.T + zero @ self.log_zero.T + self.log_prior
        return self.classes_[joint.argmax(axis=1)]


class RunningMean:
    """Online mean imputation; `fit_transform` is the training stream."""

    def fit_transform(self, X: np.ndarray) -> np.ndarray:
        seen = ~np.isnan(X)
        total = np.cumsum(np.where(seen, X, 0.0), axis=0)
        number = np.cumsum(seen, axis=0)
        mean = np.where(number > 0, total / np.maximum(number, 1), 0.5)
        self.mean_ = mean[-1]
        before = np.vstack([np.full((1, X.shape[1]), 0.5), mean[:-1]])
        return np.where(seen, X, before)

    def transform(self, X: np.ndarray) -> np.ndarray:
        return np.where(np.isnan(X), self.mean_, X)


class PolynomialRLS:
    """Regularised least squares with the kernel (1 + x.z / s)^2, one against all."""

    def fit(self, X: np.ndarray, y: np.ndarray) -> PolynomialRLS:
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
        gram = X @ self.X.T
        margins = [
            (1.0 + gram / scale) ** 2 @ coef
            for scale, coef in zip(self.scale, self.coef.T, strict=True)
        ]
        return self.classes_[np.argmax(margins, axis=0)]


def logistic(n: int, per_row: bool) -> LogisticRegression:
    """Logistic regression with the paper's lambda against the mean, or the sum, of n losses."""
    return LogisticRegression(C=1.0 / (LAMBDA * (n if per_row else 1)), max_iter=2000)


def imputed(learner, X: np.ndarray, y: np.ndarray, test: np.ndarray) -> np.ndarray:
    """Predict a test table by a learner that needs complete tables."""
    fill = RunningMean()
    return learner.fit(fill.fit_transform(X), y).predict(fill.transform(test))
