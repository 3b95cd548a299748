"""The base measure of a gaussian block.

A block has a part of the pooled correlations, so that a group of few rows has some too. Hidden
here: correlations that contradict each other become ones that do not.

Or its place and covariance are given: S = W W' + diag(own), where W has a column for each direction
that the groups share. With a large nu every group has the covariance S, whatever its rows are.
"""

import numpy as np

from infinimix.families.base_measures import LEAST_SPREAD, RealPrior, location_and_scale
from infinimix.families.pairwise import CROSS, MEAN, SQUARE, N

GAUSSIAN_REFERENCE = RealPrior(kappa=0.1, nu=1.0, variance=1.0)  # of each column of a block
GAUSSIAN_EMPIRICAL = RealPrior(kappa=0.1, nu=3.0, variance=0.15)
LEAST_EIGENVALUE = 0.05  # of the correlations in the prior of a gaussian block
CORRELATION_KEPT = 0.5  # of the pooled correlations, in the prior of a gaussian block


def block_prior(given, n):
    """Return the hyper-parameters of a block that has a word or numbers, from pooled pairs."""
    d = n.shape[-1]
    if has_covariance(given):
        return _given_prior(given, d)
    if isinstance(given, str):
        shape = GAUSSIAN_REFERENCE if given == "reference" else GAUSSIAN_EMPIRICAL
    else:
        kappa, nu, scale = given
        shape = RealPrior(kappa, nu, scale**2)
    mean, variance = location_and_scale(*(np.diagonal(n[part]) for part in (N, MEAN, SQUARE)))
    root = np.sqrt(shape.nu * shape.variance) * np.sqrt(variance)
    table = np.empty((3 + d, d))
    table[0], table[1], table[2] = mean, shape.kappa, shape.nu
    table[3:] = _pooled_correlations(n, variance) * root * root[:, None]
    return table


def has_covariance(given):
    """Does an entry give (kappa, nu, mean, own variances, loadings), all in one row?"""
    return not isinstance(given, str) and len(given) > 3


def n_directions(given, d):
    """Return how many columns the loadings of such an entry have for d columns; None if odd."""
    rank, odd = divmod(len(given) - 2, d)
    return None if odd or rank < 2 else rank - 2


def _given_prior(given, d):
    kappa, nu = given[:2]
    mean, own, *loadings = np.reshape(given[2:], (-1, d))
    table = np.empty((3 + d, d))
    table[0], table[1], table[2], table[3:] = mean, kappa, nu, np.diag(own)
    for w in loadings:
        table[3:] += w * w[:, None]
    table[3:] *= nu
    return table


def _pooled_correlations(n, variance):
    """Return correlations shrunk to none: by CORRELATION_KEPT, more so if they are of few rows.

    With holes each is of other rows, and they may contradict each other: then more so again.
    """
    d, rows = len(variance), n[N]
    root = np.sqrt(n[SQUARE]) * np.sqrt(n[SQUARE].T)
    found = root > LEAST_SPREAD * np.sqrt(variance) * np.sqrt(variance)[:, None]
    R = np.where(found, n[CROSS] / np.where(found, root, 1.0), 0.0) * rows / (rows + d + 1.0)
    np.fill_diagonal(R, 1.0)
    least = np.linalg.eigvalsh(R)[0]
    kept = min(CORRELATION_KEPT, (1.0 - LEAST_EIGENVALUE) / (1.0 - min(least, 0.0)))
    return kept * R + (1.0 - kept) * np.eye(d)
