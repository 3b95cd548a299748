"""The passes of `orders` without logarithms, where no weight is too small for that.

Weights are relative to the best set of each node. If the graph without edges is not far below all
best sets together, no sum over orders is either: each has a term in which no node has parents.
"""

from infinimix.kernels.compile import kernel, part
from infinimix.kernels.elementary import exp
from infinimix.networks.engine.graphs import squeeze

LEAST = -600.0


@kernel
def sum_plainly(logs, sums, top):
    """Turn the log weights of sets into weights, and fill in their sums over subsets."""
    n, step = logs.shape[0], 1
    for s in range(n):
        logs[s] = exp(logs[s] - top) if logs[s] - top > -700.0 else 0.0
        sums[s] = logs[s]
    while step < n:
        for base in range(0, n, 2 * step):
            for s in range(base, base + step):
                sums[s + step] += sums[s]
        step *= 2


@kernel
def weigh_plainly(orders):
    """Fill first[U] with the weight of all orders in which the nodes of U come first."""
    first, sums, n = orders.first, orders.sums, orders.fam.shape[0]
    first[0] = 1.0
    for U in range(1, 1 << n):
        total = 0.0
        for c in range(n):
            if U >> c & 1:
                V = U ^ (1 << c)
                total += first[V] * sums[c, squeeze(V, c)]
        first[U] = total


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
                last = c
                u -= first[V] * sums[c, squeeze(V, c)]
        U ^= 1 << last
        among = squeeze(U, last)
        orders.fam[last] = draw_set(orders.logs[last], among, rng.random() * sums[last, among])
