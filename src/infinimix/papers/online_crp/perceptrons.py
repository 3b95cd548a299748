"""Perceptrons, one against all: last, voted and average, linear or with a kernel.

Freund and Schapire (1999), one pass over the rows. A perceptron is known by its mistakes: the row
and the sign that was added. The weights after all rows are the last ones; the average is over the
weights at every row; the vote is over their signs.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
import scipy.sparse as sp

Variant = Literal["last", "voted", "average"]
DEGREE = 2  # of the polynomial kernel; the paper names none
CHUNK = 250  # rows that are predicted at once


class Perceptrons:
    """One perceptron for each class; with `kernel`, in the space of (1 + x.z)^DEGREE."""

    def __init__(self, variant: Variant, kernel: bool = False) -> None:
        self.variant, self.kernel = variant, kernel

    def fit(self, X: sp.csr_matrix, y: np.ndarray) -> Perceptrons:
        """Read the rows once, in their order."""
        self.classes_, self.X = np.unique(y), X
        signs = np.where(y[:, None] == self.classes_, 1.0, -1.0)
        self.mistakes = self._by_gram(signs) if self.kernel else self._by_weights(signs)
        # In the average a mistake counts at its own row and at all rows after it.
        counts = np.arange(len(y), 0, -1.0) if self.variant == "average" else np.ones(len(y))
        self.sums = self.mistakes * counts[:, None]
        self.weights = None if self.kernel else X.T @ self.sums
        return self

    def _by_weights(self, signs: np.ndarray) -> np.ndarray:
        """Return the sign of each mistake, 0 where there was none, by rows and classes."""
        X, found = self.X, np.zeros_like(signs)
        W = np.zeros((X.shape[1], signs.shape[1]))
        for i, sign in enumerate(signs):
            part = slice(*X.indptr[i : i + 2])
            index, value = X.indices[part], X.data[part]
            wrong = np.flatnonzero(sign * (value @ W[index]) <= 0.0)
            found[i, wrong] = sign[wrong]
            W[np.ix_(index, wrong)] += np.outer(value, sign[wrong])
        return found

    def _by_gram(self, signs: np.ndarray) -> np.ndarray:
        gram, found = self._gram(self.X), np.zeros_like(signs)
        for i, sign in enumerate(signs):
            wrong = sign * (gram[i, :i] @ found[:i]) <= 0.0
            found[i, wrong] = sign[wrong]
        return found

    def _gram(self, X: sp.csr_matrix) -> np.ndarray:
        products = (X @ self.X.T).toarray()
        return np.asarray((1.0 + products) ** DEGREE if self.kernel else products)

    def predict(self, X: sp.csr_matrix) -> np.ndarray:
        """Return the class with the highest value."""
        parts = [self._values(X[k : k + CHUNK]) for k in range(0, X.shape[0], CHUNK)]
        return np.asarray(self.classes_[np.concatenate(parts).argmax(axis=1)])

    def _values(self, X: sp.csr_matrix) -> np.ndarray:
        if self.variant == "voted":
            gram = self._gram(X)
            return np.stack([self._votes(gram, own) for own in self.mistakes.T], axis=1)
        return np.asarray(self._gram(X) @ self.sums if self.kernel else X @ self.weights)

    def _votes(self, gram: np.ndarray, own: np.ndarray) -> np.ndarray:
        """Return the sum of the signs that the weights at every row give."""
        rows = np.flatnonzero(own)
        survived = np.diff([*rows.tolist(), len(own)])
        return np.asarray(np.sign(np.cumsum(gram[:, rows] * own[rows], axis=1)) @ survived)
