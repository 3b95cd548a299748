"""Normal columns with a Normal-inverse-chi-squared prior: a cell is a number or NaN.

sigma^2 ~ Inv-chi^2(nu, scale^2), mu ~ N(mean, sigma^2 / kappa); the predictive is Student's
t. Statistics are count, mean and squared deviations (Welford), not sums of squares: a
column of time stamps would lose all its digits in those.

A column has a **resolution** d: its values are rounded to multiples of d, or d is 0. A cell x then
stands for the interval of width d around it, and its log likelihood is the mean of the log density
over that interval:

    log N(x | mu, sigma^2) - grain / (2 sigma^2),    grain = d^2 / 12

which is what x adds if it adds x^2 + grain to the sum of squares. So the prior stays conjugate, the
evidence is the usual one with `grain` more for each row, scores are ratios of evidences, and no
variance falls below `grain`: the density of a value that is repeated has a bound. By Jensen's
inequality it is a lower bound of the log of the interval's mass over d. Densities integrate to
exp(-grain / (2 sigma^2)) where sigma is that of many rows, spread by the grain: to at least
e^(-1/2), to .96 if the rows themselves have a standard deviation of d, to .99 if it is 2 d.

What is done to one cell or one column is a function of its own, which reads and writes the first
rows of the arrays: `spiked` has the same ones there, and more of its own behind them.
"""

from math import pi, sqrt
from typing import NamedTuple

import numpy as np

from infinimix.families import product, seam
from infinimix.families.base_measures import find_normal
from infinimix.families.registration import register
from infinimix.kernels.compile import part
from infinimix.kernels.elementary import log
from infinimix.kernels.gamma import half_rise, rise

MEAN, KAPPA, NU, SCALE2 = range(4)  # first axis of prior
N, CENTRE, SPREAD = range(3)  # second axis of n: count, mean, sum of squared deviations
PLACE, TIGHTNESS, POWER, NORM = range(4)  # second axis of t
LOG_PI = float(np.log(pi))
LEAST_DEGREES = 3.0  # of freedom, where a spread is asked for


class NormalInverseChiSquared(NamedTuple):
    """Hyper-parameters of D independent real columns."""

    prior: np.ndarray  # (4, D) mean, kappa, nu, scale^2
    grain: np.ndarray  # (D,) d^2 / 12 of the resolution d


class NormalStats(NamedTuple):
    """Statistics of K groups."""

    n: np.ndarray  # (K, 3, D) count; mean; squared deviations
    t: np.ndarray  # (K, 4, D) Student's location, 1 / (nu spread^2), (nu + 1) / 2, log norm


@seam.empty.implement(NormalInverseChiSquared)
def _(family, slots):
    columns = family.prior.shape[1]
    stats = NormalStats(np.zeros((slots, 3, columns)), np.zeros((slots, 4, columns)))
    product.refresh_alike(family, stats)
    return stats


@seam.count.implement(NormalInverseChiSquared)
def _(family, stats, k, X, i, w):
    for d in range(X.shape[1]):
        if X[i, d] == X[i, d]:
            count_cell(stats.n, k, d, X[i, d], w)


@part
def count_cell(n, k, d, x, w):
    """Add the cell x of column d to group k with weight w."""
    rows = n[k, N, d] + w
    if 1e-9 < rows < -w:  # a row that was never here, and weighs more than what stays
        n[k, SPREAD, d] *= rows / n[k, N, d]
        n[k, N, d] = rows
    elif rows > 1e-9:
        step = x - n[k, CENTRE, d]
        n[k, CENTRE, d] += w * step / rows
        spread = n[k, SPREAD, d] + w * step * (x - n[k, CENTRE, d])
        n[k, N, d], n[k, SPREAD, d] = rows, max(spread, 0.0)
    else:  # the last row left: no dust stays behind
        n[k, N, d] = n[k, CENTRE, d] = n[k, SPREAD, d] = 0.0


@seam.refresh.implement(NormalInverseChiSquared)
def _(family, stats, k):
    for d in range(family.prior.shape[1]):
        refresh_column(family.prior, family.grain, stats.n, stats.t, k, d)


@part
def refresh_column(prior, grain, n, t, k, d):
    """Recompute Student's t of column d in group k.

    The next row brings its grain, wherever it is: a wider t, and a constant.
    """
    rows, kappa, nu = n[k, N, d], prior[KAPPA, d], prior[NU, d]
    gap = n[k, CENTRE, d] - prior[MEAN, d]
    squares = nu * prior[SCALE2, d] + (n[k, SPREAD, d] + rows * grain[d])
    squares += kappa * rows / (kappa + rows) * gap * gap
    wider = squares + grain[d]
    width = wider * (kappa + rows + 1.0) / (kappa + rows)  # nu_n times Student's scale^2
    t[k, PLACE, d] = prior[MEAN, d] + rows / (kappa + rows) * gap
    t[k, TIGHTNESS, d] = 1.0 / width
    t[k, POWER, d] = 0.5 * (nu + rows + 1.0)
    t[k, NORM, d] = half_rise(0.5 * (nu + rows)) - 0.5 * (log(width) + LOG_PI)
    t[k, NORM, d] += 0.5 * (nu + rows) * log(squares / wider)


@seam.score.implement(NormalInverseChiSquared)
def _(family, stats, X, i, live, out):
    t, width = stats.t, X.shape[1]
    x, seen = np.empty(width), np.empty(width)
    for d in range(width):
        known = X[i, d] == X[i, d]
        seen[d], x[d] = 1.0 if known else 0.0, X[i, d] if known else 0.0
    for k in live:
        total = 0.0
        for d in range(width):
            z = x[d] - t[k, PLACE, d]
            tail = t[k, POWER, d] * log(1.0 + t[k, TIGHTNESS, d] * z * z)
            total += seen[d] * (t[k, NORM, d] - tail)
        out[k] += total


@seam.column_evidence.implement(NormalInverseChiSquared)
def _(family, stats, k, out):
    for d in range(family.prior.shape[1]):
        out[d] += log_evidence(family.prior, family.grain, stats.n, k, d)


@part
def log_evidence(prior, grain, n, k, d):
    """Return the log marginal likelihood of the numbers in column d of group k."""
    rows, kappa, nu = n[k, N, d], prior[KAPPA, d], prior[NU, d]
    gap = n[k, CENTRE, d] - prior[MEAN, d]
    before = nu * prior[SCALE2, d]
    after = before + (n[k, SPREAD, d] + rows * grain[d])
    after += kappa * rows / (kappa + rows) * gap * gap
    total = rise(0.5 * nu, 0.5 * rows) + 0.5 * log(kappa / (kappa + rows))
    total += 0.5 * (nu * log(before) - (nu + rows) * log(after) - rows * LOG_PI)
    return total if rows > 0.0 else 0.0


@seam.fade.implement(NormalInverseChiSquared)
def _(family, stats, share):
    stats.n[:, (N, SPREAD)] *= share  # their mean stays where it is


@seam.features.implement(NormalInverseChiSquared)
def _(family, stats, X, i, first, index, value):
    """Describe a cell by how many deviations it is from the mean of group 0."""
    used = 0
    for d in range(X.shape[1]):
        if X[i, d] == X[i, d]:
            index[used], value[used] = first + d, deviations(stats.t, 0, d, X[i, d])
            used += 1
    return used


@part
def deviations(t, k, d, x):
    """Return how many deviations x is from the mean of column d in group k, at most FAR."""
    z = (x - t[k, PLACE, d]) * sqrt(t[k, TIGHTNESS, d] * (2.0 * t[k, POWER, d] - 1.0))
    return min(max(z, -seam.FAR), seam.FAR)


@seam.merge.implement(NormalInverseChiSquared)
def _(family, stats, source, target):
    for d in range(stats.n.shape[2]):
        merge_column(stats.n, source, target, d)
    seam.refresh(family, stats, target)


@part
def merge_column(n, source, target, d):
    """Add the numbers in column d of one group to those of another."""
    a, b = n[target, N, d], n[source, N, d]
    if b > 0.0:
        step = n[source, CENTRE, d] - n[target, CENTRE, d]
        n[target, N, d] = a + b
        n[target, CENTRE, d] += step * b / (a + b)
        n[target, SPREAD, d] += n[source, SPREAD, d] + step * step * a * b / (a + b)


@seam.sound.implement(NormalInverseChiSquared)
def _(family, stats):
    return np.isfinite(stats.n).all() and (stats.n[:, (N, SPREAD)] >= 0.0).all()


@seam.prior.implement(NormalInverseChiSquared)
def _(family, pool, given, factors):
    return seam.unstacked(seam.prior_finder(family, pool, given)(factors[None]), 0)


@seam.prior_finder.implement(NormalInverseChiSquared)
def _(family, pool, given):
    at, grain = find_normal(given, pool.n[0]), family.grain[None]
    return lambda factors: NormalInverseChiSquared(at(factors), grain)


@seam.typical.implement(NormalInverseChiSquared)
def _(family, stats, slots):
    """Return the posterior mean."""
    return stats.t[slots, PLACE]


@seam.draw.implement(NormalInverseChiSquared)
def _(family, stats, slots, X, rng):
    return seam.keep_observed(X, draw_student(stats.t[slots], rng))


def draw_student(t, rng):
    """Return a number of each column from its predictive."""
    degrees = 2.0 * t[:, POWER] - 1.0
    scale = np.sqrt(1.0 / (t[:, TIGHTNESS] * degrees))
    return t[:, PLACE] + scale * rng.standard_t(degrees)


@seam.fill.implement(NormalInverseChiSquared)
def _(family, stats, weight, X):
    def column(d, rows):
        return seam.mix_moments(weight[rows], *student_moments(stats.t[:, :, d]))

    return seam.fill_columns(X, column)


def student_moments(t):
    """Return mean and variance of a column; less than LEAST_DEGREES of freedom count as so many.

    From two degrees on downwards the variance is infinite (and from one on the mean is none,
    and the centre is taken), and just above it is a matter of tails that no spread describes.
    """
    degrees = 2.0 * t[:, POWER] - 1.0
    wide = np.maximum(degrees, LEAST_DEGREES)
    return t[:, PLACE], wide / (wide - 2.0) / (t[:, TIGHTNESS] * degrees)


register(NormalInverseChiSquared, np.float64)
