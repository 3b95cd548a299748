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
    begin,
    graft,
    options,
    record,
    short,
    sift,
    split,
    weigh,
)
from infinimix.kernels.compile import part
from infinimix.kernels.draws import invert
from infinimix.kernels.elementary import exp, log


@part
def propagate(r, w, total, slots, groups, crowd, logw, tally, u):
    """Every copy of particle r draws a group; copies that agree stay one particle."""
    mark, size, copies = tally[UNIQUE], crowd[SIZE, r], crowd[COPIES, r]
    for c in range(copies):
        k = invert(w, size, total * u[tally[USED]])
        tally[USED] += 1
        if c == 0:
            crowd[PICK, r] = k
        elif k != crowd[PICK, r]:
            b = mark
            while b < tally[UNIQUE] and crowd[PICK, b] != k:
                b += 1
            if b == tally[UNIQUE]:
                crowd[PICK, split(r, slots, groups, crowd, logw, tally)] = k
            crowd[COPIES, r] -= 1
            crowd[COPIES, b] += 1


@part
def resample(slots, groups, crowd, logw, tally, u, size, systematic):
    """When the effective size is at most size / 2, draw `size` copies of equal weight."""
    unique = tally[UNIQUE]
    top, total, squares = logw[0], 0.0, 0.0
    for r in range(unique):
        top = max(top, logw[r])
    for r in range(unique):
        w = exp(logw[r] - top)
        total += crowd[COPIES, r] * w
        squares += crowd[COPIES, r] * w * w
    if total * total > 0.5 * size * squares:
        return
    share = np.empty(unique)
    for r in range(unique):
        share[r] = crowd[COPIES, r] * exp(logw[r] - top)
        crowd[COPIES, r], logw[r] = 0, top + log(total / size)
    for c in range(size):
        at = (c + u[tally[USED]]) / size if systematic else u[tally[USED] + c]
        crowd[COPIES, invert(share, unique, total * at)] += 1
    tally[USED] += 1 if systematic else size
    sift(slots, groups, crowd, logw, tally)


@engine("score", "count", "refresh", "copy")
def advance(
    family, stats, X, rows, j, slots, mass, groups, crowd, logw, tally, u, trace, size, bound, kind
):
    """Filter the rows X[rows[j:]]; return the first j not done, for want of room."""
    w = np.empty(groups.shape[1])
    while j < rows.shape[0] and not short(slots, groups, tally, u, size):
        begin(crowd, tally)
        top = weigh(family, stats, X, rows[j], slots, mass, tally)
        for r in range(tally[UNIQUE]):
            total, scale = options(groups[r], crowd[SIZE, r], bound, mass, top, w)
            logw[r] += scale + log(total / (tally[ROWS] + mass[MASS, 0]))
            propagate(r, w, total, slots, groups, crowd, logw, tally, u)
        graft(family, stats, X, rows[j], slots, mass, groups, crowd, tally)
        resample(slots, groups, crowd, logw, tally, u, size, kind == 1)
        record(trace, j, crowd, tally)
        j += 1
    return j
