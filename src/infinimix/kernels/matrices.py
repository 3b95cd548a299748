"""Small correlation matrices in plain loops: Cholesky's factor, its inverse, and a repair.

The matrices have ones on the diagonal, so pivots are shares of a variance: what a column has
left when the columns before it are known. A share below LEAST_PIVOT is rounding and is taken
for LEAST_PIVOT; that column is then known to six digits from the others, and nothing is infinite.
"""

from math import sqrt

import numpy as np

from infinimix.kernels.compile import kernel, part
from infinimix.kernels.elementary import log

LEAST_PIVOT = 1e-13
MOST_ROUNDS = 30  # of Jacobi's rotations; seven are enough


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


@part
def rotate(A, V, p, q):
    """Turn the axes p and q of A, and of V with them, so that A[p, q] becomes 0 (Jacobi)."""
    theta = 0.5 * (A[q, q] - A[p, p]) / A[p, q]
    t = (1.0 if theta >= 0.0 else -1.0) / (abs(theta) + sqrt(theta * theta + 1.0))
    c = 1.0 / sqrt(t * t + 1.0)
    s = t * c
    for k in range(A.shape[0]):
        x, y = A[k, p], A[k, q]
        A[k, p], A[k, q] = c * x - s * y, s * x + c * y
    for k in range(A.shape[0]):
        x, y = A[p, k], A[q, k]
        A[p, k], A[q, k] = c * x - s * y, s * x + c * y
        x, y = V[k, p], V[k, q]
        V[k, p], V[k, q] = c * x - s * y, s * x + c * y


@kernel
def diagonalise(A, V):
    """Leave the eigenvalues of a symmetric A on its diagonal; multiply V by the eigenvectors.

    LAPACK is as fast for matrices of this size, but takes numba four seconds to compile in.
    """
    d, rest = A.shape[0], 1.0
    for _ in range(MOST_ROUNDS):
        rest = 0.0
        for p in range(d):
            for q in range(p + 1, d):
                rest += A[p, q] * A[p, q]
                if A[p, q] != 0.0:
                    rotate(A, V, p, q)
        if rest < 1e-30:
            return


@kernel
def multiply(A, B, flipped, out):
    """Fill `out` with A B, or with A B' if `flipped`."""
    for a in range(A.shape[0]):
        for b in range(out.shape[1]):
            total = 0.0
            for c in range(A.shape[1]):
                total += A[a, c] * (B[b, c] if flipped else B[c, b])
            out[a, b] = total


@kernel
def lift(R, T, share):
    """Make R positive definite beside T, which is: in no direction less than a share of it.

    With T = L L' and the eigenvalues of L^-1 R L^-T, those below `share` are raised to it; the
    rest of R stays, but for the ones on its diagonal. It does not matter in which order the
    columns are, and the answer moves smoothly with R and T.
    """
    d = R.shape[0]
    L, W, A, V = np.zeros((d, d)), np.zeros((d, d)), np.zeros((d, d)), np.zeros((d, d))
    factor(T, np.arange(d), d, L)
    invert(L, W)
    multiply(W, R, False, V)
    multiply(V, W, True, A)
    for a in range(d):
        for b in range(d):
            V[a, b] = L[a, b]
    diagonalise(A, V)  # V is L times the eigenvectors
    least = share
    for a in range(d):
        least = min(least, A[a, a])
        root = sqrt(max(A[a, a], share))
        for b in range(d):
            V[b, a] *= root
    if least < share:
        multiply(V, V, True, A)
        for a in range(d):
            for b in range(d):
                R[a, b] = A[a, b] / sqrt(A[a, a] * A[b, b])
