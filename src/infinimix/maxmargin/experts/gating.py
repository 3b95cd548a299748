"""Which expert predicts a row, and with what probability.

Hard gating asks the expert of the nearest mean. Soft gating asks all, with weights n_k exp(-b D(x,
mu_k)): a mixture of normals (or of what corresponds to another divergence) with the b = d / (2 mean
D) of the training rows. The discriminant is that of the expert, or the weighted mean of them.

Probabilities are a logistic function of the discriminant (a softmax with more than two classes)
with one slope, found in `fit` on rows that their experts have not seen.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import expit, softmax

from infinimix.maxmargin.objective.divergences import Divergence
from infinimix.maxmargin.objective.hinges import LossWeights
from infinimix.maxmargin.objective.problem import Clusters, MarginProblem
from infinimix.maxmargin.objective.rows import FeatureRows


class Gate(NamedTuple):
    """Clusters, and how their experts are asked."""

    divergence: Divergence
    clusters: Clusters
    sizes: np.ndarray  # rows of each cluster
    precision: float  # b of soft gating
    soft: bool

    def scores(self, rows: FeatureRows) -> tuple[np.ndarray, np.ndarray]:
        """Return divergences (n, K) and scores (n, K, C)."""
        K, C = self.clusters.eta.shape[:2]
        problem = MarginProblem(rows, self.divergence, LossWeights(1.0))
        S = rows.F @ problem.score_vectors(self.clusters).T
        return np.maximum(rows.phi[:, None] + S[:, :K], 0.0), S[:, K:].reshape(rows.n, K, C)

    def nearest(self, rows: FeatureRows) -> np.ndarray:
        """Return the cluster of the nearest mean of each row."""
        return np.asarray(self.scores(rows)[0].argmin(axis=1))

    def discriminants(self, rows: FeatureRows) -> np.ndarray:
        """Return the discriminants, (n, C)."""
        D, f = self.scores(rows)
        if not self.soft:
            return f[np.arange(rows.n), D.argmin(axis=1)]
        weight = softmax(np.log(self.sizes) - self.precision * D, axis=1)
        return np.einsum("ik,ikc->ic", weight, f)


def decide(f: np.ndarray) -> np.ndarray:
    """Return the code of the class with the largest discriminant, of two or more classes."""
    return f.argmax(axis=1) if f.shape[1] > 1 else (f[:, 0] > 0).astype(int)


def probabilities(f: np.ndarray, slope: float) -> np.ndarray:
    """Return the probability of each class from discriminants."""
    if f.shape[1] > 1:
        return softmax(slope * f, axis=1)
    p = expit(slope * f[:, 0])
    return np.column_stack([1.0 - p, p])
