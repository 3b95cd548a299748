"""A node alone in a class of the ordered prior, at any place: all its eta are integrated out.

Sets of parents are listed class by class, so those of a place are the first of the list of all.
A class of n nodes with k parents among them has the factor B(b1 + k, b2 + n - k) / B(b1, b2).
Later nodes are linear in the eta that leads to them, so a class of them is a polynomial in it.
"""

from typing import NamedTuple

import numpy as np

from infinimix.kernels.compile import kernel
from infinimix.kernels.draws import invert
from infinimix.kernels.elementary import log
from infinimix.networks.engine.graphs import ONE, ZERO, popcount
from infinimix.networks.engine.ordered import draw_beta, draw_listed, log_total

WITHOUT, WITH = range(2)  # rows of `f`: sums of a later node without and with an edge


class Others(NamedTuple):
    """What all nodes but i are like, and room to work, while i is out of its class."""

    i: int
    K: int  # classes without that of i
    m: np.ndarray  # (N + 1,) members of each class
    f: np.ndarray  # (2, N): sums of each j without and with i as a parent
    e: np.ndarray  # (N + 2,) room for the coefficients of `spread`
    ends: np.ndarray  # (N + 2,) int64: how many sets there are of classes before each place


@kernel
def list_alone(sums, state, others):
    """Fill words and prods with all sets of parents of the node that is out, class by class.

    prods are relative to the set of no parents.
    """
    cand, pos, i, size = sums.layout.cand, sums.layout.pos, others.i, 1
    words, prods = sums.words, sums.prods
    words[0], prods[0] = ZERO, 1.0
    others.ends[0] = 1
    for a in range(others.K):
        before, odds = size, sums.blocks[others.m[a]]
        for k in range(cand.shape[1]):
            v = cand[i, k]
            if state.z[v] == a and pos[i, v] >= 0:
                new, word = words[size : 2 * size], ONE << np.uint64(k)
                for s in range(size):
                    new[s] = words[s] | word
                size *= 2
        for t in range(1, size // before):  # sets of this class; that of no members has 1
            more, p = prods[t * before : (t + 1) * before], odds[popcount(np.uint64(t))] / odds[0]
            for s in range(before):
                more[s] = prods[s] * p
        others.ends[a + 1] = size


@kernel
def spread_later(sums, state, others, p):
    """Return the log weight of all other nodes if i is alone in a class at place p."""
    total, f, e = 0.0, others.f, others.e
    for j in range(state.z.shape[0]):
        if j != others.i and state.z[j] < p:
            total += log(max(f[WITHOUT, j], 1e-300))
    for a in range(p, others.K):
        total += log(max(weigh_spread(sums, e, spread(state, others.i, a, f, e)), 1e-300))
    return total


@kernel
def weigh_alone(sums, state, others, scores):
    """Fill scores[p] with the log weight of a class of its own at each place p."""
    none = 0.0  # the log probability of no parents
    list_alone(sums, state, others)
    for p in range(others.K + 1):
        own = log_total(sums, others.i, others.ends[p], ZERO)
        scores[p] = none + own + spread_later(sums, state, others, p)
        if p < others.K:
            none += log(sums.blocks[others.m[p], 0])


@kernel
def draw_alone(sums, state, others, p, incoming, outgoing, rng):
    """Draw the eta of a class of its own at place p."""
    i, K, m, f, e, ends = others
    list_alone(sums, state, others)
    word = draw_listed(sums, i, ends[p], rng)
    for a in range(p):
        k = 0
        for q in range(sums.layout.cand.shape[1]):
            inside = word & (ONE << np.uint64(q)) != ZERO
            k += inside and state.z[sums.layout.cand[i, q]] == a
        incoming[a] = draw_beta(sums, k, m[a], rng)
    for a in range(p, K):
        n = spread(state, i, a, f, e)
        total = weigh_spread(sums, e, n)
        outgoing[a] = draw_beta(sums, invert(e, n + 1, total * rng.random()), n, rng)


@kernel
def spread(state, without, a, f, e):
    """Fill e with the coefficients of prod (f0 + x f1) over class a; return its degree."""
    n = 0
    e[0] = 1.0
    for j in range(state.z.shape[0]):
        if state.z[j] == a and j != without:
            e[n + 1] = e[n] * f[WITH, j]
            for k in range(n, 0, -1):
                e[k] = e[k] * f[WITHOUT, j] + e[k - 1] * f[WITH, j]
            e[0] *= f[WITHOUT, j]
            n += 1
    return n


@kernel
def weigh_spread(sums, e, n):
    """Turn coefficients into weights of k edges, eta integrated out; return their sum."""
    total = 0.0
    for k in range(n + 1):
        e[k] *= sums.blocks[n, k]
        total += e[k]
    return total
