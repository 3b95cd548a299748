"""Small correlation matrices in plain loops: Cholesky's factor, its inverse, a common repair.

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
def pull(R, T, share):
    """Move R towards the positive definite T, as little as makes R - share * T so too.

    With G = L^-1 (R - T) L^-T, T = L L', that is a question of the least eigenvalue of G: the
    answer does not depend on the order of the columns, and it moves smoothly with R and T.
    """
    d = R.shape[0]
    L, W, half, G = np.zeros((d, d)), np.zeros((d, d)), np.zeros((d, d)), np.empty((d, d))
    factor(T, np.arange(d), d, L)
    invert(L, W)
    for a in range(d):
        for b in range(d):
            for c in range(a + 1):
                half[a, b] += W[a, c] * (R[c, b] - T[c, b])
    for a in range(d):
        for b in range(a + 1):
            total = 0.0
            for c in range(b + 1):
                total += half[a, c] * W[b, c]
            G[a, b] = G[b, a] = total
    least = np.linalg.eigvalsh(G)[0]
    if least < share - 1.0:
        step = (share - 1.0) / least
        for a in range(d):
            for b in range(d):
                R[a, b] = T[a, b] + step * (R[a, b] - T[a, b])
