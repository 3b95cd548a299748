"""Max-margin DP-means once more, slow, from the equations of Wang and Zhu (2015) alone.

Corrections that the text itself asks for: the margin of eq. 31 stands in the one-point SVM too;
Delta of appendix C is l (1 - [y = y_i]); a gap of zero, which eq. 18 divides by, is floored; and a
step of the experts that raises eq. 35 is halved towards where it was, at last refused, so that
theorem 1 holds.
"""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import LinearConstraint, minimize


@dataclass
class Paper:
    """The constants of eq. 35."""

    lam: float
    s: float
    c: float
    nu: float
    l: float = 1.0  # noqa: E741 - the paper's letter


def hinge(eta, x, y, w):
    """(zeta)_+ of two classes, -1 and 1, or the maximum of appendix C; eta has a row a class."""
    if len(eta) == 1:
        return max(w.l - y * (eta[0] @ x), 0.0)
    return max((w.l if k != y else 0.0) + eta[k] @ x - eta[y] @ x for k in range(len(eta)))


def cost(x, y, mu, eta, w):
    """Q_i(k), eq. 31."""
    return w.s * ((x - mu) ** 2).sum() + 2.0 * w.c * hinge(eta, x, y, w)


def one_point(x, y, n_classes, w):
    """eta*, below algorithm 1, or the corresponding one of appendix C."""
    if n_classes == 2:
        return (min(2.0 * w.c * w.nu**2, w.l / (x @ x)) * y * x)[None]
    a = min(2.0 * w.c, w.l * (n_classes - 1) / (n_classes * w.nu**2 * (x @ x)))
    return np.array(
        [w.nu**2 * a * x * (1.0 if k == y else -1.0 / (n_classes - 1)) for k in range(n_classes)]
    )


def cost_of_new(x, y, n_classes, w):
    """Q_i(new), eq. 32."""
    eta = one_point(x, y, n_classes, w)
    return w.lam + 2.0 * w.c * hinge(eta, x, y, w) + (eta**2).sum() / (2.0 * w.nu**2)


def expert_objective(eta, X, y, w):
    """The terms of eq. 35 that one expert pays."""
    return (eta**2).sum() / (2.0 * w.nu**2) + 2.0 * w.c * sum(
        hinge(eta, x, own, w) for x, own in zip(X, y, strict=True)
    )


def objective(X, y, z, means, experts, w):
    """Eq. 35."""
    total = w.lam * len(means)
    for k in range(len(means)):
        own = z == k
        total += expert_objective(experts[k], X[own], y[own], w)
        total += w.s * ((X[own] - means[k]) ** 2).sum()
    return total


def irls_step(eta, X, y, w):
    """omega and lambda_k of algorithm 1, for two classes."""
    zeta = np.maximum(np.abs(w.l - y * (X @ eta[0])), 1e-7 * w.l)
    omega = w.c * zeta
    precision = np.eye(len(eta[0])) / w.nu**2
    right = np.zeros(len(eta[0]))
    for x, own, o in zip(X, y, omega, strict=True):
        precision += w.c**2 * np.outer(x, x) / o
        right += w.c * own * (o + w.c * w.l) / o * x
    trial, before = np.linalg.solve(precision, right)[None], expert_objective(eta, X, y, w)
    for _ in range(4):
        if expert_objective(trial, X, y, w) < before:
            return trial
        trial = 0.5 * (trial + eta)
    return eta


def crammer_singer(X, y, n_classes, w):
    """The best expert of appendix C by a general solver: a quadratic programme with slacks."""
    n, d = X.shape
    size = n_classes * d
    rows = []
    for i in range(n):
        for k in range(n_classes):
            if k == y[i]:
                continue
            row = np.zeros(size + n)
            row[y[i] * d : (y[i] + 1) * d] += X[i]
            row[k * d : (k + 1) * d] -= X[i]
            row[size + i] = 1.0
            rows.append(row)

    def value(v):
        return (v[:size] ** 2).sum() / (2.0 * w.nu**2) + 2.0 * w.c * v[size:].sum()

    def slope(v):
        return np.r_[v[:size] / w.nu**2, np.full(n, 2.0 * w.c)]

    start = np.r_[np.zeros(size), np.full(n, w.l)]
    found = minimize(
        value, start, jac=slope, method="SLSQP", bounds=[(None, None)] * size + [(0, None)] * n,
        constraints=LinearConstraint(np.array(rows), w.l, np.inf),
        options={"maxiter": 500, "ftol": 1e-12},
    )  # fmt: skip
    return found.x[:size].reshape(n_classes, d)


def algorithm_1(X, y, n_classes, means, experts, w, tol=1e-3, max_iter=300):
    """Rows one by one, then means, then one step of each expert; until eq. 35 hardly changes."""
    means, experts, z = list(means), list(experts), np.full(len(X), -1)
    history = []
    for _ in range(max_iter):
        for i in range(len(X)):
            costs = [cost(X[i], y[i], *own, w) for own in zip(means, experts, strict=True)]
            best = int(np.argmin(costs))
            if z[i] >= 0 and costs[z[i]] <= costs[best]:
                best = z[i]
            if cost_of_new(X[i], y[i], n_classes, w) < costs[best]:
                means.append(X[i].copy())
                experts.append(one_point(X[i], y[i], n_classes, w))
                best = len(means) - 1
            z[i] = best
        used = np.unique(z)
        z = np.searchsorted(used, z)
        means = [X[z == k].mean(axis=0) for k in range(len(used))]
        experts = [step(experts[k], X[z == j], y[z == j], n_classes, w) for j, k in enumerate(used)]
        history.append(objective(X, y, z, means, experts, w))
        if len(history) > 1 and history[-2] - history[-1] < tol * history[-2]:
            break
    return z, np.array(means), np.array(experts), history


def step(eta, X, y, n_classes, w):
    """Move one expert: algorithm 1 for two classes, the optimum of appendix C for more."""
    if n_classes == 2:
        return irls_step(eta, X, y, w)
    found = crammer_singer(X, y, n_classes, w)
    better = expert_objective(found, X, y, w) < expert_objective(eta, X, y, w)
    return found if better else eta
