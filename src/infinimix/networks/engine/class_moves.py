"""Moves on the partition, given the graph: one node, two nodes, whole classes, and alpha and beta.

Given the graph the rows say nothing more about the classes, so these moves never touch a score.
Nodes whose role is known stay where they are.
"""

from math import lgamma

import numpy as np

from infinimix.kernels.compile import kernel
from infinimix.kernels.draws import invert
from infinimix.kernels.elementary import exp, log
from infinimix.networks.engine.blocks import (
    BETA_GRID,
    class_score,
    count_links,
    log_prior,
    open_to_all,
    set_beta,
    shift_node,
    spare_class,
)
from infinimix.networks.engine.hyper import ALPHA, B1, B2
from infinimix.networks.engine.model import INTO, OUT
from infinimix.networks.engine.sticks import close_role, open_role

GRID = np.array(BETA_GRID)
ALPHA_STEP = 1.0


@kernel
def weigh_classes(model, state, i):
    """Take node i out of its class, and fill weights with the logs of all it may join."""
    prior, scores = model.prior, model.weights
    out, into = model.room[OUT], model.room[INTO]
    shift_node(prior, state, i, -1)
    close_role(prior, state, state.z[i])
    count_links(state, i, out, into)
    spare = spare_class(prior, state)
    for k in range(state.m.shape[0]):
        scores[k] = -np.inf
        if open_to_all(prior, state, k, spare):
            scores[k] = class_score(prior, state, k, out, into)


@kernel
def join_class(model, state, i, rng):
    """Let node i, which is in no class, join one by the log weights."""
    scores, K, top, total = model.weights, state.m.shape[0], -np.inf, 0.0
    for k in range(K):
        top = max(top, scores[k])
    for k in range(K):
        scores[k] = exp(scores[k] - top) if scores[k] > -np.inf else 0.0
        total += scores[k]
    state.z[i] = invert(scores, K, total * rng.random())
    open_role(model.prior, state, state.z[i], rng)
    shift_node(model.prior, state, i, 1)


@kernel
def class_gibbs(model, state, i, rng):
    """Draw the class of node i among all that exist and a new one."""
    if model.prior.anchor[i] < 0:
        weigh_classes(model, state, i)
        join_class(model, state, i, rng)


@kernel
def visit_classes(model, state, rng):
    """Draw the class of every node once."""
    for i in range(state.z.shape[0]):
        class_gibbs(model, state, i, rng)


@kernel
def swap_classes(model, state, rng):
    """Let two nodes of different classes change places, or not (Metropolis)."""
    n = state.z.shape[0]
    i, j = np.int64(rng.random() * n), np.int64(rng.random() * n)
    a, b = state.z[i], state.z[j]
    if a == b or model.prior.anchor[i] >= 0 or model.prior.anchor[j] >= 0:
        return False
    before = log_prior(model.prior, state)
    move_node(model, state, i, b)
    move_node(model, state, j, a)
    if log(1.0 - rng.random()) < log_prior(model.prior, state) - before:
        return True
    move_node(model, state, i, a)
    move_node(model, state, j, b)
    return False


@kernel
def move_node(model, state, i, k):
    """Put node i into class k."""
    shift_node(model.prior, state, i, -1)
    state.z[i] = k
    shift_node(model.prior, state, i, 1)


@kernel
def allocate(model, state, order, size, a, b, goal, rng):
    """Send the nodes of `order` to a or b, one by one, all of them being in a; return log q.

    Each is drawn given the places of the others as they are. With `goal`, they go there, and
    the probability is that of having drawn it.
    """
    log_q = 0.0
    out, into = model.room[OUT], model.room[INTO]
    for s in range(size):
        i = order[s]
        shift_node(model.prior, state, i, -1)
        count_links(state, i, out, into)
        u = class_score(model.prior, state, a, out, into)
        v = class_score(model.prior, state, b, out, into)
        log_a = -log(1.0 + exp(min(v - u, 700.0)))
        log_b = -log(1.0 + exp(min(u - v, 700.0)))
        to_a = goal[i] == a if goal.shape[0] > 0 else log(1.0 - rng.random()) < log_a
        log_q += log_a if to_a else log_b
        state.z[i] = a if to_a else b
        shift_node(model.prior, state, i, 1)
    return log_q


@kernel
def split_merge(model, state, rng):
    """Split a class into two, or merge two, with nodes allocated one by one (Metropolis)."""
    prior, n = model.prior, state.z.shape[0]
    i = np.int64(rng.random() * n)
    j = np.int64(rng.random() * (n - 1))
    j += j >= i
    a, b = state.z[i], state.z[j]
    if prior.anchor[i] >= 0 or prior.anchor[j] >= 0 or a < prior.n_roles or b < prior.n_roles:
        return False
    old, order, size = np.empty(n, np.int64), np.empty(n, np.int64), 0
    before = log_prior(prior, state)
    other = spare_class(prior, state) if a == b else b
    rest, own = prior.hyper[ALPHA], prior.pseudo_members[other]
    for v in range(n):
        old[v] = state.z[v]
        if v != i and v != j and (old[v] == a or old[v] == b):
            at = np.int64(rng.random() * (size + 1))
            order[size] = order[at]
            order[at] = v
            size += 1
    nowhere = np.empty(0, np.int64)
    if a == b:
        stick = open_role(prior, state, other, rng)
        move_node(model, state, j, other)
        log_q = -allocate(model, state, order, size, a, other, nowhere, rng) - stick
        change = log_prior(prior, state) - before
    else:
        for s in range(size):
            if state.z[order[s]] == b:
                move_node(model, state, order[s], a)
        log_q = allocate(model, state, order, size, a, b, old, rng)  # back to the old classes
        for s in range(size):
            if state.z[order[s]] == b:
                move_node(model, state, order[s], a)
        move_node(model, state, j, a)
        log_q += close_role(prior, state, b)
        change = log_prior(prior, state) - before
    if log(1.0 - rng.random()) < change + log_q:
        return True
    for v in range(n):
        if state.z[v] != old[v]:
            move_node(model, state, v, old[v])
    prior.hyper[ALPHA], prior.pseudo_members[other] = rest, own
    return False


@kernel
def draw_alpha(model, state, rng):
    """Move alpha by a step of its logarithm (Metropolis), under an exponential prior of mean 1."""
    hyper, n, held, K = model.prior.hyper, state.z.shape[0], 0.0, 0
    for k in range(state.m.shape[0]):
        K += state.m[k] > 0 and model.prior.pseudo_members[k] == 0.0
        held += model.prior.pseudo_members[k]
    old = hyper[ALPHA]
    new = old * exp(ALPHA_STEP * rng.standard_normal())
    log_ratio = (K + 1.0) * log(new / old) - (new - old)
    log_ratio += lgamma(new + held) - lgamma(new + held + n)
    log_ratio -= lgamma(old + held) - lgamma(old + held + n)
    if log(1.0 - rng.random()) < log_ratio:
        hyper[ALPHA] = new


@kernel
def nearest(grid, x):
    """Return the place of the number on a grid that is nearest to x."""
    at = 0
    for k in range(1, grid.shape[0]):
        if abs(grid[k] - x) < abs(grid[at] - x):
            at = k
    return at


@kernel
def draw_beta(model, state, rng):
    """Move b1 and b2 to neighbours on their grid (Metropolis), under a uniform prior on it."""
    hyper, prior = model.prior.hyper, model.prior
    old1, old2 = hyper[B1], hyper[B2]
    which = B1 + np.int64(rng.random() * 2)
    at = nearest(GRID, hyper[which]) + (1 if rng.random() < 0.5 else -1)
    if at < 0 or at >= GRID.shape[0]:
        return
    before = log_prior(prior, state)
    hyper[which] = GRID[at]
    set_beta(prior)
    if log(1.0 - rng.random()) >= log_prior(prior, state) - before:
        hyper[B1], hyper[B2] = old1, old2
        set_beta(prior)
