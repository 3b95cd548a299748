"""The base measure of a gaussian block.

A block has a part of the pooled correlations, so that a group of few rows has some too. Hidden
here: correlations that contradict each other become ones that do not.
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
