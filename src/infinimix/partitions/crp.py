"""The Chinese restaurant process, bounded or not.

P(z) = alpha^K prod_g (n_g - 1)! / prod_i (alpha + i). With a bound on the number of groups
the prior is the same, restricted to K <= bound and divided by P(K_n <= bound): that is
exchangeable, while renormalising row by row is not.

`draw_alpha` draws the concentration given the partitions of several classes that share it.
"""

from math import lgamma, log1p
from math import log as ln

import numpy as np

from infinimix.kernels.compile import kernel
from infinimix.kernels.elementary import log

UNBOUNDED = 2**31 - 1
# Exponential with mean 2: its median is 1.4, so 20 rows, which say little of alpha, have about 4
# groups and rarely more than 10, while a class of 6,000 rows with 400 groups, as alpha = 96 makes
# them, moves it to 84, for the rate .5 stands against log(1 + n / alpha) = 4 of each class.
ALPHA_PRIOR = (1.0, 0.5)  # shape and rate of a Gamma
MODERATE = 64  # of numbers below, differences of log gammas keep their digits
LEAST_ALPHA = 1e-100  # draws of a Gamma with a small shape underflow


def log_prior(sizes, alpha):
    """Return log P(z) of a partition with groups of these sizes, unbounded."""
    sizes = np.asarray(sizes, dtype=np.int64)
    within = sum(np.log(np.arange(1, size)).sum() for size in sizes)
    # a sum of logs: lgamma(alpha) - lgamma(alpha + n) cancels for large alpha
    return sizes.size * np.log(alpha) + within - np.log(alpha + np.arange(sizes.sum())).sum()


@kernel
def log_at_most(n, alpha, bound):
    """Return log P(K_n <= bound) under the CRP, by the recursion over rows.

    P(K_{i+1} = k) = P(K_i = k) i / (i + alpha) + P(K_i = k - 1) alpha / (i + alpha); what
    passes the bound is dropped. Under a large alpha so few groups are so rare that numbers
    which matter later would underflow. So the recursion runs with an alpha that makes about
    `bound` groups, and in the end P(K_n = k) is multiplied by what it then lacks,
    (alpha / gentle)^k prod_i (gentle + i) / (alpha + i).
    """
    if bound >= n:
        return 0.0
    gentle = float(bound)
    for _ in range(50):  # E[K_n] is about gentle log(1 + n / gentle)
        gentle = bound / np.log1p(n / gentle)
    gentle = min(alpha, gentle)
    p = np.zeros(bound + 1)
    p[0] = 1.0
    log_ratio = bound * (np.log(alpha) - np.log(gentle))
    for i in range(n):
        old, new = i / (i + gentle), gentle / (i + gentle)
        for k in range(bound, 0, -1):
            p[k] = p[k] * old + p[k - 1] * new
        p[0] *= old
        log_ratio += log((gentle + i) / (alpha + i))
    for k in range(bound):
        p[k] *= (gentle / alpha) ** (bound - k)
    return log_ratio + np.log(p.sum())


def log_prior_ratio(n_groups, n_rows, new, old):
    """Return log P(z | new alpha) - log P(z | old alpha) of partitions of some rows, unbounded.

    With r = new / old it is (K - 1) log r - sum_i log((new + i) / (old + i)), i from 1 on. The sum
    is a difference of log gammas, which keeps its digits unless alpha is large. Then, for i
    below alpha, each term is nearly log r and what matters is the difference, so there
    it is log r - log((new + i) / (old + i)) = log(1 + (r - 1) i / (new + i)) that is summed.
    """
    if new < old:  # so that r - 1 and new - old do not cancel what is added to them
        return -log_prior_ratio(n_groups, n_rows, old, new)
    r = new / old
    if new < MODERATE:
        rise = _log_rise(old + n_rows, new - old) - (lgamma(new + 1.0) - lgamma(old + 1.0))
        return (n_groups - 1) * ln(r) - rise
    i = np.arange(1.0, n_rows)
    n_low = int(i.searchsorted(old))  # i < old
    low, high = i[:n_low], i[n_low:]
    near = np.add.reduce(np.log1p((r - 1.0) * low / (new + low)))
    far = np.add.reduce(np.log1p((new - old) / (old + high)))
    return (n_groups - 1 - n_low) * ln(r) + near - far


def _log_rise(x, d):
    """Return lgamma(x + d) - lgamma(x) for d >= 0; where both are large, by Stirling's series."""
    if x < MODERATE:
        return lgamma(x + d) - lgamma(x)

    def rest(x):
        z = 1.0 / (x * x)
        return (1.0 / 12.0 - z * (1.0 / 360.0 - z * (1.0 / 1260.0 - z / 1680.0))) / x

    return (x - 0.5) * log1p(d / x) + d * (ln(x + d) - 1.0) + rest(x + d) - rest(x)


def draw_alpha(rng, alpha, n_groups, n_rows, prior=ALPHA_PRIOR, bound=UNBOUNDED):
    """Draw alpha given partitions that share it: a step that leaves its posterior as it is.

    Parameters
    ----------
    rng : Generator
    alpha : float
        The present value.
    n_groups, n_rows : array-like of int
        Groups and rows of each partition; those without rows say nothing.
    prior : (float, float)
        Shape and rate of the Gamma prior of alpha.
    bound : int
        The most groups that a partition may have.

    Examples
    --------
    >>> import numpy as np
    >>> rng, alpha = np.random.default_rng(0), 1.0
    >>> draws = [alpha := draw_alpha(rng, alpha, [40, 45], [1000, 900]) for _ in range(500)]
    >>> round(float(np.mean(draws)))  # E[K] of 1,000 rows is 43 under alpha = 9
    9
    """
    partitions = [(int(k), int(n)) for k, n in zip(n_groups, n_rows, strict=True) if n > 0]
    n_groups, n_rows = [k for k, _ in partitions], [n for _, n in partitions]
    proposal = _draw_unbounded(rng, alpha, n_groups, n_rows, prior)
    if bound == UNBOUNDED or max(n_rows, default=0) <= bound:
        return proposal
    # It has the unbounded posterior, so only the bound stands in the ratio of Metropolis.
    alpha = _accept(rng, alpha, proposal, 0.0, n_rows, bound)
    # At the bound alpha may lie far above what that proposes: a random walk as well.
    proposal = alpha * np.exp(rng.normal())
    gain = prior[0] * np.log(proposal / alpha) - prior[1] * (proposal - alpha)
    for partition in partitions:
        gain += log_prior_ratio(*partition, proposal, alpha)
    return _accept(rng, alpha, proposal, gain, n_rows, bound)


def _draw_unbounded(rng, alpha, n_groups, n_rows, prior):
    """Escobar and West (1995): Gamma(alpha) / Gamma(alpha + n) as a mixture over w and s.

    Number by number: there are few classes, and a stream asks again and again.
    """
    above = [rng.standard_gamma(n) for n in n_rows]
    log_w = [-log1p(a / rng.standard_gamma(alpha + 1.0)) for a in above]
    s = [rng.random() * (n + alpha) < n for n in n_rows]
    rate = prior[1] - sum(log_w)
    return max(float(rng.standard_gamma(prior[0] + sum(n_groups) - sum(s)) / rate), LEAST_ALPHA)


def _accept(rng, alpha, proposal, gain, n_rows, bound):
    """Return the proposal with the probability of Metropolis, given the gain without bound."""
    gain += _log_room(alpha, n_rows, bound) - _log_room(proposal, n_rows, bound)
    return proposal if rng.exponential() > -gain else alpha


def _log_room(alpha, n_rows, bound):
    """Return the log probability that no partition has more groups than the bound."""
    return sum(log_at_most(int(n), alpha, bound) for n in n_rows)
