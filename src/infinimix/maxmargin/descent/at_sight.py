"""Algorithm 1 as the paper prints it: a row for which a cluster of its own is cheapest opens it.

A pass lets rows choose one after the other among the clusters there are and one of their own
(eqs. 31 and 32), then moves every mean, and every expert by one step. It ends when a pass lowers
the objective (eq. 35) by less than `tol` of it. The paper does not say where it starts; here it
is one cluster of all rows with its SVM.

Means and experts stand still while rows choose. So all rows can be asked at once, and when one
opens a cluster, those after it are asked about that one alone: the same as one after the other.
"""

from __future__ import annotations

import numpy as np

from infinimix.maxmargin.descent.algorithm import POLISH, Iterate, finish, move_means, prune
from infinimix.maxmargin.descent.passes import move_experts, scan
from infinimix.maxmargin.objective.problem import Clusters, MarginProblem


def one_cluster(problem: MarginProblem) -> Clusters:
    """Return the cluster of all rows, with its expert."""
    rows = problem.rows
    z = np.zeros(rows.n, np.int64)
    eta = np.zeros((1, rows.Y.shape[1], rows.d + 1))
    clusters = Clusters(problem.divergence.usual[None].copy(), eta)
    clusters.means = move_means(problem, clusters, z)
    move_experts(problem, clusters, z, POLISH, 1e-3, np.zeros(1, bool))
    return clusters


def descend_at_sight(
    problem: MarginProblem, clusters: Clusters, max_iter: int = 300, tol: float = 1e-3
) -> Iterate:
    """Run the paper's Algorithm 1 from these clusters."""
    now = Iterate(clusters.copy(), np.full(problem.rows.n, -1, np.int64))
    opening = problem.opening_costs(problem.squares())
    joint = problem.weights.is_joint(problem.rows.Y.shape[1])
    for _ in range(max_iter):
        z, clusters = pass_at_sight(problem, now, opening)
        solved = np.zeros(len(clusters), bool)
        if joint and now.history:  # these experts are optimal: only other rows change them
            solved[:] = True
            solved[np.r_[z, now.z][np.r_[z != now.z, z != now.z]]] = False
        z, clusters, kept = prune(z, clusters)
        moved = clusters.copy()
        moved.means = move_means(problem, moved, z)
        move_experts(problem, moved, z, 1, tol, solved[kept])
        before = now.history
        after = finish(problem, Iterate(moved, z, [*before]))
        if before and len(after.history) == len(before):
            break  # nothing but rounding is left to gain
        now = after
        if before and before[-1] - now.history[-1] < tol * before[-1]:
            break
    return now


def pass_at_sight(
    problem: MarginProblem, now: Iterate, opening: np.ndarray
) -> tuple[np.ndarray, Clusters]:
    """Let rows choose in their order; return their clusters, and all of these."""
    found, clusters = scan(problem, now.clusters, now.z), now.clusters
    z, cost, n = found.z, found.cost, problem.rows.n
    least = 1e-9 * abs(problem.weights.lam)
    i = 0
    while (late := np.flatnonzero(cost[i:] - opening[i:] > least)).size:
        i += int(late[0])
        one = problem.open(np.array([i]))
        asked = np.arange(i, n)
        there = problem.costs(asked, one, np.zeros(n - i, np.int64))
        joins = there < cost[asked]
        joins[0] = True  # the row that opens it
        z[asked[joins]], cost[asked[joins]] = len(clusters), there[joins]
        clusters = clusters.join(one)
        i += 1
    return z, clusters
