"""A block of real columns with a Normal-inverse-Wishart prior: a cell is a number or NaN.

Sigma ~ Inv-Wishart(nu + D - 1, Psi), mu ~ N(mean, Sigma / kappa); the predictive is Student's
multivariate t. Each column by itself is a `NormalInverseChiSquared` of the same mean, kappa and
nu, with nu scale^2 = Psi_dd.

Rows without holes are conjugate: scores are exact and their chain is the evidence. No family with
finitely many statistics is conjugate for rows with holes. Here a group remembers the moments of
every two columns over the rows that have both (`pairwise`), and its predictive is the t with

- place and scale of each column: those of all its cells, as if it were alone;
- the correlation of two columns: that of their posterior from the rows that have both;
- degrees of freedom: those of the mean number of cells in a column.

Such correlations, each from other rows, may contradict each other. Those of the group with every
hole filled by its column's mean cannot, though they are too weak; in no direction are the former
let fall below REPAIR times the latter (`kernels.matrices.lift`). A row with holes is scored by the
marginal of that t, so densities integrate to one over what is observed and agree among subsets
of columns. Add and remove are inverse, and the order of rows does not matter; only the chain of
scores depends on it, by up to a quarter of a nat a row in groups of 40. The evidence is that of
each column alone plus the gain by their correlation, which is exact without holes, and with them
has the mean number of rows that two columns share.
"""

from math import lgamma, pi, sqrt
from typing import NamedTuple

import numpy as np

from infinimix.families import product, seam
from infinimix.families.conditional import Groups, draw_cells, fill_cells
from infinimix.families.gaussian_priors import block_prior
from infinimix.families.pairwise import (
    CROSS,
    MEAN,
    SQUARE,
    N,
    count_pairs,
    merge_pairs,
    trim_pairs,
)
from infinimix.families.registration import register
from infinimix.kernels.compile import kernel, part
from infinimix.kernels.elementary import log
from infinimix.kernels.matrices import factor, invert, lift

CENTRE, KAPPA, NU, PSI = range(4)  # first axis of prior; Psi is all that follows
PLACE, TIGHTNESS, NORM = range(3)  # second axis of t
CORRELATION, INVERSE = range(2)  # second axis of r
HALF, WHOLE, FIRST = range(3)  # second axis of h; from FIRST on, by number of observed cells
LOG_PI = float(np.log(pi))
REPAIR = 0.6  # of the correlations after filling by means: the least that is left in any direction


class NormalInverseWishart(NamedTuple):
    """Hyper-parameters of one block of D real columns."""

    prior: np.ndarray  # (3 + D, D) mean; kappa and nu, the same in all columns; Psi


NormalInverseWishart.tied = True  # type: ignore[attr-defined]  # columns depend on each other


class GaussianStats(NamedTuple):
    """Statistics of K groups."""

    n: np.ndarray  # (K, 4, D, D) moments of pairs, see `pairwise`
    t: np.ndarray  # (K, 3, D) place, 1 / sqrt(degrees) / scale, log of that / sqrt(pi)
    r: np.ndarray  # (K, 2, D, D) correlations, and the inverse of their Cholesky factor
    h: np.ndarray  # (K, 3 + D) degrees / 2, log norm of whole rows, and by cells that of gammas


@seam.empty.implement(NormalInverseWishart)
def _(family, slots):
    d = family.prior.shape[1]
    shapes = (slots, 4, d, d), (slots, 3, d), (slots, 2, d, d), (slots, FIRST + d + 1)
    stats = GaussianStats(*map(np.zeros, shapes))
    product.refresh_alike(family, stats)
    return stats


@seam.count.implement(NormalInverseWishart)
def _(family, stats, k, X, i, w):
    count_pairs(stats.n, k, X, i, w)
    if w < 0.0:
        trim_pairs(stats.n, k)


@part
def scatter(prior, n, k, i, j):
    """Return Psi_ii of the posterior from the rows that have columns i and j."""
    rows, kappa, gap = n[k, N, i, j], prior[KAPPA, i], n[k, MEAN, i, j] - prior[CENTRE, i]
    return prior[PSI + i, i] + n[k, SQUARE, i, j] + kappa * rows / (kappa + rows) * gap * gap


@part
def bounded(r):
    """Return a correlation, whatever rounding has made of it."""
    return min(max(r, -1.0), 1.0)


@kernel
def correlate(prior, n, k, R):
    """Fill R with the correlations of group k; return the mean number of cells in a column."""
    d, rows, even = prior.shape[1], n[k, N, 0, 0], True
    for i in range(d):
        R[i, i] = 1.0
        even = even and n[k, N, i, i] == rows
        for j in range(i):
            both, kappa = n[k, N, i, j], prior[KAPPA, i]
            x, y = n[k, MEAN, i, j] - prior[CENTRE, i], n[k, MEAN, j, i] - prior[CENTRE, j]
            cross = prior[PSI + i, j] + n[k, CROSS, i, j] + kappa * both / (kappa + both) * x * y
            root = sqrt(scatter(prior, n, k, i, j)) * sqrt(scatter(prior, n, k, j, i))
            R[i, j] = R[j, i] = bounded(cross / root)
            even = even and both == rows
    if not even:
        T = np.empty((d, d))
        rows = correlate_filled(prior, n, k, T)
        lift(R, T, REPAIR)
    return rows


@part
def correlate_filled(prior, n, k, T):
    """Do what `correlate` does, with every hole filled by the mean of its column."""
    d, rows = prior.shape[1], 0.0
    root, gap = np.empty(d), np.empty(d)
    for i in range(d):
        own, kappa = n[k, N, i, i], prior[KAPPA, i]
        root[i] = sqrt(scatter(prior, n, k, i, i))
        gap[i] = sqrt(kappa * own / (kappa + own)) * (n[k, MEAN, i, i] - prior[CENTRE, i])
        rows += own / d
        T[i, i] = 1.0
        for j in range(i):
            x, y = n[k, MEAN, i, j] - n[k, MEAN, i, i], n[k, MEAN, j, i] - n[k, MEAN, j, j]
            cross = n[k, CROSS, i, j] + n[k, N, i, j] * x * y + gap[i] * gap[j]
            T[i, j] = T[j, i] = bounded((prior[PSI + i, j] + cross) / (root[i] * root[j]))
    return rows


@seam.refresh.implement(NormalInverseWishart)
def _(family, stats, k):
    refresh_block(family.prior, stats.n, stats.t[k], stats.r[k], stats.h[k], k)


@kernel
def refresh_block(prior, n, t, r, h, k):
    """Make group k ready to score."""
    d = prior.shape[1]
    L = np.empty((d, d))
    rows = correlate(prior, n, k, r[CORRELATION])
    h[WHOLE] = -0.5 * factor(r[CORRELATION], np.arange(d), d, L)
    invert(L, r[INVERSE])
    degrees = prior[NU, 0] + rows
    for i in range(d):
        own, kappa = n[k, N, i, i], prior[KAPPA, i]
        width = scatter(prior, n, k, i, i) * (kappa + own + 1.0) / (kappa + own)
        width *= degrees / (prior[NU, i] + own)  # one without holes
        t[PLACE, i] = prior[CENTRE, i]
        t[PLACE, i] += own / (kappa + own) * (n[k, MEAN, i, i] - prior[CENTRE, i])
        t[TIGHTNESS, i] = 1.0 / sqrt(width)
        t[NORM, i] = -0.5 * (log(width) + LOG_PI)
        h[WHOLE] += t[NORM, i]
    h[HALF], h[FIRST] = 0.5 * degrees, 0.0
    h[FIRST + 1] = lgamma(0.5 * degrees + 0.5) - lgamma(0.5 * degrees)
    for m in range(2, d + 1):
        h[FIRST + m] = h[FIRST + m - 2] + log(0.5 * (degrees + m - 2.0))
    h[WHOLE] += h[FIRST + d]


@seam.score.implement(NormalInverseWishart)
def _(family, stats, X, i, live, out):
    t, r, h, d = stats.t, stats.r, stats.h, X.shape[1]
    held, m = np.empty(d, np.int64), 0
    for j in range(d):
        if X[i, j] == X[i, j]:
            held[m] = j
            m += 1
    u, z, L = np.empty(d), np.empty(d), np.empty((d, d))
    for k in live:
        for a in range(m):
            j = held[a]
            u[a] = (X[i, j] - t[k, PLACE, j]) * t[k, TIGHTNESS, j]
        square, norm = 0.0, h[k, WHOLE]
        if m == d:
            for a in range(d):
                total = 0.0
                for b in range(a + 1):
                    total += r[k, INVERSE, a, b] * u[b]
                square += total * total
        else:
            norm = h[k, FIRST + m] - 0.5 * factor(r[k, CORRELATION], held, m, L)
            for a in range(m):
                norm += t[k, NORM, held[a]]
                total = u[a]
                for b in range(a):
                    total -= L[a, b] * z[b]
                z[a] = total / L[a, a]
                square += z[a] * z[a]
        if m > 0:
            out[k] += norm - (h[k, HALF] + 0.5 * m) * log(1.0 + square)


@seam.width.implement(NormalInverseWishart)
def _(family):
    return 1  # the evidence of a block is not that of its columns


@seam.column_evidence.implement(NormalInverseWishart)
def _(family, stats, k, out):
    out[0] += block_evidence(family.prior, stats.n, k)


@kernel
def block_evidence(prior, n, k):
    """Return the evidence of each column alone, plus what their correlation adds."""
    d, nu, total, both = prior.shape[1], prior[NU, 0], 0.0, 0.0
    for i in range(d):
        rows, kappa = n[k, N, i, i], prior[KAPPA, i]
        if rows > 0.0:
            total += lgamma(0.5 * (nu + rows)) - lgamma(0.5 * nu)
            total += 0.5 * log(kappa / (kappa + rows)) - 0.5 * rows * LOG_PI
            total += 0.5 * nu * log(prior[PSI + i, i])
            total -= 0.5 * (nu + rows) * log(scatter(prior, n, k, i, i))
        for j in range(d):
            if i != j:
                both += n[k, N, i, j] / (d * (d - 1.0))
    return total + correlation_gain(prior, n, k, both) if both > 0.0 else total


@part
def correlation_gain(prior, n, k, rows):
    """Return the evidence of the block less that of its columns, for so many shared rows."""
    d, nu = prior.shape[1], prior[NU, 0]
    R, L, whole = np.empty((d, d)), np.empty((d, d)), np.arange(d)
    correlate(prior, n, k, R)
    total = -0.5 * (nu + d - 1.0 + rows) * factor(R, whole, d, L)
    for i in range(d):
        for j in range(d):
            R[i, j] = prior[PSI + i, j] / sqrt(prior[PSI + i, i]) / sqrt(prior[PSI + j, j])
            if i != j:
                total += 0.5 * log(prior[PSI + i, i] / scatter(prior, n, k, i, j))
        total += lgamma(0.5 * (nu + i + rows)) - lgamma(0.5 * (nu + i))
    total += 0.5 * (nu + d - 1.0) * factor(R, whole, d, L)
    return total - d * (lgamma(0.5 * (nu + rows)) - lgamma(0.5 * nu))


@seam.fade.implement(NormalInverseWishart)
def _(family, stats, share):
    stats.n[:, (N, SQUARE, CROSS)] *= share  # their means stay where they are


@seam.features.implement(NormalInverseWishart)
def _(family, stats, X, i, first, index, value):
    """Describe a cell by how many deviations it is from the mean of group 0."""
    t, used = stats.t, 0
    scale = sqrt(2.0 * stats.h[0, HALF])
    for d in range(X.shape[1]):
        if X[i, d] == X[i, d]:
            z = (X[i, d] - t[0, PLACE, d]) * t[0, TIGHTNESS, d] * scale
            index[used], value[used] = first + d, min(max(z, -seam.FAR), seam.FAR)
            used += 1
    return used


@seam.merge.implement(NormalInverseWishart)
def _(family, stats, source, target):
    merge_pairs(stats.n, source, target)
    seam.refresh(family, stats, target)


@seam.sound.implement(NormalInverseWishart)
def _(family, stats):
    n = stats.n
    own = np.diagonal(n[:, N], axis1=1, axis2=2)
    return (
        np.isfinite(n).all()
        and (n[:, (N, SQUARE)] >= 0.0).all()
        and (n[:, (N, CROSS)] == n[:, (N, CROSS)].swapaxes(2, 3)).all()
        and (n[:, N] <= own[:, :, None] * (1.0 + 1e-6)).all()
    )


@seam.prior.implement(NormalInverseWishart)
def _(family, pool, given, factors):
    return NormalInverseWishart(block_prior(given[0], pool.n[0]))  # all columns have the same


@seam.typical.implement(NormalInverseWishart)
def _(family, stats, slots):
    """Return the posterior mean."""
    return stats.t[slots, PLACE]


def groups_of(stats):
    """Return the groups as `conditional` reads them."""
    return Groups(
        stats.t[:, PLACE],
        1.0 / stats.t[:, TIGHTNESS],
        stats.r[:, CORRELATION],
        2.0 * stats.h[:, HALF],
    )


@seam.draw.implement(NormalInverseWishart)
def _(family, stats, slots, X, rng):
    return draw_cells(groups_of(stats), slots, X, rng)


@seam.fill.implement(NormalInverseWishart)
def _(family, stats, weight, X):
    return fill_cells(groups_of(stats), weight, X)


@seam.freedom.implement(NormalInverseWishart)
def _(family):
    d = family.prior.shape[1]
    return d + d * (d + 1) // 2


# EM scores by the predictive: there is no point estimate from rows with holes.
register(NormalInverseWishart, np.float64, without=(seam.column,))
