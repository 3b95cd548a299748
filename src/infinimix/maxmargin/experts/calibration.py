"""The slope that makes probabilities of discriminants, found on rows left out.

Clusters stay as they are; experts are fitted without a part of the rows, and asked for their
discriminants there. One slope, with a standard normal prior on its logarithm, makes the labels of
these rows most probable. Tables of more than LARGE rows leave none out: their experts hardly know
single rows, and a part of them is asked as they are.
"""

from __future__ import annotations

import numpy as np

from infinimix.estimators.common.bounded import minimise
from infinimix.maxmargin.descent.algorithm import POLISH, State, move_experts
from infinimix.maxmargin.experts.gating import Gate, probabilities
from infinimix.maxmargin.objective.problem import Clusters, Problem

LARGE, ASKED, FOLDS = 10_000, 3_000, 3


def find_slope(
    rng: np.random.Generator,
    problem: Problem,
    state: State,
    codes: np.ndarray,
    precision: float,
    soft: bool,
) -> float:
    """Return the slope of the probabilities of a fitted state."""
    n = problem.rows.n
    if len(np.unique(codes)) < 2:
        return 1.0
    if n > LARGE:
        asked = rng.choice(n, ASKED, replace=False)
        f = _gate(problem, state.clusters, state.z, precision, soft).discriminants(
            problem.rows.take(asked)
        )
        return best_slope(f, codes[asked])
    f = np.empty((n, problem.rows.Y.shape[1]))
    fold = rng.permutation(n) % FOLDS
    for held in range(FOLDS):
        kept = np.flatnonzero(fold != held)
        if len(kept) == 0 or len(kept) == n:
            continue
        part = Problem(problem.rows.take(kept), problem.divergence, problem.weights)
        clusters = Clusters(state.clusters.means, np.zeros_like(state.clusters.eta))
        resting = np.zeros(len(clusters), bool)
        move_experts(part, clusters, state.z[kept], POLISH, 1e-3, resting)
        gate = _gate(problem, clusters, state.z, precision, soft)
        f[fold == held] = gate.discriminants(problem.rows.take(np.flatnonzero(fold == held)))
    return best_slope(f, codes)


def _gate(
    problem: Problem, clusters: Clusters, z: np.ndarray, precision: float, soft: bool
) -> Gate:
    sizes = np.bincount(z, minlength=len(clusters)).astype(float)
    return Gate(problem.divergence, clusters, sizes, precision, soft)


def best_slope(f: np.ndarray, codes: np.ndarray) -> float:
    """Return the slope under which these labels are most probable."""
    rows = np.arange(len(codes))

    def loss(log_slope: float) -> float:
        p = probabilities(f, float(np.exp(log_slope)))[rows, codes]
        return float(-np.log(np.maximum(p, 1e-300)).sum() + 0.5 * log_slope**2)

    return float(np.exp(minimise(loss, -7.0, 7.0)))
