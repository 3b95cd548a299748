"""Whole sets of parents of a node, drawn again given everything else."""

import numpy as np

from infinimix.kernels.compile import kernel, part
from infinimix.kernels.draws import invert
from infinimix.kernels.elementary import exp, log
from infinimix.networks.engine.blocks import UNIFORM, log_beta, pairs, set_parents
from infinimix.networks.engine.graphs import ONE, ZERO, lowest, mark_descendants, popcount
from infinimix.networks.engine.model import MARKS, OUT, PLACES, look_up
from infinimix.networks.engine.scores import keep_score


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
def fill_tables(model, state, c):
    """Fill tables[a, k] with the log prior of k more parents of c in class a; return that of none.

    Without blocks the tables are all zero.
    """
    prior, b, none = model.prior, state.z[c], 0.0
    for a in range(state.m.shape[0]):
        if state.m[a] > 0:
            n, total = state.plus[a, b], pairs(prior, state, a, b)
            for k in range(min(state.m[a], 65) + 1):
                model.tables[a, k] = 0.0
                if prior.kind != UNIFORM and n + k <= total:
                    model.tables[a, k] = log_beta(prior, n + k, total)
            none += model.tables[a, 0]
    return none


@kernel
def weigh_priors(model, state, c, free):
    """Fill weights with the log priors of all subsets of `free`; return how many there are.

    Subset s takes the bits of s from the places in `places`. A candidate doubles the subsets: one
    with it has the prior of the one without it, and one more parent of its class.
    """
    places, mates, weights = model.room[PLACES], model.room[OUT], model.weights
    for a in range(state.m.shape[0]):
        mates[a] = 0
    n, rest, size = 1, free, 0
    weights[0] = fill_tables(model, state, c)
    while rest != ZERO:
        k = lowest(rest)
        rest &= rest - ONE
        i = model.layout.cand[c, k]
        odds, table = model.prior.bonus[i, c], model.tables[state.z[i]]
        own = np.uint64(mates[state.z[i]])
        for s in range(n):
            t = popcount(np.uint64(s) & own)
            weights[n + s] = weights[s] + (odds + table[t + 1] - table[t])
        mates[state.z[i]] |= n
        places[size] = k
        size += 1
        n *= 2
    return n


@kernel
def weigh_sets(model, state, c, free, fixed, power):
    """Fill weights with those of all subsets of `free` beside `fixed`; return their log sum.

    Child c has no parents but `fixed` when this is called. Weights are relative to the largest.
    """
    values, keys, weights, top = model.cache.values, model.cache.keys, model.weights, -np.inf
    n, most = weigh_priors(model, state, c, free), model.layout.max_parents - popcount(fixed)
    word = ZERO
    for s in range(n):
        log_weight = -np.inf
        if popcount(word) <= most:
            at = look_up(values, keys, c, fixed | word)
            score = values[c, at]
            if score != score:
                score = keep_score(model.data, model.layout, model.cache, c, fixed | word, at)
            log_weight = weights[s] + power * score
        weights[s] = log_weight
        top = max(top, log_weight)
        word = (word - free) & free  # the next subset
    for s in range(n):
        weight = exp(weights[s] - top)
        weights[s] = weight if weights[s] > -np.inf else 0.0
    total = 0.0
    for s in range(n):
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
    """Draw the strong parents of c again, given everything else."""
    free = free_parents(model, state, c)
    fixed = state.fam[c] & ~free
    set_parents(model.layout, state, c, fixed)
    weigh_sets(model, state, c, free, fixed, power)
    set_parents(model.layout, state, c, fixed | draw_set(model, free, rng))


@kernel
def redraw_set(model, state, power, rng):
    """Draw the strong parents of some node again."""
    set_gibbs(model, state, np.int64(rng.random() * state.z.shape[0]), power, rng)
