"""The parents of a few nodes redrawn together, whatever they were, with all others as they are.

Modes of a large graph differ in a few families at once, between which levels do not move: all of
them would have to change for the better to show. Here a group is chosen without a look at the
graph: a node and its candidates. Paths through other nodes stay, so a parent i of a member may be
reached from some of the members: it needs that these come earlier, and so does a parent that is a
member itself. Given an order of the group, each member draws its parents among all sets whose needs
come before it; sums over sets and orders come from passes over the subsets of the group, as in
`orders` for a whole graph. A graph drawn this way is as probable as under the posterior given the
rest, times the number k of orders of the group that suit it, so it is accepted with probability
min(1, k(G) / k(G')).

Tables are those of `layers`, right after they have been used there; parents that are no candidates
are kept.
"""

from typing import NamedTuple

import numpy as np

from infinimix.kernels.compile import kernel, part
from infinimix.kernels.elementary import exp, log
from infinimix.networks.engine.blocks import set_parents
from infinimix.networks.engine.extensions import count_orders
from infinimix.networks.engine.graphs import ONE, ZERO, lowest
from infinimix.networks.engine.layer_tables import count_candidates, to_set, to_word
from infinimix.networks.engine.layers import safe_log
from infinimix.networks.engine.packs import packed
from infinimix.networks.engine.plain_orders import LEAST

SIZE = 12  # members of a group, at most


@packed
class NodeGroup(NamedTuple):
    """Some nodes, and room to work."""

    nodes: np.ndarray  # (G,) int64
    reach: np.ndarray  # (N,) int64: the members from which a node is reached, -1 if not known
    need: np.ndarray  # (G, 2^C) int64: members that come before, for each set of parents
    sums: np.ndarray  # (G, 2^G): sums of the weights of sets that need no other members
    logs: np.ndarray  # (G, 2^G): their logarithms
    first: np.ndarray  # (2^G,): (log) weight of all orders in which these members come first
    scale: np.ndarray  # (G,): what sums are to be multiplied by
    ways: np.ndarray  # (2^G,): how many orders of these members a graph allows
    sets: np.ndarray  # (2, G) int64: the sets of parents now, and those proposed


def new_group(N, C, size=SIZE):
    """Return room for groups of N nodes with C candidates each."""
    G = min(size, N)
    return NodeGroup(
        np.zeros(G, np.int64), np.zeros(N, np.int64), np.zeros((G, 1 << C), np.int64),
        np.zeros((G, 1 << G)), np.zeros((G, 1 << G)), np.zeros(1 << G), np.ones(G),
        np.zeros(1 << G),
        np.zeros((2, G), np.int64),
    )  # fmt: skip


@kernel
def choose_group(layers, group, rng):
    """Choose a node and its candidates, as many as there is room for; return how many these are."""
    v, n, room = np.int64(rng.random() * layers.t.shape[0]), 1, group.nodes.shape[0]
    many = count_candidates(layers, v)
    group.nodes[0] = v
    for q in range(many):
        if rng.random() * (many - q) < room - n:
            group.nodes[n] = layers.cand[v, q]
            n += 1
    return n


@kernel
def find_reach(state, group, n):
    """Fill in from which members each node is reached along paths through no other members."""
    reach, N = group.reach, state.z.shape[0]
    left = N - n
    for i in range(N):
        reach[i] = -1
    for k in range(n):
        reach[group.nodes[k]] = 1 << k
    while left > 0:
        for i in range(N):
            if reach[i] >= 0:
                continue
            found, ready = 0, True
            for w in range(state.pa.shape[1]):
                rest = state.pa[i, w]
                while rest != ZERO and ready:
                    above = reach[(w << 6) + lowest(rest)]
                    rest &= rest - ONE
                    ready = above >= 0
                    found |= above
            if ready:
                reach[i] = found
                left -= 1


@kernel
def list_needs(model, layers, group, k):
    """Fill in what each set of parents of member k needs; return how many sets there are."""
    c, need, size, rest = group.nodes[k], group.need[k], 1, layers.kept[group.nodes[k]]
    need[0] = 0
    while rest != ZERO:
        need[0] |= group.reach[model.layout.cand[c, lowest(rest)]]
        rest &= rest - ONE
    for q in range(layers.size[c]):
        reach = group.reach[layers.cand[c, q]]
        for s in range(size):
            need[size + s] = need[s] | reach
        size *= 2
    return size


@kernel
def weigh_needs(model, layers, group, n, k):
    """Fill the sums of the weights of the sets of parents of member k, by members before it.

    Returns how far the sum is below that of all sets if nobody comes before, as a logarithm.
    """
    sums, need, weight = group.sums[k], group.need[k], layers.weight[group.nodes[k]]
    for Q in range(1 << n):
        sums[Q] = 0.0
    for s in range(list_needs(model, layers, group, k)):
        sums[need[s]] += weight[s]
    step, most = 1, (1 << n) - 1 - (1 << k)  # a set that needs k itself is in no sum that counts
    while step < 1 << n:
        for base in range(0, 1 << n, 2 * step):
            for Q in range(base, base + step):
                sums[Q + step] += sums[Q]
        step *= 2
    group.scale[k] = sums[most]
    return safe_log(sums[0]) - safe_log(sums[most])


@kernel
def weigh_plainly(group, n):
    """Fill the weights of all orders of every subset, without logarithms."""
    first, sums = group.first, group.sums
    for k in range(n):
        for Q in range(1 << n):
            sums[k, Q] /= group.scale[k]
    first[0] = 1.0
    for Q in range(1, 1 << n):
        total = 0.0
        for k in range(n):
            if Q >> k & 1:
                total += first[Q ^ (1 << k)] * sums[k, Q ^ (1 << k)]
        first[Q] = total


@kernel
def weigh_orders(group, n):
    """Fill the log weights of all orders of the members of every subset; return that of all."""
    first, logs, terms = group.first, group.logs, np.empty(n)
    for k in range(n):
        for Q in range(1 << n):
            logs[k, Q] = safe_log(group.sums[k, Q])
        group.scale[k] = 1.0
    first[0] = 0.0
    for Q in range(1, 1 << n):
        top, total = -np.inf, 0.0
        for k in range(n):
            terms[k] = -np.inf
            if Q >> k & 1:
                terms[k] = first[Q ^ (1 << k)] + logs[k, Q ^ (1 << k)]
            top = max(top, terms[k])
        first[Q] = top
        if top > -np.inf:
            for k in range(n):
                if terms[k] - top > -700.0:
                    total += exp(terms[k] - top)
            first[Q] = top + log(total)
    return first[(1 << n) - 1]


@part
def draw_last(group, n, Q, plain, rng):
    """Draw which member of Q comes last."""
    u, last = rng.random(), -1
    for k in range(n):
        if Q >> k & 1 and (last < 0 or u >= 0.0):
            V, share = Q ^ (1 << k), 0.0
            if plain:
                share = group.first[V] * group.sums[k, V] / group.first[Q]
            elif group.first[V] + group.logs[k, V] - group.first[Q] > -700.0:
                share = exp(group.first[V] + group.logs[k, V] - group.first[Q])
            if share > 0.0:
                last = k
                u -= share
    return last


@kernel
def draw_sets(layers, group, n, plain, sets, rng):
    """Draw an order of the group from its end, and with each member its parents."""
    Q = (1 << n) - 1
    for _ in range(n):
        k = draw_last(group, n, Q, plain, rng)
        Q ^= 1 << k
        c, need = group.nodes[k], group.need[k]
        weight, u = layers.weight[c], rng.random() * group.sums[k, Q] * group.scale[k]
        for s in range(1 << layers.size[c]):
            if need[s] & ~Q == 0 and weight[s] > 0.0:
                sets[k] = s
                u -= weight[s]
                if u < 0.0:
                    break


@kernel
def orders_of(group, n, sets):
    """Return how many orders of the group the sets of parents allow."""
    before = np.empty(n, np.int64)
    for k in range(n):
        before[k] = group.need[k, sets[k]]
    return count_orders(before, n, group.ways)


@kernel
def redraw_groups(model, state, layers, group, tries, rng):
    """Redraw the parents of so many groups (Metropolis); return how many were accepted.

    The tables must be those of this state.
    """
    mine, other, accepted = group.sets[0], group.sets[1], 0
    for _ in range(tries):
        n, below = choose_group(layers, group, rng), 0.0
        find_reach(state, group, n)
        for k in range(n):
            below += weigh_needs(model, layers, group, n, k)
            mine[k] = to_set(model, layers, group.nodes[k], state.fam[group.nodes[k]])
        plain = below > LEAST
        if plain:
            weigh_plainly(group, n)
        elif weigh_orders(group, n) == -np.inf:
            continue
        draw_sets(layers, group, n, plain, other, rng)
        if rng.random() * orders_of(group, n, other) < orders_of(group, n, mine):
            accepted += 1
            for k in range(n):
                c = group.nodes[k]
                word = layers.kept[c] | to_word(model, layers, c, other[k])
                set_parents(model.layout, state, c, word)
    return accepted
