"""The cost of stacked models: minus the log posterior of their powers, offsets and coefficients.

    log P(y | x_i) = log P(y)_i + sum_m a_m r_m(i, y) + o_i b_y + z_i . B_y   (unnormalised)

The numbers to find are one vector: log a_m of each model, then b_y of each class, then B_y of each
class, or none of these. log a_m is Normal(centre, 1), b_y is Normal(0, 1), and B has a ridge.
Each row is visited once: its cells are still at hand when its class probabilities are known.
"""

from typing import NamedTuple

import numpy as np

from infinimix.kernels.compile import part
from infinimix.kernels.elementary import exp, log


class StackedRows(NamedTuple):
    """Rows whose classes are known, contiguous, and the priors."""

    ratios: np.ndarray  # (models, n, classes)
    log_prior: np.ndarray  # (n, classes)
    observed: np.ndarray  # (n,)
    features: np.ndarray  # (n, features)
    codes: np.ndarray  # (n,) int64
    weight: np.ndarray  # (n,)
    centre: float  # of the log of each power
    ridge: float


@part
def answer(problem, w, powers, width, i, p):
    """Fill in P(y | x_i); return minus the log of that of the true class."""
    ratios, log_prior, observed, features = problem[:4]
    n_models, n_classes = ratios.shape[0], ratios.shape[2]
    largest = -np.inf
    for c in range(n_classes):
        p[c] = log_prior[i, c] + observed[i] * w[n_models + c]
        for m in range(n_models):
            p[c] += powers[m] * ratios[m, i, c]
        first, along = n_models + n_classes + c * width, 0.0
        for f in range(width):
            along += features[i, f] * w[first + f]
        p[c] += along
        largest = max(largest, p[c])
    own, total = p[problem.codes[i]] - largest, 0.0
    for c in range(n_classes):
        p[c] = exp(p[c] - largest)
        total += p[c]
    for c in range(n_classes):
        p[c] /= total
    return log(total) - own


@part
def cost(problem, w, gradient):
    """Return the cost of these numbers; fill in its gradient."""
    ratios, _, observed, features, codes, weight, centre, ridge = problem
    n_models, n, n_classes = ratios.shape
    ends = n_models + n_classes
    width = (w.shape[0] - ends) // n_classes
    powers, gap, value = np.exp(w[:n_models]), np.empty(n_classes), 0.0
    gradient[:] = 0.0
    for i in range(n):
        value += weight[i] * answer(problem, w, powers, width, i, gap)
        gap[codes[i]] -= 1.0
        for c in range(n_classes):
            gap[c] *= weight[i]
            gradient[n_models + c] += observed[i] * gap[c]
            for m in range(n_models):
                gradient[m] += ratios[m, i, c] * gap[c]
            first = ends + c * width
            for f in range(width):
                gradient[first + f] += gap[c] * features[i, f]
    for m in range(n_models):
        gradient[m] = powers[m] * gradient[m] + (w[m] - centre)
        value += 0.5 * (w[m] - centre) ** 2
    for j in range(n_models, w.shape[0]):
        prior = 1.0 if j < ends else ridge
        gradient[j] += prior * w[j]
        value += 0.5 * prior * w[j] ** 2
    return value


@part
def curvature(problem, w, out):
    """Fill in the second derivatives of the cost, number by number and never below 1.

    Of a power only what is positive everywhere, which is how much its densities vary.
    """
    ratios, _, observed, features, _, weight, _, ridge = problem
    n_models, n, n_classes = ratios.shape
    ends = n_models + n_classes
    width = (w.shape[0] - ends) // n_classes
    powers, p = np.exp(w[:n_models]), np.empty(n_classes)
    for j in range(w.shape[0]):
        out[j] = 1.0 if j < ends else ridge
    for i in range(n):
        answer(problem, w, powers, width, i, p)
        for m in range(n_models):
            mean, square = 0.0, 0.0
            for c in range(n_classes):
                scaled = powers[m] * ratios[m, i, c]
                mean += p[c] * scaled
                square += p[c] * scaled * scaled
            out[m] += weight[i] * (square - mean * mean)
        for c in range(n_classes):
            varies = weight[i] * p[c] * (1.0 - p[c])
            out[n_models + c] += observed[i] * observed[i] * varies
            first = ends + c * width
            for f in range(width):
                out[first + f] += features[i, f] * features[i, f] * varies
    for j in range(w.shape[0]):
        out[j] = max(out[j], 1.0)
