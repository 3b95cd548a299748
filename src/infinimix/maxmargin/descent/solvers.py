"""Assignment and experts of the published forms: one hinge over all classes, and no bias.

Rows choose as in `loops.assignment`, with Crammer and Singer's hinge. Its experts are those of
liblinear: the coordinate updates of the paper's appendix C stop far from the optimum. Liblinear
minimises |w|^2 / 2 + C sum xi over the classes that it sees, so that eta = l w with C = 2 c nu^2 /
l, and a class without rows gets a row of zeros, which costs the same whatever the expert. What it
finds is kept only if it lowers the objective of the expert, which therefore never rises.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from infinimix.maxmargin.loops.expert import improve
from infinimix.maxmargin.objective.hinges import LossWeights, hinges
from infinimix.maxmargin.objective.problem import Clusters, MarginProblem

ACCURACY, EPOCHS = 1e-2, 1000  # of liblinear: within some 0.1% of the optimum


def choose_jointly(
    S: np.ndarray, phi: np.ndarray, Y: np.ndarray, w: LossWeights,
    z: np.ndarray, cost: np.ndarray, second: np.ndarray, second_cost: np.ndarray,
) -> None:  # fmt: skip
    """Fill z with the best cluster of each row, second with the next, and the costs of both.

    As `loops.assignment.choose`: a row stays in its cluster unless another is strictly better.
    """
    n, C = Y.shape
    K, rows = len(S) // (1 + C), np.arange(n)
    scores = S[K:].reshape(K, C, n).transpose(0, 2, 1)
    Q = w.s * np.maximum(phi + S[:K], 0.0) + 2.0 * w.c * hinges(scores, Y, w)
    best = Q.argmin(axis=0)
    own = np.where(z >= 0, Q[z, rows], np.inf)
    best = np.where(own <= Q[best, rows], z, best)
    z[:], cost[:] = best, Q[best, rows]
    Q[best, rows] = np.inf
    second[:] = Q.argmin(axis=0) if K > 1 else -1
    second_cost[:] = Q.min(axis=0)


def improve_each(
    problem: MarginProblem, clusters: Clusters, order: np.ndarray, start: np.ndarray, steps: int,
    tol: float, done: np.ndarray,
) -> None:  # fmt: skip
    """Improve the experts of all clusters that are not done, in place; tell which converge."""
    w = problem.weights
    for k in np.flatnonzero(~done):
        rows = order[start[k] : start[k + 1]]
        X, Y = problem.natural(rows, clusters.means[k]), problem.rows.Y[rows]
        weight = problem.rows.weight[rows]
        if w.is_joint(Y.shape[1]):
            clusters.eta[k] = _improve_jointly(X, Y, weight, clusters.eta[k], w)
            done[k] = True
            continue
        converged = [
            improve(X, y.copy(), eta, w.c * weight, w.ridge, w.margin, steps, tol)[1]
            for y, eta in zip(Y.T, clusters.eta[k], strict=True)
        ]
        done[k] = all(converged)


def joint_value(
    X: np.ndarray, Y: np.ndarray, eta: np.ndarray, w: LossWeights, weight: Any = 1.0
) -> float:
    """Return the objective of an expert of shape (C, p) with one hinge over all classes."""
    gaps = (weight * hinges(X @ eta.T, Y, w)).sum()
    return float(0.5 * w.ridge * (eta**2).sum() + 2.0 * w.c * gaps)


def _improve_jointly(
    X: np.ndarray, Y: np.ndarray, weight: np.ndarray, eta: np.ndarray, w: LossWeights
) -> np.ndarray:
    """Return the expert of liblinear if it is better than this one."""
    from sklearn.svm import LinearSVC  # slow to load, and most experts need none

    C = Y.shape[1]
    codes = Y.argmax(axis=1)
    absent = np.setdiff1d(np.arange(C), codes)
    rows = np.vstack([X, np.zeros((len(absent), X.shape[1]))])
    model = LinearSVC(
        multi_class="crammer_singer", C=2.0 * w.c * w.nu**2 / w.margin, fit_intercept=False,
        tol=ACCURACY, max_iter=EPOCHS, random_state=0,
    )  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it may stop before it has converged
        shares = np.r_[weight, np.ones(len(absent))]
        found = w.margin * model.fit(rows, np.r_[codes, absent], shares).coef_
    before, after = (joint_value(X, Y, one, w, weight) for one in (eta, found))
    return found if after < before else eta
