"""Parameters of groups drawn from their posterior, for Algorithm 1 of the Online CRP.

`draw_parameters` writes over what `refresh` has left, so that `score` gives the density of a row
under the drawn parameters instead of the predictive. The numbers behind it, `n`, stay. The mean
of the density over draws is the predictive: that is the law that tests hold every family to.

Student's t becomes a normal density by STEADY degrees of freedom, which is off by u^2 / STEADY nats
at u = z^2 / 2, and a Gamma-Poisson a Poisson in the same way. A block of columns with missing cells
is drawn from the posterior whose moments `gaussian` keeps, which is exact where none are missing.
"""

from functools import singledispatch

import numpy as np

from infinimix.families import bernoulli, gaussian, normal, poisson, spiked
from infinimix.families.bernoulli import BetaBernoulli
from infinimix.families.categorical import DirichletCategorical
from infinimix.families.gaussian import NormalInverseWishart
from infinimix.families.normal import NormalInverseChiSquared
from infinimix.families.poisson import GammaPoisson
from infinimix.families.spiked import SpikedNormal
from infinimix.kernels.gamma import SHIFT, lead
from infinimix.kernels.matrices import factor

STEADY = 2e8  # degrees of freedom of a group that knows its parameters
LEAST = 1e-300  # of a gamma variate, which may underflow


@singledispatch
def draw_parameters(family, stats, slots, rng):
    """Draw the parameters of these groups; `score` then reads them."""
    if hasattr(family, "_fields"):  # a family is a tuple too
        raise TypeError(f"{type(family).__name__} does not say how its parameters are drawn")
    for member, own in zip(family, stats, strict=True):
        draw_parameters(member, own, slots, rng)


def _log_gammas(shape, rng):
    return np.log(np.maximum(rng.standard_gamma(shape), LEAST))


@draw_parameters.register(BetaBernoulli)
def _(family, stats, slots, rng):
    logs = _log_gammas(family.prior + stats.n[slots], rng)
    log_zero = logs[:, bernoulli.ZERO] - np.logaddexp(logs[:, 0], logs[:, 1])
    stats.t[slots, bernoulli.LOG_ZERO] = log_zero
    stats.t[slots, bernoulli.LOG_ODDS] = logs[:, bernoulli.ONE] - logs[:, bernoulli.ZERO]
    stats.base[slots] = log_zero.sum(axis=1)


@draw_parameters.register(DirichletCategorical)
def _(family, stats, slots, rng):
    stats.t[slots] = logs = _log_gammas(family.prior + stats.n[slots], rng)
    for d in np.flatnonzero(np.diff(family.start)):
        own = logs[:, family.start[d] : family.start[d + 1]]
        stats.norm[slots, d] = np.logaddexp.reduce(own, axis=1)


def _draw_normals(prior, grain, n, t, slots, rng):
    """Draw mean and variance of each column, and write them as Student's t."""
    rows, kappa = n[slots, normal.N], prior[normal.KAPPA]
    nu, gap = prior[normal.NU] + rows, n[slots, normal.CENTRE] - prior[normal.MEAN]
    squares = prior[normal.NU] * prior[normal.SCALE2] + n[slots, normal.SPREAD] + rows * grain
    squares = squares + kappa * rows / (kappa + rows) * gap**2
    variance = squares / np.maximum(2.0 * rng.standard_gamma(0.5 * nu), LEAST)
    place = prior[normal.MEAN] + rows / (kappa + rows) * gap
    place = place + np.sqrt(variance / (kappa + rows)) * rng.standard_normal(place.shape)
    t[slots, normal.PLACE], t[slots, normal.POWER] = place, 0.5 * STEADY
    t[slots, normal.TIGHTNESS] = 1.0 / (STEADY * variance)
    t[slots, normal.NORM] = -0.5 * (np.log(2.0 * np.pi * variance) + grain / variance)


@draw_parameters.register(NormalInverseChiSquared)
def _(family, stats, slots, rng):
    _draw_normals(family.prior, family.grain, stats.n, stats.t, slots, rng)


@draw_parameters.register(SpikedNormal)
def _(family, stats, slots, rng):
    _draw_normals(family.prior, family.grain, stats.n, stats.t, slots, rng)
    shape = family.prior[[spiked.REST, spiked.ATOM]] + stats.n[slots][:, (normal.N, spiked.ATOMS)]
    logs = _log_gammas(shape, rng)
    logs = logs - np.logaddexp(logs[:, :1], logs[:, 1:])
    stats.t[slots, normal.NORM] += logs[:, 0]
    stats.t[slots, spiked.LOG_ATOM] = logs[:, 1]


@draw_parameters.register(GammaPoisson)
def _(family, stats, slots, rng):
    n, (a, b) = stats.n[slots], family.prior
    rate = np.maximum(rng.standard_gamma(a + n[:, poisson.SUM]), LEAST) / (b + n[:, poisson.N])
    r = STEADY * np.maximum(1.0, 1.0 / rate)  # so that shape and rate are both large
    s, t = r * rate, stats.t
    t[slots, poisson.SHAPE], t[slots, poisson.INVERSE] = s, 1.0 / (s + SHIFT)
    t[slots, poisson.SLOPE] = np.log((s + SHIFT) / (r + 1.0)) - 1.0
    t[slots, poisson.RATE] = r
    t[slots, poisson.NORM] = np.vectorize(lead)(s) - s * np.log1p(1.0 / r)


@draw_parameters.register(NormalInverseWishart)
def _(family, stats, slots, rng):
    for k in slots:
        place, covariance = _draw_block(family.prior, stats, k, rng)
        _write_block(stats, k, place, covariance)


def _draw_block(prior, stats, k, rng):
    """Draw the covariance of a block by Bartlett's decomposition, and then its mean."""
    n, d = stats.n[k], prior.shape[1]
    own, mean = np.diagonal(n[gaussian.N]), np.diagonal(n[gaussian.MEAN])
    kappa, nu, centre = prior[gaussian.KAPPA, 0], prior[gaussian.NU, 0], prior[gaussian.CENTRE]
    scatter = np.diagonal(prior[gaussian.PSI :]) + np.diagonal(n[gaussian.SQUARE])
    scatter = scatter + kappa * own / (kappa + own) * (mean - centre) ** 2
    correlation = np.empty((d, d))
    degrees = nu + gaussian.correlate(prior, stats.n, k, correlation) + d - 1.0
    root = _root(correlation) * np.sqrt(scatter)[:, None]
    A = np.tril(rng.standard_normal((d, d)), -1)
    chi = 2.0 * rng.standard_gamma(0.5 * (degrees - np.arange(d)))
    A[np.diag_indices(d)] = np.sqrt(np.maximum(chi, LEAST))
    half = root @ np.linalg.inv(A).T  # its square is an inverse Wishart matrix
    place = centre + own / (kappa + own) * (mean - centre)
    place = place + half @ rng.standard_normal(d) / np.sqrt(kappa + own)
    return place, half @ half.T


def _root(correlation):
    """Return the Cholesky factor, with the least pivot that scoring has too."""
    d = len(correlation)
    root = np.zeros((d, d))
    factor(correlation, np.arange(d), d, root)
    return np.tril(root)


def _write_block(stats, k, place, covariance):
    d, deviation = len(place), np.sqrt(np.diagonal(covariance))
    t, r, h = stats.t[k], stats.r[k], stats.h[k]
    r[gaussian.CORRELATION] = covariance / np.outer(deviation, deviation)
    root = _root(r[gaussian.CORRELATION])
    r[gaussian.INVERSE] = np.linalg.inv(root)
    t[gaussian.PLACE] = place
    t[gaussian.TIGHTNESS] = 1.0 / (np.sqrt(STEADY) * deviation)
    t[gaussian.NORM] = -0.5 * np.log(np.pi * STEADY) - np.log(deviation)
    h[gaussian.HALF] = 0.5 * STEADY
    h[gaussian.FIRST :] = 0.5 * np.log(0.5 * STEADY) * np.arange(d + 1)
    h[gaussian.WHOLE] = h[gaussian.FIRST + d] + t[gaussian.NORM].sum()
    h[gaussian.WHOLE] -= np.log(np.diagonal(root)).sum()
