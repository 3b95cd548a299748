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
