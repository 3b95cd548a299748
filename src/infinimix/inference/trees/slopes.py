"""The log-loss of sums of boosted trees, with its slope and curvature for the next tree.

    log P(y | x) = log P(y) + f_y(x)   (unnormalised)

Of two classes there is one sum f, the log odds of the second one: f_1 = f / 2, f_0 = -f / 2.
"""

import numpy as np

from infinimix.kernels.compile import kernel
from infinimix.kernels.elementary import exp, log

FLATTEST = 1e-6  # a curvature below counts as this


@kernel
def find_slopes(scores, log_prior, codes, rows, g, h):
    """Return the sum of the losses of some rows; fill in their slopes and curvatures.

    Parameters
    ----------
    scores : array (n, K)
        Sums of trees, one for each class, or (n, 1) if there are two classes.
    log_prior : array (classes,)
        Log P(y).
    codes : array (n,) of int64
        The true classes.
    rows : array of int64
        Which rows.
    g, h : arrays (n, K)
        Minus the first, and the second derivatives of the loss by each sum.
    """
    n_classes, K = log_prior.shape[0], scores.shape[1]
    p, total_loss = np.empty(n_classes), 0.0
    skipped = n_classes - K  # the first class of two has no sum of its own
    for i in rows:
        largest = -np.inf
        for c in range(n_classes):
            if skipped:
                p[c] = log_prior[c] + (scores[i, 0] / 2.0 if c else -scores[i, 0] / 2.0)
            else:
                p[c] = log_prior[c] + scores[i, c]
            largest = max(largest, p[c])
        own, total = p[codes[i]] - largest, 0.0
        for c in range(n_classes):
            p[c] = exp(p[c] - largest)
            total += p[c]
        total_loss += log(total) - own
        for k in range(K):
            share = p[k + skipped] / total
            g[i, k] = (1.0 if codes[i] == k + skipped else 0.0) - share
            h[i, k] = max(share * (1.0 - share), FLATTEST)
    return total_loss
