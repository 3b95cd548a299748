"""Tables over the sets of parents of many nodes: weights, and their sums over subsets.

Sets are those of a few strong candidates, at most MOST_DRAWN of them. What else a node has as
parents is kept: a node with a parent that is no strong candidate draws among the first NARROW
candidates only, so that few scores are new, and one with more than MOST_DRAWN parents draws
nothing. Whether that is so depends on what is kept alone, so a move back would be made alike.

A node may have children that would explain it far better than its parents do, by hundreds of nats.
So the best set has the weight exp(TOP), and sets down to exp(LEAST) of it are told from nothing.
A node whose parents are worse than that keeps them, and others never draw such sets.
"""

from typing import NamedTuple

import numpy as np

from infinimix.kernels.compile import kernel, part
from infinimix.kernels.elementary import exp
from infinimix.networks.engine.graphs import ONE, ZERO, has, lowest, popcount
from infinimix.networks.engine.model import required_parents, score_of
from infinimix.networks.engine.packs import packed
from infinimix.networks.engine.scores import compute_score

WIDEST, DECAY = 48, 1.5  # a child is d levels above its parents: P(d) ~ d^-DECAY, d <= WIDEST
NARROW = 6
PARENT, CHILD = 8.0, 2.0  # weights of those that are seen, 1 for other parents of a child
MOST_DRAWN = 5
TOP = 650.0  # the log weight of the best set
LEAST = -1290.0  # log weights below this, relative to the best set, count as nothing
TOTAL, VALUES, BEFORE, AFTER, STEPS = range(5)  # rows of `levels`


@packed
class Layers(NamedTuple):
    """Levels of the nodes, tables over their sets of parents, and room to work."""

    core: np.ndarray  # (N, 2^C): scores of all sets of strong candidates; NaN before they are known
    weight: np.ndarray  # (N, 2^C): weights of sets, exp(TOP) of the best
    sums: np.ndarray  # (N, 2^C): their sums over the subsets of every set
    cand: np.ndarray  # (N, C) int64: strong candidates, the best first
    place: np.ndarray  # (N, N) int16: place[c, v] is the bit of v in the tables of c, -1 if none
    size: np.ndarray  # (N,) int64: how many of the candidates of c are drawn
    kept: np.ndarray  # (N,) uint64: the other parents, as bits of the layout
    t: np.ndarray  # (N,) int64: levels
    odds: np.ndarray  # (K, K): log odds of edges from class to class
    levels: np.ndarray  # (5, B): see TOTAL .. STEPS
    below: np.ndarray  # (B,) int64: candidates up to each level, as a set
    words: np.ndarray  # (2^C,) int64: sets that may be drawn
    prods: np.ndarray  # (2^C,): their weights


def new_layers(order, K):
    """Return tables for candidates `order`, (N, C), the best first and -1 where there are fewer."""
    N, C = order.shape
    place = np.full((N, N), -1, np.int16)
    for c in range(N):
        for k, v in enumerate(order[c]):
            if v >= 0:
                place[c, v] = k
    room = 8 * N + 4 * WIDEST
    levels = np.zeros((5, room))
    gaps = np.arange(1, WIDEST + 1) ** -DECAY
    levels[STEPS, 1 : WIDEST + 1] = gaps / gaps.sum()
    table = np.full((N, 1 << C), np.nan)
    return Layers(
        table, table.copy(), table.copy(), np.ascontiguousarray(order, dtype=np.int64), place,
        np.zeros(N, np.int64), np.zeros(N, np.uint64), np.zeros(N, np.int64), np.zeros((K, K)),
        levels, np.zeros(room, np.int64), np.zeros(1 << C, np.int64), np.zeros(1 << C),
    )  # fmt: skip


@part
def count_candidates(layers, c):
    """Return how many strong candidates c has."""
    n = 0
    while n < layers.cand.shape[1] and layers.cand[c, n] >= 0:
        n += 1
    return n


@kernel
def to_word(model, layers, c, s):
    """Return a set of the tables of c as bits of the layout."""
    word, left = ZERO, np.uint64(s)
    while left != ZERO:
        k = lowest(left)
        left &= left - ONE
        word |= ONE << np.uint64(model.layout.pos[c, layers.cand[c, k]])
    return word


@kernel
def choose_drawn(model, state, layers, c):
    """Decide which candidates of c are drawn again, and which of its parents are kept."""
    n = count_candidates(layers, c)
    free = to_word(model, layers, c, (1 << n) - 1)
    if popcount(state.fam[c]) > MOST_DRAWN:
        n, free = 0, ZERO
    elif state.fam[c] & ~free != ZERO:
        n = min(n, NARROW)
        free = to_word(model, layers, c, (1 << n) - 1)
    layers.size[c] = n
    layers.kept[c] = state.fam[c] & ~free


@kernel
def keep_all(state, layers, c):
    """Let c keep all its parents."""
    layers.size[c], layers.kept[c] = 0, state.fam[c]


@kernel
def fill_core(model, layers, c):
    """Compute the scores of all sets of strong candidates of c, once."""
    core = layers.core[c]
    for s in range(1 << count_candidates(layers, c)):
        if popcount(np.uint64(s)) > min(MOST_DRAWN, model.layout.max_parents):
            core[s] = -np.inf
        else:
            word = to_word(model, layers, c, s)
            core[s] = compute_score(model.data, model.layout, model.cache, c, word)


@kernel
def weigh_sets(model, z, layers, c, power):
    """Fill the weights of the sets of parents of c, and their sums over subsets."""
    weight, sums, core, prior = layers.weight[c], layers.sums[c], layers.core[c], model.prior
    kept, most = layers.kept[c], min(MOST_DRAWN, model.layout.max_parents)
    must, room, n = required_parents(model, c), max(most - popcount(kept), 0), 1
    weight[0] = 0.0
    for k in range(layers.size[c]):
        i = layers.cand[c, k]
        odds = layers.odds[z[i], z[c]]
        if prior.bonus[i, c] < np.inf:
            odds += prior.bonus[i, c]
        for s in range(n):
            weight[n + s] = weight[s] + odds
        n *= 2
    if kept == ZERO:
        if core[0] != core[0]:
            fill_core(model, layers, c)
        for s in range(n):
            weight[s] += power * core[s]
    else:
        for s in range(n):
            if popcount(np.uint64(s)) > room:
                weight[s] = -np.inf
            else:
                weight[s] += power * score_of(model, c, kept | to_word(model, layers, c, s))
    if must & ~kept != ZERO:
        for s in range(n):
            if (kept | to_word(model, layers, c, s)) & must != must:
                weight[s] = -np.inf
    top = -np.inf
    for s in range(n):
        top = max(top, weight[s])
    for s in range(n):
        x = exp(max(weight[s] - top, LEAST) + TOP)
        weight[s] = x if weight[s] - top > LEAST else 0.0
        sums[s] = weight[s]
    step = 1
    while step < n:
        for base in range(0, n, 2 * step):
            for s in range(base, base + step):
                sums[s + step] += sums[s]
        step *= 2


@kernel
def to_set(model, layers, c, word):
    """Return bits of the layout as a set of the tables of c; parents that are kept are left out."""
    s, left = 0, word & ~layers.kept[c]
    while left != ZERO:
        i = model.layout.cand[c, lowest(left)]
        left &= left - ONE
        s |= 1 << layers.place[c, i]
    return s


@kernel
def count_blankets(state, seen):
    """Add to seen[c, i] for parents i of c, children, and other parents of children.

    A parent that is no candidate is kept, and blocks the way to other modes. So one that is there
    in a quarter of all graphs weighs as much as a child that is always there.
    """
    n = state.z.shape[0]
    for c in range(n):
        for i in range(n):
            if not has(state.pa[c], i):
                continue
            seen[c, i] += PARENT
            seen[i, c] += CHILD
            for j in range(i):
                if has(state.pa[c], j):
                    seen[i, j] += 1.0
                    seen[j, i] += 1.0
