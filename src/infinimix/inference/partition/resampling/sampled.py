"""The particle filter of the AClass paper, with proper weights.

Every copy of a particle draws a group for the row; the weight is multiplied by the sum of
the unnormalised probabilities (the paper overwrites it, which is wrong unless it resamples
at every row). When the effective size falls to half, copies are drawn anew by multinomial
or systematic resampling. Log weights carry the evidence: they start at -log P, and after
resampling share their mean.
"""

import numpy as np

from infinimix.families.product import engine
from infinimix.inference.partition.population import (
    COPIES,
    MASS,
    PICK,
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
from infinimix.kernels.draws import invert
from infinimix.kernels.elementary import exp, log


@part
def propagate(r, w, total, p, u):
    """Every copy of particle r draws a group; copies that agree stay one particle."""
    particles, counters = p.particles, p.counters
    first, size, copies = counters[UNIQUE], particles[SIZE, r], particles[COPIES, r]
    for c in range(copies):
        k = invert(w, size, total * u[counters[USED]])
        counters[USED] += 1
        if c == 0:
            particles[PICK, r] = k
        elif k != particles[PICK, r]:
            b = first
            while b < counters[UNIQUE] and particles[PICK, b] != k:
                b += 1
            if b == counters[UNIQUE]:
                particles[PICK, split(r, p)] = k
            particles[COPIES, r] -= 1
            particles[COPIES, b] += 1


@part
def resample(p, u, size, systematic):
    """When the effective size is at most size / 2, draw `size` copies of equal weight."""
    particles, logw, counters = p.particles, p.logw, p.counters
    unique = counters[UNIQUE]
    top, total, squares = logw[0], 0.0, 0.0
    for r in range(unique):
        top = max(top, logw[r])
    for r in range(unique):
        w = exp(logw[r] - top)
        total += particles[COPIES, r] * w
        squares += particles[COPIES, r] * w * w
    if total * total > 0.5 * size * squares:
        return
    share = np.empty(unique)
    for r in range(unique):
        share[r] = particles[COPIES, r] * exp(logw[r] - top)
        particles[COPIES, r], logw[r] = 0, top + log(total / size)
    for c in range(size):
        at = (c + u[counters[USED]]) / size if systematic else u[counters[USED] + c]
        particles[COPIES, invert(share, unique, total * at)] += 1
    counters[USED] += 1 if systematic else size
    compact(p)


@engine("score", "count", "refresh", "copy")
def advance(
    family, stats, X, rows, j, slots, mass, groups, particles, logw, counters, u, trace, size,
    bound, kind,
):  # fmt: skip
    """Filter the rows X[rows[j:]]; return the first j not done, for want of room."""
    p, w = borrow(slots, mass, groups, particles, logw, counters), np.empty(slots.shape[1])
    while j < rows.shape[0] and not lacks_room(p, u, size):
        note_origins(p)
        top = weigh(family, stats, X, rows[j], p, w)
        for r in range(counters[UNIQUE]):
            total, scale = options(groups[r], particles[SIZE, r], bound, mass, top, w)
            logw[r] += scale + log(total / (counters[ROWS] + mass[MASS, 0]))
            propagate(r, w, total, p, u)
        assign_row(family, stats, X, rows[j], p)
        resample(p, u, size, kind == 1)
        record(trace, j, p)
        j += 1
    return j
