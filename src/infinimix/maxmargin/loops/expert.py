"""One linear expert: the SVM |eta|^2 / (2 nu^2) + 2 sum_i c_i (l - y_i eta.x_i)_+ by IRLS.

c_i is c of the objective times the weight of the row.

A step (Polson and Scott 2011; the limit of the Gibbs draw of the paper) has omega = c |zeta| and
solves (I / nu^2 + sum c x x' / |zeta|) eta = sum c y (1 + l / |zeta|) x. |zeta| is floored, as a
row on the margin would weigh infinitely much, and a step that worsens the objective is halved
and at last refused: without both it fails or raises the objective.
"""

import numpy as np

from infinimix.kernels.compile import kernel
from infinimix.maxmargin.loops.lapack import solve

FLOOR = 1e-7  # of |zeta|, in units of the margin
HALVINGS = 4


@kernel
def value_of(X, y, eta, c, ridge, margin, zeta):
    """Return the objective; zeta is filled with the gaps to the margin."""
    scores = X @ eta
    total = 0.0
    for i in range(y.shape[0]):
        zeta[i] = margin - y[i] * scores[i]
        total += 2.0 * c[i] * max(zeta[i], 0.0)
    square = 0.0
    for j in range(eta.shape[0]):
        square += eta[j] * eta[j]
    return 0.5 * ridge * square + total


@kernel
def solve_weighted(X, y, zeta, c, ridge, margin):
    """Return the minimum of the quadratic that touches the objective where the gaps are zeta."""
    n, p = X.shape
    scaled, right = np.empty((n, p)), np.zeros(p)
    for i in range(n):
        gap = max(abs(zeta[i]), FLOOR * margin)
        root, pull = np.sqrt(c[i] / gap), c[i] * y[i] * (1.0 + margin / gap)
        for j in range(p):
            scaled[i, j] = root * X[i, j]
            right[j] += pull * X[i, j]
    if n >= p:
        A = scaled.T @ scaled
        for j in range(p):
            A[j, j] += ridge
        return solve(A, right)
    # Fewer rows than columns: (ridge I + V'V)^-1 V'u = V'(ridge I + V V')^-1 u, right = V'u.
    B = scaled @ scaled.T
    u = np.empty(n)
    for i in range(n):
        gap = max(abs(zeta[i]), FLOOR * margin)
        B[i, i] += ridge
        u[i] = c[i] * y[i] * (1.0 + margin / gap) / np.sqrt(c[i] / gap)
    return scaled.T @ solve(B, u)


@kernel
def improve(X, y, eta, c, ridge, margin, steps, tol):
    """Take IRLS steps in place; return the objective, and whether they have converged."""
    zeta, trial_zeta = np.empty(y.shape[0]), np.empty(y.shape[0])
    value = value_of(X, y, eta, c, ridge, margin, zeta)
    idle = 0.02 * c.sum() * margin  # does not count, or an expert near zero would never converge
    for _ in range(steps):
        trial = solve_weighted(X, y, zeta, c, ridge, margin)
        better = np.inf
        for _ in range(HALVINGS):
            better = value_of(X, y, trial, c, ridge, margin, trial_zeta)
            if better < value:
                break
            for j in range(eta.shape[0]):
                trial[j] = 0.5 * (trial[j] + eta[j])
        if not better < value:
            return value, True
        gain = value - better
        for j in range(eta.shape[0]):
            eta[j] = trial[j]
        for i in range(zeta.shape[0]):
            zeta[i] = trial_zeta[i]
        value = better
        if gain <= tol * (value + idle):
            return value, True
    return value, False


@kernel
def gather(F, rows, centre, mean, X):
    """Fill X with rows in natural units, the cluster's mean for missing cells, and a one."""
    d = centre.shape[0]
    incomplete = F.shape[1] > d + 1
    for i in range(rows.shape[0]):
        r = rows[i]
        for j in range(d):
            X[i, j] = F[r, j] + centre[j]
            if incomplete:
                X[i, j] += F[r, d + 1 + j] * mean[j]
        X[i, d] = 1.0


@kernel
def improve_all(F, Y, c, order, start, centre, means, eta, ridge, margin, steps, tol, done):
    """Improve the experts of all clusters that are not done, in place; tell which converge."""
    K, C, p = eta.shape
    for k in range(K):
        if done[k]:
            continue
        rows = order[start[k] : start[k + 1]]
        X = np.empty((rows.shape[0], p))
        gather(F, rows, centre, means[k], X)
        own, y, all_done = c[rows], np.empty(rows.shape[0]), True
        for o in range(C):
            for i in range(rows.shape[0]):
                y[i] = Y[rows[i], o]
            _, converged = improve(X, y, eta[k, o], own, ridge, margin, steps, tol)
            all_done = all_done and converged
        done[k] = all_done


@kernel
def add_equations(F, Y, c, order, start, centre, means, eta, margin, equations):
    """Add the IRLS equations [A, v] of rows, at the experts as they are.

    Gaps are floored at a tenth of the margin: single rows must not fix an expert for good.
    """
    K, C, p = eta.shape
    for k in range(K):
        rows = order[start[k] : start[k + 1]]
        X = np.empty((rows.shape[0], p))
        gather(F, rows, centre, means[k], X)
        for o in range(C):
            E = equations[k, o]
            for i in range(rows.shape[0]):
                own, y, score = c[rows[i]], Y[rows[i], o], 0.0
                for j in range(p):
                    score += eta[k, o, j] * X[i, j]
                gap = max(abs(margin - y * score), 0.1 * margin)
                for a in range(p):
                    for b in range(p):
                        E[a, b] += own / gap * X[i, a] * X[i, b]
                    E[a, p] += own * y * (1.0 + margin / gap) * X[i, a]
