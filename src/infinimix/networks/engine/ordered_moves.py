"""Moves of the ordered chain: one node over all places, and whole classes.

`relocate` is an exact Gibbs step over K classes and K + 1 places for a new one, which weigh
alpha / (K + 1) each; K counts the classes without the node.
"""

import numpy as np

from infinimix.kernels.compile import kernel
from infinimix.kernels.draws import invert
from infinimix.kernels.elementary import exp, log
from infinimix.networks.engine.graphs import ONE, ZERO
from infinimix.networks.engine.hyper import ALPHA
from infinimix.networks.engine.ordered import (
    N_CLASSES,
    ORDER_KNOWN,
    list_sets,
    log_sums,
    log_total,
)
from infinimix.networks.engine.ordered_alone import (
    WITH,
    WITHOUT,
    Others,
    draw_alone,
    weigh_alone,
)


@kernel
def drop_class(state, k):
    """Close the gap that an empty class leaves at place k."""
    K = state.info[N_CLASSES]
    for i in range(state.z.shape[0]):
        if state.z[i] > k:
            state.z[i] -= 1
    for a in range(k, K - 1):
        state.role[a] = state.role[a + 1]
        for b in range(state.eta.shape[1]):
            state.eta[a, b] = state.eta[a + 1, b]
    for b in range(k, K - 1):
        for a in range(state.eta.shape[0]):
            state.eta[a, b] = state.eta[a, b + 1]
    state.info[N_CLASSES] = K - 1


@kernel
def open_class(state, k):
    """Make room for a class at place k."""
    K = state.info[N_CLASSES]
    for i in range(state.z.shape[0]):
        if state.z[i] >= k:
            state.z[i] += 1
    for a in range(K, k, -1):
        state.role[a] = state.role[a - 1]
        for b in range(state.eta.shape[1]):
            state.eta[a, b] = state.eta[a - 1, b]
    for b in range(K, k, -1):
        for a in range(state.eta.shape[0]):
            state.eta[a, b] = state.eta[a, b - 1]
    state.role[k] = -1
    state.info[N_CLASSES] = K + 1


@kernel
def sizes(state, m):
    """Fill m with the number of nodes in each class; nodes at -1 are out."""
    for k in range(m.shape[0]):
        m[k] = 0
    for i in range(state.z.shape[0]):
        if state.z[i] >= 0:
            m[state.z[i]] += 1


@kernel
def take_out(state, i):
    """Take node i out of its class, which goes if it is empty."""
    k, alone = state.z[i], True
    for j in range(state.z.shape[0]):
        alone = alone and (j == i or state.z[j] != k)
    state.z[i] = -1
    if alone:
        drop_class(state, k)


@kernel
def weigh_others(sums, state, i, f, base):
    """Fill f with the sums of each j without and with i as a parent, scaled by base[j]."""
    for j in range(state.z.shape[0]):
        f[WITHOUT, j], f[WITH, j], base[j] = 1.0, 1.0, 0.0
        if j == i:
            continue
        k = sums.layout.pos[j, i]
        size = list_sets(sums, state, j, state.z[j], i)
        low = log_total(sums, j, size, ZERO)
        if k < 0:  # i is no candidate: its eta has no say, unless all graphs have a gap there
            base[j] = low
            if sums.absent.shape[1] > 0:
                f[WITH, j] = 0.0
            continue
        high = log_total(sums, j, size, ONE << np.uint64(k))
        top = max(low, high)
        base[j] = top
        f[WITHOUT, j] = exp(low - top) if low > -np.inf else 0.0
        f[WITH, j] = exp(high - top) if high > -np.inf else 0.0


@kernel
def later_weight(state, i, k, f):
    """Return the log weight of all nodes later than place k and of those that i does not reach."""
    total = 0.0
    for j in range(state.z.shape[0]):
        if j != i:
            eta = state.eta[k, state.z[j]] if state.z[j] > k else 0.0
            total += log(max((1.0 - eta) * f[WITHOUT, j] + eta * f[WITH, j], 1e-300))
    return total


@kernel
def enter_new(sums, state, others, p, rng):
    """Open a class at place p for the node that is out, and draw its eta."""
    K = others.K
    incoming, outgoing = np.zeros(K), np.zeros(K)
    draw_alone(sums, state, others, p, incoming, outgoing, rng)
    open_class(state, p)
    for a in range(p):
        state.eta[a, p] = incoming[a]
    for a in range(p, K):
        state.eta[p, a + 1] = outgoing[a]
    state.z[others.i] = p


@kernel
def relocate(sums, state, i, rng):
    """Draw the class of node i among all classes and all places for a new one."""
    if sums.anchor[i] >= 0:
        return
    n = state.z.shape[0]
    take_out(state, i)
    K = state.info[N_CLASSES]
    m, ends = np.zeros(n + 1, np.int64), np.zeros(n + 2, np.int64)
    f, base, e = np.zeros((2, n)), np.zeros(n), np.zeros(n + 2)
    scores = np.zeros(2 * K + 1)
    sizes(state, m)
    weigh_others(sums, state, i, f, base)
    others = Others(i, K, m, f, e, ends)
    for k in range(K):
        size = list_sets(sums, state, i, k, -1)
        own = log_total(sums, i, size, ZERO)
        scores[k] = log(np.float64(m[k])) + own + later_weight(state, i, k, f)
    weigh_alone(sums, state, others, scores[K:])
    for p in range(K + 1):
        scores[K + p] += log(sums.hyper[ALPHA] / (K + 1.0))
    top, total = -np.inf, 0.0
    for s in range(2 * K + 1):
        top = max(top, scores[s])
    for s in range(2 * K + 1):
        scores[s] = exp(scores[s] - top) if scores[s] - top > -700.0 else 0.0
        total += scores[s]
    pick = invert(scores, 2 * K + 1, total * rng.random())
    if pick < K:
        state.z[i] = pick
    else:
        enter_new(sums, state, others, pick - K, rng)


@kernel
def in_order(state):
    """Are the known roles in their known order?"""
    last = -1
    for k in range(state.info[N_CLASSES]):
        if state.role[k] >= 0:
            if state.role[k] < last:
                return False
            last = state.role[k]
    return True


@kernel
def permute(state, order):
    """Let the class at place order[k] come to place k; a pair of classes keeps its eta."""
    K = state.info[N_CLASSES]
    place = np.empty(K, np.int64)
    eta, role = np.empty((K, K)), np.empty(K, np.int64)
    for k in range(K):
        place[order[k]] = k
        role[k] = state.role[k]
        for h in range(K):
            eta[k, h] = state.eta[k, h]
    for i in range(state.z.shape[0]):
        state.z[i] = place[state.z[i]]
    for k in range(K):
        state.role[k] = role[order[k]]
        for h in range(k + 1, K):
            a, b = order[k], order[h]
            state.eta[k, h] = eta[min(a, b), max(a, b)]


@kernel
def move_class(sums, state, swap, before, rng):
    """Swap two classes, or let one jump to another place (Metropolis).

    `before` is `log_sums` of the state as it is; returns what it is afterwards.
    """
    K = state.info[N_CLASSES]
    if K < 2:
        return before
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
    for k in range(K):
        back[order[k]] = k
    permute(state, order)
    if state.info[ORDER_KNOWN] == 0 or in_order(state):
        after = log_sums(sums, state)
        if log(1.0 - rng.random()) < after - before:
            return after
    permute(state, back)
    return before


@kernel
def swap_nodes(sums, state, before, rng):
    """Let two nodes of different classes change places (Metropolis); sums as in `move_class`."""
    n = state.z.shape[0]
    i, j = np.int64(rng.random() * n), np.int64(rng.random() * n)
    if state.z[i] == state.z[j] or sums.anchor[i] >= 0 or sums.anchor[j] >= 0:
        return before
    state.z[i], state.z[j] = state.z[j], state.z[i]
    after = log_sums(sums, state)
    if log(1.0 - rng.random()) < after - before:
        return after
    state.z[i], state.z[j] = state.z[j], state.z[i]
    return before
