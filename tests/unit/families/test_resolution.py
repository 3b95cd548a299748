"""Numbers with a resolution: against quadrature over intervals; ties have a bounded density."""

import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import chi2, norm

from infinimix.families import NormalInverseChiSquared, seam

PRIOR = np.array([[0.4], [0.5], [2.5], [0.8]])  # mean, kappa, nu, scale^2
ROWS = {
    "ties": [2.0, 2.0, 2.0],
    "mixed": [-1.0, 0.0, 0.0, 3.0],
    "one": [1.0],
}
NODES, WEIGHTS = np.polynomial.legendre.leggauss(200)


def family(d, prior=PRIOR):
    return NormalInverseChiSquared(prior, np.full(prior.shape[1], d * d / 12.0))


def group(one, cells):
    stats = seam.empty(one, 1)
    X = np.array(cells)[:, None]
    for i in range(len(X)):
        seam.count(one, stats, 0, X, i, 1.0)
    seam.refresh(one, stats, 0)
    return stats


def evidence(one, cells):
    out = np.zeros(1)
    seam.column_evidence(one, group(one, cells), 0, out)
    return out[0]


def scores(one, stats, values):
    out = np.zeros((len(values), 1))
    seam.score_rows(one, stats, np.array([0]), np.array(values)[:, None], out)
    return out[:, 0]


def log_normal(x, mean, sd):
    return -0.5 * ((x - mean) / sd) ** 2 - np.log(sd * np.sqrt(2.0 * np.pi))


def by_quadrature(cells, d):
    """Integrate exp(sum of mean log densities over intervals) over the mean and the variance."""
    mean, kappa, nu, scale2 = PRIOR[:, 0]
    u = 12.0 * NODES  # log of the precision
    log_precision_prior = chi2.logpdf(np.exp(u) * nu * scale2, nu) + np.log(nu * scale2) + u
    total = []
    for log_tau, log_p, w in zip(u, log_precision_prior, WEIGHTS * 12.0, strict=True):
        sd = np.exp(-0.5 * log_tau)
        reach = 12.0 * sd / np.sqrt(kappa + len(cells))
        centre = (kappa * mean + sum(cells)) / (kappa + len(cells))
        mu = centre + reach * NODES
        inner = log_normal(mu, mean, sd / np.sqrt(kappa))
        for x in cells:
            interval = x + d / 2.0 * NODES
            inner = inner + WEIGHTS / 2.0 @ log_normal(interval[:, None], mu, sd)
        total.append(logsumexp(inner, b=WEIGHTS * reach) + log_p + np.log(w))
    return logsumexp(total)


@pytest.mark.parametrize("d", [0.0, 0.5, 1.0, 4.0])
@pytest.mark.parametrize("cells", ROWS.values(), ids=ROWS)
def test_the_evidence_is_that_of_mean_log_densities_over_intervals(cells, d):
    assert evidence(family(d), cells) == pytest.approx(by_quadrature(cells, d), abs=1e-6)


@pytest.mark.parametrize("d", [0.5, 1.0])
def test_a_score_is_a_ratio_of_evidences(d):
    one = family(d)
    for cells in ROWS.values():
        found = scores(one, group(one, cells), [0.0, 2.0, 7.5])
        expected = [evidence(one, [*cells, x]) - evidence(one, cells) for x in (0.0, 2.0, 7.5)]
        assert np.allclose(found, expected, rtol=1e-12, atol=1e-12)


def test_without_a_resolution_the_density_of_ties_has_no_bound_and_with_one_it_has():
    narrow = np.array([[2.0], [0.5], [2.5], [1e-12]])
    bound = np.log(np.sqrt(12.0 / (2.0 * np.pi * np.e)))  # of a Normal whose variance is 1 / 12
    for n in (10, 1000, 100_000):
        stats = seam.empty(family(0.0, narrow), 1)
        stats.n[0, :, 0] = n, 2.0, 0.0
        for d, most in ((0.0, np.inf), (1.0, bound)):
            seam.refresh(family(d, narrow), stats, 0)
            at = scores(family(d, narrow), stats, [2.0])[0]
            assert at <= most + 1e-9
            if n == 100_000:
                assert at > 6.0 if d == 0.0 else at == pytest.approx(bound, abs=0.01)


@pytest.mark.parametrize(("sd", "least"), [(0.0, np.exp(-0.5)), (1.0, 0.96), (2.0, 0.989)])
def test_densities_integrate_to_a_little_less_than_one(sd, least):
    one, n = family(1.0), 100_000
    stats = seam.empty(one, 1)
    stats.n[0, :, 0] = n, 2.0, n * sd**2
    seam.refresh(one, stats, 0)
    x = np.linspace(2.0 - 12.0, 2.0 + 12.0, 20_001)
    total = np.exp(scores(one, stats, x)).sum() * (x[1] - x[0])
    assert least - 0.001 < total < 1.0


def test_a_score_is_at_most_the_mass_of_the_interval():
    """Jensen: the mean of the log is below the log of the mean, here of many rows."""
    one, n = family(1.0), 1_000_000
    for spread in (0.0, 0.3, 1.0, 3.0):
        stats = seam.empty(one, 1)
        stats.n[0, :, 0] = n, 2.0, n * spread**2
        seam.refresh(one, stats, 0)
        sd = np.sqrt(spread**2 + 1.0 / 12.0)
        for x in (2.0, 3.0):
            mass = norm.cdf(x + 0.5, 2.0, sd) - norm.cdf(x - 0.5, 2.0, sd)
            assert scores(one, stats, [x])[0] <= np.log(mass) + 1e-4
