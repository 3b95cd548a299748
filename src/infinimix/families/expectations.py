"""Means of the cells of rows by a mixture of gaussian blocks, also of rows without one cell each.

The t of some cells given others is that of `conditional`. Here every row has its own missing
cells, there are many groups, and only means are asked for, so it is one compiled loop over rows
and groups: R_oo = L L', z = L^-1 u, v = R_oo^-1 u. Sums over groups are scaled by the largest
density so far.
"""

from math import inf

import numpy as np
from scipy.special import gammaln

from infinimix.kernels.compile import kernel, part
from infinimix.kernels.elementary import exp, log, log1p
from infinimix.kernels.matrices import factor, invert

NOTHING = 40.0  # nats below another group: what adds less than a rounding error


def expect_cells(groups, log_weight, X):
    """Return the mean of each cell of rows of a mixture of groups, (rows, d).

    An observed cell is its own mean. It is what `fill_cells` finds, without spreads.
    """
    out = np.empty((1, *X.shape))
    _expect(groups, log_weight, X, out)
    return out[0]


def expect_without(groups, log_weight, X):
    """Return what `expect_cells` says of the rows as they are and without each of the columns.

    The result is (1 + d, rows, d); the first table is that of whole rows, then column 0 is left
    out and so on. Without cell j a row is as if that had its mean given the others, and density and
    mean follow from the inverse for the whole row: with v = R_oo^-1 u and s = diag(R_oo^-1) the
    cell falls by v_j / s_j, the sum of squares by v_j^2 / s_j, and log |R_oo| grows by log s_j.
    """
    out = np.empty((1 + X.shape[1], *X.shape))
    _expect(groups, log_weight, X, out)
    return out


def _expect(groups, log_weight, X, out):
    """Fill `out` with the means of rows, and if it has more tables, of those without a column."""
    some = np.flatnonzero(log_weight > -np.inf)  # no new group where their number is bounded
    g, half = groups.of(some), 0.5 * groups.degrees[some]
    count = 0.5 * np.arange(X.shape[1] + 1)
    norm = gammaln(half[:, None] + count) - gammaln(half)[:, None] - np.log(np.pi) * count
    norm += log_weight[some, None]
    arrays = (g.place, g.unit, np.log(g.unit), g.R, half, norm, X)
    mix_means(*map(np.ascontiguousarray, arrays), out)


@part
def add_term(log_density, values, size, top, total, sums, t):
    """Add a group to the t-th mean; `values` are those of its first `size` cells."""
    if log_density > top[t]:
        old = exp(top[t] - log_density) if total[t] > 0.0 else 0.0
        top[t], total[t] = log_density, total[t] * old
        for b in range(size):
            sums[t, b] *= old
    new = exp(log_density - top[t])
    total[t] += new
    for b in range(size):
        sums[t, b] += new * values[b]


@kernel
def mix_means(place, unit, log_unit, R, half, norm, X, out):
    """Fill `out` with the mean of each cell, for each table in it.

    norm[k, m] is the log weight of group k and what the density of m cells has in common.
    """
    n, d = X.shape
    n_groups, hides = len(half), out.shape[0] > 1
    held, gone = np.empty(d, np.int64), np.empty(d, np.int64)
    L, W, share = np.zeros((d, d)), np.zeros((d, d)), np.zeros((d, d))
    u, z, v, s, c = np.empty(d), np.empty(d), np.empty(d), np.empty(d), np.empty(d)
    mean, values = np.empty(d), np.empty(d + 1)
    top, total, sums = np.empty(1 + d), np.empty(1 + d), np.empty((1 + d, 1 + d))
    for i in range(n):
        m, g = 0, 0
        for j in range(d):
            if X[i, j] == X[i, j]:
                held[m] = j
                m += 1
            else:
                gone[g] = j
                g += 1
        top[:], total[:], sums[:] = -inf, 0.0, 0.0
        for k in range(n_groups):
            if g == 0 and not hides:
                break
            log_det, square, size = factor(R[k], held, m, L), 0.0, 0.0
            for a in range(m):
                j = held[a]
                u[a] = (X[i, j] - place[k, j]) / unit[k, j]
                size += log_unit[k, j]
                rest = u[a]
                for b in range(a):
                    rest -= L[a, b] * z[b]
                z[a] = rest / L[a, a]
                square += z[a] * z[a]
            density = norm[k, m] - size - 0.5 * log_det - (half[k] + 0.5 * m) * log1p(square)
            if not hides and density < top[0] - NOTHING:
                continue
            for a in range(m - 1, -1, -1):
                rest = z[a]
                for b in range(a + 1, m):
                    rest -= L[b, a] * v[b]
                v[a] = rest / L[a, a]
            for b in range(g):
                mean[b] = 0.0
                for a in range(m):
                    mean[b] += R[k, gone[b], held[a]] * v[a]
                values[b] = place[k, gone[b]] + unit[k, gone[b]] * mean[b]
            add_term(density, values, g, top, total, sums, 0)
            if not hides:
                continue
            invert(L[:m, :m], W)
            for a in range(m):
                s[a] = 0.0
                for b in range(a, m):
                    s[a] += W[b, a] * W[b, a]
            for b in range(g):  # share[b] = R_bo R_oo^-1
                for e in range(m):
                    c[e] = 0.0
                    for a in range(e + 1):
                        c[e] += W[e, a] * R[k, gone[b], held[a]]
                for a in range(m):
                    share[b, a] = 0.0
                    for e in range(a, m):
                        share[b, a] += W[e, a] * c[e]
            for a in range(m):
                fall, j = v[a] / s[a], held[a]
                rest = log1p(max(square - fall * v[a], 0.0))
                density = norm[k, m - 1] - size + log_unit[k, j] - 0.5 * (log_det + log(s[a]))
                density -= (half[k] + 0.5 * (m - 1)) * rest
                if density < top[1 + a] - NOTHING:
                    continue
                for b in range(g):
                    values[b] = mean[b] - share[b, a] * fall
                    values[b] = place[k, gone[b]] + unit[k, gone[b]] * values[b]
                values[g] = place[k, j] + unit[k, j] * (u[a] - fall)
                add_term(density, values, g + 1, top, total, sums, 1 + a)
        for j in range(d):
            for t in range(out.shape[0]):
                out[t, i, j] = X[i, j]
        for b in range(g):
            for t in range(out.shape[0]):
                out[t, i, gone[b]] = sums[0, b] / total[0]
        if hides:
            for a in range(m):
                for b in range(g):
                    out[1 + held[a], i, gone[b]] = sums[1 + a, b] / total[1 + a]
                out[1 + held[a], i, held[a]] = sums[1 + a, g] / total[1 + a]
