"""A population of particles that share their groups.

A particle is a partition of the rows seen so far. A group lives once, in a slot; particles
hold slot numbers, and a group is copied only when its holders part (copy on write). Equal
particles are one particle with several copies. Slot 0 is the empty group: every particle
holds it, its mass is alpha, and a new group is its child.

The arrays are flat and few, as numba's calls cost by the argument:

- `slots` (5, S): how many particles hold a slot, the permutation that lists live slots
  first, its inverse, and two scratch rows of `graft`;
- `mass` (3, S): rows in the group (alpha for slot 0), log density of the current row,
  and mass times density on the scale of the best group;
- `groups` (R, C): the slots of each particle, the empty group first;
- `crowd` (4, R): copies, number of groups, picked position, and the particle it came from;
- `logw` (R,): log weight of each copy; `tally`: the counters named below.
"""

import numpy as np

from infinimix.families.product import engine
from infinimix.families.seam import add, copy, score
from infinimix.kernels.compile import kernel, part
from infinimix.kernels.draws import log_sum_exp
from infinimix.kernels.elementary import exp, log

REF, ORDER, PLACE, CHILD, CHOSEN = range(5)  # rows of `slots`
MASS, LOGP, PROB = range(3)  # rows of `mass`
COPIES, SIZE, PICK, ORIGIN = range(4)  # rows of `crowd`
ROWS, LIVE, UNIQUE, WIDEST, USED, CROWDED = range(6)  # entries of `tally`
FAR, FAINT = -60.0, 1e-10  # exp(FAR) is dropped beside a total of at least FAINT


@part
def weigh(family, stats, X, i, slots, mass, tally):
    """Score row i once against every live slot; PROB = MASS * p / exp(top). Return top."""
    live, logp = slots[ORDER, : tally[LIVE]], mass[LOGP]
    for s in live:
        logp[s] = 0.0
    score(family, stats, X, i, live, logp)
    top = -np.inf
    for s in live:
        top = max(top, logp[s])
    for s in live:
        gap = logp[s] - top
        near = gap > FAR or s == 0  # alpha may be so large that no group is far from it
        mass[PROB, s] = mass[MASS, s] * exp(gap) if near else 0.0
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
def log_growth(family, stats, X, i, slots, mass, groups, crowd, logw, tally, bound):
    """Return by how much the log of the total weight would grow with row i."""
    top = weigh(family, stats, X, i, slots, mass, tally)
    w, unique = np.empty(groups.shape[1]), tally[UNIQUE]
    before, after = np.empty(unique), np.empty(unique)
    for r in range(unique):
        total, scale = options(groups[r], crowd[SIZE, r], bound, mass, top, w)
        before[r] = logw[r] + log(float(crowd[COPIES, r]))
        after[r] = before[r] + log(total) + scale
    grown = log_sum_exp(after) - log_sum_exp(before)
    return grown - log(tally[ROWS] + mass[MASS, 0])


@part
def split(r, slots, groups, crowd, logw, tally):
    """Append a particle equal to r, without copies yet."""
    b = tally[UNIQUE]
    for k in range(crowd[SIZE, r]):
        groups[b, k] = groups[r, k]
        slots[REF, groups[r, k]] += 1
    crowd[SIZE, b], crowd[COPIES, b], logw[b] = crowd[SIZE, r], 0, logw[r]
    crowd[ORIGIN, b] = crowd[ORIGIN, r]
    tally[UNIQUE] += 1
    return b


@part
def graft(family, stats, X, i, slots, mass, groups, crowd, tally):
    """Put row i in the picked group of every particle: one child per parent, shared."""
    for r in range(tally[UNIQUE]):
        slots[CHOSEN, groups[r, crowd[PICK, r]]] += 1
    for r in range(tally[UNIQUE]):
        s = groups[r, crowd[PICK, r]]
        holders = slots[CHOSEN, s]
        if holders > 0:  # first to come: in place if all holders agree, else in a copy
            b = s
            if holders < slots[REF, s]:
                b = slots[ORDER, tally[LIVE]]
                tally[LIVE] += 1
                copy(family, stats, s, b)
                slots[REF, b] = holders
                slots[REF, s] -= holders if s > 0 else 0
                mass[MASS, b] = mass[MASS, s] if s > 0 else 0.0
            add(family, stats, b, X, i, 1.0)
            mass[MASS, b] += 1.0
            slots[CHILD, s], slots[CHOSEN, s] = b, 0
        if s == 0:
            crowd[PICK, r] = crowd[SIZE, r]
            crowd[SIZE, r] += 1
            tally[WIDEST] = max(tally[WIDEST], crowd[SIZE, r])
        groups[r, crowd[PICK, r]] = slots[CHILD, s]
    tally[ROWS] += 1


@part
def release(s, slots, tally):
    """Let go of slot s; the last holder frees it."""
    slots[REF, s] -= 1
    if slots[REF, s] == 0:
        tally[LIVE] -= 1
        at, last = slots[PLACE, s], slots[ORDER, tally[LIVE]]
        slots[ORDER, at], slots[PLACE, last] = last, at
        slots[ORDER, tally[LIVE]], slots[PLACE, s] = s, tally[LIVE]


@part
def sift(slots, groups, crowd, logw, tally):
    """Drop the particles without copies and close the ranks."""
    kept = 0
    for r in range(tally[UNIQUE]):
        if crowd[COPIES, r] == 0:
            for k in range(crowd[SIZE, r]):
                release(groups[r, k], slots, tally)
        else:
            if kept < r:
                for k in range(crowd[SIZE, r]):
                    groups[kept, k] = groups[r, k]
                for field in range(crowd.shape[0]):
                    crowd[field, kept] = crowd[field, r]
                logw[kept] = logw[r]
            kept += 1
    tally[UNIQUE] = kept


@part
def short(slots, groups, tally, u, size):
    """Is there too little room, or are there too few uniforms, for one more row?"""
    slot, column = tally[LIVE] + size + 1, tally[WIDEST] + 1
    return slot > slots.shape[1] or column > groups.shape[1] or tally[USED] + 2 * size > u.shape[0]


@part
def begin(crowd, tally):
    """Before a row, every particle is its own origin."""
    for r in range(tally[UNIQUE]):
        crowd[ORIGIN, r] = r


@part
def record(trace, j, crowd, tally):
    """Note for each particle where it came from and which of its groups took the row."""
    if trace.shape[0] > 0:
        for r in range(tally[UNIQUE]):
            trace[j, 0, r], trace[j, 1, r] = crowd[ORIGIN, r], crowd[PICK, r]


@kernel
def keep_only(r, slots, groups, crowd, logw, tally):
    """Let particle r be the only one."""
    for other in range(tally[UNIQUE]):
        crowd[COPIES, other] = 1 if other == r else 0
    sift(slots, groups, crowd, logw, tally)


@kernel
def set_aside(slots, groups, crowd, logw, tally):
    """Append a particle equal to the first, whose groups they then share."""
    split(0, slots, groups, crowd, logw, tally)
