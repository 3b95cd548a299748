"""Scores of families whose effects have signs, with the signs summed out.

Child c with parents S and signs s has tables that are monotone in each parent: increasing where
its effect is positive, decreasing where it is negative. The prior of a table is that of
`families`, independent Beta(gamma, gamma), given that the table is so. So

    log P(rows of c | S, s) = score(c, S) + log P(monotone | rows) - log P(monotone)

with `score` as it is without signs (the last two are an encompassing-prior Bayes factor; `monotone`
computes them). Effects of node i are positive with probability phi of its class, independently,
and what moves on graphs read is the sum over all signs given these. Gains of all signs of a
family are kept; its sum is computed again whenever phi has changed.
"""

import numpy as np

from infinimix.kernels.compile import kernel
from infinimix.kernels.elementary import exp, log
from infinimix.networks.engine.calls import Calls, call_of
from infinimix.networks.engine.families import cell_weight_part, discrete_score
from infinimix.networks.engine.graphs import ONE, ZERO, lowest, popcount
from infinimix.networks.engine.monotone import count_bins, fill_masses, log_monotone
from infinimix.networks.engine.scores import HALF, MIX, forget, new_cache
from infinimix.networks.engine.signs import new_signs

LEAST_SLOTS = 1 << 10
SUMS = 1 << 17  # sums over signs that are kept, of all children: they are forgotten in each sweep


@kernel
def count_rows(data, layout, counts, c, mask):
    """Fill counts[x, u] with the rows in which the child is x and its parents are u."""
    n, skips = data.codes.shape[1], data.skip.shape[1] > 0
    for u in range(np.int64(1) << popcount(mask)):
        counts[0, u] = counts[1, u] = 0.0
    for t in range(n):
        if skips and data.skip[c, t]:
            continue
        u, j, rest = 0, 0, mask
        while rest != ZERO:
            u |= np.int64(data.codes[layout.cand[c, lowest(rest)], t]) << j
            rest &= rest - ONE
            j += 1
        counts[data.codes[c, t], u] += 1.0


@kernel
def fill_gains(signs, gamma, k, out):
    """Fill out[s] with log P(monotone | rows) - log P(monotone) of signs s, rows as counted."""
    P, most = np.int64(1) << k, 0.0
    if k == 0:
        out[0] = 0.0
        return
    for u in range(P):
        most = max(most, signs.counts[0, u] + signs.counts[1, u])
    bins = count_bins(most)
    for u in range(P):
        fill_masses(signs.counts[1, u] + gamma, signs.counts[0, u] + gamma, bins, u, signs.masses)
    steps = signs.steps[signs.begin[k] : signs.begin[k + 1]]
    for s in range(P):
        found = log_monotone(signs.masses, bins, s, steps, signs.sums)
        out[s] = found - signs.log_shares[k]


@kernel
def gains_of(data, layout, cache, c, mask):
    """Return where the gains of all signs of a family are kept; they are computed if need be."""
    signs = cache.signs
    slots = signs.keys.shape[1]
    h = mask * MIX
    at = np.int64((h ^ (h >> HALF)) & np.uint64(slots - 1))
    while signs.keys[c, at] != mask and not np.isnan(signs.values[c, at, 0]):
        at = (at + 1) & (slots - 1)
    if not np.isnan(signs.values[c, at, 0]):
        return at
    if signs.held[c] * 4 > slots * 3:
        for s in range(slots):
            signs.values[c, s, 0] = np.nan
        signs.held[c] = 0
        at = np.int64((h ^ (h >> HALF)) & np.uint64(slots - 1))
    signs.held[c] += 1
    signs.keys[c, at] = mask
    count_rows(data, layout, signs.counts, c, mask)
    k = popcount(mask)
    fill_gains(signs, cell_weight_part(data.settings, 1 << k, 2), k, signs.values[c, at])
    signs.values[c, at, signs.values.shape[2] - 1] = discrete_score(data, layout, cache, c, mask)
    return at


@kernel
def fill_sign_weights(layout, signs, c, mask, at, weights):
    """Fill weights[s] with those of all signs of a family; return their log sum."""
    P, top, total = np.int64(1) << popcount(mask), -np.inf, 0.0
    for s in range(P):
        weight, rest, left = signs.values[c, at, s], mask, s
        while rest != ZERO:
            p = signs.positive[layout.cand[c, lowest(rest)]]
            weight += log(1.0 - p if left & 1 else p)
            rest &= rest - ONE
            left >>= 1
        weights[s] = weight
        top = max(top, weight)
    for s in range(P):
        weights[s] = exp(weights[s] - top)
        total += weights[s]
    return top + log(total)


@kernel
def signed_score(data, layout, cache, c, mask):
    """Return the score of a family with its signs summed out."""
    signs = cache.signs
    if popcount(mask) >= signs.log_shares.shape[0]:
        return -np.inf
    at = gains_of(data, layout, cache, c, mask)
    base = signs.values[c, at, signs.values.shape[2] - 1]
    return base + fill_sign_weights(layout, signs, c, mask, at, signs.sums[0])


def new_signed_cache(data, layout, K):
    """Return an empty cache of scores with signs, for up to K classes."""
    N = len(layout.cand)
    cache = new_cache(data, layout)
    if cache.keys.shape[1] > 0:  # smaller than usual: it is emptied in each sweep
        slots = LEAST_SLOTS
        while 2 * slots * N <= SUMS:
            slots *= 2
        room = np.zeros((N, slots)), np.zeros((N, slots), np.uint64)
        cache = cache._replace(values=room[0], keys=room[1])
    cache = cache._replace(signs=new_signs(N, K, layout.max_parents))
    forget(cache)
    return cache._replace(calls=Calls([call_of(signed_score, data, layout, cache, 0, ZERO)]))
