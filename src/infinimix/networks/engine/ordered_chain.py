"""The ordered chain: sweeps, what is learned of alpha and beta, and what is remembered."""

from math import lgamma

import numpy as np

from infinimix.kernels.compile import kernel
from infinimix.kernels.elementary import log
from infinimix.networks.engine.blocks import BETA_GRID
from infinimix.networks.engine.chain import count_sweep
from infinimix.networks.engine.class_moves import nearest
from infinimix.networks.engine.graphs import has
from infinimix.networks.engine.ordered import draw_eta, draw_graph
from infinimix.networks.engine.ordered_moves import move_class, relocate, sizes, swap_nodes
from infinimix.networks.engine.scores import GAMMA, family_score

GRID = np.array(BETA_GRID)


@kernel
def draw_row_hyper(sums, row, rng):
    """Move alpha and beta, if they are learned (Metropolis); priors as in `class_moves`."""
    hyper, K, n = sums.hyper, row.info[0], row.z.shape[0]
    if hyper[3] > 0.0:
        old = hyper[0]
        new = old * np.exp(rng.standard_normal())
        ratio = (K + 1.0) * log(new / old) - (new - old) + lgamma(new) - lgamma(new + n)
        if log(1.0 - rng.random()) < ratio - lgamma(old) + lgamma(old + n):
            hyper[0] = new
    if hyper[4] > 0.0:
        which = 1 + np.int64(rng.random() * 2)
        at = nearest(GRID, hyper[which]) + (1 if rng.random() < 0.5 else -1)
        if 0 <= at < GRID.shape[0]:
            old, before = hyper[which], log_eta(row, hyper)
            hyper[which] = GRID[at]
            if log(1.0 - rng.random()) >= log_eta(row, hyper) - before:
                hyper[which] = old


@kernel
def log_eta(row, hyper):
    """Return the log prior density of all edge probabilities."""
    K, b1, b2, total = row.info[0], hyper[1], hyper[2], 0.0
    norm = lgamma(b1) + lgamma(b2) - lgamma(b1 + b2)
    for a in range(K):
        for b in range(a + 1, K):
            eta = row.eta[a, b]
            total += (b1 - 1.0) * log(eta) + (b2 - 1.0) * log(1.0 - eta) - norm
    return total


@kernel
def log_joint_row(sums, row):
    """Return log P(G, z, o, rows), eta integrated out, for the graph that was drawn last."""
    n, K = row.z.shape[0], row.info[0]
    alpha, b1, b2 = sums.hyper[0], sums.hyper[1], sums.hyper[2]
    total = K * log(alpha) - lgamma(K + 1.0) + lgamma(alpha) - lgamma(alpha + n)
    m, plus = np.zeros(n + 1, np.int64), np.zeros((K, K))
    sizes(row, m)
    for j in range(n):
        total += family_score(sums.data, sums.layout, sums.cache, j, row.fam[j])
        for i in range(n):
            if has(row.pa[j], i):
                plus[row.z[i], row.z[j]] += 1
                total += log(sums.odds[i, j])
    norm = lgamma(b1) + lgamma(b2) - lgamma(b1 + b2)
    for a in range(K):
        total += lgamma(1.0 * m[a])
        for b in range(a + 1, K):
            k, full = plus[a, b], m[a] * m[b]
            total += lgamma(b1 + k) + lgamma(b2 + full - k) - lgamma(b1 + b2 + full) - norm
    return total


@kernel
def note_row(sums, row, record, keep):
    """Count a sweep, and keep its state if asked."""
    n = row.z.shape[0]
    count_sweep(row.pa, row.z, record)
    if keep and record.tally[1] < record.graphs.shape[0]:
        s = record.tally[1]
        for i in range(n):
            for w in range(row.pa.shape[1]):
                record.graphs[s, i, w] = row.pa[i, w]
            record.classes[s, i] = row.z[i]
            record.ranks[s, i] = row.z[i]
        record.log_joint[s] = log_joint_row(sums, row)
        for k in range(3):
            record.hyper[s, k] = sums.hyper[k]
        record.hyper[s, 3] = sums.data.dials[GAMMA]
        record.tally[1] += 1


@kernel
def advance_row(sums, row, n_sweeps, record, count, thin, rng):
    """Run so many sweeps of the ordered chain."""
    for _ in range(n_sweeps):
        for i in range(row.z.shape[0]):
            relocate(sums, row, i, rng)
        for s in range(4):
            move_class(sums, row, s % 2 == 0, rng)
            swap_nodes(sums, row, rng)
        draw_graph(sums, row, rng)
        draw_eta(sums, row, rng)
        draw_row_hyper(sums, row, rng)
        if count:
            note_row(sums, row, record, (record.tally[0] + 1) % thin == 0)
