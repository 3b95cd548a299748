"""Distributions of rows in an undirected graph, exact where there are few variables.

Conditional distributions that were learned one by one need not fit together, so rows have a density
only in the Markov network that agrees with the data in every clique: of categories the
maximum-likelihood table (iterative proportional fitting, over all rows that are possible), of
numbers the normal distribution of covariance selection (Dempster 1972; algorithm 17.1 of Hastie,
Tibshirani and Friedman 2009). In a chordal graph, fitting ends after one round.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import log, pi
from typing import Any

import numpy as np
from scipy.special import logsumexp

from infinimix.networks.answers.predictive import Mixture
from infinimix.networks.engine.families import PRIOR_W, cell_weight
from infinimix.networks.learning.completion import posterior_means

MOST_ROWS = 1 << 14  # rows that are possible, of which all are enumerated
ROUNDS, CLOSE = 500, 1e-10
Pair = tuple[float, np.ndarray, int]  # weight, graph, and which completed table


def distinct_pairs(mixture: Mixture) -> list[Pair]:
    """Return the graphs with their tables, those that differ in classes alone put together."""
    found: dict[tuple[int, bytes], tuple[float, np.ndarray]] = {}
    for A, w, k in zip(mixture.graphs, mixture.weights, mixture.place, strict=True):
        key = int(k), A.tobytes()
        found[key] = found.get(key, (0.0, A))[0] + float(w), A
    return [(w, A, k) for (k, _), (w, A) in found.items()]


def cliques(A: np.ndarray) -> list[tuple[int, ...]]:
    """Return the maximal cliques (Bron and Kerbosch, with a pivot).

    >>> cliques(np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]]))
    [(0, 1), (1, 2)]
    """
    near = [set(np.flatnonzero(row).tolist()) for row in A]

    def grow(held: set[int], may: set[int], done: set[int]) -> Iterator[tuple[int, ...]]:
        if not may and not done:
            yield tuple(sorted(held))
            return
        pivot = max(may | done, key=lambda v: len(near[v] & may))
        for v in sorted(may - near[pivot]):
            yield from grow(held | {v}, may & near[v], done & near[v])
            may, done = may - {v}, done | {v}

    return sorted(grow(set(), set(range(len(A))), set()))


def joint_table(mixture: Mixture) -> np.ndarray:
    """Return the probabilities of all rows of categories, an axis for each variable."""
    cards = mixture.cards
    total: np.ndarray = np.zeros(tuple(cards))
    for w, A, k in distinct_pairs(mixture):
        X, settings = mixture.tables[k], mixture.data[k].settings
        counts = np.zeros(tuple(cards))
        np.add.at(counts, tuple(X.T), 1.0)
        total += w * fit_cliques(counts, cliques(A), settings)
    return np.asarray(total / total.sum())


def fit_cliques(
    counts: np.ndarray, held: list[tuple[int, ...]], settings: np.ndarray
) -> np.ndarray:
    """Return the table without interactions beyond cliques that has their margins.

    Pseudo-counts are spread evenly over all rows, so that margins agree with each other; each cell
    of the largest clique gets that of its variable of most categories.
    """
    shapes = [[counts.shape[v] for v in clique] for clique in held]
    largest = max(shapes, key=np.prod)
    each = cell_weight(settings, 1, max(largest))
    counts = counts + each * float(np.prod(largest)) / counts.size
    axes = [tuple(v for v in range(counts.ndim) if v not in clique) for clique in held]
    goals = [counts.sum(axis=other, keepdims=True) / counts.sum() for other in axes]
    p = np.full(counts.shape, 1.0 / counts.size)
    for _ in range(ROUNDS):
        apart = 0.0
        for other, goal in zip(axes, goals, strict=True):
            margin = p.sum(axis=other, keepdims=True)
            apart = max(apart, float(np.abs(margin - goal).max()))
            p *= goal / margin
        if apart < CLOSE:
            break
    return p


def select_covariance(S: np.ndarray, A: np.ndarray) -> np.ndarray:
    """Return the covariance that is S on edges and whose inverse is 0 off them."""
    W = S.copy()
    for _ in range(ROUNDS):
        old = W.copy()
        for j in range(len(S)):
            near, others = np.flatnonzero(A[j]), np.delete(np.arange(len(S)), j)
            b = np.linalg.solve(W[np.ix_(near, near)], S[near, j])
            W[others, j] = W[j, others] = W[np.ix_(others, near)] @ b
        if np.abs(W - old).max() < CLOSE * np.abs(S).max():
            break
    return W


class NormalMixture:
    """Normal distributions of all graphs, in standardised numbers."""

    def __init__(self, mixture: Mixture) -> None:
        pairs = distinct_pairs(mixture)
        self.weights = np.array([w for w, _, _ in pairs])
        self.parts = [self._moments(mixture, A, k) for _, A, k in pairs]

    @staticmethod
    def _moments(mixture: Mixture, A: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
        data = mixture.data[k]
        S = data.R[0] / (data.rows[0] + data.settings[PRIOR_W])
        mean = posterior_means(data, mixture.tables[k])[0]
        return mean, select_covariance(S, A)

    def moments(self, s: int, do: Any = None) -> tuple[np.ndarray, np.ndarray]:
        """Return mean and covariance in graph s; `do` is for networks with directions."""
        return self.parts[s]

    @property
    def graphs(self) -> list[Any]:
        """One for each part."""
        return self.parts

    def log_density(self, X: np.ndarray, missing: np.ndarray) -> np.ndarray:
        """Return the log density of each row, missing cells integrated out."""
        out = np.zeros(len(X))
        for t in np.flatnonzero(~missing.all(axis=1)):
            seen, logs = ~missing[t], []
            for mean, cov in self.parts:
                L = np.linalg.cholesky(cov[np.ix_(seen, seen)])
                y = np.linalg.solve(L, X[t, seen] - mean[seen])
                logs.append(-0.5 * (y @ y + seen.sum() * log(2 * pi)) - np.log(np.diag(L)).sum())
            out[t] = logsumexp(logs, b=self.weights)
        return out

    def draw(self, n: int, rng: np.random.Generator) -> np.ndarray:
        """Return n rows."""
        which = rng.choice(len(self.parts), n, p=self.weights / self.weights.sum())
        rows = [rng.multivariate_normal(*self.parts[k]) for k in which]
        return np.array(rows).reshape(n, len(self.parts[0][0]))


def table_log_density(p: np.ndarray, X: np.ndarray, missing: np.ndarray) -> np.ndarray:
    """Return the log probability of each row of categories, missing cells summed out."""
    out = np.log(p[tuple(X.T)])
    for t in np.flatnonzero(missing.any(axis=1)):
        at = tuple(slice(None) if hole else x for x, hole in zip(X[t], missing[t], strict=True))
        out[t] = np.log(p[at].sum())
    return np.asarray(out)
