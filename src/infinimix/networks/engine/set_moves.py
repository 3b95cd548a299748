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
