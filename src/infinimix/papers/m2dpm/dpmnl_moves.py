"""The moves of dpMNL, compiled: rows choose clusters, experts are drawn on a slice.

Clusters stand in the first K places of arrays with room for more. What a row's density in a cluster
needs (`tables`) depends on the rows of that cluster alone, and is renewed when one comes or goes.
"""

from __future__ import annotations

from math import cos, lgamma, log, log1p, pi, sin

import numpy as np

from infinimix.kernels.compile import kernel, part
from infinimix.kernels.draws import log_sum_exp

SPARE = 3
KAPPA, NU, VARIANCE = 0.3, 2.0, 0.15  # the empirical base measure of infinimix, standardised
SLICES = 5  # draws of each expert in a sweep


@part
def renew(k, state, tables):
    """Fill the tables of one cluster: places and widths of its columns, and what is constant."""
    counts, total, square = state
    place, width, constant = tables
    p, n = total.shape[1], counts[k]
    kappa, nu = KAPPA + n, NU + n
    out = p * (lgamma((nu + 1) / 2) - lgamma(nu / 2))
    for j in range(p):
        mean = total[k, j] / max(n, 1.0)
        spread = max(square[k, j] - n * mean * mean, 0.0)
        place[k, j] = n / kappa * mean
        wide = NU * VARIANCE + spread + KAPPA * n / kappa * mean * mean
        width[k, j] = wide * (kappa + 1) / kappa
        out -= 0.5 * log(pi * width[k, j])
    constant[k] = out


@part
def log_density(x, k, counts, tables):
    """Return the Student density of a row in a cluster."""
    place, width, constant = tables
    out = 0.0
    for j in range(x.shape[0]):
        out += log1p((x[j] - place[k, j]) ** 2 / width[k, j])
    return constant[k] - (NU + counts[k] + 1) / 2 * out


@part
def log_label(x, code, beta, logits):
    """Return the log probability of a class under one expert."""
    for c in range(beta.shape[0]):
        logits[c] = 0.0
        for j in range(x.shape[0]):
            logits[c] += beta[c, j] * x[j]
    return logits[code] - log_sum_exp(logits)


@part
def change(k, x, w, state):
    """Add a row to a cluster with weight 1, or take it away with -1."""
    counts, total, square = state
    counts[k] += w
    for j in range(x.shape[0]):
        total[k, j] += w * x[j]
        square[k, j] += w * x[j] * x[j]


@part
def copy_expert(source, s, target, k):
    """Copy expert s to place k: as an assignment of rows it would take seconds to compile."""
    for c in range(source.shape[1]):
        for j in range(source.shape[2]):
            target[k, c, j] = source[s, c, j]


@part
def copy_sums(s, k, state):
    """Copy what is counted of cluster s to place k."""
    counts, total, square = state
    counts[k] = counts[s]
    for j in range(total.shape[1]):
        total[k, j], square[k, j] = total[s, j], square[s, j]


@part
def clear(k, state):
    """Let a cluster have no rows."""
    counts, total, square = state
    counts[k] = 0.0
    for j in range(total.shape[1]):
        total[k, j], square[k, j] = 0.0, 0.0


@part
def close(k, K, z, state, beta):
    """Let the clusters after k move up by one place."""
    for later in range(k + 1, K):
        copy_sums(later, later - 1, state)
        copy_expert(beta, later, beta, later - 1)
    for i in range(len(z)):
        z[i] -= z[i] > k


@part
def gumbel(rng):
    """Return a draw as NumPy makes it."""
    u = 1.0
    while u == 1.0:
        u = 1.0 - rng.random()
    return -log(-log(u))


@kernel
def move_rows(rng, order, X, X1, codes, z, K, state, beta, tables, alpha, scale):
    """Let rows choose clusters until all have, or room for a new cluster is lacking.

    Returns the number of clusters and of rows that have chosen.
    """
    counts = state[0]
    room, L, q = beta.shape
    spare, logits = np.empty((SPARE, L, q)), np.empty(L)
    for k in range(K):
        renew(k, state, tables)
    for done in range(len(order)):
        if room <= K + 1:
            return K, done
        i = order[done]
        k = z[i]
        change(k, X[i], -1.0, state)
        for s in range(SPARE):
            for c in range(L):
                for j in range(q):
                    spare[s, c, j] = scale * rng.standard_normal()
        if counts[k] < 0.5:  # its expert stays as one of the spare ones
            copy_expert(beta, k, spare, 0)
            close(k, K, z, state, beta)
            K -= 1
            for other in range(k, K):
                renew(other, state, tables)
        else:
            renew(k, state, tables)
        clear(K, state)
        renew(K, state, tables)
        empty = log_density(X[i], K, counts, tables) + log(alpha / SPARE)
        best, new = -np.inf, 0
        for other in range(K + SPARE):
            if other < K:
                w = log(counts[other]) + log_density(X[i], other, counts, tables)
                w += log_label(X1[i], codes[i], beta[other], logits)
            else:
                w = empty + log_label(X1[i], codes[i], spare[other - K], logits)
            w += gumbel(rng)
            if w > best:
                best, new = w, other
        if new >= K:
            copy_expert(spare, new - K, beta, K)
            new = K
            K += 1
        z[i] = new
        change(new, X[i], 1.0, state)
        renew(new, state, tables)
    return K, len(order)


@part
def log_likelihood(X1, codes, z, k, beta, logits):
    """Return the log probability of the classes of a cluster's rows under an expert."""
    out = 0.0
    for i in range(len(z)):
        if z[i] == k:
            out += log_label(X1[i], codes[i], beta, logits)
    return out


@kernel
def move_expert(rng, k, X1, codes, z, beta, scale):
    """Draw a cluster's expert by elliptical slice sampling, some times."""
    L, q = beta.shape[1:]
    other, tried, logits = np.empty((L, q)), np.empty((L, q)), np.empty(L)
    for _ in range(SLICES):
        for c in range(L):
            for j in range(q):
                other[c, j] = scale * rng.standard_normal()
        level = log_likelihood(X1, codes, z, k, beta[k], logits) - rng.standard_exponential()
        angle = 2 * pi * rng.random()
        low, high = angle - 2 * pi, angle
        while True:
            a, b = cos(angle), sin(angle)
            for c in range(L):
                for j in range(q):
                    tried[c, j] = beta[k, c, j] * a + other[c, j] * b
            if log_likelihood(X1, codes, z, k, tried, logits) > level:
                break
            low, high = (angle, high) if angle < 0 else (low, angle)
            angle = low + (high - low) * rng.random()
        for c in range(L):
            for j in range(q):
                beta[k, c, j] = tried[c, j]
