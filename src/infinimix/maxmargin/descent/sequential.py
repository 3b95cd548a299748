"""DP-means as Kulis and Jordan wrote it: a row that is too far opens a cluster at once."""

from __future__ import annotations

import numpy as np

from infinimix.maxmargin.descent.algorithm import Iterate, finish, move_means, prune
from infinimix.maxmargin.loops.assignment import pass_in_order
from infinimix.maxmargin.objective.problem import Clusters, MarginProblem, bare_clusters


def descend_in_order(problem: MarginProblem, clusters: Clusters, max_iter: int = 300) -> Iterate:
    """Run passes over the rows in their order until none moves."""
    rows = problem.rows
    offers = problem.score_vectors(problem.open(np.arange(rows.n)))
    now = Iterate(clusters, np.full(rows.n, -1, np.int64))
    for _ in range(max_iter):
        z, W = _pass(problem, now, offers)
        opened = bare_clusters(np.repeat(now.clusters.means[:1], len(W), axis=0))
        z, opened, _ = prune(z, opened)
        if (z == now.z).all():
            break
        means = move_means(problem, opened, z)
        history = now.history
        now = finish(problem, Iterate(Clusters(means, opened.eta), z, [*history]))
        if len(now.history) == len(history):
            break  # nothing but rounding is left to gain
    return now


def _pass(
    problem: MarginProblem, now: Iterate, offers: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Let the rows choose one after the other; return their clusters and all score vectors."""
    rows, w = problem.rows, problem.weights
    vectors = problem.score_vectors(now.clusters)
    size, W, first, z = len(vectors), vectors, 0, now.z.copy()
    while True:
        W = np.vstack([W[:size], np.zeros((max(16, size), W.shape[1]))])
        found = pass_in_order(
            rows.F[first:],
            rows.phi[first:],
            rows.weight[first:],
            offers[first:],
            w.s,
            w.lam,
            W,
            size,
            z[first:],
        )
        if found >= 0:
            return z, W[:found]
        size, first = len(W), first - 1 - found
