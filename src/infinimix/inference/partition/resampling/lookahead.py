"""The N-to-M filter that looks one row ahead before it drops a child.

As in `optimal`, every (particle, group) pair has its exact weight q. Here its chance to be kept is
set by a first-stage weight, as in the auxiliary particle filter (Pitt and Shephard 1999): v is q
times the predictive density of the next row in the child, to a power rho; pi = min(1, v / kappa). A
pair that is kept weighs q / pi, so whatever the chances are the evidence stays unbiased, and with
room for every partition the filter stays exact.

The next row is scored once in every live group, and once in each group as it would be with the
current row in it: a child differs from its parent in that one group only. Any positive first-stage
weight is valid, so groups that no pair of some weight picks are not copied for it.
"""

import numpy as np

from infinimix.families.product import engine
from infinimix.families.seam import add, copy, score
from infinimix.inference.partition.population import (
    FULL,
    LIVE,
    MASS,
    ORDER,
    SIZE,
    assign_row,
    borrow,
    lacks_room,
    note_origins,
    record,
    weigh,
)
from infinimix.inference.partition.resampling.optimal import select
from infinimix.inference.partition.resampling.pairs import LANES, candidates
from infinimix.kernels.compile import part
from infinimix.kernels.elementary import exp, log

RHO = 1.0  # the density of the next row counts in full
SLIGHT = 1e-6  # a pair below gets no child of its own: its group is used instead
LEAST_DENSITY = 1e-100  # of the density in the best group: no child is given less


@part
def score_ahead(family, stats, X, i, ahead, n, q, owner, pick, p, now, then):
    """Fill mass times density of row `ahead`: now[s] as slot s is, then[s] with row i in it."""
    slots, mass, groups, counters = p.slots, p.mass, p.groups, p.counters
    live, spare = slots[ORDER, : counters[LIVE]], slots[ORDER, counters[LIVE] : counters[LIVE] + 1]
    for s in live:
        now[s], then[s] = 0.0, -np.inf
    score(family, stats, X, ahead, live, now)
    for j in range(n):
        s = groups[owner[j], pick[j]]
        if then[s] == -np.inf and (q[j] > SLIGHT or s == 0):
            b = spare[0]
            copy(family, stats, s, b)
            add(family, stats, b, X, i, 1.0)
            now[b] = 0.0
            score(family, stats, X, ahead, spare, now)
            then[s] = now[b]
    top = -np.inf
    for s in live:
        then[s] = now[s] if then[s] == -np.inf else then[s]
        top = max(top, now[s], then[s])
    for s in live:
        then[s] = (mass[MASS, s] + 1.0 if s > 0 else 1.0) * exp(then[s] - top)
        now[s] = mass[MASS, s] * exp(now[s] - top)


@part
def first_stage_weights(n, q, owner, pick, p, bound, now, then, rho, first_stage):
    """Fill v = q times the density of the next row in the child, to rho; it sums to 1."""
    groups, particles = p.groups, p.particles
    last, held, whole = -1, 0.0, 0.0
    for j in range(n):
        r, s, size = owner[j], groups[owner[j], pick[j]], particles[SIZE, owner[j]]
        if r != last:  # pairs are listed particle by particle
            last, held = r, 0.0
            for k in range(1, size):
                held += now[groups[r, k]]
        density = then[s]
        if s > 0:
            density += max(held - now[s], 0.0)  # rounding may take more than there is
        else:
            density, size = density + held, size + 1
        if size <= bound:  # else the child may not open a further group
            density += now[0]
        first_stage[j] = q[j] * exp(rho * log(max(density, LEAST_DENSITY)))
        whole += first_stage[j]
    for j in range(n):
        first_stage[j] /= whole


@engine("score", "count", "refresh", "copy")
def advance(
    family, stats, X, rows, j, slots, mass, groups, particles, logw, counters, u, trace, size,
    bound, rho,
):  # fmt: skip
    """Filter the rows X[rows[j:]], looking ahead if rho > 0; return the first j not done."""
    p = borrow(slots, mass, groups, particles, logw, counters)
    most = groups.shape[0] * groups.shape[1]
    w, q, first_stage = np.empty(slots.shape[1]), np.empty(most), np.empty(most)
    owner, pick = np.empty(most, np.int64), np.empty(most, np.int64)
    now, then = np.empty(slots.shape[1]), np.empty(slots.shape[1])
    near, share = np.empty(slots.shape[1], np.int64), np.empty(slots.shape[1] + LANES)
    while j < rows.shape[0] and not lacks_room(p, u, size):
        note_origins(p)
        i = rows[j]
        top = weigh(family, stats, X, i, p, w)
        n, level = candidates(p, bound, top, w, near, share, q, owner, pick)
        drops = n > size or (n > 1 and counters[FULL] == 1)
        if drops and rho > 0.0 and j + 1 < rows.shape[0]:
            after = rows[j + 1]
            score_ahead(family, stats, X, i, after, n, q, owner, pick, p, now, then)
            first_stage_weights(n, q, owner, pick, p, bound, now, then, rho, first_stage)
        else:
            for k in range(n):
                first_stage[k] = q[k]
        select(n, q, first_stage, owner, pick, level, size, p, u)
        assign_row(family, stats, X, i, p)
        record(trace, j, p)
        j += 1
    return j
