"""dpMNL (Shahbaba and Neal 2009), small: a baseline.

A Dirichlet process mixture of normal covariates (independent columns, Normal-inverse-chi-squared,
integrated out) with a multinomial logit in each cluster. Rows choose clusters with three spare
experts from the prior (Neal's algorithm 8); experts move by elliptical slice sampling.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import gammaln, log_softmax, logsumexp
from sklearn.base import BaseEstimator, ClassifierMixin

from infinimix.papers.m2dpm.dpmnl_moves import KAPPA, NU, VARIANCE, move_expert, move_rows

ROOM = 16  # clusters that arrays are made for at first


class DPMNL(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """The classifier; `scale` is the deviation of a logit's prior."""

    def __init__(
        self,
        alpha: float = 1.0,
        scale: float = 2.0,
        n_iter: int = 80,
        burn_in: int = 40,
        n_samples: int = 25,
        random_state: int = 0,
    ) -> None:
        self.alpha, self.scale, self.n_iter, self.burn_in = alpha, scale, n_iter, burn_in
        self.n_samples, self.random_state = n_samples, random_state

    def fit(self, X: np.ndarray, y: np.ndarray) -> DPMNL:
        """Run the chain, and keep states of its second half."""
        self.rng = np.random.default_rng(self.random_state)
        self.classes_, self.codes = np.unique(y, return_inverse=True)
        self.X = np.ascontiguousarray(X, float)
        self.X1 = np.c_[self.X, np.ones(len(X))]
        self.z = np.zeros(len(X), np.int64)
        self._begin()
        self.kept: list[tuple[np.ndarray, ...]] = []
        keep = set(np.linspace(self.n_iter - 1, self.burn_in, self.n_samples).astype(int).tolist())
        for sweep in range(self.n_iter):
            self._sweep()
            if sweep in keep:
                parts = (*self.state, self.beta)
                self.kept.append(tuple(part[: self.K].copy() for part in parts))
        return self

    def _begin(self) -> None:
        """Put all rows into one cluster."""
        p, shape = self.X.shape[1], (len(self.classes_), self.X1.shape[1])
        self.K = 1
        self.state: tuple[np.ndarray, ...] = (  # numbers of rows, sums, sums of squares
            np.zeros(ROOM), np.zeros((ROOM, p)), np.zeros((ROOM, p)),
        )  # fmt: skip
        for part, all_rows in zip(
            self.state, (len(self.X), self.X.sum(axis=0), (self.X**2).sum(axis=0)), strict=True
        ):
            part[0] = all_rows
        self.beta = np.zeros((ROOM, *shape))
        self.beta[0] = self.scale * self.rng.standard_normal(shape)

    def _sweep(self) -> None:
        order = self.rng.permutation(len(self.X))
        while len(order):
            place, width = (np.empty_like(self.state[1]) for _ in range(2))
            tables = place, width, np.empty_like(self.state[0])
            self.K, done = move_rows(
                self.rng, order, self.X, self.X1, self.codes, self.z, self.K, self.state,
                self.beta, tables, self.alpha, self.scale,
            )  # fmt: skip
            order = order[done:]
            if len(order):  # no room for one more cluster
                self.state = tuple(_doubled(part) for part in self.state)
                self.beta = _doubled(self.beta)
        for k in range(self.K):
            move_expert(self.rng, k, self.X1, self.codes, self.z, self.beta, self.scale)

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        """Return the probability of each class, the mean over the kept states."""
        X1, out = np.c_[X, np.ones(len(X))], np.zeros((len(X), len(self.classes_)))
        for n, total, square, beta in self.kept:
            density = log_predictive(X[:, None], n, total, square) + np.log(n)
            weight = np.exp(density - logsumexp(density, axis=1, keepdims=True))
            p = np.exp(log_softmax(np.einsum("ip,klp->ikl", X1, beta), axis=2))
            out = out + np.einsum("ik,ikl->il", weight, p)
        return out / len(self.kept)

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Return the most probable class."""
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


def _doubled(part: np.ndarray) -> np.ndarray:
    return np.concatenate([part, np.zeros_like(part)])


def log_predictive(x: np.ndarray, n: np.ndarray, total: np.ndarray, square: np.ndarray) -> Any:
    """Return the Student density of a row in each cluster, from sums and sums of squares.

    With rows of shape (rows, 1, columns) those of all of them.
    """
    n = n[:, None]
    mean = total / np.maximum(n, 1.0)
    spread = np.maximum(square - n * mean**2, 0.0)
    kappa, nu = KAPPA + n, NU + n
    place = n / kappa * mean
    width = NU * VARIANCE + spread + KAPPA * n / kappa * mean**2
    width = width * (kappa + 1) / kappa
    out = gammaln((nu + 1) / 2) - gammaln(nu / 2) - 0.5 * np.log(np.pi * width)
    return (out - (nu + 1) / 2 * np.log1p((x - place) ** 2 / width)).sum(axis=-1)
