"""The ordered prior with the graph summed out: classes in an order, edges only to later classes.

Given the classes z, numbered by their order, and the edge probabilities eta, the parents of
different nodes are independent, so each node contributes a sum over its sets of parents:

    f_c = prod_{i earlier} (1 - eta_i) sum_{S earlier} exp(score(c, S)) prod_{i in S} odds_i

The sum of a later node is linear in the eta of any one earlier node, (1 - eta) f0 + eta f1. So all
places for a node are weighed from one pass over the others, and for a class of its own the new
eta are integrated out exactly. G is then drawn, and eta given G; both are exact draws.
"""

from math import lgamma
from typing import NamedTuple

import numpy as np

from infinimix.kernels.compile import kernel, part
from infinimix.kernels.draws import invert
from infinimix.kernels.elementary import exp, log
from infinimix.networks.engine.families import Cache, Data, ParentLayout
from infinimix.networks.engine.graphs import ONE, ZERO, lowest, popcount
from infinimix.networks.engine.hyper import B1, B2
from infinimix.networks.engine.packs import packed
from infinimix.networks.engine.scores import family_score

TINY = 1e-280
N_CLASSES, ORDER_KNOWN = range(2)  # of `info`


@packed
class Sums(NamedTuple):
    """All that the ordered chain reads, and room to work."""

    data: Data
    layout: ParentLayout
    cache: Cache
    weight: np.ndarray  # (N, 2^C): exp(score - best), 0 for sets that cannot be
    log_weight: np.ndarray  # (N, 2^C): its logarithm
    hyper: np.ndarray  # alpha, b1, b2, and what is learned
    odds: np.ndarray  # (N, N) exp of the user's log odds, [parent, child]; 1 where required
    anchor: np.ndarray  # (N,) the known role of a node, -1 if it is not known
    words: np.ndarray  # (2^C,) uint64, room
    prods: np.ndarray  # (2^C,) room
    absent: np.ndarray  # (N, N) uint8 [child, parent]: a gap in every graph; or (N, 0)
    blocks: np.ndarray  # (N + 1, N + 1): probability of k edges among n pairs in given places


@packed
class OrderedState(NamedTuple):
    """Classes in an order, the edge probabilities between them, and a graph."""

    z: np.ndarray  # (N,) place of the class of a node
    eta: np.ndarray  # (K, K) edge probabilities, for earlier to later classes
    role: np.ndarray  # (K,) known role of a class, -1 if none
    info: np.ndarray  # (2,): N_CLASSES; ORDER_KNOWN: is the order of known roles fixed?
    pa: np.ndarray  # (N, W) the graph that was drawn last
    fam: np.ndarray  # (N,)


@kernel
def fill_weights(sums, must):
    """Compute the weights of all sets of parents; `must[c]` are the required parents of c."""
    layout = sums.layout
    N, size = sums.weight.shape
    for c in range(N):
        top = -np.inf
        for s in range(size):
            word = np.uint64(s)
            value = -np.inf
            if popcount(word) <= layout.max_parents and word & must[c] == must[c]:
                if word & ~layout.strong[c] == ZERO:
                    value = family_score(sums.data, layout, sums.cache, c, word)
                    rest = word
                    while rest != ZERO:
                        value += log(sums.odds[layout.cand[c, lowest(rest)], c])
                        rest &= rest - ONE
            sums.log_weight[c, s] = value
            top = max(top, value)
        for s in range(size):  # relative to the best set, in both tables
            sums.log_weight[c, s] -= top
            value = sums.log_weight[c, s]
            sums.weight[c, s] = np.exp(value) if value > -np.inf else 0.0


@kernel
def set_blocks(sums):
    """Fill blocks[n, k], the probability of k edges and n - k gaps, for the beta that is set."""
    b1, b2 = sums.hyper[B1], sums.hyper[B2]
    norm = lgamma(b1) + lgamma(b2) - lgamma(b1 + b2)
    for n in range(sums.blocks.shape[0]):
        for k in range(n + 1):
            value = lgamma(b1 + k) + lgamma(b2 + n - k) - lgamma(b1 + b2 + n) - norm
            sums.blocks[n, k] = np.exp(value)


@kernel
def list_sets(sums, state, c, rank, without):
    """Fill words and prods with all sets of parents of c if its class stands at `rank`.

    prods are the products of eta / (1 - eta), times (1 - eta) for all earlier nodes; node `without`
    is left out. Returns the number of sets.
    """
    cand, pos, z, base, size = sums.layout.cand, sums.layout.pos, state.z, 1.0, 1
    words, prods, etas = sums.words, sums.prods, state.eta
    words[0], prods[0] = ZERO, 1.0
    for k in range(cand.shape[1]):
        i = cand[c, k]
        if i == without or z[i] >= rank or pos[c, i] < 0:
            continue
        eta = etas[z[i], rank]
        base *= 1.0 - eta
        odds, word = eta / (1.0 - eta), ONE << np.uint64(k)
        new, more = words[size : 2 * size], prods[size : 2 * size]
        for s in range(size):
            new[s] = words[s] | word
            more[s] = prods[s] * odds
        size *= 2
    for i in range(sums.absent.shape[1]):
        if sums.absent[c, i] and i != without and z[i] < rank:
            base *= 1.0 - etas[z[i], rank]
    for s in range(size):
        prods[s] *= base
    return size


@part
def log_total(sums, c, size, extra):
    """Return the log of the sum over listed sets, each with the word `extra` added."""
    words, prods, weight, log_weight = sums.words, sums.prods, sums.weight, sums.log_weight
    total = 0.0
    for s in range(size):
        total += prods[s] * weight[c, words[s] | extra]
    if total > TINY:
        return log(total)
    top = -np.inf
    for s in range(size):
        if prods[s] > 0.0:
            top = max(top, log(max(prods[s], TINY)) + log_weight[c, words[s] | extra])
    if top == -np.inf:
        return top
    for s in range(size):
        if prods[s] > 0.0:
            value = log(max(prods[s], TINY)) + log_weight[c, words[s] | extra]
            total += np.exp(value - top)
    return top + log(total)


@kernel
def log_sums(sums, state):
    """Return the log of the product of all sums: the likelihood of (z, o, eta)."""
    total = 0.0
    for c in range(state.z.shape[0]):
        size = list_sets(sums, state, c, state.z[c], -1)
        total += log_total(sums, c, size, ZERO)
    return total


@kernel
def draw_listed(sums, c, size, rng):
    """Draw one of the listed sets of parents of c."""
    top, total = -np.inf, 0.0
    for s in range(size):
        top = max(top, sums.log_weight[c, sums.words[s]])
    for s in range(size):
        lw = sums.log_weight[c, sums.words[s]]
        sums.prods[s] *= exp(lw - top) if lw - top > -700.0 else 0.0
        total += sums.prods[s]
    return sums.words[invert(sums.prods, size, total * rng.random())]


@kernel
def draw_graph(sums, state, rng):
    """Draw the graph given classes and eta."""
    for c in range(state.z.shape[0]):
        for w in range(state.pa.shape[1]):
            state.pa[c, w] = ZERO
        size = list_sets(sums, state, c, state.z[c], -1)
        word = draw_listed(sums, c, size, rng)
        state.fam[c] = word
        while word != ZERO:
            i = sums.layout.cand[c, lowest(word)]
            word &= word - ONE
            state.pa[c, i >> 6] |= ONE << (np.uint64(i) & np.uint64(63))


@kernel
def draw_eta(sums, state, rng):
    """Draw the edge probabilities given graph and classes."""
    K, n = state.info[N_CLASSES], state.z.shape[0]
    edges, total = np.zeros((K, K)), np.zeros((K, K))
    for j in range(n):
        for i in range(n):
            if state.z[i] < state.z[j]:
                total[state.z[i], state.z[j]] += 1
                if (state.pa[j, i >> 6] >> (np.uint64(i) & np.uint64(63))) & ONE != ZERO:
                    edges[state.z[i], state.z[j]] += 1
    for a in range(K):
        for b in range(a + 1, K):
            state.eta[a, b] = draw_beta(sums, edges[a, b], total[a, b], rng)


@part
def draw_beta(sums, k, n, rng):
    """Draw a probability from Beta(b1 + k, b2 + n - k), away from 0 and 1 by rounding."""
    x = rng.standard_gamma(sums.hyper[B1] + k)
    y = rng.standard_gamma(sums.hyper[B2] + n - k)
    return min(max(x / (x + y), 1e-12), 1.0 - 1e-12) if x + y > 0.0 else 0.5
