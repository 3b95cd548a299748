"""Every (particle, group) pair with its weight for a row, which N-to-M filters choose from.

Most pairs are negligible, and are left out unseen. Mostly all particles are near each other, and
the row is near to some group of each: then groups are compared once for all particles. Where it is
not so, each particle is weighed on a scale of its own, with the same result.
"""

import numpy as np

from infinimix.inference.partition.population import (
    FAINT,
    LIVE,
    MASS,
    ORDER,
    PROB,
    ROWS,
    SIZE,
    UNIQUE,
    options,
)
from infinimix.kernels.compile import exact, part
from infinimix.kernels.elementary import exp, log
from infinimix.kernels.memory import borrowed, unsigned

NEGLIGIBLE = 1e-13  # a pair this far below the best is dropped unseen
LEAP = 30.0  # a particle this many nats above the scale of the list sets a new one
LARGEST_SHARE = 1e13  # e to the power of LEAP, or a little less
TOO_FAR = 100.0  # nats: more is as much too far, and its exponential is finite
HALF, LOWER = 32, 2**32 - 1  # bits of a number that stands for a particle and a group
LANES = 4  # numbers of which a processor takes the exponential, or the logarithm, at once


@part
def candidates(p, bound, top, w, near, share, q, owner, pick):
    """List every (particle, group) pair that counts; q sums to 1. Return how many, log total."""
    w, near, share, q, owner, pick = (
        borrowed(w), borrowed(near), borrowed(share), borrowed(q), borrowed(owner), borrowed(pick),
    )  # fmt: skip
    n, best = list_usual(p, bound, top, near, share, w, q, owner, pick)
    level = p.logw[0] + top
    if n == 0:
        n, best, level = list_any(p, bound, top, w, q, owner, pick)
    return keep_large(n, NEGLIGIBLE * best, q, owner, pick, level, p)


@part
def list_usual(p, bound, top, near, share, reach, q, owner, pick):
    """List the pairs that may count where particles are near each other and the row to them all.

    Return how many, none if it is not so, and the best. Groups are compared once for all
    particles; in each of them a processor cannot predict which groups are near, so there is no
    branch: a pair that does not count is overwritten by the next. Nor can it predict how many are,
    so those of all particles are weighed in one loop; until then one number says which pair it is.
    """
    prob, groups, particles, n, best = p.mass[PROB], p.groups, p.particles, 0, 0.0
    weigh_particles(p, top, share)
    if mark_near(p, bound, share, near) > LARGEST_SHARE:
        return 0, best
    for r in range(p.counters[UNIQUE]):
        held, size, reach[r] = groups[r], particles[SIZE, r], 0.0
        for k in range(1 if size > bound else 0, size):  # at the bound no new group may open
            pick[unsigned(n)] = (r << HALF) + k
            n += near[unsigned(held[unsigned(k)])]
    for j in range(n):
        r, k = unsigned(pick[unsigned(j)] >> HALF), unsigned(pick[unsigned(j)] & LOWER)
        x = prob[unsigned(groups[r, k])]
        q[unsigned(j)], owner[unsigned(j)], pick[unsigned(j)] = share[r] * x, r, k
        reach[r], best = reach[r] + x, max(best, share[r] * x)
    least = np.inf
    for r in range(p.counters[UNIQUE]):
        least = min(least, reach[r])
    return 0 if least < FAINT else n, best


@part
def weigh_particles(p, top, share):
    """Let share[r] be the weight of particle r over that of the first.

    Numbers are added, so that all exponentials are four at a time.
    """
    logw, unique = p.logw, p.counters[UNIQUE]
    padded = (unique + LANES - 1) // LANES * LANES
    for r in range(1, unique):
        share[r] = lead_of(logw[r], logw[0], top, top)
    share[0] = 0.0
    for r in range(unique, padded):
        share[r] = 0.0
    for r in range(padded):
        share[r] = exp(min(share[r], TOO_FAR))


@part
def mark_near(p, bound, share, near):
    """Let near[s] say whether slot s may be in a pair that counts.

    One that counts is above NEGLIGIBLE of the best, which is no less than the best of the heaviest
    particle, whose weight is returned. Half of that leaves room for rounding.
    """
    prob, live, r, heaviest = p.mass[PROB], p.slots[ORDER, : p.counters[LIVE]], 0, 0.0
    for other in range(1, p.counters[UNIQUE]):
        r = other if share[other] > share[r] else r
    held, size = p.groups[r], p.particles[SIZE, r]
    for k in range(1 if size > bound else 0, size):
        heaviest = max(heaviest, prob[unsigned(held[unsigned(k)])])
    floor = 0.5 * NEGLIGIBLE * heaviest
    for j in range(live.shape[0]):
        near[unsigned(live[j])] = 1 if prob[unsigned(live[j])] > floor else 0
    return share[r]


@exact
def lead_of(logw, base, top, level):
    """Return by how many nats a particle is above the scale of the list."""
    return logw + (top - (base + level))


@part
def list_any(p, bound, top, w, q, owner, pick):
    """List the pairs that may count, however far apart they are; also return their log scale."""
    mass, groups, particles, logw, counters = p.mass, p.groups, p.particles, p.logw, p.counters
    best, n = 0.0, 0
    base, level = logw[0], -np.inf  # of the particle that q is relative to: weight and scale
    for r in range(counters[UNIQUE]):
        listed, size = n, particles[SIZE, r]
        first = 1 if size > bound else 0  # at the bound no new group may open
        lead, reach = lead_of(logw[r], base, top, level) if n > 0 else 0.0, 0.0
        if lead <= LEAP:
            share = exp(lead)
            n, reach = list_near(r, first, share, NEGLIGIBLE * best, n, p, q, owner, pick)
        if reach >= FAINT:
            level = top if listed == 0 else level
        else:  # far from the best group of all, or heavier by far than those before it
            _, scale = options(groups[r], size, bound, mass, top, w)
            lead = lead_of(logw[r], base, scale, level) if listed > 0 else np.inf
            if lead > LEAP:
                for j in range(listed):
                    q[j] *= exp(-lead)
                best *= exp(-lead)
                base, level, lead = logw[r], scale, 0.0
            n = list_all(r, first, exp(lead), listed, p, w, q, owner, pick)
        for j in range(listed, n):
            best = max(best, q[j])
    return n, best, base + level


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


@exact
def plus(a, b):
    """Return the sum; numbers that are added so are added in their order."""
    return a + b


@part
def keep_large(n, floor, q, owner, pick, scale, p):
    """Keep the pairs above a floor; let q sum to 1. Return how many there are, and log total."""
    kept, total = 0, 0.0
    for j in range(n):
        x, at = q[unsigned(j)], unsigned(kept)
        q[at], owner[at], pick[at] = x, owner[unsigned(j)], pick[unsigned(j)]
        kept += 1 if x > floor else 0
    for j in range(kept):
        total = plus(total, q[j])
    for j in range(kept):
        q[j] /= total
    return kept, scale + log(total / (p.counters[ROWS] + p.mass[MASS, 0]))
