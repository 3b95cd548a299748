"""Moves on the graph: three-way Gibbs on pairs, whole sets of parents, edge reversal.

The likelihood is raised to `power`, for tempering; 1 is the posterior. Each function leaves the
posterior of (G, z) as it is; `tests/oracle/test_network_moves.py` shows it one by one.
"""

from typing import NamedTuple

import numpy as np

from infinimix.kernels.compile import kernel, part
from infinimix.kernels.draws import invert
from infinimix.kernels.elementary import exp, log
from infinimix.networks.engine.blocks import (
    UNIFORM,
    Prior,
    log_beta,
    pairs,
    set_edge,
    set_parents,
)
from infinimix.networks.engine.graphs import (
    LAST,
    ONE,
    ZERO,
    lowest,
    mark_descendants,
    popcount,
    reaches,
)
from infinimix.networks.engine.scores import (
    HALF,
    MIX,
    Cache,
    Data,
    Layout,
    keep_score,
)


class Model(NamedTuple):
    """All that does not change while a chain runs, and room to work."""

    data: Data
    layout: Layout
    prior: Prior
    cache: Cache
    couples: np.ndarray  # (2, P): the pairs of nodes between which an edge is possible
    weights: np.ndarray  # room for the weights of sets and classes
    tables: np.ndarray  # (K, 66) room for log priors of numbers of parents in a class
    room: np.ndarray  # (4, ...) int64: links out, links in, places of bits, descendants


OUT, INTO, PLACES, MARKS = range(4)


@part
def look_up(values, keys, c, mask):
    """Return the slot of a family score; as `find_slot`, from bare arrays."""
    if keys.shape[1] == 0:
        return np.int64(mask)
    last = np.int64(keys.shape[1] - 1)
    h = mask * MIX
    at = np.int64((h ^ (h >> HALF)) & np.uint64(last))
    while keys[c, at] != mask and not np.isnan(values[c, at]):
        at = (at + 1) & last
    return at


@kernel
def pair_gibbs(model, state, begin, end, power, rng):
    """For each pair from `begin` to `end`, draw none, i -> j or j -> i given everything else.

    A direction that would close a circle is found out only when it is drawn; it is then struck
    off and the draw repeated, which is a draw from the distribution without it. Everything is
    taken out of the model before the loop: each access inside it would cost more than the draw.
    """
    values, keys, pos, most = model.cache.values, model.cache.keys, model.layout.pos, 0
    fam, pa, z, m, plus = state.fam, state.pa, state.z, state.m, state.plus
    bonus, held, couples = model.prior.bonus, model.prior.held, model.couples
    b1, b2, blocks = model.prior.hyper[1], model.prior.hyper[2], model.prior.kind != UNIFORM
    most = model.layout.max_parents
    for p in range(begin, end):
        i, j = couples[0, p], couples[1, p]
        there = (pa[j, i >> 6] >> (np.uint64(i) & LAST)) & ONE != ZERO
        back = (pa[i, j >> 6] >> (np.uint64(j) & LAST)) & ONE != ZERO
        weight, other, log_weight, log_other = 0.0, 0.0, -np.inf, -np.inf
        for turn in range(2):  # the log weight of u -> v against no edge
            u, v = (i, j) if turn == 0 else (j, i)
            k = pos[v, u]
            if k < 0 or bonus[v, u] == np.inf:
                continue
            word, a, b = ONE << np.uint64(k), z[u], z[v]
            bare, here = fam[v] & ~word, there if turn == 0 else back
            if popcount(bare) >= most:
                continue
            at = look_up(values, keys, v, bare)
            low = values[v, at]
            if low != low:
                low = keep_score(model.data, model.layout, model.cache, v, bare, at)
            at = look_up(values, keys, v, bare | word)
            high = values[v, at]
            if high != high:
                high = keep_score(model.data, model.layout, model.cache, v, bare | word, at)
            odds = 1.0
            if blocks:
                n = plus[a, b] - here
                if a == b:  # the other direction may be in the same block
                    n -= back if turn == 0 else there
                gaps = m[a] * (m[b] - (a == b)) + held[1, a, b] - n - 1
                odds = (b1 + n) / (b2 + gaps)
            log_w = power * (high - low)
            if bonus[u, v] < np.inf:
                log_w += bonus[u, v]
            if turn == 0:
                weight, log_weight = odds, log_w
            else:
                other, log_other = odds, log_w
        top = max(0.0, max(log_weight, log_other))
        none = 0.0 if bonus[i, j] == np.inf or bonus[j, i] == np.inf else exp(-top)
        weight = weight * exp(log_weight - top) if weight > 0.0 else 0.0
        other = other * exp(log_other - top) if other > 0.0 else 0.0
        choice = 0
        while True:
            x = rng.random() * (none + weight + other)
            choice = 0 if x < none else 1 if x < none + weight else 2
            if choice == 1 and not there:
                if back:
                    set_edge(model.layout, state, j, i, False)
                    back = False
                if reaches(pa, j, i):
                    weight = 0.0
                    continue
            if choice == 2 and not back:
                if there:
                    set_edge(model.layout, state, i, j, False)
                    there = False
                if reaches(pa, i, j):
                    other = 0.0
                    continue
            break
        if there and choice != 1:
            set_edge(model.layout, state, i, j, False)
        if back and choice != 2:
            set_edge(model.layout, state, j, i, False)
        if choice == 1 and not there:
            set_edge(model.layout, state, i, j, True)
        if choice == 2 and not back:
            set_edge(model.layout, state, j, i, True)


@kernel
def free_parents(model, state, c):
    """Return the strong candidates of c that are no descendants of it and are free to come."""
    marks = model.room[MARKS]
    mark_descendants(state.pa, c, marks)
    word, rest = ZERO, model.layout.strong[c]
    while rest != ZERO:
        k = lowest(rest)
        rest &= rest - ONE
        i = model.layout.cand[c, k]
        if marks[i] == 0 and model.prior.bonus[i, c] < np.inf and model.layout.pos[c, i] >= 0:
            word |= ONE << np.uint64(k)
    return word


@kernel
def required_parents(model, c):
    """Return the candidates of c that must be parents."""
    word = ZERO
    for k in range(model.layout.cand.shape[1]):
        if model.prior.bonus[model.layout.cand[c, k], c] == np.inf:
            word |= ONE << np.uint64(k)
    return word


@kernel
def fill_tables(model, state, c, fixed):
    """Fill tables[a, k] with the log prior of k parents of c in class a, beside the fixed ones."""
    prior, b = model.prior, state.z[c]
    for a in range(state.m.shape[0]):
        if state.m[a] > 0:
            n, total = state.plus[a, b], pairs(prior, state, a, b)
            for k in range(min(state.m[a], 65) + 1):
                if n + k <= total:
                    model.tables[a, k] = log_beta(prior, n + k, total)


@kernel
def weigh_sets(model, state, c, free, fixed, power):
    """Fill weights with those of all subsets of `free` beside `fixed`; return their log sum.

    Child c has no parents but `fixed` when this is called. Subset s takes the bits of s from the
    places in `places`. Weights are relative to the largest.
    """
    layout, prior = model.layout, model.prior
    places, out, weights, tables = model.room[PLACES], model.room[OUT], model.weights, model.tables
    values, keys, cand, odds = model.cache.values, model.cache.keys, layout.cand, prior.bonus
    z, m, blocks, most = state.z, state.m, prior.kind != UNIFORM, layout.max_parents
    size, rest = 0, free
    while rest != ZERO:
        places[size] = lowest(rest)
        rest &= rest - ONE
        size += 1
    if prior.kind != UNIFORM:
        fill_tables(model, state, c, fixed)
    held, top = popcount(fixed), -np.inf
    for s in range(1 << size):
        word, bonus = fixed, 0.0
        left = np.uint64(s)
        if held + popcount(left) > most:
            weights[s] = -np.inf
            continue
        for a in range(m.shape[0]):
            out[a] = 0
        while left != ZERO:
            k = places[lowest(left)]
            left &= left - ONE
            word |= ONE << np.uint64(k)
            i = cand[c, k]
            bonus += odds[i, c]
            out[z[i]] += 1
        if blocks:
            for a in range(m.shape[0]):
                if m[a] > 0:
                    bonus += tables[a, out[a]]
        at = look_up(values, keys, c, word)
        score = values[c, at]
        if score != score:
            score = keep_score(model.data, layout, model.cache, c, word, at)
        weights[s] = power * score + bonus
        top = max(top, weights[s])
    total = 0.0
    for s in range(1 << size):
        weights[s] = exp(weights[s] - top) if weights[s] > -np.inf else 0.0
        total += weights[s]
    return top + log(total)


@part
def subset(places, s):
    """Return the word that subset s stands for."""
    word, left = ZERO, np.uint64(s)
    while left != ZERO:
        word |= ONE << np.uint64(places[lowest(left)])
        left &= left - ONE
    return word


@kernel
def draw_set(model, free, rng):
    """Draw a subset of `free` by the weights that `weigh_sets` has left."""
    n = 1 << popcount(free)
    total = 0.0
    for s in range(n):
        total += model.weights[s]
    return subset(model.room[PLACES], invert(model.weights, n, total * rng.random()))


@kernel
def set_gibbs(model, state, c, power, rng):
    """Draw the strong parents of c anew, given everything else."""
    free = free_parents(model, state, c)
    fixed = state.fam[c] & ~free
    set_parents(model.layout, state, c, fixed)
    weigh_sets(model, state, c, free, fixed, power)
    set_parents(model.layout, state, c, fixed | draw_set(model, free, rng))


@kernel
def propose_pair(model, state, first, second, power, drawn, sets, rng):
    """Give `first` parents with `second` among them, then `second` any; return log target / q.

    Both have no parents but required ones when this is called. Without `drawn`, the parents are
    those of `sets`. What is returned is, up to a term that both directions share, the log of the
    sums over sets: the weight of the set that was drawn cancels against the target.
    """
    total = model.prior.bonus[second, first]
    for turn in range(2):
        c = first if turn == 0 else second
        must = required_parents(model, c)
        total += link_prior(model, state, c)
        if turn == 0:
            must |= ONE << np.uint64(model.layout.pos[first, second])
            set_parents(model.layout, state, c, must)
        free = free_parents(model, state, c) & ~must
        total += weigh_sets(model, state, c, free, must, power)
        if drawn:
            sets[turn] = must | draw_set(model, free, rng)
        set_parents(model.layout, state, c, sets[turn])
    return total


@kernel
def link_prior(model, state, c):
    """Return the log prior of the blocks that end in the class of c, as they are, negated.

    `weigh_sets` counts these blocks as they become; what they were must be taken away.
    """
    prior, b, total = model.prior, state.z[c], 0.0
    if prior.kind == UNIFORM:
        return 0.0
    for a in range(state.m.shape[0]):
        if state.m[a] > 0:
            total -= log_beta(prior, state.plus[a, b], pairs(prior, state, a, b))
    return total


@kernel
def all_strong(model, state, c, must):
    """Are all parents of c strong candidates or required?"""
    return state.fam[c] & ~(model.layout.strong[c] | must) == ZERO


@kernel
def count_edges(state):
    """Return the number of edges."""
    n = 0
    for c in range(state.fam.shape[0]):
        n += popcount(state.fam[c])
    return n


@kernel
def reverse_edge(model, state, power, rng):
    """Turn an edge i -> j round and draw new parents for both (Grzegorczyk and Husmeier 2008)."""
    layout, prior = model.layout, model.prior
    n_edges = count_edges(state)
    if n_edges == 0:
        return False
    pick = np.int64(rng.random() * n_edges)
    j = 0
    while pick >= popcount(state.fam[j]):
        pick -= popcount(state.fam[j])
        j += 1
    word = state.fam[j]
    for _ in range(pick):
        word &= word - ONE
    i = layout.cand[j, lowest(word)]
    must_i, must_j = required_parents(model, i), required_parents(model, j)
    if layout.pos[i, j] < 0 or prior.bonus[i, j] == np.inf:
        return False
    if not (all_strong(model, state, i, must_i) and all_strong(model, state, j, must_j)):
        return False
    word_i, word_j = ONE << np.uint64(layout.pos[i, j]), ONE << np.uint64(layout.pos[j, i])
    if (layout.strong[i] & word_i == ZERO) or (layout.strong[j] & word_j == ZERO):
        return False
    old, new = np.empty(2, np.uint64), np.empty(2, np.uint64)
    old[0], old[1] = state.fam[j], state.fam[i]
    clear(layout, state, i, j, must_i, must_j)
    if reaches(state.pa, i, j) or reaches(state.pa, j, i):  # by required edges
        restore(layout, state, i, j, old)
        return False
    log_ratio = log(np.float64(n_edges))
    for turn in range(2):  # there, and the way back, which leaves the old state
        first, second = (i, j) if turn == 0 else (j, i)
        sets = new if turn == 0 else old
        total = propose_pair(model, state, first, second, power, turn == 0, sets, rng)
        log_ratio += total - log(np.float64(count_edges(state))) if turn == 0 else -total
        if turn == 0:
            clear(layout, state, i, j, must_i, must_j)
    if log(1.0 - rng.random()) < log_ratio:
        clear(layout, state, i, j, must_i, must_j)
        set_parents(layout, state, i, new[0])
        set_parents(layout, state, j, new[1])
        return True
    return False


@part
def clear(layout, state, i, j, must_i, must_j):
    """Take all parents that are not required from i and j."""
    set_parents(layout, state, i, must_i)
    set_parents(layout, state, j, must_j)


@part
def restore(layout, state, i, j, old):
    """Give i and j their old parents back."""
    set_parents(layout, state, j, old[0])
    set_parents(layout, state, i, old[1])
