"""Algorithm 1 of the paper, with clusters opened after each pass: no step climbs.

A pass lets every row choose its cluster (`assign`), closes a cluster that is not worth its price,
opens clusters for the rows that gain most by it, and then moves means and experts. Rows that stay
and experts at rest end it; the total alone would stop long before the experts are done, as the
divergences dominate it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from infinimix.maxmargin.loops.assignment import add_up, choose, group
from infinimix.maxmargin.loops.expert import improve_all
from infinimix.maxmargin.objective.problem import Clusters, Problem
from infinimix.maxmargin.objective.rows import CHUNK

POLISH = 25  # IRLS steps once no row moves


@dataclass
class State:
    """Where a descent is."""

    clusters: Clusters
    z: np.ndarray
    history: list[float] = field(default_factory=list)


@dataclass
class Assignment:
    """What a pass over the rows has found."""

    z: np.ndarray
    clusters: Clusters
    objective: float
    n_moved: int
    touched: np.ndarray  # clusters that rows have entered or left, empty ones among them
    kept: np.ndarray  # those that are not empty


def scan(problem: Problem, clusters: Clusters, z: np.ndarray) -> tuple[np.ndarray, ...]:
    """Return for each row its best cluster, that one's cost, the cost of the second, the second."""
    rows, w = problem.rows, problem.weights
    W = problem.score_vectors(clusters)
    z, rival = z.copy(), np.empty(rows.n, np.int64)
    best, second = np.empty((2, rows.n))
    room = np.empty((len(W), min(CHUNK, rows.n)))
    for part in rows.chunks():
        size = part.stop - part.start
        S = room if size == room.shape[1] else np.empty((len(W), size))
        np.matmul(W, rows.F[part].T, out=S)
        choose(
            S, rows.phi[part], rows.Y[part], w.s, 2.0 * w.c, w.margin,
            z[part], best[part], second[part], rival[part],
        )  # fmt: skip
    return z, best, second, rival


def assign(problem: Problem, state: State, prices: np.ndarray | None) -> Assignment:
    """Let rows choose; without prices, the number of clusters may only fall."""
    z, best, second, rival = scan(problem, state.clusters, state.z)
    clusters = state.clusters
    if prices is not None:
        if len(clusters) > 1:
            close_cluster(problem, clusters, z, best, second, rival)
        clusters = open_clusters(problem, clusters, z, best, prices)
    moved = z != state.z
    n_moved = int(moved.sum())
    touched = np.zeros(len(clusters), bool)
    touched[z[moved]] = True
    touched[state.z[moved & (state.z >= 0)]] = True
    z, clusters, kept = prune(z, clusters)
    objective = float(best.sum()) + problem.penalty(clusters)
    return Assignment(z, clusters, objective, n_moved, touched, kept)


def prune(z: np.ndarray, clusters: Clusters) -> tuple[np.ndarray, Clusters, np.ndarray]:
    """Drop empty clusters; return the rows renumbered, the others, and which they were."""
    size = np.bincount(z, minlength=len(clusters))
    kept = np.flatnonzero(size)
    if len(kept) == len(clusters):
        return z, clusters, kept
    number = np.cumsum(size > 0) - 1
    return number[z], clusters.keep(kept), kept


def closing_gains(
    problem: Problem, clusters: Clusters, z: np.ndarray, best: np.ndarray, second: np.ndarray
) -> np.ndarray:
    """Return by how much the objective falls if a cluster closes and its rows take the second."""
    w = problem.weights
    dearer = np.bincount(z, second - best, minlength=len(clusters))
    return w.lam + 0.5 * w.ridge * (clusters.eta**2).sum(axis=(1, 2)) - dearer


def close_cluster(
    problem: Problem,
    clusters: Clusters,
    z: np.ndarray,
    best: np.ndarray,
    second: np.ndarray,
    rival: np.ndarray,
) -> None:
    """Send the rows of the cluster that is least worth its price elsewhere, if that pays."""
    gains = closing_gains(problem, clusters, z, best, second)
    gains[np.bincount(z, minlength=len(clusters)) == 0] = -np.inf
    k = int(gains.argmax())
    if gains[k] > 1e-9 * abs(problem.weights.lam):
        rows = np.flatnonzero(z == k)
        z[rows], best[rows] = rival[rows], second[rows]


def open_clusters(
    problem: Problem, clusters: Clusters, z: np.ndarray, best: np.ndarray, prices: np.ndarray
) -> Clusters:
    """Open clusters where it pays most, at most as many as there are; others may follow a row."""
    candidates = np.flatnonzero(best > prices)
    for _ in range(len(clusters) if len(candidates) else 0):
        gain = best[candidates] - prices[candidates]
        if gain.max() <= 1e-9 * abs(problem.weights.lam):
            break
        one = problem.open(candidates[[gain.argmax()]])
        cost = problem.costs(candidates, one, np.zeros(len(candidates), np.int64))
        here = candidates[cost < best[candidates]]
        z[here], best[here] = len(clusters), cost[cost < best[candidates]]
        clusters = clusters.join(one)
    return clusters


def move_means(problem: Problem, clusters: Clusters, z: np.ndarray) -> np.ndarray:
    """Return the means of the rows of each cluster; a column without cells stays where it is."""
    K, d = clusters.means.shape
    n, total = np.zeros((2, K, d))
    add_up(problem.rows.F, z, d, n, total)
    means = np.where(n > 0, total / np.maximum(n, 1.0), clusters.means)
    means = np.maximum(means, problem.divergence.least)
    if problem.rows.holes and clusters.eta.size:
        # What is filled in moves with the mean, and the hinge with it: only if all in all it pays.
        every = np.arange(problem.rows.n)
        moved = Clusters(means, clusters.eta)
        rise = problem.costs(every, moved, z) - problem.costs(every, clusters, z)
        better = np.bincount(z, rise, minlength=K) <= 0.0
        means = np.where(better[:, None], means, clusters.means)
    return means


def move_experts(
    problem: Problem, clusters: Clusters, z: np.ndarray, steps: int, tol: float, resting: np.ndarray
) -> np.ndarray:
    """Improve experts in place; return which are at rest."""
    if clusters.eta.size == 0:
        return np.ones(len(clusters), bool)
    w, rows = problem.weights, problem.rows
    order, start = group(z, len(clusters))
    resting = resting.copy()
    improve_all(
        rows.F, rows.Y, order, start, problem.divergence.centre, clusters.means, clusters.eta,
        w.c, w.ridge, w.margin, steps, tol, resting,
    )  # fmt: skip
    return resting


def descend(
    problem: Problem, clusters: Clusters, max_iter: int = 300, tol: float = 1e-4, grow: bool = True
) -> State:
    """Run Algorithm 1 from these clusters until rows stay and experts rest."""
    state = State(clusters.copy(), np.full(problem.rows.n, -1, np.int64))
    prices = problem.price_of_opening(problem.squares()) if grow else None
    few, resting = int(tol * problem.rows.n), np.zeros(len(clusters), bool)
    for _ in range(max_iter):
        found = assign(problem, state, prices)
        if state.history and found.objective >= state.history[-1]:
            break  # nothing but rounding is left to gain
        state = State(found.clusters, found.z, [*state.history, found.objective])
        settled = found.n_moved <= few
        opened = np.zeros(len(found.touched) - len(resting), bool)
        resting = np.r_[resting, opened][found.kept]
        if settled and resting.all():
            break
        resting &= ~found.touched[found.kept]
        moved = state.clusters.copy()
        moved.means = move_means(problem, moved, state.z)
        resting = move_experts(problem, moved, state.z, POLISH if settled else 1, tol, resting)
        state.clusters = moved
    return finish(problem, state)


def finish(problem: Problem, state: State) -> State:
    """Let the history end with the objective of the state that is returned."""
    costs = sum(
        float(problem.costs(np.r_[part], state.clusters, state.z[part]).sum())
        for part in problem.rows.chunks()
    )
    objective = costs + problem.penalty(state.clusters)
    if not state.history or objective < state.history[-1]:
        state.history.append(objective)
    return state
