"""The Chinese restaurant process and its bound."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import gammaln, logsumexp
from scipy.stats import kstest

from infinimix.partitions.crp import (
    ALPHA_PRIOR,
    UNBOUNDED,
    draw_alpha,
    log_at_most,
    log_prior,
    log_prior_ratio,
)
from tests.oracle.enumeration import log_crp, partitions

ALPHAS = [1e-9, 0.03, 1.0, 17.0, 1e6, 1e15]


def sizes(z):
    return np.bincount(z) if len(z) else np.zeros(0, np.int64)


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("n", [1, 2, 6])
def test_the_prior_is_that_of_every_partition(n, alpha):
    logs = np.array([log_prior(sizes(z), alpha) for z in partitions(n)])
    np.testing.assert_allclose(logs, log_crp(n, alpha), rtol=1e-12, atol=1e-12)
    assert logsumexp(logs) == pytest.approx(0.0, abs=1e-9)


def test_the_prior_of_no_rows_is_one():
    assert log_prior([], 2.0) == 0.0


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("n", [1, 4, 7])
def test_at_most_a_bound_is_a_sum_over_partitions(n, alpha):
    n_groups = partitions(n).max(axis=1) + 1
    logs = log_crp(n, alpha)
    for bound in range(1, n + 2):
        expected = logsumexp(logs[n_groups <= bound])
        assert log_at_most(n, alpha, bound) == pytest.approx(expected, rel=1e-9, abs=1e-12)


@given(n=st.integers(1, 60), log_alpha=st.floats(-20.0, 20.0), bound=st.integers(1, 80))
def test_at_most_a_bound_is_a_sum_of_stirling_numbers(n, log_alpha, bound):
    """|s(n, k)| in whole numbers, however long, then logs."""
    row = [1]
    for i in range(n):
        row = [(row[k] * i if k < len(row) else 0) + (row[k - 1] if k else 0) for k in range(i + 2)]
    logs = np.array([float(np.log(float(s))) if s else -np.inf for s in row])
    logs = logs + np.arange(n + 1) * log_alpha
    alpha = np.exp(log_alpha)
    expected = logsumexp(logs[: bound + 1]) - np.log(alpha + np.arange(n)).sum()
    assert log_at_most(n, alpha, bound) == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_a_bound_that_cannot_bind_costs_nothing():
    for bound in (50, 51, UNBOUNDED):
        assert log_at_most(50, 3.0, bound) == pytest.approx(0.0, abs=1e-13)
    assert log_at_most(0, 3.0, 1) == 0.0


@pytest.mark.parametrize("alpha", [0.1, 1.0, 50.0])
def test_one_group_of_many_rows(alpha):
    """P(K = 1) is a product; it falls far below the smallest double without harm."""
    n = 100_000
    i = np.arange(1, n)
    expected = np.log(i / (i + alpha)).sum()
    assert log_at_most(n, alpha, 1) == pytest.approx(expected, rel=1e-9)


def test_many_rows_against_the_normal_limit():
    """K is a sum of independent coin tosses: half the mass lies near its mean."""
    n, alpha = 20_000, 30.0
    p = alpha / (alpha + np.arange(n))
    mean, deviation = p.sum(), np.sqrt((p * (1 - p)).sum())
    for away, expected in [(-2.0, 0.02275), (0.0, 0.5), (2.0, 0.97725)]:
        found = np.exp(log_at_most(n, alpha, int(np.floor(mean + away * deviation))))
        assert found == pytest.approx(expected, abs=0.03)


@pytest.mark.parametrize(
    ("n", "alpha", "bound"),
    [(2000, 1e9, 100), (5000, 1e5, 100), (3000, 30.0, 100), (3000, 1e4, 2900), (3000, 1e4, 2999)],
)
def test_a_bound_far_from_what_alpha_wants(n, alpha, bound):
    """The recursion in logs, where nothing can underflow."""
    p = np.full(bound + 1, -np.inf)
    p[0] = 0.0
    with np.errstate(divide="ignore"):
        for i in range(n):
            p[1:] = np.logaddexp(p[1:] + np.log(i), p[:-1] + np.log(alpha)) - np.log(i + alpha)
            p[0] = -np.inf
    expected = np.logaddexp.reduce(p)
    assert log_at_most(n, alpha, bound) == pytest.approx(expected, rel=1e-12, abs=1e-9)


@pytest.mark.parametrize("alpha", [1e20, 1e100, 1e200, 1e300])
def test_a_huge_alpha_under_a_bound(alpha):
    """Nearly all mass is on the largest number of groups: |s(n, k)| alpha^(k - n)."""
    stirling = {1: 24.0, 2: 50.0, 3: 35.0, 4: 10.0, 5: 1.0}  # of five rows
    for bound, s in stirling.items():
        expected = np.log(s) - (5 - bound) * np.log(alpha)
        assert log_at_most(5, alpha, bound) == pytest.approx(expected, rel=1e-9, abs=1e-9)


@given(
    n=st.integers(1, 200),
    share=st.floats(0.0, 1.0),
    old=st.floats(-30.0, 30.0),
    step=st.floats(-20.0, 20.0),
)
def test_the_ratio_of_priors_is_the_difference_of_their_logs(n, share, old, step):
    """Which itself loses what the sizes of its terms take with them."""
    k = 1 + round(share * (n - 1))
    old, new = np.exp(old), np.exp(old + step)
    sizes_ = np.array([n - k + 1] + [1] * (k - 1))
    expected = log_prior(sizes_, new) - log_prior(sizes_, old)
    assert log_prior_ratio(k, n, new, old) == pytest.approx(expected, rel=1e-10, abs=1e-11)


@pytest.mark.parametrize("alpha", [1e9, 1e15, 1e200])
def test_the_ratio_of_priors_keeps_its_digits_under_a_large_alpha(alpha):
    """All rows alone: the sum of log(1 + i / alpha) changes by its first order."""
    n = 1000
    expected = n * (n - 1) / 2 * (1 / alpha - 1 / (2 * alpha))
    assert log_prior_ratio(n, n, 2 * alpha, alpha) == pytest.approx(expected, rel=1e-5)
    assert log_prior_ratio(n, n, alpha, 2 * alpha) == pytest.approx(-expected, rel=1e-5)


def stirling(n):
    """Log |s(n, k)|, k = 0 .. n, by the recursion in whole numbers."""
    row = [1]
    for i in range(n):
        row = [(row[k] * i if k < len(row) else 0) + (row[k - 1] if k else 0) for k in range(i + 2)]
    return np.array([float(np.log(float(s))) if s else -np.inf for s in row])


def below(n_groups, n_rows, bound):
    """Return the distribution function of alpha given the partitions, from a fine grid."""
    u = np.linspace(-25.0, 8.0, 60_001)  # log alpha
    alpha, (a, b) = np.exp(u), ALPHA_PRIOR
    log_p = a * u - b * alpha
    for k, n in zip(n_groups, n_rows, strict=True):
        log_p += k * u + gammaln(alpha) - gammaln(alpha + n)
        if bound < n:
            logs = stirling(n)[: bound + 1, None] + np.arange(bound + 1)[:, None] * u
            log_p -= logsumexp(logs, axis=0) + gammaln(alpha) - gammaln(alpha + n)
    p = np.exp(log_p - log_p.max())
    total = np.cumsum(p)
    return lambda x: np.interp(np.log(x), u, total / total[-1])


@pytest.mark.parametrize(
    ("n_groups", "n_rows", "bound", "steps"),
    [
        ([1], [20], UNBOUNDED, 10),
        ([6, 3, 0, 1], [40, 9, 0, 1], UNBOUNDED, 10),
        ([30], [31], UNBOUNDED, 30),
        ([], [], UNBOUNDED, 1),
        ([3, 0], [25, 0], 3, 25),
        ([2, 4], [15, 30], 6, 15),
    ],
)
def test_alpha_has_its_posterior(n_groups, n_rows, bound, steps, seed):
    """Chains from both ends forget them; Kolmogorov-Smirnov, a false alarm in 10^5 runs each."""
    rng, ends = np.random.default_rng(seed), []
    for start in [0.01] * 250 + [30.0] * 250:
        alpha = start
        for _ in range(steps):
            alpha = draw_alpha(rng, alpha, n_groups, n_rows, bound=bound)
        ends.append(alpha)
    assert kstest(ends, below(n_groups, n_rows, bound)).pvalue > 1e-5


def test_alpha_stays_positive_and_finite():
    rng = np.random.default_rng(0)
    for alpha in (1e-100, 1e-5, 1e5, 1e100):
        for k, n in ([1, 60_000], [60_000, 60_000], [1, 1]):
            found = [draw_alpha(rng, alpha, [k], [n], prior=(1e-3, 1e-3)) for _ in range(50)]
            assert 0.0 < min(found) <= max(found) < np.inf
