"""The additive shared part, written slowly: rows of a group as one normal vector.

    x_i = mu + W s_i + e_i,   mu ~ N(mean, S / kappa),   S = W W' + diag(own)

so the n D cells of a group are jointly normal with covariance S on the diagonal plus S / kappa
everywhere; missing cells are left out of that vector. Nothing is shared with the library.
"""

from itertools import product

import numpy as np
from scipy.optimize import minimize
from scipy.special import gammaln, logsumexp


def log_density(rows, kappa, mean, S):
    """Log density of all observed cells of a group."""
    n = len(rows)
    covariance = np.kron(np.eye(n), S) + np.kron(np.ones((n, n)), S / kappa)
    cells, centre = rows.ravel(), np.tile(mean, n)
    seen = ~np.isnan(cells)
    if not seen.any():
        return 0.0
    L = np.linalg.cholesky(covariance[np.ix_(seen, seen)])
    z = np.linalg.solve(L, (cells - centre)[seen])
    return -0.5 * (z @ z + len(z) * np.log(2.0 * np.pi)) - np.log(np.diag(L)).sum()


def best_shared(groups, directions):
    """Raise the evidence of groups in all parameters at once, by a general optimiser."""
    d = groups[0].shape[1]
    rows = np.concatenate(groups)
    rng = np.random.default_rng(0)

    def read(v):
        W, own = v[: directions * d].reshape(directions, d), np.exp(v[directions * d :][:d])
        return float(np.exp(v[-1])), v[-1 - d : -1], W.T @ W + np.diag(own)

    def loss(v):
        return -sum(log_density(group, *read(v)) for group in groups)

    found = []
    for _ in range(2):
        W = rng.normal(size=directions * d)
        start = np.concatenate([W, np.log(rows.var(axis=0)), rows.mean(axis=0), [np.log(0.3)]])
        found.append(minimize(loss, start, method="L-BFGS-B"))
    best = min(found, key=lambda f: f.fun)
    return -best.fun, read(best.x)


def partitions(n):
    """All partitions of n rows, as the group of each."""
    for z in product(range(n), repeat=n):
        if all(z[i] <= max(z[:i], default=-1) + 1 for i in range(n)):
            yield np.array(z)


def log_mixture(rows, alpha, part):
    """Log density of rows under the CRP mixture: a sum over all partitions."""
    n, logs = len(rows), []
    for z in partitions(n):
        sizes = np.bincount(z)
        log_p = len(sizes) * np.log(alpha) + gammaln(sizes).sum()
        logs.append(log_p + sum(log_density(rows[z == g], *part) for g in range(len(sizes))))
    return float(logsumexp(logs) + gammaln(alpha) - gammaln(alpha + n))


def log_predictive(rows, x, alpha, part):
    """Log density of one more row."""
    return log_mixture(np.vstack([rows, x]), alpha, part) - log_mixture(rows, alpha, part)
