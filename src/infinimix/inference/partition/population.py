"""A population of particles that share their groups.

A particle is a partition of the rows seen so far. A group lives once, in a slot; particles
hold slot numbers, and a group is copied only when its holders part (copy on write). Equal
particles are one particle with several copies. Slot 0 is the empty group: every particle
holds it, its mass is alpha, and a new group is its child.

The arrays (`Population`) are flat and few, as a call from Python costs by the argument: engines
take them one by one and put them together inside.
"""

from typing import NamedTuple

import numpy as np

from infinimix.families.product import engine
from infinimix.families.seam import add, copy, score, score_two
from infinimix.kernels.compile import kernel, part
from infinimix.kernels.draws import log_sum_exp
from infinimix.kernels.elementary import exp, log
from infinimix.kernels.memory import borrowed, unsigned

REF, ORDER, PLACE, CHILD, CHOSEN = range(5)  # rows of `slots`
MASS, LOGP, PROB = range(3)  # rows of `mass`
COPIES, SIZE, PICK, ORIGIN = range(4)  # rows of `particles`
ROWS, LIVE, UNIQUE, WIDEST, USED, FULL = range(6)  # entries of `counters`
FAINT = 1e-10  # a total below, beside the best group of all, is found anew on its own scale


class Population(NamedTuple):
    """The arrays of a population, for S slots, R particles and C groups of a particle."""

    slots: np.ndarray  # (5, S) holders, live slots first and where each is, scratch of `assign_row`
    mass: np.ndarray  # (3, S) rows (alpha for slot 0), log density of a row, mass * density
    groups: np.ndarray  # (R, C) the slots of each particle, the empty group first
    particles: np.ndarray  # (4, R) copies, number of groups, picked position, origin
    logw: np.ndarray  # (R,) log weight of each copy
    counters: np.ndarray  # (6,) rows, live slots, particles, most groups, used uniforms, was full


@part
def borrow(slots, mass, groups, particles, logw, counters):
    """Return the arguments of an engine as a population; no references to them are counted."""
    return borrowed(Population(slots, mass, groups, particles, logw, counters))


@part
def score_live(family, stats, X, i, p):
    """Let LOGP be the log density of row i in every live slot."""
    live, logp = p.slots[ORDER, : p.counters[LIVE]], p.mass[LOGP]
    for s in live:
        logp[s] = 0.0
    score(family, stats, X, i, live, logp)


@part
def score_ahead(family, stats, X, i, j, p, ahead):
    """Do the same, and let `ahead` be the log density of row j; return whether that is quick."""
    live, logp = p.slots[ORDER, : p.counters[LIVE]], p.mass[LOGP]
    for s in live:
        logp[s] = ahead[s] = 0.0
    return score_two(family, stats, X, i, j, live, logp, ahead) > 0


@part
def recall(family, stats, X, i, p, ahead, touched):
    """Let LOGP be the log density of row i, which is known but for groups that took a row since.

    These are few, and are scored now; `touched` is scratch for as many as there are slots.
    """
    slots, logp, n = p.slots, p.mass[LOGP], 0
    for s in slots[ORDER, : p.counters[LIVE]]:
        logp[s] = ahead[s]
    for r in range(p.counters[UNIQUE]):
        s = p.groups[r, p.particles[PICK, r]]
        touched[n], logp[s] = s, 0.0
        n += 1 if slots[CHOSEN, s] == 0 else 0  # each of them once
        slots[CHOSEN, s] = 1
    for s in touched[:n]:
        slots[CHOSEN, s] = 0
    score(family, stats, X, i, touched[:n], logp)


@part
def weigh(family, stats, X, i, p, w):
    """Score row i once against every live slot; PROB = MASS * p / exp(top). Return top."""
    score_live(family, stats, X, i, p)
    return weigh_scored(p, w)


@part
def weigh_scored(p, w):
    """Do the same with a row that has been scored.

    `w` is scratch for as many numbers as there are slots: exponentials of numbers in a row are
    four at a time.
    """
    slots, mass, counters = p.slots, p.mass, p.counters
    live, logp, w, top = slots[ORDER, : counters[LIVE]], mass[LOGP], borrowed(w), -np.inf
    for j in range(live.shape[0]):
        w[j] = logp[unsigned(live[j])]
        top = max(top, w[j])
    for j in range(live.shape[0]):
        w[j] = exp(w[j] - top)
    for j in range(live.shape[0]):
        s = unsigned(live[j])
        mass[PROB, s] = mass[MASS, s] * w[j]
    return top


@part
def options(held, size, bound, mass, top, w):
    """Weigh one particle's groups for this row: fill w; return its total and log scale."""
    first = 1 if size > bound else 0  # at the bound no new group may open
    w[0], total = 0.0, 0.0
    for k in range(first, size):
        w[k] = mass[PROB, held[k]]
        total += w[k]
    if total < FAINT:  # far from the best group of all: its own scale
        top, total = -np.inf, 0.0
        for k in range(first, size):
            top = max(top, mass[LOGP, held[k]])
        for k in range(first, size):
            w[k] = mass[MASS, held[k]] * exp(mass[LOGP, held[k]] - top)
            total += w[k]
    return total, top


@engine("score")
def log_growth(family, stats, X, i, slots, mass, groups, particles, logw, counters, bound):
    """Return by how much the log of the total weight would grow with row i."""
    p = borrow(slots, mass, groups, particles, logw, counters)
    w, unique = np.empty(slots.shape[1]), counters[UNIQUE]
    top = weigh(family, stats, X, i, p, w)
    before, after = np.empty(unique), np.empty(unique)
    for r in range(unique):
        total, scale = options(groups[r], particles[SIZE, r], bound, mass, top, w)
        before[r] = logw[r] + log(float(particles[COPIES, r]))
        after[r] = before[r] + log(total) + scale
    grown = log_sum_exp(after) - log_sum_exp(before)
    return grown - log(counters[ROWS] + mass[MASS, 0])


@part
def split(r, p):
    """Append a particle equal to r, without copies yet."""
    slots, groups, particles, logw, counters = p.slots, p.groups, p.particles, p.logw, p.counters
    b = counters[UNIQUE]
    for k in range(particles[SIZE, r]):
        groups[b, k] = groups[r, k]
        slots[REF, groups[r, k]] += 1
    particles[SIZE, b], particles[COPIES, b], logw[b] = particles[SIZE, r], 0, logw[r]
    particles[ORIGIN, b] = particles[ORIGIN, r]
    counters[UNIQUE] += 1
    return b


@part
def assign_row(family, stats, X, i, p):
    """Put row i in the picked group of every particle: one child per parent, shared."""
    slots, mass, groups, particles, counters = p.slots, p.mass, p.groups, p.particles, p.counters
    for r in range(counters[UNIQUE]):
        slots[CHOSEN, groups[r, particles[PICK, r]]] += 1
    for r in range(counters[UNIQUE]):
        s = groups[r, particles[PICK, r]]
        holders = slots[CHOSEN, s]
        if holders > 0:  # first to come: in place if all holders agree, else in a copy
            b = s
            if holders < slots[REF, s]:
                b = slots[ORDER, counters[LIVE]]
                counters[LIVE] += 1
                copy(family, stats, s, b)
                slots[REF, b] = holders
                slots[REF, s] -= holders if s > 0 else 0
                mass[MASS, b] = mass[MASS, s] if s > 0 else 0.0
            add(family, stats, b, X, i, 1.0)
            mass[MASS, b] += 1.0
            slots[CHILD, s], slots[CHOSEN, s] = b, 0
        if s == 0:
            particles[PICK, r] = particles[SIZE, r]
            particles[SIZE, r] += 1
            counters[WIDEST] = max(counters[WIDEST], particles[SIZE, r])
        groups[r, particles[PICK, r]] = slots[CHILD, s]
    counters[ROWS] += 1


@part
def release(s, p):
    """Let go of slot s; the last holder frees it."""
    slots, counters = p.slots, p.counters
    slots[REF, s] -= 1
    if slots[REF, s] == 0:
        counters[LIVE] -= 1
        at, last = slots[PLACE, s], slots[ORDER, counters[LIVE]]
        slots[ORDER, at], slots[PLACE, last] = last, at
        slots[ORDER, counters[LIVE]], slots[PLACE, s] = s, counters[LIVE]


@part
def compact(p):
    """Drop the particles without copies; the others move up."""
    groups, particles, logw, counters = p.groups, p.particles, p.logw, p.counters
    kept = 0
    for r in range(counters[UNIQUE]):
        if particles[COPIES, r] == 0:
            for k in range(particles[SIZE, r]):
                release(groups[r, k], p)
        else:
            if kept < r:
                for k in range(particles[SIZE, r]):
                    groups[kept, k] = groups[r, k]
                for field in range(particles.shape[0]):
                    particles[field, kept] = particles[field, r]
                logw[kept] = logw[r]
            kept += 1
    counters[UNIQUE] = kept


@part
def lacks_room(p, u, size):
    """Is there too little room, or are there too few uniforms, for one more row?"""
    slot, column = p.counters[LIVE] + size + 1, p.counters[WIDEST] + 1
    uniforms = p.counters[USED] + 2 * size
    return slot > p.slots.shape[1] or column > p.groups.shape[1] or uniforms > u.shape[0]


@part
def note_origins(p):
    """Before a row, every particle is its own origin."""
    for r in range(p.counters[UNIQUE]):
        p.particles[ORIGIN, r] = r


@part
def record(trace, j, p):
    """Note for each particle where it came from and which of its groups took the row."""
    if trace.shape[0] > 0:
        for r in range(p.counters[UNIQUE]):
            trace[j, 0, r], trace[j, 1, r] = p.particles[ORIGIN, r], p.particles[PICK, r]


@kernel
def keep_only(r, slots, mass, groups, particles, logw, counters):
    """Let particle r be the only one."""
    for other in range(counters[UNIQUE]):
        particles[COPIES, other] = 1 if other == r else 0
    compact(borrow(slots, mass, groups, particles, logw, counters))


@kernel
def set_aside(slots, mass, groups, particles, logw, counters):
    """Append a particle equal to the first, whose groups they then share."""
    split(0, borrow(slots, mass, groups, particles, logw, counters))
