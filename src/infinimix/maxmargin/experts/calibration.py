"""The slope that makes probabilities of discriminants, found on held-out rows.

Clusters stay as they are; experts are fitted without a part of the rows, and asked for their
discriminants there. One slope, with a standard normal prior on its logarithm, makes the labels of
these rows most probable. Tables of more than LARGE rows hold none out: their experts hardly depend
on single rows, and a part of them is asked as they are.
"""

from __future__ import annotations

import numpy as np

from infinimix.estimators.common.bounded import minimise
from infinimix.maxmargin.descent.algorithm import POLISH, Iterate
from infinimix.maxmargin.descent.passes import move_experts
from infinimix.maxmargin.experts.gating import Gate, probabilities
from infinimix.maxmargin.objective.problem import Clusters, MarginProblem

LARGE, ASKED, FOLDS = 10_000, 3_000, 3


def find_slope(
    rng: np.random.Generator, problem: MarginProblem, now: Iterate, codes: np.ndarray, gate: Gate
) -> float:
    """Return the slope of the probabilities of the gate that a descent has led to."""
    n = problem.rows.n
    if len(np.unique(codes)) < 2:
        return 1.0
    if n > LARGE:
        asked = rng.choice(n, ASKED, replace=False)
        return best_slope(
            gate.discriminants(problem.rows.take(asked)), codes[asked], problem.rows.weight[asked]
        )
    f = np.empty((n, problem.rows.Y.shape[1]))
    fold = rng.permutation(n) % FOLDS
    for held_out in range(FOLDS):
        kept = np.flatnonzero(fold != held_out)
        if len(kept) == 0 or len(kept) == n:
            continue
        part = MarginProblem(problem.rows.take(kept), problem.divergence, problem.weights)
        clusters = Clusters(now.clusters.means, np.zeros_like(now.clusters.eta))
        move_experts(part, clusters, now.z[kept], POLISH, 1e-3, np.zeros(len(clusters), bool))
        asked = np.flatnonzero(fold == held_out)
        f[asked] = gate._replace(clusters=clusters).discriminants(problem.rows.take(asked))
    return best_slope(f, codes, problem.rows.weight)


def best_slope(f: np.ndarray, codes: np.ndarray, weight: np.ndarray) -> float:
    """Return the slope under which these labels are most probable."""
    rows = np.arange(len(codes))

    def loss(log_slope: float) -> float:
        p = probabilities(f, float(np.exp(log_slope)))[rows, codes]
        return float(-weight @ np.log(np.maximum(p, 1e-300)) + 0.5 * log_slope**2)

    return float(np.exp(minimise(loss, -7.0, 7.0)))
