"""Gibbs sweeps over the rows of one particle (Neal 2000, algorithm 3), on the filter's arrays.

Each row leaves its group, every group and the empty one are weighed for it as in the filter,
and it joins one of them. `z` holds for each row the position of its group in the particle.

Hidden here: the group without the row is made in a spare slot, so a row that stays, as most
do, costs one refresh and leaves the statistics as they were, without rounding. Groups that
other particles hold too are copied when they change (copy on write).
"""

import numpy as np

from infinimix.families.product import engine
from infinimix.families.seam import add, copy, count, refresh, score
from infinimix.inference.partition.population import (
    LIVE,
    LOGP,
    MASS,
    ORDER,
    REF,
    ROWS,
    SIZE,
    WIDEST,
    borrow,
    release,
)
from infinimix.kernels.compile import part
from infinimix.kernels.draws import invert
from infinimix.kernels.elementary import exp, log

SPARE = 3  # slots that one move may need at once


@part
def lacks_slots(p, r):
    """Is there too little room for one more move of particle r?"""
    spare = p.slots.shape[1] - p.counters[LIVE]
    return spare < SPARE or p.particles[SIZE, r] + 1 > p.groups.shape[1]


@part
def open_slot(rows, p):
    """Let the first spare slot live, held by one particle, as a group of so many rows."""
    s = p.slots[ORDER, p.counters[LIVE]]
    p.counters[LIVE] += 1
    p.slots[REF, s], p.mass[MASS, s] = 1, rows
    return s


@part
def drop(r, k, z, p):
    """Close the gap that group k leaves in particle r: the last group takes its position."""
    last = p.particles[SIZE, r] - 1
    p.particles[SIZE, r] = last
    if k < last:
        p.groups[r, k] = p.groups[r, last]
        for j in range(z.shape[0]):
            if z[j] == last:
                z[j] = k


@part
def join(family, stats, X, i, r, k, p):
    """Put row i in group k of particle r, a new one if k is 0; return its position."""
    slots, mass, groups, particles, counters = p.slots, p.mass, p.groups, p.particles, p.counters
    s = groups[r, k]
    if k == 0 or slots[REF, s] > 1:
        copy(family, stats, s, slots[ORDER, counters[LIVE]])
        b = open_slot(0.0 if k == 0 else mass[MASS, s], p)
        if k == 0:
            k = particles[SIZE, r]
            particles[SIZE, r] += 1
            counters[WIDEST] = max(counters[WIDEST], particles[SIZE, r])
        else:
            release(s, p)
        groups[r, k] = s = b
    add(family, stats, s, X, i, 1.0)
    mass[MASS, s] += 1.0
    return k


@part
def weigh_held(family, stats, X, i, held, room, mass, w):
    """Fill w with mass times density of each held group; return their sum and log scale."""
    logp = mass[LOGP]
    for s in held:
        logp[s] = 0.0
    score(family, stats, X, i, held, logp)
    top, total = -np.inf, 0.0
    for k in range(held.shape[0]):
        w[k] = mass[MASS, held[k]] if k > 0 or room else 0.0
        if w[k] > 0.0:
            top = max(top, logp[held[k]])
    for k in range(held.shape[0]):
        if w[k] > 0.0:
            w[k] *= exp(logp[held[k]] - top)
            total += w[k]
    return total, top


@engine("score", "count", "refresh", "copy")
def sweep(
    family, stats, X, rows, z, j, r, slots, mass, groups, particles, logw, counters, rng, bound, loo
):
    """Let the rows from the j-th on choose again; return the first not done, for want of room.

    If `loo` is not empty, nothing moves: it receives the log predictive density of each row
    given all other rows.
    """
    p, w = borrow(slots, mass, groups, particles, logw, counters), np.empty(groups.shape[1])
    while j < rows.shape[0] and not lacks_slots(p, r):
        i, k = rows[j], z[j]
        s, spare = groups[r, k], slots[ORDER, counters[LIVE]]
        copy(family, stats, s, spare)
        count(family, stats, spare, X, i, -1.0)
        refresh(family, stats, spare)
        mass[MASS, spare] = left = mass[MASS, s] - 1.0
        groups[r, k] = spare
        others = particles[SIZE, r] - (1 if left > 0.0 else 2)
        held, room = groups[r, : particles[SIZE, r]], others < bound
        total, top = weigh_held(family, stats, X, i, held, room, mass, w)
        groups[r, k] = s
        if loo.shape[0] > 0:
            loo[j] = top + log(total / (counters[ROWS] - 1.0 + (mass[MASS, 0] if room else 0.0)))
            j += 1
            continue
        new = invert(w, held.shape[0], total * rng.random())
        if new == 0 and left == 0.0:
            new = k  # a row alone opens a group of itself: the same as staying
        if new != k:
            groups[r, k] = open_slot(left, p)
            release(s, p)
            if left == 0.0:
                release(groups[r, k], p)
                new = k if new == particles[SIZE, r] - 1 else new
                drop(r, k, z, p)
            z[j] = join(family, stats, X, i, r, new, p)
        j += 1
    return j
