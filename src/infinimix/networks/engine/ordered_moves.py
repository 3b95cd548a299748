"""Moves of the ordered chain: one node over all places, and whole classes.

`relocate` is an exact Gibbs step over K classes and K + 1 places for a new one, which weigh
alpha / (K + 1) each; K counts the classes without the node.
"""

import numpy as np

from infinimix.kernels.compile import kernel
from infinimix.kernels.draws import invert
from infinimix.kernels.elementary import log
from infinimix.networks.engine.graphs import ONE, ZERO
from infinimix.networks.engine.ordered import (
    class_words,
    draw_beta,
    list_sets,
    log_sums,
    log_total,
    own_total,
    spread,
    weigh_spread,
)


@kernel
def drop_class(row, k):
    """Close the gap that an empty class leaves at place k."""
    K = row.info[0]
    for i in range(row.z.shape[0]):
        if row.z[i] > k:
            row.z[i] -= 1
    for a in range(k, K - 1):
        row.role[a] = row.role[a + 1]
        for b in range(row.eta.shape[1]):
            row.eta[a, b] = row.eta[a + 1, b]
    for b in range(k, K - 1):
        for a in range(row.eta.shape[0]):
            row.eta[a, b] = row.eta[a, b + 1]
    row.info[0] = K - 1


@kernel
def open_class(row, k):
    """Make room for a class at place k."""
    K = row.info[0]
    for i in range(row.z.shape[0]):
        if row.z[i] >= k:
            row.z[i] += 1
    for a in range(K, k, -1):
        row.role[a] = row.role[a - 1]
        for b in range(row.eta.shape[1]):
            row.eta[a, b] = row.eta[a - 1, b]
    for b in range(K, k, -1):
        for a in range(row.eta.shape[0]):
            row.eta[a, b] = row.eta[a, b - 1]
    row.role[k] = -1
    row.info[0] = K + 1


@kernel
def sizes(row, m):
    """Fill m with the number of nodes in each class; nodes at -1 are out."""
    for k in range(m.shape[0]):
        m[k] = 0
    for i in range(row.z.shape[0]):
        if row.z[i] >= 0:
            m[row.z[i]] += 1


@kernel
def take_out(row, i):
    """Take node i out of its class, which goes if it is empty."""
    k, alone = row.z[i], True
    for j in range(row.z.shape[0]):
        alone = alone and (j == i or row.z[j] != k)
    row.z[i] = -1
    if alone:
        drop_class(row, k)


@kernel
def weigh_others(sums, row, i, f, base):
    """Fill f[0, j] and f[1, j] with the sums of j without and with i, scaled by base[j]."""
    for j in range(row.z.shape[0]):
        f[0, j], f[1, j], base[j] = 1.0, 1.0, 0.0
        if j == i:
            continue
        k = sums.layout.pos[j, i]
        size = list_sets(sums, row, j, row.z[j], i)
        low = log_total(sums, j, size, ZERO)
        if k < 0:  # i is no candidate: its eta has no say
            base[j] = low
            continue
        high = log_total(sums, j, size, ONE << np.uint64(k))
        top = max(low, high)
        base[j] = top
        f[0, j] = np.exp(low - top) if low > -np.inf else 0.0
        f[1, j] = np.exp(high - top) if high > -np.inf else 0.0


@kernel
def later_weight(row, i, k, f):
    """Return the log weight of all nodes later than place k and of those that i does not reach."""
    total = 0.0
    for j in range(row.z.shape[0]):
        if j != i:
            eta = row.eta[k, row.z[j]] if row.z[j] > k else 0.0
            total += log(max((1.0 - eta) * f[0, j] + eta * f[1, j], 1e-300))
    return total


@kernel
def new_weight(sums, row, i, p, K, m, f, e, counts, rng):
    """Return the log weight of a class of its own for i at place p."""
    class_words(sums, row, i, K, counts)
    total = own_total(sums, row, i, p, m, False, counts, rng)
    for j in range(row.z.shape[0]):
        if j != i and row.z[j] < p:
            total += log(max(f[0, j], 1e-300))
    for a in range(p, K):
        total += log(max(weigh_spread(sums, e, spread(row, i, a, f, e)), 1e-300))
    return total


@kernel
def settle_new(sums, row, i, p, K, m, f, e, counts, rng):
    """Open a class for i at place p and draw its eta."""
    class_words(sums, row, i, K, counts)
    own_total(sums, row, i, p, m, True, counts, rng)
    incoming, outgoing = np.zeros(K), np.zeros(K)
    for a in range(p):
        incoming[a] = draw_beta(sums, counts[a], m[a], rng)
    for a in range(p, K):
        n = spread(row, i, a, f, e)
        total = weigh_spread(sums, e, n)
        outgoing[a] = draw_beta(sums, invert(e, n + 1, total * rng.random()), n, rng)
    open_class(row, p)
    for a in range(p):
        row.eta[a, p] = incoming[a]
    for a in range(p, K):
        row.eta[p, a + 1] = outgoing[a]
    row.z[i] = p


@kernel
def relocate(sums, row, i, rng):
    """Draw the class of node i among all classes and all places for a new one."""
    if sums.anchor[i] >= 0:
        return
    n = row.z.shape[0]
    take_out(row, i)
    K = row.info[0]
    m, counts = np.zeros(n + 1, np.int64), np.zeros(n + 1, np.int64)
    f, base, e = np.zeros((2, n)), np.zeros(n), np.zeros(n + 2)
    scores = np.zeros(2 * K + 1)
    sizes(row, m)
    weigh_others(sums, row, i, f, base)
    for k in range(K):
        size = list_sets(sums, row, i, k, -1)
        own = log_total(sums, i, size, ZERO)
        scores[k] = log(np.float64(m[k])) + own + later_weight(row, i, k, f)
    for p in range(K + 1):
        score = new_weight(sums, row, i, p, K, m, f, e, counts, rng)
        scores[K + p] = log(sums.hyper[0] / (K + 1.0)) + score
    top, total = -np.inf, 0.0
    for s in range(2 * K + 1):
        top = max(top, scores[s])
    for s in range(2 * K + 1):
        scores[s] = np.exp(scores[s] - top)
        total += scores[s]
    pick = invert(scores, 2 * K + 1, total * rng.random())
    if pick < K:
        row.z[i] = pick
    else:
        settle_new(sums, row, i, pick - K, K, m, f, e, counts, rng)


@kernel
def in_order(row):
    """Are the known roles in their known order?"""
    last = -1
    for k in range(row.info[0]):
        if row.role[k] >= 0:
            if row.role[k] < last:
                return False
            last = row.role[k]
    return True


@kernel
def permute(row, order):
    """Let the class at place order[k] come to place k; a pair of classes keeps its eta."""
    K = row.info[0]
    place = np.empty(K, np.int64)
    eta, role = np.empty((K, K)), np.empty(K, np.int64)
    for k in range(K):
        place[order[k]] = k
        role[k] = row.role[k]
        for h in range(K):
            eta[k, h] = row.eta[k, h]
    for i in range(row.z.shape[0]):
        row.z[i] = place[row.z[i]]
    for k in range(K):
        row.role[k] = role[order[k]]
        for h in range(k + 1, K):
            a, b = order[k], order[h]
            row.eta[k, h] = eta[min(a, b), max(a, b)]


@kernel
def move_class(sums, row, swap, rng):
    """Swap two classes, or let one jump to another place (Metropolis)."""
    K = row.info[0]
    if K < 2:
        return False
    a = np.int64(rng.random() * K)
    b = np.int64(rng.random() * (K - 1))
    b += b >= a
    order, back = np.empty(K, np.int64), np.empty(K, np.int64)
    for k in range(K):
        order[k] = k
        if not swap and a <= k < b:
            order[k] += 1
        if not swap and b < k <= a:
            order[k] -= 1
    order[b] = a
    if swap:
        order[a] = b
    before = log_sums(sums, row)
    for k in range(K):
        back[order[k]] = k
    permute(row, order)
    sound = row.info[1] == 0 or in_order(row)
    if sound and log(1.0 - rng.random()) < log_sums(sums, row) - before:
        return True
    permute(row, back)
    return False


@kernel
def swap_nodes(sums, row, rng):
    """Let two nodes of different classes change places (Metropolis)."""
    n = row.z.shape[0]
    i, j = np.int64(rng.random() * n), np.int64(rng.random() * n)
    if row.z[i] == row.z[j] or sums.anchor[i] >= 0 or sums.anchor[j] >= 0:
        return False
    before = log_sums(sums, row)
    row.z[i], row.z[j] = row.z[j], row.z[i]
    if log(1.0 - rng.random()) < log_sums(sums, row) - before:
        return True
    row.z[i], row.z[j] = row.z[j], row.z[i]
    return False
