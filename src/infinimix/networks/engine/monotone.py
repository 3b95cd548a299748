"""The probability that a table of a binary child is monotone in each of its binary parents.

With k parents the table has a probability theta_u for each of the 2^k configurations u. If these
are independent Beta variables, monotone means theta_u <= theta_v whenever u <= v in every parent
(a negative effect turns its parent round first). That is a union over the linear extensions of
an order. With I an ideal (a set of configurations that holds all that are below its members) and
F_I(t) the probability that all of I are below t and in order,

    dF_I / dt = sum over the maximal u in I of f_u(t) F_{I without u}(t),   F_{} = 1,

and the answer is F of everything at the end. The time is arcsin(sqrt(theta)), in which the Beta
densities of n rows are about 1 / (2 sqrt(n)) wide; it runs over bins, in each of which densities
are constant and the solution is a finite series. There are 3, 6, 20 and 168 ideals for 1 to 4
parents. Where the answer is too small for a number, the same is done in logarithms, which takes
longer.
"""

from math import factorial

import numpy as np

from infinimix.kernels.compile import kernel, part
from infinimix.kernels.elementary import exp, log, log1p

MOST_SIGNED = 4  # parents
LEAST_BINS, MOST_BINS = 48, 640
FINE = 6.0  # bins for each root of the rows of a configuration
TINY = 1e-280  # below, logarithms are used
LEAST_TERMS, SMALL_TERM = 3, 1e-5  # of the series in a bin


@kernel
def count_bins(most):
    """Return how many bins resolve the densities, if no configuration has more rows."""
    return min(max(np.int64(FINE * np.sqrt(most + 1.0)), LEAST_BINS), MOST_BINS)


@kernel
def fill_masses(a, b, bins, u, masses):
    """Fill masses[0, g, u] with those of Beta(a, b) in each bin, masses[1, g, u] with logs."""
    h, top, total = 0.5 * np.pi / bins, -np.inf, 0.0
    edge = np.sin(h) ** 2
    for g in range(bins):
        x = (g + 0.5) * h
        value = (2.0 * a - 1.0) * log(np.sin(x)) + (2.0 * b - 1.0) * log(np.cos(x)) + log(2.0 * h)
        if g == 0 and a < 1.0:  # the density is steep, or has a pole, at the end
            value = a * log(edge) - log(a) + (b - 1.0) * log(1.0 - edge * a / (a + 1.0))
        if g == bins - 1 and b < 1.0:
            value = b * log(edge) - log(b) + (a - 1.0) * log(1.0 - edge * b / (b + 1.0))
        masses[1, g, u] = value
        top = max(top, value)
    for g in range(bins):
        total += exp(masses[1, g, u] - top)
    for g in range(bins):
        masses[1, g, u] -= top + log(total)
        masses[0, g, u] = exp(masses[1, g, u])


@kernel
def count_terms(p, n_cells):
    """Return how many terms of the series matter in a bin with these masses."""
    x, term, r = 0.0, 1.0, 0
    for u in range(n_cells):
        x += p[u]
    while r < n_cells and (r < LEAST_TERMS or term > SMALL_TERM):
        r += 1
        term *= x / r
    return r


@kernel
def log_monotone(masses, bins, flip, steps, room):
    """Return the log probability of order; configuration u has the masses of u ^ flip.

    `steps` are those of `list_steps`; ideal 0 is empty, and the last one has everything.
    """
    n = steps[steps.shape[0] - 1, 0] + 1
    n_cells = np.int64(1) << steps[0, 3]
    F, term, fresh = room[0], room[1], room[2]
    for s in range(n):
        F[s] = fresh[s] = 0.0
    F[0] = 1.0
    for g in range(bins):
        p = masses[0, g]
        for s in range(n):
            term[s] = F[s]
        for r in range(1, count_terms(p, n_cells) + 1):
            for t in range(steps.shape[0]):
                fresh[steps[t, 0]] += p[steps[t, 1] ^ flip] * term[steps[t, 2]]
            for s in range(n):
                term[s] = fresh[s] / r
                F[s] += term[s]
                fresh[s] = 0.0
    if F[n - 1] > TINY:
        return log(F[n - 1])
    return log_monotone_in_logs(masses, bins, flip, steps, room)


@part
def add_logs(x, y):
    """Return log(exp(x) + exp(y))."""
    low, high = min(x, y), max(x, y)
    return high if low == -np.inf else high + log1p(exp(low - high))


@kernel
def log_monotone_in_logs(masses, bins, flip, steps, room):
    """Return the same as `log_monotone`, however small it is."""
    n = steps[steps.shape[0] - 1, 0] + 1
    n_cells = np.int64(1) << steps[0, 3]
    F, term, fresh = room[0], room[1], room[2]
    for s in range(n):
        F[s] = fresh[s] = -np.inf
    F[0] = 0.0
    for g in range(bins):
        p = masses[1, g]
        for s in range(n):
            term[s] = F[s]
        for r in range(1, count_terms(masses[0, g], n_cells) + 1):
            for t in range(steps.shape[0]):
                s = steps[t, 0]
                fresh[s] = add_logs(fresh[s], p[steps[t, 1] ^ flip] + term[steps[t, 2]])
            for s in range(n):
                term[s] = fresh[s] - log(1.0 * r)
                F[s] = add_logs(F[s], term[s])
                fresh[s] = -np.inf
    return F[n - 1]


def list_ideals(k):
    """Return the ideals of the configurations of k parents, as sets of bits, the smallest first."""
    below = [[v for v in range(1 << k) if v & u == v and v != u] for u in range(1 << k)]
    found, front = {0}, {0}
    while front:
        front = {
            ideal | 1 << u
            for ideal in front
            for u in range(1 << k)
            if not ideal >> u & 1 and all(ideal >> v & 1 for v in below[u])
        }
        found |= front
    return sorted(found, key=lambda ideal: (ideal.bit_count(), ideal))


def list_steps(k):
    """Return rows (ideal, configuration, ideal without it, k) for k parents, small ideals first."""
    ideals = list_ideals(k)
    number = {ideal: s for s, ideal in enumerate(ideals)}
    rows = [
        (s, u, number[ideal ^ 1 << u], k)
        for s, ideal in enumerate(ideals)
        for u in range(1 << k)
        if ideal >> u & 1 and ideal ^ 1 << u in number
    ]
    return np.array(rows, np.int64).reshape(-1, 4)


def log_share(k):
    """Return the log probability of order of 2^k variables that are distributed alike.

    It is the number of linear extensions over that of all orders.

    Examples
    --------
    >>> np.exp([log_share(1), log_share(2)]).round(4).tolist()
    [0.5, 0.0833]
    """
    steps, n = list_steps(k), 1 << k
    ways = [1] + [0] * int(steps[-1, 0])
    for s, _, without, _ in steps.tolist():
        ways[s] += ways[without]
    return float(np.log(ways[-1]) - np.log(float(factorial(n))))
