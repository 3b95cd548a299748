"""Moves on signs and classes where effects have signs: the class of a node has a say in them.

Effects of the nodes of class a are positive with probability phi_a ~ Beta(1/2, 1/2). Moves on
graphs run given z and phi, with the signs summed out (`signed_scores`). A move on classes first
draws the signs, given graph, z and phi; then classes move given graph and signs, with phi
integrated out,

    P(G, z, signs) = P(G, z) prod_a B(1/2 + p_a, 1/2 + q_a) / B(1/2, 1/2)

for p_a positive and q_a negative effects of class a; then phi is drawn given all of these. The
moves of `class_moves` on several nodes propose as they do without signs, and what they do is kept
or undone by the ratio of the products (Metropolis).
"""

from math import lgamma

import numpy as np

from infinimix.kernels.compile import kernel, part
from infinimix.kernels.draws import invert
from infinimix.kernels.elementary import log
from infinimix.networks.engine.blocks import log_prior
from infinimix.networks.engine.class_moves import (
    join_class,
    move_node,
    split_merge,
    swap_classes,
    weigh_classes,
)
from infinimix.networks.engine.graphs import ONE, ZERO, bit, lowest, popcount
from infinimix.networks.engine.scores import forget
from infinimix.networks.engine.signed_scores import fill_sign_weights, gains_of
from infinimix.networks.engine.signs import SHAPE

EDGE = 1e-12  # phi stays so far from 0 and 1


@kernel
def draw_signs(model, state, rng):
    """Draw the signs of all effects, given the graph, the classes and phi."""
    data, layout, cache = model.data, model.layout, model.cache
    signs, weights = cache.signs, cache.signs.sums[0]
    for c in range(state.z.shape[0]):
        word = state.fam[c]
        at, n, total = gains_of(data, layout, cache, c, word), 1 << popcount(word), 0.0
        fill_sign_weights(layout, signs, c, word, at, weights)
        for s in range(n):
            total += weights[s]
        signs.drawn[c] = invert(weights, n, total * rng.random())
        signs.drawn_for[c] = word


@kernel
def count_effects(model, state):
    """Count the positive and negative effects of all nodes and classes."""
    signs, layout = model.cache.signs, model.layout
    signs.effects[:] = 0
    signs.tally[:] = 0
    for c in range(state.z.shape[0]):
        rest, left = state.fam[c], signs.drawn[c]
        while rest != ZERO:
            i = layout.cand[c, lowest(rest)]
            signs.effects[left & 1, i] += 1
            signs.tally[left & 1, state.z[i]] += 1
            rest &= rest - ONE
            left >>= 1


@part
def log_effects(p, q):
    """Return log B(1/2 + p, 1/2 + q) - log B(1/2, 1/2)."""
    none = lgamma(2.0 * SHAPE) - 2.0 * lgamma(SHAPE)
    return lgamma(SHAPE + p) + lgamma(SHAPE + q) - lgamma(2.0 * SHAPE + p + q) + none


@kernel
def log_sign_prior(signs):
    """Return the log probability of the signs given graph and classes, as they are counted."""
    total = 0.0
    for k in range(signs.tally.shape[1]):
        if signs.tally[0, k] + signs.tally[1, k] > 0:
            total += log_effects(signs.tally[0, k], signs.tally[1, k])
    return total


@kernel
def shift_effects(signs, i, k, step):
    """Let the effects of node i enter (+1) or leave (-1) class k."""
    signs.tally[0, k] += step * signs.effects[0, i]
    signs.tally[1, k] += step * signs.effects[1, i]


@kernel
def signed_class_gibbs(model, state, i, rng):
    """Draw the class of node i, whose effects have signs."""
    if model.prior.anchor[i] >= 0:
        return
    signs, scores = model.cache.signs, model.weights
    p, q = signs.effects[0, i], signs.effects[1, i]
    shift_effects(signs, i, state.z[i], -1)
    weigh_classes(model, state, i)
    for k in range(state.m.shape[0]):
        if scores[k] > -np.inf and p + q > 0:
            x, y = signs.tally[0, k], signs.tally[1, k]
            scores[k] += log_effects(x + p, y + q) - log_effects(x, y)
    join_class(model, state, i, rng)
    shift_effects(signs, i, state.z[i], 1)


@kernel
def keep_or_undo(model, state, before, old, rng):
    """Keep the classes that a move has proposed, or return to the old ones."""
    count_effects(model, state)
    if log(1.0 - rng.random()) < log_sign_prior(model.cache.signs) - before:
        return
    for i in range(state.z.shape[0]):
        if state.z[i] != old[i]:
            move_node(model, state, i, old[i])
    count_effects(model, state)


@kernel
def draw_shares(model, state, rng):
    """Draw phi of each class; sums over signs are then computed again."""
    signs, n = model.cache.signs, state.z.shape[0]
    for k in range(state.m.shape[0]):
        if state.m[k] > 0:
            phi = rng.beta(SHAPE + signs.tally[0, k], SHAPE + signs.tally[1, k])
            for i in range(n):
                if state.z[i] == k:
                    signs.positive[i] = min(max(phi, EDGE), 1.0 - EDGE)
    forget(model.cache)


@kernel
def move_signed_classes(model, state, rng):
    """Draw signs, then classes, then the shares of positive effects."""
    signs, n = model.cache.signs, state.z.shape[0]
    draw_signs(model, state, rng)
    count_effects(model, state)
    if model.prior.classes_move:
        for i in range(n):
            signed_class_gibbs(model, state, i, rng)
        before, old = log_sign_prior(signs), state.z.copy()
        swap_classes(model, state, rng)
        keep_or_undo(model, state, before, old, rng)
        before, old = log_sign_prior(signs), state.z.copy()
        split_merge(model, state, rng)
        keep_or_undo(model, state, before, old, rng)
    draw_shares(model, state, rng)


@kernel
def note_signs(model, state, negative, rng):
    """Write the parents with negative effects as words of nodes; return the log joint.

    Where the graph has changed since signs were drawn, they are drawn again.
    """
    signs, n = model.cache.signs, state.z.shape[0]
    for c in range(n):
        if signs.drawn_for[c] != state.fam[c]:
            draw_signs(model, state, rng)
            break
    count_effects(model, state)
    total = log_prior(model.prior, state) + log_sign_prior(signs)
    for c in range(n):
        for w in range(negative.shape[1]):
            negative[c, w] = ZERO
        at = gains_of(model.data, model.layout, model.cache, c, state.fam[c])
        total += signs.values[c, at, signs.drawn[c]]
        total += signs.values[c, at, signs.values.shape[2] - 1]
        rest, left = state.fam[c], signs.drawn[c]
        while rest != ZERO:
            i = model.layout.cand[c, lowest(rest)]
            if left & 1:
                negative[c, i >> 6] |= bit(i)
            rest &= rest - ONE
            left >>= 1
    return total
