"""Node relocation: the class of a node and its links to a few others, drawn together.

Take node i and up to WIDTH others at random, cut all that is free between them, and take i out of
its class. The weight of class k, of children C and of parents P among the others is then

    P(z_i = k) prod_{c in C} exp(gain of c) exp(score(i, P)) prior of the links | k

where no member of C may lead to one of P. Sums over the subsets of every set of parents come from
one pass (`link_weights`), so classes are weighed with all C and P summed out, and C and P drawn
afterwards. Edge probabilities between classes are integrated out. Those within a class, where links
in and out meet, are drawn first and held. It is an exact draw: nothing is rejected.
"""

import numpy as np

from infinimix.kernels.compile import kernel
from infinimix.kernels.draws import invert
from infinimix.kernels.elementary import exp, log
from infinimix.networks.engine.blocks import (
    UNIFORM,
    count_links,
    log_joining,
    open_to_all,
    pairs,
    set_edge,
    set_parents,
    shift_node,
    spare_class,
)
from infinimix.networks.engine.graphs import ONE, ZERO, mark_descendants, popcount
from infinimix.networks.engine.hyper import B1, B2
from infinimix.networks.engine.link_weights import (
    BLOCKED,
    CHILD_CODE,
    KIDS,
    LOGS,
    PARENT_CODE,
    PLACES,
    PLAIN,
    draw_parents,
    number_sets,
    weigh_class,
)
from infinimix.networks.engine.model import (
    CHILD_COUNT,
    CHILD_STRIDE,
    CHILDREN,
    INTO,
    MARKS,
    OTHERS,
    OUT,
    OWN,
    PARENT_COUNT,
    PARENT_STRIDE,
    PARENTS,
    WIDTH,
    required_parents,
    score_of,
)
from infinimix.networks.engine.plain_orders import DROPPED
from infinimix.networks.engine.sticks import close_role, open_role


@kernel
def draw_own(prior, state, tables, rng):
    """Draw the edge probability within each class."""
    for k in range(state.m.shape[0]):
        if state.m[k] > 0:
            n = state.plus[k, k]
            x = max(rng.standard_gamma(prior.hyper[B1] + n), 1e-300)
            y = max(rng.standard_gamma(prior.hyper[B2] + pairs(prior, state, k, k) - n), 1e-300)
            tables[k, OWN], tables[k, OWN + 1] = log(x / (x + y)), log(y / (x + y))


@kernel
def cut(model, state, i, rng):
    """Choose others, and cut what is free between them and i; return how many may be children."""
    layout, others, children = model.layout, model.room[OTHERS], model.room[CHILDREN]
    count, kids, free, most = 0, 0, ZERO, layout.max_parents
    for j in range(state.z.shape[0]):
        if j != i and (layout.pos[i, j] >= 0 or layout.pos[j, i] >= 0):
            others[count] = j
            count += 1
    for q in range(min(count, WIDTH)):
        at = q + np.int64(rng.random() * (count - q))
        others[q], others[at] = others[at], others[q]
        c = others[q]
        if layout.pos[i, c] >= 0:
            free |= ONE << np.uint64(layout.pos[i, c])
        if layout.pos[c, i] >= 0 and model.prior.bonus[i, c] < np.inf:
            word = ONE << np.uint64(layout.pos[c, i])
            if popcount(state.fam[c] & ~word) < most:
                children[kids] = c
                kids += 1
                if state.fam[c] & word != ZERO:
                    set_edge(layout, state, i, c, False)
    set_parents(layout, state, i, state.fam[i] & ~(free & ~required_parents(model, i)))
    return min(count, WIDTH), kids


@kernel
def weigh_parents(model, state, i, count, power):
    """Fill LOGS with the log weights of all sets of parents; return their number as a power."""
    layout, parents, marks = model.layout, model.room[PARENTS], model.room[MARKS]
    logs, words, size, n = model.sheets[LOGS], model.words, 0, 1
    mark_descendants(state.pa, i, marks)
    words[0], logs[0] = state.fam[i], 0.0
    for q in range(count):
        v = model.room[OTHERS, q]
        if layout.pos[i, v] < 0 or marks[v] == 1 or model.prior.bonus[v, i] == np.inf:
            continue
        parents[size] = v
        size += 1
        word = ONE << np.uint64(layout.pos[i, v])
        for s in range(n):
            words[n + s] = words[s] | word
            logs[n + s] = logs[s] + model.prior.bonus[v, i]
        n *= 2
    top = -np.inf
    for s in range(n):
        if popcount(words[s]) > layout.max_parents:
            logs[s] = -np.inf
        else:
            logs[s] += power * score_of(model, i, words[s])
            top = max(top, logs[s])
    for s in range(n):
        logs[s] -= top
        model.sheets[PLAIN + LOGS, s] = exp(logs[s]) if logs[s] > DROPPED else 0.0
    return size


@kernel
def weigh_children(model, state, i, kids, size, power):
    """Fill KIDS with the log weights of all sets of children and BLOCKED with whom they lead to."""
    layout, children, marks = model.layout, model.room[CHILDREN], model.room[MARKS]
    logs, blocked, n, kept, top = model.sheets[KIDS], model.codes[BLOCKED], 1, 0, 0.0
    logs[0], blocked[0] = 0.0, 0
    for q in range(kids):
        c, mask = children[q], 0
        mark_descendants(state.pa, c, marks)
        if marks[i] == 1:  # through a parent of i that stays
            continue
        for p in range(size):
            mask |= marks[model.room[PARENTS, p]] << p
        word = ONE << np.uint64(layout.pos[c, i])
        gain = score_of(model, c, state.fam[c] | word) - score_of(model, c, state.fam[c])
        gain = power * gain + model.prior.bonus[i, c]
        top += max(gain, 0.0)
        children[kept] = c
        kept += 1
        for t in range(n):
            logs[n + t] = logs[t] + gain
            blocked[n + t] = blocked[t] | mask
        n *= 2
    for t in range(n):
        logs[t] -= top
        model.sheets[PLAIN + KIDS, t] = exp(logs[t]) if logs[t] > DROPPED else 0.0
    return kept


@kernel
def draw_class(model, state, i, size, kids, rng):
    """Draw the class of node i, which is out of all."""
    prior, scores, K, top, total = model.prior, model.weights, state.m.shape[0], -np.inf, 0.0
    spare = spare_class(prior, state)
    for k in range(K):
        scores[k] = -np.inf
        if open_to_all(prior, state, k, spare):
            links, _ = weigh_class(model, state, k, size, kids)
            scores[k] = log_joining(prior, state, k) + links
            top = max(top, scores[k])
    for k in range(K):
        scores[k] = exp(scores[k] - top) if scores[k] > -np.inf else 0.0
        total += scores[k]
    state.z[i] = invert(scores, K, total * rng.random())


@kernel
def relocate_node(model, state, i, power, rng):
    """Draw the class of node i and its links to some others again."""
    prior, room, codes = model.prior, model.room, model.codes
    blocks = prior.kind != UNIFORM
    if blocks:
        draw_own(prior, state, model.tables, rng)
    count, kids = cut(model, state, i, rng)
    size = weigh_parents(model, state, i, count, power)
    kids = weigh_children(model, state, i, kids, size, power)
    if blocks:
        shift_node(prior, state, i, -1)
        count_links(state, i, room[OUT], room[INTO])
    K = state.m.shape[0] if blocks else 1
    number_sets(
        state.z, room[PARENTS], size, room[PARENT_COUNT], room[PARENT_STRIDE], codes[PARENT_CODE], K
    )
    number_sets(
        state.z, room[CHILDREN], kids, room[CHILD_COUNT], room[CHILD_STRIDE], codes[CHILD_CODE], K
    )
    if prior.classes_move and prior.anchor[i] < 0:
        close_role(prior, state, state.z[i])
        draw_class(model, state, i, size, kids, rng)
        open_role(prior, state, state.z[i], rng)
    _, plain = weigh_class(model, state, state.z[i], size, kids)
    if blocks:
        shift_node(prior, state, i, 1)
    total = 0.0
    for t in range(1 << kids):
        total += model.sheets[PLACES, t]
    t = invert(model.sheets[PLACES], 1 << kids, total * rng.random())
    allowed = ((1 << size) - 1) & ~codes[BLOCKED, t]
    set_parents(model.layout, state, i, draw_parents(model, allowed, plain, rng))
    for q in range(kids):
        if t >> q & 1:
            set_edge(model.layout, state, i, room[CHILDREN, q], True)


@kernel
def relocate_some(model, state, power, rng):
    """Relocate some node."""
    relocate_node(model, state, np.int64(rng.random() * state.z.shape[0]), power, rng)
