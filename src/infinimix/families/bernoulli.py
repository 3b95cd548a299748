"""Beta-Bernoulli columns: a cell is 0, 1 or missing (-1).

Each column has its own Beta prior. The predictive is (b + zeros) / (a + b + n) for a zero
and (a + ones) / (a + b + n) for a one (AClass paper, section 2.1, with a prior per column).
Hidden here: scoring a complete row reads one number per column, the log odds, on top of
the log probability of the all-zero row; a row with holes reads two.
"""

from typing import NamedTuple

import numpy as np

from infinimix.families import product, seam
from infinimix.families.base_measures import find_beta
from infinimix.families.registration import register
from infinimix.kernels.compile import exact, part
from infinimix.kernels.elementary import log_ratio
from infinimix.kernels.gamma import rise
from infinimix.kernels.lanes import (
    LANES,
    lanes_at,
    no_lanes,
    plus,
    plus_products,
    sum_of_lanes,
    where,
)
from infinimix.kernels.memory import ROOM, on_stack

ZERO, ONE = 0, 1  # second axis of prior, n
LOG_ZERO, LOG_ODDS = 0, 1  # second axis of t
SEEN, IS_ONE, NEXT_SEEN, NEXT_ONE = range(4)  # what is noted of cells where some are missing


class BetaBernoulli(NamedTuple):
    """Hyper-parameters of D independent binary columns."""

    prior: np.ndarray  # (2, D) pseudo-counts of zeros and of ones


class BernoulliStats(NamedTuple):
    """Statistics of K groups."""

    n: np.ndarray  # (K, 2, D) zeros; ones
    t: np.ndarray  # (K, 2, D) log p(0); log p(1) - log p(0)
    base: np.ndarray  # (K,) log probability of the row of zeros


@seam.empty.implement(BetaBernoulli)
def _(family, slots):
    shape = (slots, *family.prior.shape)
    stats = BernoulliStats(np.zeros(shape), np.zeros(shape), np.zeros(slots))
    product.refresh_alike(family, stats)
    return stats


@seam.count.implement(BetaBernoulli)
def _(family, stats, k, X, i, w):
    n = stats.n
    for d in range(X.shape[1]):
        n[k, ZERO, d] = max(n[k, ZERO, d] + (w if X[i, d] == 0 else 0.0), 0.0)
        n[k, ONE, d] = max(n[k, ONE, d] + (w if X[i, d] == 1 else 0.0), 0.0)


@seam.refresh.implement(BetaBernoulli)
def _(family, stats, k):
    prior, n, t = family.prior, stats.n, stats.t
    base = 0.0
    for d in range(prior.shape[1]):
        zeros, ones = prior[ZERO, d] + n[k, ZERO, d], prior[ONE, d] + n[k, ONE, d]
        log_zero = log_ratio(zeros, zeros + ones)
        t[k, LOG_ZERO, d] = log_zero
        t[k, LOG_ODDS, d] = log_ratio(ones, zeros)
        base += log_zero
    stats.base[k] = base


@seam.score.implement(BetaBernoulli)
def _(family, stats, X, i, live, out):
    width = X.shape[1]
    row = on_stack(2, width) if 2 * width <= ROOM else np.empty((2, width))
    if has_holes(X, i):
        note_cells(X, i, row[SEEN], row[IS_ONE])
        score_rest(stats.t, row, live, out)
    else:
        note_ones(X, i, row[IS_ONE])
        score_whole(stats.t, stats.base, row[IS_ONE], live, out)


@seam.score_two.implement(BetaBernoulli)
def _(family, stats, X, i, j, live, out, ahead):
    """Rows with holes gain: what is known of a group, twice as much, is read once for both."""
    width = X.shape[1]
    row = on_stack(4, width) if 4 * width <= ROOM else np.empty((4, width))
    if has_holes(X, i) and has_holes(X, j):
        note_cells(X, i, row[SEEN], row[IS_ONE])
        note_cells(X, j, row[NEXT_SEEN], row[NEXT_ONE])
        score_rest_of_two(stats.t, row, live, out, ahead)
        return 1
    for after in range(2):  # a loop, so that `score` is compiled into it once
        seam.score(family, stats, X, j if after else i, live, ahead if after else out)
    return 0


@part
def has_holes(X, i):
    """Does a row lack a cell?"""
    signs = np.int8(0)
    for d in range(X.shape[1]):
        signs |= X[i, d]
    return signs < 0


@part
def note_ones(X, i, one):
    """Note where a row has ones."""
    for d in range(X.shape[1]):
        one[d] = 1.0 if X[i, d] == 1 else 0.0


@part
def note_cells(X, i, seen, one):
    """Note where a row has cells, and where these are ones."""
    for d in range(X.shape[1]):
        seen[d] = 1.0 if X[i, d] >= 0 else 0.0
        one[d] = 1.0 if X[i, d] == 1 else 0.0


# Groups are scored four at a time, so that what is known of the row is read less often: a quarter
# of the time. Where fewer are left the last one stands in, and what it gets is dropped, so that the
# sums of a group do not depend on where it stands.


@part
def score_whole(t, base, one, live, out):
    """Score a row without holes: the row of zeros, and the log odds of its ones."""
    last = live.shape[0] - 1
    for j in range(0, live.shape[0], 4):
        a, b = live[j], live[min(j + 1, last)]
        c, e = live[min(j + 2, last)], live[min(j + 3, last)]
        at_a, at_b, at_c, at_e = 0.0, 0.0, 0.0, 0.0
        for d in range(one.shape[0]):
            at_a += one[d] * t[a, LOG_ODDS, d]
            at_b += one[d] * t[b, LOG_ODDS, d]
            at_c += one[d] * t[c, LOG_ODDS, d]
            at_e += one[d] * t[e, LOG_ODDS, d]
        out[a] += base[a] + at_a
        if j < last:
            out[b] += base[b] + at_b
        if j + 1 < last:
            out[c] += base[c] + at_c
        if j + 2 < last:
            out[e] += base[e] + at_e


# A row with holes reads the log probability of zeros too. It must be given the same bits alone as
# with the next one, so the order in which its cells are added up is written down. The sums of four
# groups for two rows fit into the registers, and are enough for none to wait for another.


@exact
def score_rest(t, row, live, out):
    """Score a row with holes."""
    last, end = live.shape[0] - 1, row.shape[1] // LANES * LANES
    for at in range(0, live.shape[0], 4):
        a, b = live[at], live[min(at + 1, last)]
        c, e = live[min(at + 2, last)], live[min(at + 3, last)]
        in_a, in_b, in_c, in_e = no_lanes(), no_lanes(), no_lanes(), no_lanes()
        for d in range(0, end, LANES):
            seen, one = lanes_at(row, (SEEN, d)), lanes_at(row, (IS_ONE, d))
            in_a = plus_cells(in_a, seen, one, *logs_at(t, a, d))
            in_b = plus_cells(in_b, seen, one, *logs_at(t, b, d))
            in_c = plus_cells(in_c, seen, one, *logs_at(t, c, d))
            in_e = plus_cells(in_e, seen, one, *logs_at(t, e, d))
        out[a] = add_up(out[a], in_a, t, a, row, SEEN, IS_ONE, end)
        if at < last:
            out[b] = add_up(out[b], in_b, t, b, row, SEEN, IS_ONE, end)
        if at + 1 < last:
            out[c] = add_up(out[c], in_c, t, c, row, SEEN, IS_ONE, end)
        if at + 2 < last:
            out[e] = add_up(out[e], in_e, t, e, row, SEEN, IS_ONE, end)


@exact
def score_rest_of_two(t, row, live, out, ahead):
    """Score two rows with holes."""
    last, end = live.shape[0] - 1, row.shape[1] // LANES * LANES
    for at in range(0, live.shape[0], 4):
        a, b = live[at], live[min(at + 1, last)]
        c, e = live[min(at + 2, last)], live[min(at + 3, last)]
        in_a, in_b, in_c, in_e = no_lanes(), no_lanes(), no_lanes(), no_lanes()
        next_a, next_b, next_c, next_e = no_lanes(), no_lanes(), no_lanes(), no_lanes()
        for d in range(0, end, LANES):
            seen, one = lanes_at(row, (SEEN, d)), lanes_at(row, (IS_ONE, d))
            next_seen, next_one = lanes_at(row, (NEXT_SEEN, d)), lanes_at(row, (NEXT_ONE, d))
            zero, odds = logs_at(t, a, d)
            in_a = plus_cells(in_a, seen, one, zero, odds)
            next_a = plus_cells(next_a, next_seen, next_one, zero, odds)
            zero, odds = logs_at(t, b, d)
            in_b = plus_cells(in_b, seen, one, zero, odds)
            next_b = plus_cells(next_b, next_seen, next_one, zero, odds)
            zero, odds = logs_at(t, c, d)
            in_c = plus_cells(in_c, seen, one, zero, odds)
            next_c = plus_cells(next_c, next_seen, next_one, zero, odds)
            zero, odds = logs_at(t, e, d)
            in_e = plus_cells(in_e, seen, one, zero, odds)
            next_e = plus_cells(next_e, next_seen, next_one, zero, odds)
        out[a] = add_up(out[a], in_a, t, a, row, SEEN, IS_ONE, end)
        ahead[a] = add_up(ahead[a], next_a, t, a, row, NEXT_SEEN, NEXT_ONE, end)
        if at < last:
            out[b] = add_up(out[b], in_b, t, b, row, SEEN, IS_ONE, end)
            ahead[b] = add_up(ahead[b], next_b, t, b, row, NEXT_SEEN, NEXT_ONE, end)
        if at + 1 < last:
            out[c] = add_up(out[c], in_c, t, c, row, SEEN, IS_ONE, end)
            ahead[c] = add_up(ahead[c], next_c, t, c, row, NEXT_SEEN, NEXT_ONE, end)
        if at + 2 < last:
            out[e] = add_up(out[e], in_e, t, e, row, SEEN, IS_ONE, end)
            ahead[e] = add_up(ahead[e], next_e, t, e, row, NEXT_SEEN, NEXT_ONE, end)


@exact
def logs_at(t, k, d):
    """Return what is known of some columns in group k."""
    return lanes_at(t, (k, LOG_ZERO, d)), lanes_at(t, (k, LOG_ODDS, d))


@exact
def plus_cells(lanes, seen, one, zero, odds):
    """Add some cells of a row.

    A zero is chosen rather than multiplied, and a cell is added when it is complete: processors
    choose and add beside multiplying, and only the addition waits for the one before.
    """
    return plus(lanes, plus_products(where(seen, zero), one, odds))


@exact
def add_up(before, lanes, t, k, row, seen, one, end):
    """Return what a row had before and has in group k: all lanes, and the last few columns."""
    rest = 0.0
    for d in range(end, row.shape[1]):
        rest += row[seen, d] * t[k, LOG_ZERO, d] + row[one, d] * t[k, LOG_ODDS, d]
    return before + (sum_of_lanes(lanes) + rest)


@seam.column_evidence.implement(BetaBernoulli)
def _(family, stats, k, out):
    prior, n = family.prior, stats.n
    for d in range(prior.shape[1]):
        b, a = prior[ZERO, d], prior[ONE, d]
        zeros, ones = n[k, ZERO, d], n[k, ONE, d]
        total = rise(b, zeros) + rise(a, ones) - rise(a + b, zeros + ones)
        out[d] += total if zeros + ones > 0.0 else 0.0


@seam.features.implement(BetaBernoulli)
def _(family, stats, X, i, first, index, value):
    """Describe a cell by +1 or -1."""
    used = 0
    for d in range(X.shape[1]):
        if X[i, d] >= 0:
            index[used], value[used] = first + d, 1.0 if X[i, d] == 1 else -1.0
            used += 1
    return used


@seam.sound.implement(BetaBernoulli)
def _(family, stats):
    return np.isfinite(stats.n).all() and (stats.n >= 0.0).all()


@seam.prior.implement(BetaBernoulli)
def _(family, pool, given, factors):
    return seam.unstacked(seam.prior_finder(family, pool, given)(factors[None]), 0)


@seam.prior_finder.implement(BetaBernoulli)
def _(family, pool, given):
    at = find_beta(given, *pool.n[0])
    return lambda factors: BetaBernoulli(at(factors[:, 0], factors[:, 1]))


@seam.typical.implement(BetaBernoulli)
def _(family, stats, slots):
    """Return the probability of a one."""
    return 1.0 / (1.0 + np.exp(-stats.t[slots, LOG_ODDS]))


@seam.draw.implement(BetaBernoulli)
def _(family, stats, slots, X, rng):
    from scipy.special import expit  # slow to load, and most fits need none

    p = expit(stats.t[slots, LOG_ODDS])
    return seam.keep_observed(X, rng.random(p.shape) < p)


@seam.fill.implement(BetaBernoulli)
def _(family, stats, weight, X):
    from scipy.special import expit  # slow to load, and most fits need none

    def column(d, rows):
        p = np.clip(weight[rows] @ expit(stats.t[:, LOG_ODDS, d]), 0.0, 1.0)
        return p, np.minimum(p, 1.0 - p)

    return seam.fill_columns(X, column)


@seam.column.implement(BetaBernoulli)
def _(family, stats, d):
    prior, n, t = (np.ascontiguousarray(a[..., d : d + 1]) for a in (family.prior, *stats[:2]))
    return BetaBernoulli(prior), BernoulliStats(n, t, t[:, LOG_ZERO, 0])


@seam.score_rows.implement(BetaBernoulli)
def _(family, stats, live, X, out):
    """One matrix product over the slots; a second one only for rows with holes."""
    out += (X == 1).astype(float) @ stats.t[live, LOG_ODDS].T
    out += stats.base[live]
    if X.size == 0 or X.min() >= 0:  # a tenth of the time of finding rows with holes
        return
    holes = X < 0
    rows = np.flatnonzero(holes.any(axis=1))
    out[rows] -= holes[rows].astype(float) @ stats.t[live, LOG_ZERO].T


@seam.count_rows.implement(BetaBernoulli)
def _(family, stats, weight, X):
    ones = weight.T @ (X == 1).astype(float)
    if X.size and X.min() >= 0:  # without holes one product says it all
        zeros = np.maximum(weight.sum(axis=0)[:, None] - ones, 0.0)
    else:
        zeros = weight.T @ (X == 0).astype(float)
    stats.n[:, ZERO] += zeros
    stats.n[:, ONE] += ones


@seam.estimate_point.implement(BetaBernoulli)
def _(family, stats, mode):
    pseudo = np.maximum(family.prior - 1.0, seam.FLOOR) if mode else family.prior
    n = stats.n + (pseudo - family.prior)  # with the prior it is what was counted and `pseudo`
    product.refresh_all(family, stats._replace(n=n), len(n))
    log_zero, odds = stats.t[:, LOG_ZERO], stats.t[:, LOG_ODDS]
    return log_zero @ (pseudo[ZERO] + pseudo[ONE]) + odds @ pseudo[ONE]


register(BetaBernoulli, np.int8)
