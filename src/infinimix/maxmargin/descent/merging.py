"""Merging clusters, to leave poor local optima of DP-means.

Rows that choose one by one cannot merge clusters: the first to leave one finds a mean that is not
yet that of both. The rise of the divergences is known beforehand, n_a D(m_a, m) + n_b D(m_b, m)
with m the common mean, cell by cell where cells are missing.
"""

from __future__ import annotations

import numpy as np

from infinimix.maxmargin.descent.algorithm import Iterate, descend
from infinimix.maxmargin.loops.assignment import add_up
from infinimix.maxmargin.objective.divergences import Divergence
from infinimix.maxmargin.objective.problem import Clusters, MarginProblem

MOST = 400  # clusters: all pairs of more are too many


def descend_and_merge(
    problem: MarginProblem, clusters: Clusters, max_iter: int, tol: float
) -> Iterate:
    """Descend and merge the best pair, as long as that lowers the objective."""
    now = descend(problem, clusters, max_iter, tol)
    while 1 < len(now.clusters) <= MOST:
        merged = merge_best(problem, now)
        if merged is None:
            break
        again = descend(problem, merged, max_iter, tol)
        if again.history[-1] >= now.history[-1]:
            break
        lower = [value for value in again.history if value < now.history[-1]]
        now = Iterate(again.clusters, again.z, [*now.history, *lower])
    return now


def merge_best(problem: MarginProblem, now: Iterate) -> Clusters | None:
    """Return the clusters with the best pair merged, or None if no merge lowers the objective."""
    K, d = now.clusters.means.shape
    n, total = np.zeros((2, K, d))
    add_up(problem.rows.F, problem.rows.weight, now.z, d, n, total)
    means = now.clusters.means
    a, b = np.triu_indices(K, 1)
    both = np.maximum(n[a] + n[b], 1e-300)
    mean = (n[a] * means[a] + n[b] * means[b]) / both
    mean = np.where(n[a] + n[b] > 0, mean, means[a])
    rise = _between(problem.divergence, means[a], mean, n[a])
    rise += _between(problem.divergence, means[b], mean, n[b])
    at = int(rise.argmin())
    if rise[at] >= problem.weights.lam * (1.0 - 1e-9):
        return None
    merged = now.clusters.copy()
    merged.means[a[at]] = mean[at]
    return merged.keep(np.arange(K) != b[at])


def _between(divergence: Divergence, x: np.ndarray, m: np.ndarray, n: np.ndarray) -> np.ndarray:
    """Return the sum over columns of n times the divergence."""
    gap = x - m
    if divergence.matrix is not None:
        return n[:, 0] * np.einsum("ij,ij->i", gap @ divergence.matrix, gap)
    if divergence.name == "euclidean":
        return (n * gap**2).sum(axis=1)
    ratio = x / m
    cells = x * np.log(ratio) - gap if divergence.name == "kl" else ratio - np.log(ratio) - 1.0
    return (n * cells).sum(axis=1)
