"""Algorithm 1 of the paper, with clusters opened after each pass: no step raises the objective.

A pass lets every row choose its cluster (`assign`), closes a cluster that is not worth its penalty,
opens clusters for the rows that gain most by it, and then moves means and experts. It ends when
rows stay and experts have converged; the objective alone would stop long before the experts are
done, as the divergences dominate it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from infinimix import execution
from infinimix.maxmargin.descent.passes import Assignment, move_experts, scan
from infinimix.maxmargin.loops.assignment import add_up
from infinimix.maxmargin.objective.problem import Clusters, MarginProblem

POLISH = 25  # IRLS steps once no row moves


@dataclass
class Iterate:
    """The current point of a descent."""

    clusters: Clusters
    z: np.ndarray
    history: list[float] = field(default_factory=list)


@dataclass
class Pass:
    """What a pass over the rows has found."""

    z: np.ndarray
    clusters: Clusters
    objective: float
    n_moved: int
    touched: np.ndarray  # clusters that rows have entered or left, empty ones among them
    kept: np.ndarray  # those that are not empty


def assign(problem: MarginProblem, now: Iterate, opening: np.ndarray | None) -> Pass:
    """Let rows choose; without costs of opening, the number of clusters may only fall."""
    found, clusters = scan(problem, now.clusters, now.z), now.clusters
    z = found.z
    if opening is not None:
        if len(clusters) > 1:
            close_cluster(problem, clusters, found)
        clusters = open_clusters(problem, clusters, found, opening)
    moved = z != now.z
    n_moved = int(moved.sum())
    touched = np.zeros(len(clusters), bool)
    touched[z[moved]] = True
    touched[now.z[moved & (now.z >= 0)]] = True
    z, clusters, kept = prune(z, clusters)
    objective = float(found.cost.sum()) + problem.penalty(clusters)
    return Pass(z, clusters, objective, n_moved, touched, kept)


def prune(z: np.ndarray, clusters: Clusters) -> tuple[np.ndarray, Clusters, np.ndarray]:
    """Drop empty clusters; return the rows renumbered, the others, and which they were."""
    size = np.bincount(z, minlength=len(clusters))
    kept = np.flatnonzero(size)
    if len(kept) == len(clusters):
        return z, clusters, kept
    number = np.cumsum(size > 0) - 1
    return number[z], clusters.keep(kept), kept


def closing_gains(problem: MarginProblem, clusters: Clusters, found: Assignment) -> np.ndarray:
    """Return by how much the objective falls if a cluster closes and its rows take the second."""
    w = problem.weights
    rise = np.bincount(found.z, found.second_cost - found.cost, minlength=len(clusters))
    return w.lam + 0.5 * w.ridge * (clusters.eta**2).sum(axis=(1, 2)) - rise


def close_cluster(problem: MarginProblem, clusters: Clusters, found: Assignment) -> None:
    """Close the cluster that is least worth its penalty, if that lowers the objective."""
    gains = closing_gains(problem, clusters, found)
    gains[np.bincount(found.z, minlength=len(clusters)) == 0] = -np.inf
    k = int(gains.argmax())
    if gains[k] > 1e-9 * abs(problem.weights.lam):
        rows = np.flatnonzero(found.z == k)
        found.z[rows], found.cost[rows] = found.second[rows], found.second_cost[rows]


def open_clusters(
    problem: MarginProblem, clusters: Clusters, found: Assignment, opening: np.ndarray
) -> Clusters:
    """Open clusters where the gain is largest, at most as many as there are now."""
    z, cost = found.z, found.cost
    candidates = np.flatnonzero(cost > opening)
    for _ in range(len(clusters) if len(candidates) else 0):
        gain = cost[candidates] - opening[candidates]
        if gain.max() <= 1e-9 * abs(problem.weights.lam):
            break
        one = problem.open(candidates[[gain.argmax()]])
        there = problem.costs(candidates, one, np.zeros(len(candidates), np.int64))
        cheaper = there < cost[candidates]
        rows = candidates[cheaper]
        z[rows], cost[rows] = len(clusters), there[cheaper]
        clusters = clusters.join(one)
    return clusters


def move_means(problem: MarginProblem, clusters: Clusters, z: np.ndarray) -> np.ndarray:
    """Return the means of the rows of each cluster; a column without cells stays where it is."""
    K, d = clusters.means.shape
    n, total = np.zeros((2, K, d))
    add_up(problem.rows.F, problem.rows.weight, z, d, n, total)
    means = np.where(n > 0, total / np.where(n > 0, n, 1.0), clusters.means)
    means = problem.divergence.bound(means)
    if problem.rows.incomplete and clusters.eta.size:
        # What stands for missing cells moves with the mean, and the hinge with it: only if it pays.
        every = np.arange(problem.rows.n)
        moved = Clusters(means, clusters.eta)
        rise = problem.costs(every, moved, z) - problem.costs(every, clusters, z)
        better = np.bincount(z, rise, minlength=K) <= 0.0
        means = np.where(better[:, None], means, clusters.means)
    return means


def descend(
    problem: MarginProblem,
    clusters: Clusters,
    max_iter: int = 300,
    tol: float = 1e-4,
    grow: bool = True,
) -> Iterate:
    """Run Algorithm 1 from these clusters until rows stay and experts have converged."""
    with execution.keeping([array for span in problem.spans for array in span.arrays]):
        return _descend(problem, clusters, max_iter, tol, grow)


def _descend(
    problem: MarginProblem, clusters: Clusters, max_iter: int, tol: float, grow: bool
) -> Iterate:
    now = Iterate(clusters.copy(), np.full(problem.rows.n, -1, np.int64))
    opening = problem.opening_costs(problem.squares()) if grow else None
    few, done = int(tol * problem.rows.n), np.zeros(len(clusters), bool)
    for _ in range(max_iter):
        found = assign(problem, now, opening)
        if now.history and found.objective >= now.history[-1]:
            break  # nothing but rounding is left to gain
        now = Iterate(found.clusters, found.z, [*now.history, found.objective])
        stable = found.n_moved <= few
        opened = np.zeros(len(found.touched) - len(done), bool)
        done = np.r_[done, opened][found.kept]
        if stable and done.all():
            break
        done &= ~found.touched[found.kept]
        moved = now.clusters.copy()
        moved.means = move_means(problem, moved, now.z)
        done = move_experts(problem, moved, now.z, POLISH if stable else 1, tol, done)
        now.clusters = moved
    return finish(problem, now)


def finish(problem: MarginProblem, now: Iterate) -> Iterate:
    """Let the history end with the objective of the iterate that is returned."""
    costs = sum(
        float(problem.costs(np.r_[part], now.clusters, now.z[part]).sum())
        for part in problem.rows.chunks()
    )
    objective = costs + problem.penalty(now.clusters)
    if not now.history or objective < now.history[-1]:
        now.history.append(objective)
    return now
