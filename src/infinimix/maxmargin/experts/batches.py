"""Mini-batches: clusters remember counts, means and the normal equations of their experts.

A row joins the cluster of least cost, or opens one if that pays, as in a pass of `fit`. Means are
running means. Of its expert a cluster remembers the IRLS equations (A, v) of all its rows, each at
the weight it had when it came; a batch adds its own, and the expert solves (A + I / nu^2) eta = v.
Nothing is closed, and no row is looked at twice, so this is no descent of the objective of all
rows; memory is flat.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from infinimix.maxmargin.descent.algorithm import open_clusters, scan
from infinimix.maxmargin.experts.training import Data, check_lengths, purity
from infinimix.maxmargin.loops.assignment import add_up, group
from infinimix.maxmargin.loops.expert import add_equations
from infinimix.maxmargin.objective.divergences import check_rows
from infinimix.maxmargin.objective.problem import Clusters, Problem, Weights
from infinimix.maxmargin.objective.rows import make_rows, read_rows, signs

MOST = 8_000_000  # numbers in the normal equations of all experts


def remember(model: Any, data: Data) -> None:
    """Let a model that was fitted keep what mini-batches need, if it is not too much."""
    K, C, p = model._eta.shape
    model._cells, _ = np.zeros((2, K, p - 1))
    model._equations = np.zeros((K, C, p, p + 1) if K * C * p * (p + 1) <= MOST else (K, C, p, 0))
    _add(model, data.rows, model._clusters(), model.labels_)


def _add(model: Any, rows: Any, clusters: Clusters, z: np.ndarray) -> np.ndarray:
    """Add rows to what is remembered; return the sums of their cells by cluster."""
    K, d = clusters.means.shape
    n, total = np.zeros((2, K, d))
    add_up(rows.F, z, d, n, total)
    model._cells += n
    if model._equations.shape[-1]:
        order, start = group(z, K)
        add_equations(
            rows.F, rows.Y, order, start, model._divergence.centre, clusters.means, clusters.eta,
            model.c_, float(model.margin), model._equations,
        )  # fmt: skip
    return total - n * clusters.means


def learn_batch(model: Any, X: Any, y: Any) -> None:
    """Let a fitted model learn more rows."""
    X = read_rows(model, X, reset=False)
    check_rows(model._divergence, X)
    codes, new = model._labels.read(y)
    check_lengths(len(X), len(codes))
    if new:
        raise ValueError(
            f"y has the label {new[0]!r}, which is none of the classes "
            f"{model.classes_.tolist()!r}; name all in the first call of partial_fit."
        )
    if not model._equations.shape[-1]:
        raise ValueError(
            f"The experts are too many for mini-batches: {model._eta.shape[0]} clusters, "
            f"{model._eta.shape[1]} outputs and {X.shape[1]} columns."
        )
    codes = np.argsort(model._labels.order)[codes]
    rows = make_rows(X, model._divergence, signs(codes, len(model.classes_)))
    w = Weights(model.lam_, model.s_, model.c_, float(model.nu), float(model.margin))
    problem = Problem(rows, model._divergence, w)
    z, best, *_ = scan(problem, model._clusters(), np.full(rows.n, -1, np.int64))
    prices = problem.price_of_opening(problem.squares())
    clusters = open_clusters(problem, model._clusters(), z, best, prices)
    _widen(model, len(clusters))
    moved = _add(model, rows, clusters, z) / np.maximum(model._cells, 1.0)
    means = np.maximum(clusters.means + moved, model._divergence.least)
    model.cluster_means_ = means + model._divergence.centre
    model._eta = _solve(model._equations, w.ridge, clusters.eta, np.unique(z))
    model.cluster_sizes_ = model.cluster_sizes_ + np.bincount(z, minlength=len(clusters))
    model.labels_, model.label_purity_ = z, purity(z, codes)


def _widen(model: Any, K: int) -> None:
    """Make room for new clusters."""
    more = K - len(model._cells)
    if more:
        model._cells = np.concatenate([model._cells, np.zeros((more, *model._cells.shape[1:]))])
        empty = np.zeros((more, *model._equations.shape[1:]))
        model._equations = np.concatenate([model._equations, empty])
        model.cluster_sizes_ = np.concatenate([model.cluster_sizes_, np.zeros(more)])


def _solve(equations: np.ndarray, ridge: float, eta: np.ndarray, which: np.ndarray) -> np.ndarray:
    """Return the experts, those of the touched clusters solved anew."""
    p, eta = eta.shape[2], eta.copy()
    A, v = equations[which, :, :, :p], equations[which, :, :, p]
    eta[which] = np.linalg.solve(A + ridge * np.eye(p), v[..., None])[..., 0]
    return eta
