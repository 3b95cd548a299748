"""Edge reversal with new parents for both ends (Grzegorczyk and Husmeier 2008)."""

import numpy as np

from infinimix.kernels.compile import kernel, part
from infinimix.kernels.elementary import log
from infinimix.networks.engine.blocks import UNIFORM, log_beta, pairs, set_parents
from infinimix.networks.engine.graphs import ONE, ZERO, lowest, popcount, reaches
from infinimix.networks.engine.model import required_parents
from infinimix.networks.engine.set_moves import draw_set, free_parents, weigh_sets


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
