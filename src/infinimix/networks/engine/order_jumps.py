"""Jumps of whole graphs between modes: an order from a list, then parents among the earlier nodes.

Chains over graphs of many nodes stay for long in a mode, as another has dozens of edges turned
round. What they have found before can help: let the list have M orders of the nodes, fixed while
sweeps count, for example some of each chain. Given edge probabilities the posterior of a graph is
a product of weights w_c(S) of families, and the sum of it over all graphs along an order m is
F(m) = prod_c F_c(m), F_c(m) the sum over the sets of nodes before c, from a table. So: draw m with
probability F(m) / sum F, and the parents of each node along m. This graph G' is proposed with

    q(G') = prod_c w_c(S'_c) k(G') / sum F,   k(G) = how many listed orders G is consistent with

which is its posterior up to k, so it is accepted with probability min(1, k(G) / k(G')). No jump
leaves a graph that is consistent with no order of the list. The list says where jumps may lead;
how often they do is decided by the sums, whichever orders they are, so modes get their weights.

Tables are those of `layers`, right after they have been used there: parents that are no candidates
are kept, and orders in which one of them comes too late have the sum zero.
"""

from typing import NamedTuple

import numpy as np

from infinimix.kernels.compile import kernel, part
from infinimix.kernels.draws import invert
from infinimix.kernels.elementary import exp
from infinimix.networks.engine.blocks import set_parents
from infinimix.networks.engine.graphs import ONE, ZERO, lowest
from infinimix.networks.engine.layer_tables import to_set, to_word
from infinimix.networks.engine.layers import safe_log
from infinimix.networks.engine.packs import packed


@packed
class OrderList(NamedTuple):
    """Orders of the nodes, and room to work."""

    rank: np.ndarray  # (M, N) int64: the place of each node in each order
    before: np.ndarray  # (M, N) int64: the candidates of a node that come before it, as a set
    logs: np.ndarray  # (M,): log F
    shares: np.ndarray  # (M,): F relative to the largest
    sets: np.ndarray  # (2, N) int64: the sets of parents now, and those proposed
    words: np.ndarray  # (2^C,) int64: sets that may be drawn
    prods: np.ndarray  # (2^C,): their weights


def list_orders(rank, cand):
    """Return orders given as places (M, N), for candidates (N, C), -1 where there are fewer."""
    rank = np.ascontiguousarray(rank, dtype=np.int64)
    M, N = rank.shape
    bits = 1 << np.arange(cand.shape[1])
    earlier = rank[:, np.where(cand >= 0, cand, 0)] < rank[:, :, None]
    before = (earlier & (cand >= 0)).astype(np.int64) @ bits
    size = 1 << cand.shape[1]
    return OrderList(
        rank, np.ascontiguousarray(before, dtype=np.int64), np.zeros(M), np.zeros(M),
        np.zeros((2, N), np.int64), np.zeros(size, np.int64), np.zeros(size),
    )  # fmt: skip


@part
def drawn_before(layers, orders, m, c):
    """Return the candidates of c that are drawn and come before it in order m, as a set."""
    return orders.before[m, c] & ((1 << layers.size[c]) - 1)


@kernel
def keeps(model, layers, orders, m):
    """Do all parents that are kept come before their children in order m?"""
    for c in range(layers.kept.shape[0]):
        rest = layers.kept[c]
        while rest != ZERO:
            i = model.layout.cand[c, lowest(rest)]
            rest &= rest - ONE
            if orders.rank[m, i] > orders.rank[m, c]:
                return False
    return True


@kernel
def sum_orders(model, layers, orders):
    """Fill the log sum of each order and its share; return the total of the shares."""
    n, best, whole = layers.kept.shape[0], -np.inf, 0.0
    logs, shares = orders.logs, orders.shares
    for m in range(logs.shape[0]):
        logs[m] = 0.0 if keeps(model, layers, orders, m) else -np.inf
        for c in range(n):
            logs[m] += safe_log(layers.sums[c, drawn_before(layers, orders, m, c)])
        best = max(best, logs[m])
    for m in range(logs.shape[0]):
        shares[m] = exp(logs[m] - best) if logs[m] - best > -700.0 else 0.0
        whole += shares[m]
    return whole


@kernel
def count_consistent(layers, orders, sets):
    """Return with how many of the orders the sets of parents are consistent."""
    found = 0
    for m in range(orders.logs.shape[0]):
        if orders.shares[m] > 0.0:
            fits = True
            for c in range(sets.shape[0]):
                if sets[c] & ~drawn_before(layers, orders, m, c) != 0:
                    fits = False
                    break
            found += fits
    return found


@kernel
def draw_along(layers, orders, m, sets, rng):
    """Draw the parents of all nodes among those that come before them in order m."""
    words, prods = orders.words, orders.prods
    for c in range(sets.shape[0]):
        free, n, s = drawn_before(layers, orders, m, c), 0, 0
        while True:  # all subsets, from none to all
            words[n], prods[n] = s, layers.weight[c, s]
            n += 1
            if s == free:
                break
            s = (s - free) & free
        sets[c] = words[invert(prods, n, rng.random() * layers.sums[c, free])]


@kernel
def jump_orders(model, state, layers, orders, tries, rng):
    """Propose so many graphs along orders of the list; return how many were accepted.

    The tables must be those of this state.
    """
    n, mine, other = state.z.shape[0], orders.sets[0], orders.sets[1]
    whole = sum_orders(model, layers, orders)
    for c in range(n):
        mine[c] = to_set(model, layers, c, state.fam[c])
    ways, accepted = count_consistent(layers, orders, mine), 0
    if ways == 0 or not whole > 0.0:
        return 0
    for _ in range(tries):
        m = invert(orders.shares, orders.shares.shape[0], rng.random() * whole)
        draw_along(layers, orders, m, other, rng)
        new = count_consistent(layers, orders, other)
        if rng.random() * new < ways:
            ways, accepted = new, accepted + 1
            for c in range(n):
                mine[c] = other[c]
    if accepted > 0:
        for c in range(n):
            word = layers.kept[c] | to_word(model, layers, c, mine[c])
            set_parents(model.layout, state, c, word)
    return accepted
