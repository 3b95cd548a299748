"""The N-to-M filter: weigh every (particle, group) pair, keep M of them without bias.

Optimal resampling of Fearnhead and Clifford (2003): a weight above kappa is kept as it is;
the rest share one systematic draw and survive with weight kappa. While all pairs fit,
nothing is random, so with room for every partition the filter is exact.

Once the population has been full, pairs below FLOOR of the total are resampled in the same
unbiased way even when there is room for them: on well separated data thirty-nine of forty
particles would otherwise be kept, and scored, with a millionth of the weight together.
"""

import numpy as np

from infinimix.families.product import engine
from infinimix.inference.partition.population import (
    COPIES,
    FAINT,
    FULL,
    MASS,
    PICK,
    PROB,
    ROWS,
    SIZE,
    UNIQUE,
    USED,
    assign_row,
    borrow,
    compact,
    lacks_room,
    note_origins,
    options,
    record,
    split,
    weigh,
)
from infinimix.kernels.compile import part
from infinimix.kernels.elementary import exp, log
from infinimix.kernels.memory import borrowed, unsigned

NEGLIGIBLE = 1e-13  # a pair this far below the best is dropped unseen
LEAP = 30.0  # a particle this many nats above the scale of the list sets a new one
FLOOR = 1e-4  # no accuracy is lost at this height; at 1e-3 some is


@part
def list_near(r, first, share, floor, n, p, q, owner, pick):
    """List the pairs of particle r above a floor, on the scale of all; return how many and the sum.

    A processor cannot predict which groups are near, so there is no branch: a pair that does not
    count is overwritten by the next.
    """
    prob, held, listed, reach = p.mass[PROB], p.groups[r], n, 0.0
    for k in range(first, p.particles[SIZE, r]):
        x = prob[unsigned(held[unsigned(k)])]
        reach += x
        pick[unsigned(n)] = k
        n += 1 if share * x > floor else 0
    for j in range(listed, n):
        q[j], owner[j] = share * prob[held[pick[j]]], r
    return n, reach


@part
def list_all(r, first, share, n, p, w, q, owner, pick):
    """List all pairs of particle r, as `options` weighs them; return how many."""
    for k in range(first, p.particles[SIZE, r]):
        q[n], owner[n], pick[n] = share * w[k], r, k
        n += 1
    return n


@part
def candidates(p, bound, top, w, q, owner, pick):
    """List every (particle, group) pair that counts; q sums to 1. Return how many, log total."""
    mass, groups, particles, logw, counters = p.mass, p.groups, p.particles, p.logw, p.counters
    w, q, owner, pick = borrowed(w), borrowed(q), borrowed(owner), borrowed(pick)
    best, n = 0.0, 0
    base, level = logw[0], -np.inf  # of the particle that q is relative to: weight and scale
    for r in range(counters[UNIQUE]):
        listed, size = n, particles[SIZE, r]
        first = 1 if size > bound else 0  # at the bound no new group may open
        lead, reach = logw[r] - base + top - level if n > 0 else 0.0, 0.0
        if lead <= LEAP:
            share = exp(lead)
            n, reach = list_near(r, first, share, NEGLIGIBLE * best, n, p, q, owner, pick)
        if reach >= FAINT:
            level = top if listed == 0 else level
        else:  # far from the best group of all, or heavier by far than those before it
            _, scale = options(groups[r], size, bound, mass, top, w)
            lead = logw[r] - base + scale - level if listed > 0 else np.inf
            if lead > LEAP:
                for j in range(listed):
                    q[j] *= exp(-lead)
                best *= exp(-lead)
                base, level, lead = logw[r], scale, 0.0
            n = list_all(r, first, exp(lead), listed, p, w, q, owner, pick)
        for j in range(listed, n):
            best = max(best, q[j])
    return keep_large(n, NEGLIGIBLE * best, q, owner, pick, base + level, p)


@part
def keep_large(n, floor, q, owner, pick, scale, p):
    """Keep the pairs above a floor; let q sum to 1. Return how many there are, and log total."""
    kept, total = 0, 0.0
    for j in range(n):
        x = q[j]
        q[kept], owner[kept], pick[kept] = x, owner[j], pick[j]
        kept += 1 if x > floor else 0
        total += x if x > floor else 0.0
    for j in range(kept):
        q[j] /= total
    return kept, scale + log(total / (p.counters[ROWS] + p.mass[MASS, 0]))


@part
def threshold(q, n, size):
    """Return the kappa at which sum(min(q / kappa, 1)) = size; 0 when all fit."""
    above, kappa = 0, 1.0 / size if n > size else 0.0
    while kappa > 0.0:
        count, rest = 0, 0.0
        for j in range(n):
            count += q[j] > kappa
            rest += 0.0 if q[j] > kappa else q[j]
        if count <= above or count >= size:  # fewer: a tie with kappa, but for rounding
            break
        above, kappa = count, rest / (size - count)
    return kappa


@part
def select(n, q, first_stage, owner, pick, level, size, p, u):
    """Keep at most `size` of n pairs, each with probability min(1, v / kappa), reweighted."""
    particles, logw, counters = p.particles, p.logw, p.counters
    q, first_stage, owner, pick = (
        borrowed(q), borrowed(first_stage), borrowed(owner), borrowed(pick),
    )  # fmt: skip
    kappa = threshold(first_stage, n, size)
    if kappa > 0.0:
        counters[FULL] = 1
    if counters[FULL] == 1:
        kappa = max(kappa, FLOOR)
    at = kappa * u[counters[USED]]
    counters[USED] += 1
    for r in range(counters[UNIQUE]):
        particles[COPIES, r] = 0
    for j in range(n):
        if first_stage[j] <= kappa:
            at -= first_stage[j]
            if at >= 0.0:
                continue
            at += kappa
            q[j] = kappa * (q[j] / first_stage[j])
        r = owner[j]
        if particles[COPIES, r] == 1:
            r = split(r, p)
        particles[COPIES, r], particles[PICK, r], logw[r] = 1, pick[j], level + log(q[j])
    compact(p)


@engine("score", "count", "refresh", "copy")
def advance(
    family, stats, X, rows, j, slots, mass, groups, particles, logw, counters, u, trace, size,
    bound, kind,
):  # fmt: skip
    """Filter the rows X[rows[j:]]; return the first j not done, for want of room."""
    p = borrow(slots, mass, groups, particles, logw, counters)
    most = groups.shape[0] * groups.shape[1]
    w, q = np.empty(slots.shape[1]), np.empty(most)
    owner, pick = np.empty(most, np.int64), np.empty(most, np.int64)
    while j < rows.shape[0] and not lacks_room(p, u, size):
        note_origins(p)
        top = weigh(family, stats, X, rows[j], p, w)
        n, level = candidates(p, bound, top, w, q, owner, pick)
        select(n, q, q, owner, pick, level, size, p, u)
        assign_row(family, stats, X, rows[j], p)
        record(trace, j, p)
        j += 1
    return j
