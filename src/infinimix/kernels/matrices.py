"""Small correlation matrices in plain loops: Cholesky's factor, its inverse, and a repair.

The matrices have ones on the diagonal, so pivots are shares of a variance: what a column has
left when the columns before it are known. A share below LEAST_PIVOT is rounding and is taken
for LEAST_PIVOT; that column is then known to six digits from the others, and nothing is infinite.
"""

from math import sqrt

import numpy as np

from infinimix.kernels.compile import kernel
from infinimix.kernels.elementary import log

LEAST_PIVOT = 1e-13


@kernel
def factor(R, held, size, L):
    """Fill L with Cholesky's factor of R[held, held], size rows; return the log determinant."""
    log_det = 0.0
    for a in range(size):
        for b in range(a + 1):
            rest = R[held[a], held[b]]
            for c in range(b):
                rest -= L[a, c] * L[b, c]
            if b < a:
                L[a, b] = rest / L[b, b]
            else:
                pivot = max(rest, LEAST_PIVOT)
                L[a, a] = sqrt(pivot)
                log_det += log(pivot)
    return log_det


@kernel
def invert(L, W):
    """Fill the lower triangle of W with the inverse of that of L."""
    for a in range(L.shape[0]):
        W[a, a] = 1.0 / L[a, a]
        for b in range(a):
            total = 0.0
            for c in range(b, a):
                total += L[a, c] * W[c, b]
            W[a, b] = -total / L[a, a]


@kernel
def lift(R, T, share):
    """Make R positive definite beside T, which is: in no direction less than a share of it.

    With T = L L' and the eigenvalues of L^-1 R L^-T, those below `share` are raised to it; the
    rest of R stays, but for the ones on its diagonal. It does not matter in which order the
    columns are, and the answer moves smoothly with R and T.
    """
    d = R.shape[0]
    L, W = np.zeros((d, d)), np.zeros((d, d))
    factor(T, np.arange(d), d, L)
    invert(L, W)
    values, vectors = np.linalg.eigh(W @ R @ W.T)
    if values[0] < share:
        half = (L @ vectors) * np.sqrt(np.maximum(values, share))
        raised = half @ half.T
        for a in range(d):
            for b in range(d):
                R[a, b] = raised[a, b] / sqrt(raised[a, a] * raised[b, b])
