"""Poisson columns with a Gamma prior on the rate: a cell is a whole number from 0 on, or NaN.

rate ~ Gamma(shape a, rate b). A group of n rows with sum S has the posterior
Gamma(a + S, b + n), and the predictive is negative binomial:

    log p(x) = lgamma(s + x) - lgamma(s) - lgamma(x + 1) + s log(r / (r + 1)) - x log(r + 1)

with s = a + S and r = b + n. The evidence of the group needs the sum of lgamma(x + 1) as well,
so that is a statistic too: a constant of the rows, but scores are probabilities and add up.

Hidden here: the ratio of gammas by `kernels.gamma`, so a cell costs two logarithms and no
call, and does not lose the digits of lgamma in large groups. What is lost grows with the count
itself: 1e-9 nats at a million, 3e-6 at 1e9, .003 at 1e12; near 2^53 scores are off by 100 nats.
"""

from math import lgamma, sqrt
from typing import NamedTuple

import numpy as np

from infinimix.families import product, seam
from infinimix.families.base_measures import COUNT_SHAPES
from infinimix.families.registration import register
from infinimix.kernels.elementary import log, log1p
from infinimix.kernels.gamma import SHIFT, follow, lead, log_factorial

A, B = range(2)  # first axis of prior
N, SUM, LOGS = range(3)  # second axis of n
SHAPE, INVERSE, SLOPE, NORM, RATE = range(5)  # second axis of t; `score` reads the first four
LARGEST = 2.0**53  # from here on a double is no longer sure to be the number that was meant


class GammaPoisson(NamedTuple):
    """Hyper-parameters of D independent columns of counts."""

    prior: np.ndarray  # (2, D) shape; rate


class PoissonStats(NamedTuple):
    """Statistics of K groups."""

    n: np.ndarray  # (K, 3, D) weight; sum; sum of lgamma(x + 1)
    t: np.ndarray  # (K, 5, D) s, 1 / (s + SHIFT), what multiplies x, what is there for x = 0, r


@seam.empty.implement(GammaPoisson)
def _(family, slots):
    columns = family.prior.shape[1]
    stats = PoissonStats(np.zeros((slots, 3, columns)), np.zeros((slots, 5, columns)))
    product.refresh_alike(family, stats)
    return stats


@seam.count.implement(GammaPoisson)
def _(family, stats, k, X, i, w):
    n = stats.n
    for d in range(X.shape[1]):
        x = X[i, d]
        if x == x:
            rows = n[k, N, d] + w
            if rows > 1e-9:
                n[k, N, d] = rows
                n[k, SUM, d] = max(n[k, SUM, d] + w * x, 0.0)
                n[k, LOGS, d] = max(n[k, LOGS, d] + w * log_factorial(x), 0.0)
            else:  # the last row left: no dust stays behind
                n[k, N, d] = n[k, SUM, d] = n[k, LOGS, d] = 0.0


@seam.refresh.implement(GammaPoisson)
def _(family, stats, k):
    prior, n, t = family.prior, stats.n, stats.t
    for d in range(prior.shape[1]):
        s, r = prior[A, d] + n[k, SUM, d], prior[B, d] + n[k, N, d]
        t[k, SHAPE, d], t[k, INVERSE, d] = s, 1.0 / (s + SHIFT)
        t[k, SLOPE, d] = log((s + SHIFT) / (r + 1.0)) - 1.0
        t[k, NORM, d], t[k, RATE, d] = lead(s) - s * log1p(1.0 / r), r


@seam.score.implement(GammaPoisson)
def _(family, stats, X, i, live, out):
    t, width = stats.t, X.shape[1]
    x, seen, constant = np.empty(width), np.empty(width), 0.0
    for d in range(width):
        known = X[i, d] == X[i, d]
        seen[d], x[d] = 1.0 if known else 0.0, X[i, d] if known else 0.0
        constant += log_factorial(x[d])
    for k in live:
        total = 0.0
        for d in range(width):
            rise = t[k, SLOPE, d] * x[d] + follow(t[k, SHAPE, d], t[k, INVERSE, d], x[d])
            total += seen[d] * (t[k, NORM, d] + rise)
        out[k] += total - constant


@seam.column_evidence.implement(GammaPoisson)
def _(family, stats, k, out):
    prior, n = family.prior, stats.n
    for d in range(prior.shape[1]):
        rows, x, a, b = n[k, N, d], n[k, SUM, d], prior[A, d], prior[B, d]
        z = a + SHIFT
        total = x * (log(z / (b + rows)) - 1.0) + follow(a, 1.0 / z, x) + lead(a)
        total -= a * log1p(rows / b) + n[k, LOGS, d]
        out[d] += total if rows > 0.0 else 0.0


@seam.features.implement(GammaPoisson)
def _(family, stats, X, i, first, index, value):
    """Describe a count by how many deviations its root is from that of the mean of group 0."""
    t, used = stats.t, 0
    for d in range(X.shape[1]):
        if X[i, d] == X[i, d]:
            z = 2.0 * (sqrt(X[i, d]) - sqrt(t[0, SHAPE, d] / t[0, RATE, d]))
            index[used], value[used] = first + d, min(max(z, -seam.FAR), seam.FAR)
            used += 1
    return used


@seam.sound.implement(GammaPoisson)
def _(family, stats):
    """Return whether sums are those of so many cells; a group without cells has no sum."""
    n = stats.n
    largest = n[:, N, None] * np.array([[LARGEST], [lgamma(LARGEST)]])
    return np.isfinite(n).all() and (n >= 0.0).all() and (n[:, SUM:] <= largest * (1 + 1e-9)).all()


@seam.prior.implement(GammaPoisson)
def _(family, pool, given, factors):
    return seam.unstacked(seam.prior_finder(family, pool, given)(factors[None]), 0)


@seam.prior_finder.implement(GammaPoisson)
def _(family, pool, given):
    """Find the Gamma prior of each rate: the pooled mean, and the shape that the word has."""
    mean = (pool.n[0, SUM] + 0.5) / (pool.n[0, N] + 0.5)  # of zeros, or nothing, positive too
    shapes = np.array([COUNT_SHAPES[own] if isinstance(own, str) else 1.0 for own in given])
    fixed = {d: own for d, own in enumerate(given) if not isinstance(own, str)}

    def at(factors):
        table = np.empty((len(factors), 2, len(given)))
        table[:, A] = shapes * factors[:, 0]
        table[:, B] = table[:, A] / (mean * factors[:, 1])
        for d, own in fixed.items():
            table[:, :, d] = own
        return GammaPoisson(table)

    return at


@seam.typical.implement(GammaPoisson)
def _(family, stats, slots):
    """Return the posterior mean of the rate."""
    return stats.t[slots, SHAPE] / stats.t[slots, RATE]


@seam.draw.implement(GammaPoisson)
def _(family, stats, slots, X, rng):
    """Return whole numbers, at most about half of LARGEST: a cell is one that a table can hold."""
    rate = rng.gamma(stats.t[slots, SHAPE]) / stats.t[slots, RATE]
    return seam.keep_observed(X, rng.poisson(np.minimum(rate, LARGEST / 2)))


@seam.fill.implement(GammaPoisson)
def _(family, stats, weight, X):
    def column(d, rows):
        rate = stats.t[:, RATE, d]
        mean = stats.t[:, SHAPE, d] / rate
        return seam.mix_moments(weight[rows], mean, mean * (1.0 + 1.0 / rate))

    return seam.fill_columns(X, column)


@seam.count_rows.implement(GammaPoisson)
def _(family, stats, weight, X):
    from scipy.special import gammaln  # slow to load, and most fits need none

    seen = ~np.isnan(X)
    x = np.where(seen, X, 0.0)
    for field, value in ((N, seen.astype(float)), (SUM, x), (LOGS, gammaln(x + 1.0))):
        stats.n[:, field] += weight.T @ value


@seam.estimate_point.implement(GammaPoisson)
def _(family, stats, mode):
    a, b = family.prior
    pseudo = np.maximum(a - 1.0, seam.FLOOR) if mode else a
    rate = (pseudo + stats.n[:, SUM]) / (b + stats.n[:, N])
    n = stats.n.copy()
    n[:, SUM], n[:, N] = seam.MANY * rate - a, seam.MANY - b
    product.refresh_all(family, stats._replace(n=n), len(n))
    return (pseudo * np.log(rate) - b * rate).sum(axis=1)


register(GammaPoisson, np.float64)
