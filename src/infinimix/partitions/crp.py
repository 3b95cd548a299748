"""The Chinese restaurant process, bounded or not.

P(z) = alpha^K prod_g (n_g - 1)! / prod_i (alpha + i). With a bound on the number of groups
the prior is the same, restricted to K <= bound and divided by P(K_n <= bound): that is
exchangeable, while renormalising row by row is not.
"""

import numpy as np

from infinimix.kernels.compile import kernel
from infinimix.kernels.elementary import log

UNBOUNDED = 2**31 - 1


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
    passes the bound is dropped. The vector is rescaled as it shrinks.
    """
    p = np.zeros(min(bound, n) + 1)
    p[0] = 1.0
    log_scale = 0.0
    for i in range(n):
        old, new = i / (i + alpha), alpha / (i + alpha)
        for k in range(p.shape[0] - 1, 0, -1):
            p[k] = p[k] * old + p[k - 1] * new
        p[0] *= old
        total = p.sum()
        if total < 1e-100:
            log_scale += log(total)
            p /= total
    return log_scale + np.log(p.sum())
