"""The passes of `orders` without logarithms, where numbers are not too small for that.

Weights of the sets of each node come to 1 in all, so no number is larger than 1, but for the many
orders. What is too small to be told from nothing is below 1e-250, and so is its part in the
total: where that is above SURE, nothing is lost that would ever be drawn.
"""

import numpy as np

from infinimix.kernels.compile import kernel, part
from infinimix.kernels.elementary import exp
from infinimix.networks.engine.graphs import ONE, ZERO, lowest, squeeze

SURE = 1e-200
DROPPED = -700.0  # log weights below this, relative to the best set, count as nothing
MOST_LIFT = 100.0  # nats by which odds of classes may lift such sets, relative to all others
LEAST = -600.0  # of `groups`: if nobody has parents, as a logarithm


@kernel
def take_logs_off(base, core, top):
    """Let log weights be relative to the largest, and fill in what they are without logarithms."""
    for s in range(base.shape[0]):
        base[s] -= top
        core[s] = exp(base[s]) if base[s] > DROPPED else 0.0


@kernel
def sum_plainly(model, z, orders, c):
    """Fill weights of the sets of parents of c that come to 1, and their sums over subsets.

    Returns whether that can be done: not if the odds of classes could lift sets that `core` lacks.
    """
    weights, sums, core, n = orders.logs[c], orders.sums[c], orders.core[c], 1
    cand, lift = model.layout.cand, 0.0
    for q in range(cand.shape[1]):
        lift += max(orders.odds[z[cand[c, q]], z[c]], 0.0)
    if lift > MOST_LIFT:
        return False
    weights[0] = 1.0
    for q in range(cand.shape[1]):
        odds = exp(orders.odds[z[cand[c, q]], z[c]])
        more = weights[n : 2 * n]
        for s in range(n):
            more[s] = weights[s] * odds
        n *= 2
    for s in range(n):
        weights[s] *= core[s]
        sums[s] = weights[s]
    add_plainly(sums)
    if sums[n - 1] < exp(lift - MOST_LIFT):
        return False
    whole = 1.0 / sums[n - 1]
    for s in range(n):
        weights[s] *= whole
        sums[s] *= whole
    return True


@kernel
def add_plainly(sums):
    """Let every set have the sum over its subsets."""
    n, step = sums.shape[0], 1
    if n >= 8:  # the first three passes at once, eight numbers at a time
        for s in range(0, n, 8):
            a, b, c, d = sums[s], sums[s + 1], sums[s + 2], sums[s + 3]
            e, f, g, h = sums[s + 4], sums[s + 5], sums[s + 6], sums[s + 7]
            b, d, f, h = a + b, c + d, e + f, g + h
            c, d, g, h = a + c, b + d, e + g, f + h
            sums[s + 1], sums[s + 2], sums[s + 3] = b, c, d
            sums[s + 4], sums[s + 5], sums[s + 6], sums[s + 7] = a + e, b + f, c + g, d + h
        step = 8
    while step < n:
        for base in range(0, n, 2 * step):
            low, high = sums[base : base + step], sums[base + step : base + 2 * step]
            for s in range(step):
                high[s] += low[s]
        step *= 2


@kernel
def weigh_plainly(orders):
    """Fill first[U] with the weight of all orders that begin with U; return that of all nodes."""
    first, sums, n = orders.first, orders.sums, orders.fam.shape[0]
    first[0] = 1.0
    for U in range(1, 1 << n):
        total, rest = 0.0, np.uint64(U)
        while rest != ZERO:  # the members of U
            c = lowest(rest)
            rest &= rest - ONE
            V = U ^ (1 << c)
            total += first[V] * sums[c, squeeze(V, c)]
        first[U] = total
    return first[(1 << n) - 1]


@part
def draw_set(weights, among, u):
    """Return a subset of `among`, by a number between 0 and the sum of all their weights."""
    s, pick = among, 0
    while True:
        if weights[s] > 0.0:
            pick = s
            u -= weights[s]
        if s == 0 or u < 0.0:
            return pick
        s = (s - 1) & among


@kernel
def draw_plainly(orders, rng):
    """Draw an order from its end, and with each node its parents among the earlier ones."""
    first, sums, n = orders.first, orders.sums, orders.fam.shape[0]
    U = (1 << n) - 1
    for _ in range(n):
        u, last = rng.random() * first[U], 0
        for c in range(n):
            if U >> c & 1 and u >= 0.0:
                V = U ^ (1 << c)
                weight = first[V] * sums[c, squeeze(V, c)]
                if weight > 0.0:
                    last = c
                    u -= weight
        U ^= 1 << last
        among = squeeze(U, last)
        orders.fam[last] = draw_set(orders.logs[last], among, rng.random() * sums[last, among])
