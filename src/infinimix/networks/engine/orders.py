"""The whole graph redrawn, for a few nodes: their order, then parents among the earlier.

Given classes and edge probabilities the prior of graphs is a product over families, so sums over
all sets of parents, and over all orders of the nodes, come from passes over subsets (Koivisto and
Sood 2004). A graph drawn this way is as probable as under the posterior, times the number of orders
that it allows; a Metropolis step takes that number out again. About one in three is accepted.
"""

from typing import NamedTuple

import numpy as np

from infinimix.kernels.compile import kernel
from infinimix.kernels.elementary import exp, log
from infinimix.networks.engine.blocks import UNIFORM, pairs, set_parents
from infinimix.networks.engine.extensions import count_orders
from infinimix.networks.engine.graphs import popcount, squeeze, widen
from infinimix.networks.engine.hyper import B1, B2
from infinimix.networks.engine.model import required_parents, score_of
from infinimix.networks.engine.packs import packed
from infinimix.networks.engine.plain_orders import (
    SURE,
    draw_plainly,
    sum_plainly,
    take_logs_off,
    weigh_plainly,
)

NEAR = -600.0  # sums of weights down to exp(-600) of the largest are taken without logarithms


@packed
class Orders(NamedTuple):
    """Room to work; empty where there are too many nodes."""

    base: np.ndarray  # (N, 2^(N - 1)): log weights of sets of parents, but for the odds of classes
    core: np.ndarray  # (N, 2^(N - 1)): the same without logarithms, 1 for the best set
    filled: np.ndarray  # (2,): see POWER and PLAIN; NaN before anything is filled
    logs: np.ndarray  # (N, 2^(N - 1)): log weights of sets of parents
    sums: np.ndarray  # (N, 2^(N - 1)): log sums over their subsets
    first: np.ndarray  # (2^N,): log weight of all orders in which these nodes come first
    ways: np.ndarray  # (2^N,): how many orders of these nodes a graph allows
    odds: np.ndarray  # (K, K): log odds of edges from class to class
    fam: np.ndarray  # (N,) int64


POWER, PLAIN = range(2)  # of `filled`: that of `core`; are the tables without logarithms?


def new_orders(N, K, most):
    """Return room for N nodes, or none if there are more than `most`."""
    n = N if N <= most else 0
    half = 1 << max(n - 1, 0)
    return Orders(
        np.zeros((n, half)), np.zeros((n, half)), np.full(2, np.nan), np.zeros((n, half)),
        np.zeros((n, half)), np.zeros(1 << n), np.zeros(1 << n), np.zeros((K, K)),
        np.zeros(n, np.int64),
    )  # fmt: skip


@kernel
def draw_odds(prior, state, odds, rng):
    """Draw the edge probabilities of all pairs of classes, as log odds."""
    for a in range(state.m.shape[0]):
        for b in range(state.m.shape[0]):
            odds[a, b] = 0.0
            if prior.kind != UNIFORM and state.m[a] > 0 and state.m[b] > 0:
                n = state.plus[a, b]
                x = rng.standard_gamma(prior.hyper[B1] + n)
                y = rng.standard_gamma(prior.hyper[B2] + pairs(prior, state, a, b) - n)
                odds[a, b] = log(max(x, 1e-300)) - log(max(y, 1e-300))


@kernel
def fill_base(model, orders, c, power):
    """Fill what the weights of all sets of parents of c have from scores and the user's odds."""
    base, cand, n = orders.base[c], model.layout.cand, 1
    must, top = required_parents(model, c), -np.inf
    base[0] = 0.0
    for q in range(cand.shape[1]):
        i = cand[c, q]
        odds = -np.inf
        if model.layout.pos[c, i] >= 0:
            odds = model.prior.bonus[i, c] if model.prior.bonus[i, c] < np.inf else 0.0
        for s in range(n):
            base[n + s] = base[s] + odds
        n *= 2
    for s in range(n):
        word = np.uint64(s)
        if popcount(word) > model.layout.max_parents or word & must != must:
            base[s] = -np.inf
        elif base[s] > -np.inf:
            base[s] += power * score_of(model, c, word)
            top = max(top, base[s])
    take_logs_off(base, orders.core[c], top)


@kernel
def weigh_family(model, z, orders, c):
    """Fill the log weights of all sets of parents of c; return the largest."""
    logs, base, cand, n, top = orders.logs[c], orders.base[c], model.layout.cand, 1, -np.inf
    logs[0] = 0.0
    for q in range(cand.shape[1]):
        odds = orders.odds[z[cand[c, q]], z[c]]
        for s in range(n):
            logs[n + s] = logs[s] + odds
        n *= 2
    for s in range(n):
        logs[s] += base[s]
        top = max(top, logs[s])
    return top


@kernel
def add_subsets(logs, sums, top):
    """Fill sums with the logs of the sums over the subsets of every set."""
    n, step, near = logs.shape[0], 1, logs[0] - top > NEAR
    for s in range(n):
        sums[s] = logs[s]
        if near:
            sums[s] = exp(logs[s] - top) if logs[s] - top > -700.0 else 0.0
    while step < n:
        for base in range(0, n, 2 * step):
            if near:
                for s in range(base, base + step):
                    sums[s + step] += sums[s]
            else:
                for s in range(base, base + step):
                    high, low = max(sums[s], sums[s + step]), min(sums[s], sums[s + step])
                    sums[s + step] = high + log(1.0 + exp(low - max(high, -1e300)))
        step *= 2
    if near:
        for s in range(n):
            sums[s] = top + log(sums[s])


@kernel
def weigh_orders(orders):
    """Fill first[U] with the log weight of all orders in which the nodes of U come first."""
    first, sums, n = orders.first, orders.sums, orders.fam.shape[0]
    terms = np.empty(n)
    first[0] = 0.0
    for U in range(1, 1 << n):
        top, total, k = -np.inf, 0.0, 0
        for c in range(n):
            if U >> c & 1:
                V = U ^ (1 << c)
                terms[k] = first[V] + sums[c, squeeze(V, c)]
                top = max(top, terms[k])
                k += 1
        first[U] = top
        if top > -np.inf:
            for q in range(k):
                total += exp(terms[q] - top)
            first[U] = top + log(total)


@kernel
def draw_graph(orders, rng):
    """Draw an order from its end, and with each node its parents among the earlier ones."""
    first, sums, n = orders.first, orders.sums, orders.fam.shape[0]
    U = (1 << n) - 1
    for _ in range(n):
        u, last = rng.random(), 0
        for c in range(n):
            if U >> c & 1 and u >= 0.0:
                V = U ^ (1 << c)
                weight = first[V] + sums[c, squeeze(V, c)] - first[U]
                if weight > -700.0:
                    last = c
                    u -= exp(weight)
        U ^= 1 << last
        among = squeeze(U, last)
        u, s, pick = rng.random(), among, 0
        while u >= 0.0:
            weight = orders.logs[last, s] - sums[last, among]
            if weight > -700.0:
                pick = s
                u -= exp(weight)
            if s == 0:
                break
            s = (s - 1) & among
        orders.fam[last] = pick


@kernel
def orders_of(orders):
    """Return how many orders the graph of `fam` allows."""
    before = np.empty(orders.fam.shape[0], np.int64)
    for c in range(before.shape[0]):
        before[c] = widen(orders.fam[c], c)
    return count_orders(before, before.shape[0], orders.ways)


@kernel
def fill_tables(model, state, orders, power):
    """Fill all tables for this state; return whether that was done without logarithms."""
    n, filled = orders.fam.shape[0], orders.filled
    if filled[POWER] != power:
        for c in range(n):
            fill_base(model, orders, c, power)
        filled[POWER], filled[PLAIN] = power, np.nan
    if model.prior.kind == UNIFORM and filled[PLAIN] == filled[PLAIN]:  # they never change
        return filled[PLAIN] > 0.0
    plain = True
    for c in range(n):
        plain = plain and sum_plainly(model, state.z, orders, c)
    plain = plain and weigh_plainly(orders) > SURE
    if not plain:
        for c in range(n):
            top = weigh_family(model, state.z, orders, c)
            add_subsets(orders.logs[c], orders.sums[c], top)
        weigh_orders(orders)
    filled[PLAIN] = 1.0 if plain else 0.0
    return plain


@kernel
def redraw(model, state, orders, tries, power, rng):
    """Draw the whole graph again, so many times, each accepted or not (Metropolis).

    Returns how many were accepted, and whether no logarithms were needed, which is quicker.
    """
    n, accepted = orders.fam.shape[0], 0
    draw_odds(model.prior, state, orders.odds, rng)
    plain = fill_tables(model, state, orders, power)
    for c in range(n):
        orders.fam[c] = np.int64(state.fam[c])
    before = orders_of(orders)
    for _ in range(tries):
        if plain:
            draw_plainly(orders, rng)
        else:
            draw_graph(orders, rng)
        after = orders_of(orders)
        if rng.random() * after < before:
            before = after
            accepted += 1
            for c in range(n):
                set_parents(model.layout, state, c, np.uint64(orders.fam[c]))
    return accepted, plain
