"""The passes of `orders` without logarithms, where numbers are not too small for that.

Weights of the sets of each node come to 1 in all, so no number is larger than 1, but for the many
orders. What is too small to be told from nothing is below 1e-300, and so is its part in the
total: where that is above SURE, nothing is lost that would ever be drawn.
"""

from infinimix.kernels.compile import kernel, part
from infinimix.kernels.elementary import exp
from infinimix.networks.engine.graphs import squeeze

SURE = 1e-200
LEAST = -600.0  # of `groups`: if nobody has parents, as a logarithm


@kernel
def sum_plainly(logs, sums, top):
    """Turn log weights of sets into weights that come to 1, and fill their sums over subsets."""
    n, step = logs.shape[0], 1
    for s in range(n):
        logs[s] = exp(logs[s] - top) if logs[s] - top > -700.0 else 0.0
        sums[s] = logs[s]
    while step < n:
        for base in range(0, n, 2 * step):
            for s in range(base, base + step):
                sums[s + step] += sums[s]
        step *= 2
    whole = 1.0 / sums[n - 1]
    for s in range(n):
        logs[s] *= whole
        sums[s] *= whole


@kernel
def weigh_plainly(orders):
    """Fill first[U] with the weight of all orders that begin with U; return that of all nodes."""
    first, sums, n = orders.first, orders.sums, orders.fam.shape[0]
    first[0] = 1.0
    for U in range(1, 1 << n):
        total = 0.0
        for c in range(n):
            if U >> c & 1:
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
