"""The problem of max-margin DP-means and its pieces: weights, scores, costs.

    sum_k |eta_k|^2 / (2 nu^2) + 2c sum_i w_i sum_o (l - y_io eta_{z_i o}.x_i)_+
        + s sum_i w_i D(x_i, mu_{z_i}) + lambda K

The weights w_i of rows are 1 in the paper; a row of weight 2 costs what two equal rows do.

With two classes an expert has one output, the paper's; with more it has one for each class, and
all binary hinges are summed (one against the rest), or there is one hinge over all classes, in the
assignment, in the one-point form and here alike (`hinges`). Without labels there are no outputs,
and this is the problem of DP-means. x has a last coordinate of one, the bias, which is regularised
with the others and is no part of D; in the paper there is none, and the coordinate is zero.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from infinimix.maxmargin.objective.divergences import Divergence
from infinimix.maxmargin.objective.hinges import (
    LossWeights,
    hinges,
    one_point_costs,
    one_point_experts,
)
from infinimix.maxmargin.objective.rows import SPAN, FeatureRows, make_rows


@dataclass
class Clusters:
    """Means (centred) and experts (bias last, in natural units)."""

    means: np.ndarray  # (K, d)
    eta: np.ndarray  # (K, C, d + 1)

    def __len__(self) -> int:
        return len(self.means)

    def without_experts(self) -> Clusters:
        """Return the same means for plain DP-means."""
        return Clusters(self.means, self.eta[:, :0])

    def copy(self) -> Clusters:
        """Return clusters that change alone."""
        return Clusters(self.means.copy(), self.eta.copy())

    def keep(self, which: np.ndarray) -> Clusters:
        """Return some of them."""
        return Clusters(self.means[which], self.eta[which])

    def join(self, more: Clusters) -> Clusters:
        """Return these and others."""
        return Clusters(np.vstack([self.means, more.means]), np.vstack([self.eta, more.eta]))


@dataclass
class MarginProblem:
    """Rows, a divergence and the weights of the terms."""

    rows: FeatureRows
    divergence: Divergence
    weights: LossWeights

    @cached_property
    def spans(self) -> list[FeatureRows]:
        """The rows in parts of whole chunks, one for each task; one if there are few."""
        if self.rows.n <= SPAN:
            return [self.rows]
        return [self.rows.take(slice(i, i + SPAN)) for i in range(0, self.rows.n, SPAN)]

    def score_vectors(self, clusters: Clusters) -> np.ndarray:
        """Return W of shape (K (1 + C), p): F @ W.T has all divergences, then all scores."""
        d, K = self.rows.d, len(clusters)
        C = clusters.eta.shape[1]
        W = np.empty((K * (1 + C), self.rows.F.shape[1]))
        g, b = self.divergence.slopes(clusters.means)
        W[:K, :d], W[:K, d] = -g, b.sum(axis=1)
        slope = clusters.eta[:, :, :d]
        W[K:, :d] = slope.reshape(K * C, d)
        W[K:, d] = (clusters.eta[:, :, d] + slope @ self.divergence.centre).ravel()
        if self.rows.incomplete:
            W[:K, d + 1 :] = -b
            W[K:, d + 1 :] = (slope * clusters.means[:, None]).reshape(K * C, d)
        return W

    def divergences(self, clusters: Clusters) -> np.ndarray:
        """Return the divergence of each row from each mean, of clusters without experts."""
        S = self.score_vectors(clusters) @ self.rows.F.T
        S += self.rows.phi
        return np.maximum(S, 0.0, out=S).T

    def costs(self, index: np.ndarray, clusters: Clusters, which: np.ndarray) -> np.ndarray:
        """Return the cost of each row of `index` in the cluster that `which` names for it."""
        rows, w = self.rows.take(index), self.weights
        K, C = len(clusters), clusters.eta.shape[1]
        S = rows.F @ self.score_vectors(clusters).T
        at = np.arange(len(which))
        scores = S[:, K:].reshape(len(which), K, C)[at, which]
        gaps = hinges(scores, rows.Y, w)
        cost = w.s * np.maximum(rows.phi + S[at, which], 0.0) + 2.0 * w.c * gaps
        return np.asarray(rows.weight * cost)

    def natural(self, index: np.ndarray, mean: np.ndarray | None = None) -> np.ndarray:
        """Return rows in natural units as experts see them, the bias last.

        In missing cells is the (centred) mean of a cluster, or the usual one.
        """
        d, rows = self.rows.d, self.rows.take(index)
        X = np.full((rows.n, d + 1), self.weights.constant)
        X[:, :d] = rows.F[:, :d] + self.divergence.centre
        if rows.incomplete:
            X[:, :d] += rows.missing() * (self.divergence.usual if mean is None else mean)
        return X

    def squares(self) -> np.ndarray:
        """Return |x|^2 of every row as a new cluster would see it, with the bias."""
        parts = [
            np.einsum("ij,ij->i", X, X)
            for X in (self.natural(np.r_[part]) for part in self.rows.chunks())
        ]
        return np.concatenate(parts)

    def opening_costs(self, squares: np.ndarray) -> np.ndarray:
        """Return Q_i(new): lambda and the one-point SVM of each row (eq. 32)."""
        rows, w = self.rows, self.weights
        return w.lam + one_point_costs(squares, rows.Y.shape[1], w, rows.weight)

    def open(self, index: np.ndarray) -> Clusters:
        """Return the clusters that these rows would open, each for itself."""
        d, rows = self.rows.d, self.rows.take(index)
        means = rows.F[:, :d].copy()
        if rows.incomplete:
            means += rows.missing() * self.divergence.usual
        eta = one_point_experts(self.natural(index), rows.Y, self.weights, rows.weight)
        return Clusters(self.divergence.bound(means), eta)

    def penalty(self, clusters: Clusters) -> float:
        """Return the terms of the objective that no row pays."""
        w = self.weights
        return w.lam * len(clusters) + 0.5 * w.ridge * float((clusters.eta**2).sum())


def bare_clusters(means: np.ndarray) -> Clusters:
    """Return clusters of these centred means, without experts."""
    return Clusters(means, np.empty((len(means), 0, means.shape[1] + 1)))


def divergences_from(rows: FeatureRows, divergence: Divergence, means: np.ndarray) -> np.ndarray:
    """Return the divergence of each row from each mean, given in natural units."""
    centred = divergence.bound(means - divergence.centre)
    problem = MarginProblem(rows.without_labels(), divergence, LossWeights(1.0))
    return problem.divergences(bare_clusters(centred))


def nearest_means(X: np.ndarray, divergence: Divergence, means: np.ndarray) -> np.ndarray:
    """Return the nearest of some means, in natural units, for each row of numbers."""
    return divergences_from(make_rows(X, divergence), divergence, means).argmin(axis=1)
