"""The Gibbs sampler of infinite SVMs: rows choose clusters, experts are drawn.

Clusters are families of the library, integrated out; experts are explicit. A row leaves its
cluster and weighs n_k p(x | cluster k) phi(y | eta_k) against alpha p(x | empty) I2, with
phi = exp(-2c (l - y eta.x)_+), c that of the row, and I2 its mean under the prior of eta, in
closed form. If it opens a cluster, the expert is an exact draw from its posterior given the row.
Then omega^-1 is inverse Gaussian and eta normal, as in eqs. 17 and 18 of the paper.
"""

from math import exp, log, sqrt

import numpy as np

from infinimix.families.product import engine
from infinimix.families.seam import add, score
from infinimix.kernels.compile import kernel, part
from infinimix.kernels.draws import invert

LEAST_GAP = 1e-12


@part
def draw_above(rng, a):
    """Return a standard normal given that it is above a (Robert 1995)."""
    if a < 0.5:
        while True:
            u = rng.standard_normal()
            if u > a:
                return u
    rate = 0.5 * (a + sqrt(a * a + 4.0))
    while True:
        u = a + rng.standard_exponential() / rate
        if log(1.0 - rng.random()) <= -0.5 * (u - rate) * (u - rate):
            return u


@kernel
def draw_first_expert(rng, x, y, c, nu, margin, above, eta):
    """Fill eta with a draw from its posterior given one row; `above` = P(y eta.x > l)."""
    p, square, along = x.shape[0], 0.0, 0.0
    for j in range(p):
        eta[j] = nu * rng.standard_normal()
        square += x[j] * x[j]
        along += eta[j] * x[j]
    s = nu * sqrt(square)
    if rng.random() < above:
        u = s * draw_above(rng, margin / s)
    else:
        u = 2.0 * c * s * s - s * draw_above(rng, 2.0 * c * s - margin / s)
    for j in range(p):  # the part orthogonal to x keeps its prior
        eta[j] += (y * u - along) / square * x[j]


@part
def draw_inverse_gaussian(rng, mean):
    """Return an inverse Gaussian number of shape 1, also where its mean is huge."""
    u = rng.standard_normal()
    t = mean * u * u
    large = 1.0 + 0.5 * t + sqrt(t + 0.25 * t * t)  # both roots in units of the mean: 1 / large
    return mean / large if rng.random() * (1.0 + 1.0 / large) < 1.0 else mean * large


@kernel
def draw_expert(rng, X, y, c, nu, margin, eta):
    """Draw the gaps' weights given an expert, then the expert given them, in place."""
    n, p = X.shape
    A, b = np.zeros((p, p)), np.zeros(p)
    for j in range(p):
        A[j, j] = 1.0 / (nu * nu)
    for i in range(n):
        f = 0.0
        for j in range(p):
            f += eta[j] * X[i, j]
        gap = max(abs(margin - y[i] * f), LEAST_GAP)
        v = draw_inverse_gaussian(rng, 1.0 / (c[i] * gap))
        for a in range(p):
            b[a] += c[i] * y[i] * (1.0 + c[i] * margin * v) * X[i, a]
            for k in range(a + 1):
                A[a, k] += c[i] * c[i] * v * X[i, a] * X[i, k]
    for a in range(p):
        for k in range(a):
            A[k, a] = A[a, k]
    L = np.linalg.cholesky(A)
    for a in range(p):  # L u = b
        for k in range(a):
            b[a] -= L[a, k] * b[k]
        b[a] /= L[a, a]
    for a in range(p):
        b[a] += rng.standard_normal()
    for a in range(p - 1, -1, -1):  # L' eta = u + noise
        for k in range(a + 1, p):
            b[a] -= L[k, a] * b[k]
        b[a] /= L[a, a]
    for a in range(p):
        eta[a] = b[a]


@kernel
def draw_experts(rng, X, Y, z, slots, n_live, eta, c, nu, margin):
    """Draw the experts of all live clusters; the first slot is the empty one."""
    p = X.shape[1]
    rows = np.empty(z.shape[0], np.int64)
    for s in range(1, n_live):
        k, n = slots[s], 0
        for i in range(z.shape[0]):
            if z[i] == k:
                rows[n] = i
                n += 1
        own, y, weight = np.empty((n, p)), np.empty(n), c[rows[:n]]
        for i in range(n):
            for j in range(p):
                own[i, j] = X[rows[i], j]
        for o in range(Y.shape[1]):
            for i in range(n):
                y[i] = Y[rows[i], o]
            draw_expert(rng, own, y, weight, nu, margin, eta[k, o])


@part
def hinge_of(x, y, eta, margin):
    """Return the sum of the hinges of a row over the outputs of an expert."""
    total = 0.0
    for o in range(y.shape[0]):
        f = 0.0
        for j in range(x.shape[0]):
            f += eta[o, j] * x[j]
        total += max(margin - y[o] * f, 0.0)
    return total


@engine("score", "count", "refresh")
def sweep(
    families, stats, X, F, Y, log_new, above, z, sizes, eta, slots, n_live, first,
    log_alpha, c, nu, margin, rng,
):  # fmt: skip
    """Let the rows from `first` on choose again; return the next one (for want of room), n_live."""
    logp, w = np.zeros(sizes.shape[0]), np.empty(sizes.shape[0])
    for i in range(first, F.shape[0]):
        if n_live == sizes.shape[0]:
            return i, n_live
        k = z[i]
        if k >= 0:
            add(families, stats, k, X, i, -1.0)
            sizes[k] -= 1.0
            if sizes[k] == 0.0:
                for j in range(1, n_live):
                    if slots[j] == k:
                        n_live -= 1
                        slots[j], slots[n_live] = slots[n_live], k
                        break
        live = slots[:n_live]
        for k in live:
            logp[k] = 0.0
        score(families, stats, X, i, live, logp)
        top = -np.inf
        for j in range(n_live):
            k = live[j]
            if j == 0:
                w[j] = log_alpha + logp[k] + log_new[i]
            else:
                w[j] = log(sizes[k]) + logp[k] - 2.0 * c[i] * hinge_of(F[i], Y[i], eta[k], margin)
            top = max(top, w[j])
        total = 0.0
        for j in range(n_live):
            w[j] = exp(w[j] - top)
            total += w[j]
        j = invert(w, n_live, total * rng.random())
        if j == 0:
            j = n_live
            n_live += 1
            for o in range(Y.shape[1]):
                draw_first_expert(rng, F[i], Y[i, o], c[i], nu, margin, above[i], eta[slots[j], o])
        k = slots[j]
        z[i] = k
        sizes[k] += 1.0
        add(families, stats, k, X, i, 1.0)
    return F.shape[0], n_live


@engine("count", "refresh")
def count_rows(families, stats, X, z):
    """Put every row in its cluster."""
    for i in range(z.shape[0]):
        add(families, stats, z[i], X, i, 1.0)
