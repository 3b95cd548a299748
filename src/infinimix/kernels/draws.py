"""Draws and sums in the log domain, for any engine."""

import numpy as np

from infinimix.kernels.compile import part
from infinimix.kernels.elementary import exp, log


@part
def invert(w, size, u):
    """Return the index at which the running sum of w[:size] passes u."""
    last = 0
    for k in range(size):
        if w[k] > 0.0:
            last = k
        u -= w[k]
        if u < 0.0:
            return k
    return last  # u was the total but for rounding: the last index that can be drawn


@part
def log_sum_exp(x):
    """Return log(sum(exp(x))) of a vector; -inf when it is empty or all -inf."""
    top, total = -np.inf, 0.0
    for j in range(x.shape[0]):
        top = max(top, x[j])
    if top == -np.inf:
        return top
    for j in range(x.shape[0]):
        total += exp(x[j] - top)
    return top + log(total)
