"""The moves of the thesis for the ordered prior: the state is a graph, classes and their order.

Each edge from an earlier class to a later one is drawn given everything else, then the class of
each node: one that exists, or a new one, which may be inserted at any of the K + 1 places of the
order and weighs alpha / (K + 1) there against the m_k of an old class. A node whose links would
be out of order in a class cannot be in it.
"""

from math import lgamma

import numpy as np

from infinimix.kernels.compile import kernel, part
from infinimix.kernels.draws import invert
from infinimix.kernels.elementary import exp, log
from infinimix.networks.engine.graphs import ONE, bit, has
from infinimix.networks.engine.hyper import ALPHA, B1, B2, SWEEPS
from infinimix.networks.engine.ordered import N_CLASSES
from infinimix.networks.engine.ordered_chain import note_ordered
from infinimix.networks.engine.ordered_moves import sizes
from infinimix.networks.engine.sites import log_gain, may_add


@kernel
def log_block(hyper, edges, full):
    """Return the log probability of so many edges among so many pairs of two classes."""
    b1, b2 = hyper[B1], hyper[B2]
    norm = lgamma(b1) + lgamma(b2) - lgamma(b1 + b2)
    return lgamma(b1 + edges) + lgamma(b2 + full - edges) - lgamma(b1 + b2 + full) - norm


@part
def count_blocks(state, m, plus):
    """Fill the sizes of the classes, and the edges from class to class."""
    sizes(state, m)
    plus[:] = 0.0
    for v in range(state.z.shape[0]):
        for u in range(state.z.shape[0]):
            if has(state.pa[v], u):
                plus[state.z[u], state.z[v]] += 1.0


@kernel
def toggle_ordered(sums, state, rng):
    """Draw each edge from an earlier class to a later one given all others."""
    layout, n, hyper = sums.layout, state.z.shape[0], sums.hyper
    m, plus = np.zeros(n + 1, np.int64), np.zeros((n + 1, n + 1))
    count_blocks(state, m, plus)
    for u in range(n):
        for v in range(n):
            a, b = state.z[u], state.z[v]
            if a >= b or not may_add(layout, state.fam, u, v):
                continue
            here = has(state.pa[v], u)
            edges = plus[a, b] - here
            log_odds = log_gain(sums.data, layout, sums.cache, state.fam, u, v)
            log_odds += log((hyper[B1] + edges) / (hyper[B2] + m[a] * m[b] - edges - 1))
            log_odds += log(sums.odds[u, v])
            if (rng.random() < 1.0 / (1.0 + exp(-max(log_odds, -700.0)))) != here:
                state.fam[v] ^= ONE << np.uint64(layout.pos[v, u])
                state.pa[v, u >> 6] ^= bit(u)
                plus[a, b] = edges + (not here)


@kernel
def place_node(sums, state, i, rng):
    """Draw the class of node i: one that exists, or a new one at any place of the order."""
    n, hyper = state.z.shape[0], sums.hyper
    _take_out(state, i)
    K = state.info[N_CLASSES]
    m, plus = np.zeros(n + 1, np.int64), np.zeros((n + 1, n + 1))
    out, into = np.zeros(n + 1), np.zeros(n + 1)
    for v in range(n):
        if v == i:
            continue
        m[state.z[v]] += 1
        out[state.z[v]] += has(state.pa[v], i)
        into[state.z[v]] += has(state.pa[i], v)
        for u in range(n):
            if u != i and has(state.pa[v], u):
                plus[state.z[u], state.z[v]] += 1.0
    scores = np.full(2 * K + 1, -np.inf)  # K classes, then K + 1 places for a new one
    for k in range(K):
        scores[k] = log(1.0 * m[k]) + _join(hyper, K, k, m, plus, out, into)
    for p in range(K + 1):
        scores[K + p] = log(hyper[ALPHA] / (K + 1.0)) + _open(hyper, K, p, m, out, into)
    top = scores.max()
    total = 0.0
    for s in range(2 * K + 1):
        scores[s] = exp(scores[s] - top) if scores[s] > -np.inf else 0.0
        total += scores[s]
    choice = invert(scores, 2 * K + 1, total * rng.random())
    if choice >= K:
        choice -= K
        for v in range(n):
            state.z[v] += v != i and state.z[v] >= choice
        state.info[N_CLASSES] += 1
    state.z[i] = choice


@part
def _take_out(state, i):
    """Let node i leave its class; a class that is then empty leaves the order."""
    k, alone = state.z[i], True
    for v in range(state.z.shape[0]):
        alone = alone and (v == i or state.z[v] != k)
    if alone:
        for v in range(state.z.shape[0]):
            state.z[v] -= v != i and state.z[v] > k
        state.info[N_CLASSES] -= 1


@part
def _join(hyper, K, k, m, plus, out, into):
    """Return the log probability of the links of a node in class k, -inf if one is out of order."""
    total = 0.0
    for b in range(K):
        if (b <= k and out[b] > 0.0) or (b >= k and into[b] > 0.0):
            return -np.inf
        if b > k:
            total += log_block(hyper, plus[k, b] + out[b], (m[k] + 1.0) * m[b])
            total -= log_block(hyper, plus[k, b], 1.0 * m[k] * m[b])
        elif b < k:
            total += log_block(hyper, plus[b, k] + into[b], m[b] * (m[k] + 1.0))
            total -= log_block(hyper, plus[b, k], 1.0 * m[b] * m[k])
    return total


@part
def _open(hyper, K, p, m, out, into):
    """Return the same for a class of its own before class p."""
    total = 0.0
    for b in range(K):
        if (b < p and out[b] > 0.0) or (b >= p and into[b] > 0.0):
            return -np.inf
        total += log_block(hyper, out[b] if b >= p else into[b], 1.0 * m[b])
    return total


@kernel
def advance_sites(sums, state, n_sweeps, record, count, thin, rng):
    """Run so many sweeps of the ordered chain of the thesis."""
    for _ in range(n_sweeps):
        toggle_ordered(sums, state, rng)
        for i in range(state.z.shape[0]):
            place_node(sums, state, i, rng)
        if count:
            note_ordered(sums, state, record, (record.counters[SWEEPS] + 1) % thin == 0)
