"""The relaxed CRP of streams (Online CRP, 2014): seats that remember mistakes, and a moving alpha.

A class of m rows weighs m relax, with relax = (1 + g1)^f (1 - g2)^e after f rows that it should
have had and e rows that it should not. In the paper that grows without bound; here its log stays
within +-cap. The concentration is fixed, moves with mistakes about new classes (`dynamic`; the
paper does not say how far: STEP in its log), or follows its posterior given the classes that have
come, on a grid (the paper's equations 8 and 9). `posterior` is the mean of that under the plain
CRP, in which n rows weigh n; `posterior-published` keeps the relaxing function in the sum, as the
paper has it, and draws alpha. The paper names no prior of alpha; here its log is uniform.
"""

import numpy as np

from infinimix.kernels.compile import exact, part
from infinimix.kernels.elementary import exp, log

FIXED, DYNAMIC, POSTERIOR, RELAXED = range(4)
ALPHA_RULES = {
    "fixed": FIXED, "dynamic": DYNAMIC, "posterior": POSTERIOR, "posterior-published": RELAXED,
}  # fmt: skip
STEP = 0.1  # of log alpha, after each mistake about a new class
LEAST, MOST = 1e-3, 1e3  # of a moving alpha
GRID = np.exp(np.linspace(np.log(LEAST), np.log(MOST), 60))  # even in its log, as is its prior


@part
def log_relax(praise, blame, up, down, cap):
    """Return the log of the relaxing function; `up` and `down` are log(1 + g1), log(1 - g2)."""
    return min(max(praise * up + blame * down, -cap), cap)


@part
def move_alpha(alpha, predicted_new, is_new):
    """Return alpha after a row; only mistakes about new classes move it."""
    if predicted_new and not is_new:
        alpha *= exp(-STEP)
    elif is_new and not predicted_new:
        alpha *= exp(STEP)
    return min(max(alpha, LEAST), MOST)


@part
def weigh_alpha(log_weight, rows, is_new):
    """Let one more row, after `rows` others, weigh every alpha of the grid; return their mean."""
    top = -np.inf
    for j in range(GRID.shape[0]):
        alpha = GRID[j]
        log_weight[j] += (log(alpha) if is_new else 0.0) - log(rows + alpha)
        top = max(top, log_weight[j])
    total, mean = 0.0, 0.0
    for j in range(GRID.shape[0]):
        weight = exp(log_weight[j] - top)
        total += weight
        mean += weight * GRID[j]
    return mean / total


@exact
def add_seats(base, n_classes, top):
    """Return sum_c m_c relax_c in units of exp(top); the same bits whoever else is declared.

    Without a cap the relaxing function may be beyond a float.
    """
    seats = 0.0
    for c in range(n_classes):
        seats += exp(base[c] - top) if base[c] > -np.inf else 0.0
    return seats


@part
def draw_alpha(log_weight, base, n_classes, is_new, u):
    """Let one more row weigh every alpha by equation 9; return the one that u in [0, 1) draws.

    base[c] is log(m_c relax_c), -inf of a class without rows.
    """
    top = -np.inf
    for c in range(n_classes):
        top = max(top, base[c])
    seats = add_seats(base, n_classes, top)
    most = -np.inf
    for j in range(GRID.shape[0]):
        alpha = log(GRID[j])
        both = alpha
        if seats > 0.0:
            high = max(alpha, top)
            both = high + log(exp(alpha - high) + seats * exp(top - high))
        log_weight[j] += (alpha if is_new else 0.0) - both
        most = max(most, log_weight[j])
    total = 0.0
    for j in range(GRID.shape[0]):
        total += exp(log_weight[j] - most)
    rest = u * total
    for j in range(GRID.shape[0]):
        rest -= exp(log_weight[j] - most)
        if rest < 0.0:
            return GRID[j]
    return GRID[GRID.shape[0] - 1]
