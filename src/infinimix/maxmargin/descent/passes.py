"""The two passes of a descent that grow with the rows: assignment, and experts.

Many rows are shared out: the assignment in spans of whole chunks, whose arithmetic is that of the
chunks, and experts cluster by cluster. So it makes no difference who works on what.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from infinimix import execution
from infinimix.maxmargin.descent.solvers import choose_jointly, improve_each
from infinimix.maxmargin.loops.assignment import choose, group
from infinimix.maxmargin.loops.expert import improve_all
from infinimix.maxmargin.objective.hinges import LossWeights
from infinimix.maxmargin.objective.problem import Clusters, MarginProblem
from infinimix.maxmargin.objective.rows import CHUNK, SPAN, FeatureRows


class Assignment(NamedTuple):
    """The two best clusters of each row, and what it costs there; closing and opening change it."""

    z: np.ndarray
    cost: np.ndarray
    second: np.ndarray
    second_cost: np.ndarray


def scan(problem: MarginProblem, clusters: Clusters, z: np.ndarray | None = None) -> Assignment:
    """Let each row choose among the clusters; it stays in that of `z` unless another is better."""
    W = problem.score_vectors(clusters)
    z = np.full(problem.rows.n, -1, np.int64) if z is None else z
    executor = execution.executor_for()
    if len(problem.spans) == 1 or (executor.n == 1 and not executor.is_remote):
        # New memory for each span, and again for all of them, would take a quarter of the time.
        return choose_clusters((problem.rows, W, problem.weights, z))
    tasks, first = [], 0
    for span in problem.spans:
        tasks.append((span, W, problem.weights, z[first : first + span.n]))
        first += span.n
    found = execution.map_kept(choose_clusters, tasks)
    return Assignment(*map(np.concatenate, zip(*found, strict=True)))


def choose_clusters(
    task: tuple[FeatureRows, np.ndarray, LossWeights, np.ndarray],
) -> Assignment:
    """Let some rows choose among the clusters, given their vectors and former clusters."""
    rows, W, w, z = task
    z = z.copy()
    second, cost, second_cost = np.empty(rows.n, np.int64), *np.empty((2, rows.n))
    room = np.empty((len(W), min(CHUNK, rows.n)))
    for part in rows.chunks():
        size = part.stop - part.start
        S = room if size == room.shape[1] else np.empty((len(W), size))
        np.matmul(W, rows.F[part].T, out=S)
        if w.is_joint(rows.Y.shape[1]):
            found = (z[part], cost[part], second[part], second_cost[part])
            choose_jointly(S, rows.phi[part], rows.Y[part], w, *found)
            continue
        choose(
            S, rows.phi[part], rows.Y[part], w.s, 2.0 * w.c, w.margin,
            z[part], cost[part], second_cost[part], second[part],
        )  # fmt: skip
    cost *= rows.weight
    second_cost *= rows.weight
    return Assignment(z, cost, second, second_cost)


def move_experts(
    problem: MarginProblem,
    clusters: Clusters,
    z: np.ndarray,
    steps: int,
    tol: float,
    done: np.ndarray,
) -> np.ndarray:
    """Improve experts in place, but those that are done; return which have converged."""
    if clusters.eta.size == 0:
        return np.ones(len(clusters), bool)
    w, rows = problem.weights, problem.rows
    order, start = group(z, len(clusters))
    done = done.copy()
    if w.is_joint(rows.Y.shape[1]) or w.constant != 1.0:
        improve_each(problem, clusters, order, start, steps, tol, done)
        return done
    how = (problem.divergence.centre, w, steps, tol)
    if rows.n <= SPAN or len(clusters) == 1:
        improve_experts((rows, order, start, clusters, done, how))
        return done
    return _improve_in_parts(rows, order, start, clusters, done, how)


def improve_experts(task: tuple[Any, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Improve the experts of some clusters in place; return them, and which have converged."""
    rows, order, start, clusters, done, (centre, w, steps, tol) = task
    improve_all(
        rows.F, rows.Y, w.c * rows.weight, order, start, centre,
        clusters.means, clusters.eta, w.ridge, w.margin, steps, tol, done,
    )  # fmt: skip
    return clusters.eta, done


def _improve_in_parts(
    rows: FeatureRows,
    order: np.ndarray,
    start: np.ndarray,
    clusters: Clusters,
    done: np.ndarray,
    how: tuple[Any, ...],
) -> np.ndarray:
    """Do the same for one cluster after the other, each with its own rows, wherever tasks run."""
    open_ones = np.flatnonzero(~done)
    tasks = []
    for k in open_ones:
        own = rows.take(order[start[k] : start[k + 1]])
        places = np.arange(own.n), np.array([0, own.n])
        one = clusters.keep(np.array([k])).copy()
        tasks.append((own, *places, one, np.zeros(1, bool), how))
    for k, (eta, converged) in zip(
        open_ones, execution.map_kept(improve_experts, tasks), strict=True
    ):
        clusters.eta[k], done[k] = eta[0], converged[0]
    return done
