"""Normal columns in EM: rows with weights, and one estimate of mean and variance for each group.

`spiked` does the same to its numbers by the functions here.
"""

from math import pi

import numpy as np

from infinimix.families import seam
from infinimix.families.normal import (
    CENTRE,
    MEAN,
    NORM,
    PLACE,
    POWER,
    SPREAD,
    TIGHTNESS,
    N,
    NormalInverseChiSquared,
)
from infinimix.families.registration import score_each

POINT = 0.5 * (seam.MANY + 1.0)  # the power of Student's t that is a Normal


@seam.score_rows.implement(NormalInverseChiSquared)
def _(family, stats, live, X, out):
    t = stats.t[live]
    if (t[:, POWER] == POINT).all():
        score_point_estimates(family.prior[MEAN], t, X, out)
    else:
        score_each(family, stats, live, X, out)


def score_point_estimates(origin, t, X, out):
    """Score Normals by matrix products: their log density is linear in x and x^2.

    Both are taken from an origin that is near all cells, so that no digits are lost.
    """
    precision, place = seam.MANY * t[:, TIGHTNESS], t[:, PLACE] - origin
    offset = t[:, NORM] - 0.5 * precision * place**2
    x = X - origin
    holes = np.isnan(x)
    rows = np.flatnonzero(holes.any(axis=1))
    x[holes] = 0.0
    out += offset.sum(axis=1)
    out += x @ (precision * place).T
    np.square(x, out=x)
    out -= x @ (0.5 * precision).T
    if rows.size:
        out[rows] -= holes[rows].astype(float) @ offset.T


def join_moments(one, two):
    """Return count, mean and squared deviations of the rows of both, for each slot."""
    rows = one[:, N] + two[:, N]
    share = two[:, N] / np.where(rows > 0.0, rows, 1.0)
    step = two[:, CENTRE] - one[:, CENTRE]
    between = step * step * one[:, N] * share
    centre = one[:, CENTRE] + share * step
    return np.stack([rows, centre, one[:, SPREAD] + two[:, SPREAD] + between], axis=1)


@seam.count_rows.implement(NormalInverseChiSquared)
def _(family, stats, weight, X):
    count_numbers(family.prior, stats.n, weight, X)


def count_numbers(prior, n, weight, X):
    """Sum deviations from the prior mean, which is near all cells, so that no digits are lost."""
    x = X - prior[MEAN]
    holes = np.isnan(x)
    if holes.any():
        x[holes] = 0.0
        rows = weight.T @ (~holes).astype(float)
    else:
        rows = np.broadcast_to(weight.sum(axis=0)[:, None], (weight.shape[1], X.shape[1]))
    centre = weight.T @ x / np.maximum(rows, 1e-300)
    np.square(x, out=x)
    spread = np.maximum(weight.T @ x - rows * centre**2, 0.0)
    more = np.stack([rows, np.where(rows > 0.0, centre + prior[MEAN], 0.0), spread], axis=1)
    n[:, : SPREAD + 1] = join_moments(n, more)


@seam.estimate_point.implement(NormalInverseChiSquared)
def _(family, stats, mode):
    return estimate_numbers(family, stats.n, stats.t, mode)


def estimate_numbers(family, n, t, mode):
    """Take mean and variance of the most probable Normal: nu more rows, and 3 more for a mode.

    Each row adds its grain to the squares, and has lost half of grain / variance in its norm.
    """
    mean, kappa, nu, scale2 = family.prior[:4]
    rows, gap = n[:, N], n[:, CENTRE] - mean
    squares = nu * scale2 + (n[:, SPREAD] + rows * family.grain)
    squares += kappa * rows / (kappa + rows) * gap**2
    power = nu + (3.0 if mode else 0.0)
    variance, shift = squares / (power + rows), rows / (kappa + rows) * gap
    t[:, PLACE], t[:, TIGHTNESS] = mean + shift, 1.0 / (seam.MANY * variance)
    t[:, POWER] = POINT
    t[:, NORM] = -0.5 * (np.log(2.0 * pi * variance) + family.grain / variance)
    penalty = power * np.log(variance) + (nu * scale2 + kappa * shift**2) / variance
    return -0.5 * penalty.sum(axis=1)


@seam.freedom.implement(NormalInverseChiSquared)
def _(family):
    return 2 * family.prior.shape[1]
