"""Graphs of many nodes with the parents summed out: every node has a level, parents lie below it.

Given classes and edge probabilities the prior of graphs is a product over families, and so is the
posterior, w_c(S) for child c with parents S. Let the levels t be drawn from the graph, roots first,

    t_c = max_{i in S} t_i + d,   d ~ g,   where the maximum over no parents is -1

which is a distribution over levels for every graph. Given t the parents of different nodes are
independent again, and each node contributes one sum over its sets of parents,

    h_c(t) = sum_{m < t_c} (F_c(m) - F_c(m - 1)) g(t_c - m)

where F_c(m) is the sum of w_c over all sets of nodes up to level m, from a table of sums over
subsets. So: draw t given the graph; let one node after the other take a new level, with all graphs
summed out; draw the graph given t. Each step is an exact draw, and the levels are forgotten: the
graph keeps its posterior, without the bias of orders towards graphs that allow many of them. With
g(1) = 1 these are the partitions of Kuipers and Moffa (2017), in which a node cannot change its
level unless its descendants do. Here g has a long tail, so that a node with few ancestors is often
above one with many.

Sets are those of a few strong candidates (`layer_tables`), and other parents are kept.
"""

import numpy as np

from infinimix.kernels.compile import kernel, part
from infinimix.kernels.draws import invert
from infinimix.kernels.elementary import exp, log
from infinimix.networks.engine.blocks import set_parents
from infinimix.networks.engine.graphs import ONE, ZERO, lowest
from infinimix.networks.engine.layer_tables import (
    AFTER,
    BEFORE,
    STEPS,
    TOTAL,
    VALUES,
    WIDEST,
    choose_drawn,
    keep_all,
    to_set,
    to_word,
    weigh_sets,
)
from infinimix.networks.engine.orders import draw_odds

FLOOR = 1e-290  # sums of weights below this count as nothing


@part
def draw_gap(steps, rng):
    """Draw how many levels a node is above its highest parent."""
    u, d = rng.random(), 1
    while d < WIDEST and u >= steps[d]:
        u -= steps[d]
        d += 1
    return d


@kernel
def draw_levels(state, layers, rng):
    """Draw the levels of all nodes given the graph; return the highest."""
    t, n, left, top = layers.t, state.z.shape[0], state.z.shape[0], 0
    for c in range(n):
        t[c] = -1
    while left > 0:
        for c in range(n):
            if t[c] >= 0:
                continue
            above, ready = -1, True
            for w in range(state.pa.shape[1]):
                rest = state.pa[c, w]
                while rest != ZERO and ready:
                    i = (w << 6) + lowest(rest)
                    rest &= rest - ONE
                    ready = t[i] >= 0
                    above = max(above, t[i])
            if ready:
                t[c] = above + draw_gap(layers.levels[STEPS], rng)
                top = max(top, t[c])
                left -= 1
    return top


@kernel
def list_levels(layers, c, without, high):
    """Fill below[m + 1] with the candidates of c up to level m, for m from -1 to high - 1."""
    below, t = layers.below, layers.t
    for m in range(high + 1):
        below[m] = 0
    for k in range(layers.size[c]):
        i = layers.cand[c, k]
        if i != without and t[i] < high:
            below[t[i] + 1] |= 1 << k
    for m in range(high):
        below[m + 1] |= below[m]


@kernel
def lowest_level(model, layers, c, without):
    """Return the highest level of the parents of c that are kept, -1 if there are none."""
    low, rest = -1, layers.kept[c]
    while rest != ZERO:
        i = model.layout.cand[c, lowest(rest)]
        rest &= rest - ONE
        if i != without:
            low = max(low, layers.t[i])
    return low


@kernel
def weigh_own(model, layers, v, top, most):
    """Fill VALUES[p] with the sum h of node v at each level p < most; `top` is above all others."""
    below, sums, before = layers.below, layers.sums[v], 0.0
    out, steps = layers.levels[VALUES], layers.levels[STEPS]
    low = lowest_level(model, layers, v, -1)
    list_levels(layers, v, -1, top)
    for p in range(most):
        out[p] = 0.0
    for m in range(-1, top):
        now = sums[below[m + 1]] if m >= low else 0.0
        more = now - before
        before = now
        if more > 0.0:
            for d in range(1, min(WIDEST, most - 1 - m) + 1):
                out[m + d] += more * steps[d]


@kernel
def weigh_child(model, layers, c, v):
    """Fill VALUES[p] with the sum h of c if v has level p < t_c; return it for later levels."""
    below, sums, high, steps = layers.below, layers.sums[c], layers.t[c], layers.levels[STEPS]
    out, before, after = layers.levels[VALUES], layers.levels[BEFORE], layers.levels[AFTER]
    k, low = layers.place[c, v], lowest_level(model, layers, c, v)
    drawn = k >= 0 and k < layers.size[c]
    own = 1 << k if drawn else 0
    list_levels(layers, c, v, high)
    total, last = 0.0, 0.0
    for p in range(high + 1):  # levels without v, up to p - 1
        now = sums[below[p]] if p - 1 >= low and drawn else 0.0
        total += max(now - last, 0.0) * steps[high - p + 1]
        before[p], after[p], last = total, now, now
    beyond, total = before[high], 0.0
    for p in range(high - 1, -1, -1):
        now = sums[below[p + 1] | own] if p >= low else 0.0
        out[p] = before[p] + max(now - after[p], 0.0) * steps[high - p] + total
        earlier = sums[below[p] | own] if p - 1 >= low else 0.0
        total += max(now - earlier, 0.0) * steps[high - p]
    return beyond


@part
def safe_log(x):
    """Return log x, -inf where it is too small to be told from nothing."""
    return log(x) if x > FLOOR else -np.inf


@kernel
def move_level(model, layers, v, rng):
    """Draw the level of node v given those of all others, with the graph summed out."""
    t, total, values, n = layers.t, layers.levels[TOTAL], layers.levels[VALUES], layers.t.shape[0]
    top, last = 0, 0.0
    for c in range(n):
        if c != v:
            top = max(top, t[c] + 1)
    most = min(total.shape[0] - 2, top + WIDEST)  # no node is so far above all others
    for p in range(most):
        total[p] = 0.0
    for c in range(n):
        if c == v or (layers.place[c, v] < 0 and layers.kept[c] == ZERO):
            continue
        k = model.layout.pos[c, v]
        held = k >= 0 and layers.kept[c] & (ONE << np.uint64(k)) != ZERO
        if not held and (layers.place[c, v] < 0 or layers.place[c, v] >= layers.size[c]):
            continue
        beyond = safe_log(weigh_child(model, layers, c, v))
        for p in range(t[c]):
            total[p] += safe_log(values[p])
        for p in range(t[c], top):
            total[p] += beyond
        last += beyond
    for p in range(top, most):
        total[p] = last
    weigh_own(model, layers, v, top, most)
    best, whole = -np.inf, 0.0
    for p in range(most):
        total[p] += safe_log(values[p])
        best = max(best, total[p])
    for p in range(most):
        total[p] = exp(total[p] - best) if total[p] - best > -700.0 else 0.0
        whole += total[p]
    if whole > 0.0:  # else the level that it has is lost in rounding, and stays
        t[v] = invert(total, most, rng.random() * whole)


@kernel
def draw_family(model, state, layers, c, rng):
    """Draw the parents of c given all levels."""
    t, words, prods, steps = layers.t, layers.words, layers.prods, layers.levels[STEPS]
    low, weight, n, last = lowest_level(model, layers, c, -1), layers.weight[c], 1, -1
    words[0], total = 0, weight[0] * steps[t[c] - low]
    prods[0] = total
    while True:  # candidates by their levels, so that the last one gives the level of a set
        level = t[c]
        for k in range(layers.size[c]):
            i = layers.cand[c, k]
            if t[i] > last:
                level = min(level, t[i])
        if level >= t[c]:
            break
        step = steps[t[c] - max(level, low)]
        for k in range(layers.size[c]):
            if t[layers.cand[c, k]] == level:
                for s in range(n):
                    words[n + s] = words[s] | 1 << k
                    prods[n + s] = weight[words[n + s]] * step
                    total += prods[n + s]
                n *= 2
        last = level
    u, pick = rng.random() * total, 0
    for s in range(n):
        if prods[s] > 0.0:
            pick = s
            u -= prods[s]
            if u < 0.0:
                break
    word = layers.kept[c] | to_word(model, layers, c, words[pick])
    set_parents(model.layout, state, c, word)


@kernel
def redraw_layers(model, state, layers, rounds, power, rng):
    """Draw the whole graph again: levels, so many rounds over all nodes, then parents.

    Returns whether it was done. It is not where the graph has more levels than there is room for.
    """
    n = state.z.shape[0]
    draw_odds(model.prior, state, layers.odds, rng)
    for c in range(n):
        choose_drawn(model, state, layers, c)
        weigh_sets(model, state.z, layers, c, power)
        if layers.weight[c, to_set(model, layers, c, state.fam[c])] == 0.0:
            keep_all(state, layers, c)
            weigh_sets(model, state.z, layers, c, power)
    if draw_levels(state, layers, rng) >= layers.below.shape[0] - 2:
        return False
    for _ in range(rounds):
        for v in range(n):
            move_level(model, layers, v, rng)
    for c in range(n):
        draw_family(model, state, layers, c, rng)
    return True
