"""Where chains begin: a graph and classes, empty or drawn at random, as far as knowledge allows."""

from __future__ import annotations

import numpy as np

from infinimix.networks.engine.graphs import topological_order
from infinimix.networks.learning.problem import Problem


def start_graph(problem: Problem, rng: np.random.Generator, apart: bool) -> np.ndarray:
    """Return the required edges; or with some others, drawn at random along an order."""
    N, layout = problem.n_nodes, problem.layout
    A = _required(problem)
    if apart:
        place: np.ndarray = np.empty(N, np.int64)
        place[topological_order(A)] = np.arange(N)
        if not A.any():
            place = rng.permutation(N)
        for j in range(N):
            for i in rng.permutation(N):
                free = layout.pos[j, i] >= 0 and place[i] < place[j] and not A[i, j]
                if free and A[:, j].sum() < min(layout.max_parents, 3) and rng.random() < 2.0 / N:
                    A[i, j] = 1
    return A


def start_classes(problem: Problem, rng: np.random.Generator, apart: bool) -> np.ndarray:
    """Return classes to begin with: all in one, or at random; known ones where they belong."""
    N = problem.n_nodes
    if problem.prior in ("uniform", "sparse"):
        return np.zeros(N, np.int64)
    n_roles = 0 if problem.roles is None else problem.roles.shape[1]
    z = n_roles + (rng.integers(min(4, N), size=N) if apart else np.zeros(N, np.int64))
    anchor = np.full(N, -1) if problem.anchor is None else np.asarray(problem.anchor)
    return np.where(anchor >= 0, anchor, z)


def start_order(problem: Problem, rng: np.random.Generator, apart: bool) -> np.ndarray:
    """Return classes by their place in an order, which required edges and known roles allow."""
    N, A = problem.n_nodes, _required(problem)
    anchor = np.full(N, -1) if problem.anchor is None else np.asarray(problem.anchor)
    if (anchor >= 0).any() or A.any():
        return _known_order(anchor, A)
    z = rng.integers(min(3, N), size=N) if apart else np.zeros(N, np.int64)
    return np.unique(z, return_inverse=True)[1].astype(np.int64)


def _required(problem: Problem) -> np.ndarray:
    A = np.zeros((problem.n_nodes,) * 2, np.uint8)
    if problem.bonus is not None:
        A[problem.bonus == np.inf] = 1
    return A


def _known_order(anchor: np.ndarray, A: np.ndarray) -> np.ndarray:
    """Return classes in an order that required edges and known roles allow."""
    N = len(anchor)
    depth = np.zeros(N, np.int64)
    for j in topological_order(A):
        above = np.flatnonzero(A[:, j])
        depth[j] = max((depth[i] + 1 for i in above), default=0)
    known = anchor >= 0
    if not known.any():
        return depth
    z = np.where(known, anchor, anchor.max() + 1 + depth)
    z = np.unique(z, return_inverse=True)[1].astype(np.int64)
    for i, j in np.argwhere(A):
        if z[i] >= z[j]:
            raise ValueError(
                "required edges contradict the known roles: with prior='ordered' an edge leads "
                "from an earlier role to a later one"
            )
    return z
