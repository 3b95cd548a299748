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
    FULL,
    PICK,
    UNIQUE,
    USED,
    assign_row,
    borrow,
    compact,
    lacks_room,
    note_origins,
    recall,
    record,
    score_ahead,
    score_live,
    split,
    weigh_scored,
)
from infinimix.inference.partition.resampling.pairs import LANES, candidates
from infinimix.kernels.compile import part
from infinimix.kernels.elementary import log
from infinimix.kernels.memory import borrowed

FLOOR = 1e-4  # no accuracy is lost at this height; at 1e-3 some is
AGAIN = 64  # rows after which it is tried again whether two rows are scored quicker at once


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
def is_room_at(kappa, q, n, size):
    """Do at most `size` pairs survive on average at this kappa, that of `threshold` or above it?"""
    total = 0.0
    for j in range(n):
        total += min(q[j], kappa)
    return total <= kappa * size


@part
def select(n, q, first_stage, owner, pick, level, size, p, u):
    """Keep at most `size` of n pairs, each with probability min(1, v / kappa), reweighted."""
    particles, logw, counters = p.particles, p.logw, p.counters
    q, first_stage, owner, pick = (
        borrowed(q), borrowed(first_stage), borrowed(owner), borrowed(pick),
    )  # fmt: skip
    if counters[FULL] == 1 and is_room_at(FLOOR, first_stage, n, size):
        kappa = FLOOR  # `threshold` would be below, and looks at all pairs several times
    else:
        kappa = threshold(first_stage, n, size)
        if kappa > 0.0:
            counters[FULL] = 1
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
        particles[COPIES, r], particles[PICK, r], logw[r] = 1, pick[j], q[j]
    compact(p)
    # q has served, and takes the logarithms, so many more numbers that all are four at a time
    padded = (counters[UNIQUE] + LANES - 1) // LANES * LANES
    for r in range(padded):
        q[r] = logw[r] if r < counters[UNIQUE] else 1.0
    for r in range(padded):
        q[r] = log(q[r])
    for r in range(counters[UNIQUE]):
        logw[r] = level + q[r]


@engine("score", "score_two", "count", "refresh", "copy")
def advance(
    family, stats, X, rows, j, slots, mass, groups, particles, logw, counters, u, trace, size,
    bound, kind,
):  # fmt: skip
    """Filter the rows X[rows[j:]]; return the first j not done, for want of room."""
    p = borrow(slots, mass, groups, particles, logw, counters)
    most = groups.shape[0] * groups.shape[1]
    w, q = np.empty(slots.shape[1]), np.empty(most)
    owner, pick = np.empty(most, np.int64), np.empty(most, np.int64)
    near, share = np.empty(slots.shape[1], np.int64), np.empty(slots.shape[1] + LANES)
    # Most groups are after a row as they were, so the next one may be scored with it: see `recall`.
    ahead, known, quick, last = np.empty(slots.shape[1]), False, True, rows.shape[0] - 1
    while j <= last and not lacks_room(p, u, size):
        note_origins(p)
        if known:
            recall(family, stats, X, rows[j], p, ahead, near)
            known = False
        elif (quick or j % AGAIN == 0) and j < last:
            quick, known = score_ahead(family, stats, X, rows[j], rows[j + 1], p, ahead), True
        else:
            score_live(family, stats, X, rows[j], p)
        top = weigh_scored(p, w)
        n, level = candidates(p, bound, top, w, near, share, q, owner, pick)
        select(n, q, q, owner, pick, level, size, p, u)
        assign_row(family, stats, X, rows[j], p)
        record(trace, j, p)
        j += 1
    return j
