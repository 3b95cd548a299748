"""The ordered chain: sweeps, what is learned of alpha and beta, and what is remembered."""

from math import lgamma

import numpy as np

from infinimix.kernels.compile import kernel
from infinimix.kernels.elementary import log
from infinimix.networks.engine.blocks import BETA_GRID
from infinimix.networks.engine.chain import count_sweep
from infinimix.networks.engine.class_moves import nearest
from infinimix.networks.engine.families import GAMMA
from infinimix.networks.engine.graphs import has
from infinimix.networks.engine.hyper import (
    ALPHA,
    B1,
    B2,
    KEPT,
    LEARN_ALPHA,
    LEARN_BETA,
    RECORDED_GAMMA,
    SWEEPS,
)
from infinimix.networks.engine.ordered import (
    N_CLASSES,
    draw_eta,
    draw_graph,
    log_sums,
    set_blocks,
)
from infinimix.networks.engine.ordered_moves import move_class, relocate, sizes, swap_nodes
from infinimix.networks.engine.scores import family_score

GRID = np.array(BETA_GRID)
ROUNDS, FEW = 3, 13  # rounds of all moves in a sweep, and up to how many nodes


@kernel
def draw_hyper(sums, state, rng):
    """Move alpha and beta, if they are learned (Metropolis); priors as in `class_moves`."""
    hyper, K, n = sums.hyper, state.info[N_CLASSES], state.z.shape[0]
    if hyper[LEARN_ALPHA] > 0.0:
        old = hyper[ALPHA]
        new = old * np.exp(rng.standard_normal())
        ratio = (K + 1.0) * log(new / old) - (new - old) + lgamma(new) - lgamma(new + n)
        if log(1.0 - rng.random()) < ratio - lgamma(old) + lgamma(old + n):
            hyper[ALPHA] = new
    if hyper[LEARN_BETA] > 0.0:
        which = B1 + np.int64(rng.random() * 2)
        at = nearest(GRID, hyper[which]) + (1 if rng.random() < 0.5 else -1)
        if 0 <= at < GRID.shape[0]:
            old, before = hyper[which], log_eta(state, hyper)
            hyper[which] = GRID[at]
            if log(1.0 - rng.random()) >= log_eta(state, hyper) - before:
                hyper[which] = old
            set_blocks(sums)


@kernel
def log_eta(state, hyper):
    """Return the log prior density of all edge probabilities."""
    K, b1, b2, total = state.info[N_CLASSES], hyper[B1], hyper[B2], 0.0
    norm = lgamma(b1) + lgamma(b2) - lgamma(b1 + b2)
    for a in range(K):
        for b in range(a + 1, K):
            eta = state.eta[a, b]
            total += (b1 - 1.0) * log(eta) + (b2 - 1.0) * log(1.0 - eta) - norm
    return total


@kernel
def log_joint_ordered(sums, state):
    """Return log P(G, z, o, rows), eta integrated out, for the graph that was drawn last."""
    n, K = state.z.shape[0], state.info[N_CLASSES]
    alpha, b1, b2 = sums.hyper[ALPHA], sums.hyper[B1], sums.hyper[B2]
    total = K * log(alpha) - lgamma(K + 1.0) + lgamma(alpha) - lgamma(alpha + n)
    m, plus = np.zeros(n + 1, np.int64), np.zeros((K, K))
    sizes(state, m)
    for j in range(n):
        total += family_score(sums.data, sums.layout, sums.cache, j, state.fam[j])
        for i in range(n):
            if has(state.pa[j], i):
                plus[state.z[i], state.z[j]] += 1
                total += log(sums.odds[i, j])
    norm = lgamma(b1) + lgamma(b2) - lgamma(b1 + b2)
    for a in range(K):
        total += lgamma(1.0 * m[a])
        for b in range(a + 1, K):
            k, full = plus[a, b], m[a] * m[b]
            total += lgamma(b1 + k) + lgamma(b2 + full - k) - lgamma(b1 + b2 + full) - norm
    return total


@kernel
def note_ordered(sums, state, record, keep):
    """Count a sweep, and keep its state if asked."""
    n = state.z.shape[0]
    count_sweep(state.pa, state.z, record)
    if keep and record.counters[KEPT] < record.graphs.shape[0]:
        s = record.counters[KEPT]
        for i in range(n):
            for w in range(state.pa.shape[1]):
                record.graphs[s, i, w] = state.pa[i, w]
            record.classes[s, i] = state.z[i]
            record.ranks[s, i] = state.z[i]
        record.log_joint[s] = log_joint_ordered(sums, state)
        for k in (ALPHA, B1, B2):
            record.hyper[s, k] = sums.hyper[k]
        record.hyper[s, RECORDED_GAMMA] = sums.data.settings[GAMMA]
        record.counters[KEPT] += 1


@kernel
def sweep_ordered(sums, state, rng):
    """Move all nodes, some classes and pairs of nodes, then draw the graph and all else anew."""
    for i in range(state.z.shape[0]):
        relocate(sums, state, i, rng)
    now = log_sums(sums, state)
    for s in range(4):
        now = move_class(sums, state, s % 2 == 0, now, rng)
        now = swap_nodes(sums, state, now, rng)
    draw_graph(sums, state, rng)
    draw_eta(sums, state, rng)
    draw_hyper(sums, state, rng)


@kernel
def advance_ordered(sums, state, n_sweeps, record, count, thin, rng):
    """Run so many sweeps of the ordered chain, of several rounds each if nodes are few."""
    rounds = ROUNDS if state.z.shape[0] <= FEW else 1
    for _ in range(n_sweeps):
        for _ in range(rounds):
            sweep_ordered(sums, state, rng)
        if count:
            note_ordered(sums, state, record, (record.counters[SWEEPS] + 1) % thin == 0)
