"""The predictive of a gaussian block, written slowly from the rows: NumPy, loops over pairs."""

import numpy as np
from scipy.stats import multivariate_t


def posterior(prior, X, repair):
    """Place, scale matrix and degrees of freedom of Student's t, for a group with these rows."""
    mean, kappa, nu, psi = prior[0], prior[1, 0], prior[2, 0], prior[3:]
    d, seen = X.shape[1], ~np.isnan(X)
    own = seen.sum(axis=0)
    centre = np.array([X[seen[:, i], i].mean() if own[i] else mean[i] for i in range(d)])
    alone = [_scatter(mean, kappa, psi, X, [i]).item() for i in range(d)]
    R = np.eye(d)
    for i in range(d):
        for j in range(i):
            S = _scatter(mean, kappa, psi, X, [i, j])
            R[i, j] = R[j, i] = S[0, 1] / np.sqrt(S[0, 0] * S[1, 1])
    filled = np.where(seen, X - centre, 0.0)
    gap = np.sqrt(kappa * own / (kappa + own)) * (centre - mean)
    R = _lifted(R, _unit(psi + filled.T @ filled + np.outer(gap, gap)), repair)
    scale = np.sqrt(np.array(alone) * (kappa + own + 1.0) / (kappa + own) / (nu + own))
    place = mean + own / (kappa + own) * (centre - mean)
    return place, R * np.outer(scale, scale), nu + own.mean()


def _scatter(mean, kappa, psi, X, columns):
    """Psi of the posterior of some columns from the rows that have all of them."""
    rows = X[:, columns]
    rows = rows[~np.isnan(rows).any(axis=1)]
    n, m = len(rows), mean[columns]
    centre = rows.mean(axis=0) if n else m
    S = psi[np.ix_(columns, columns)] + (rows - centre).T @ (rows - centre)
    return S + kappa * n / (kappa + n) * np.outer(centre - m, centre - m)


def _unit(S):
    return S / np.sqrt(np.outer(np.diag(S), np.diag(S)))


def _lifted(R, T, repair):
    """The same by the symmetric root of T, which must not matter."""
    values, vectors = np.linalg.eigh(T)
    root = (vectors * np.sqrt(values)) @ vectors.T
    inverse = (vectors / np.sqrt(values)) @ vectors.T
    values, vectors = np.linalg.eigh(inverse @ R @ inverse)
    half = root @ vectors
    return _unit((half * np.maximum(values, repair)) @ half.T)


def log_density(t, row):
    """Log density of the observed cells of a row."""
    place, shape, degrees = t
    o = ~np.isnan(row)
    if not o.any():
        return 0.0
    return multivariate_t.logpdf(row[o], place[o], shape[np.ix_(o, o)], degrees)
