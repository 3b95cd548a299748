"""Split and merge moves (Jain and Neal 2004) of one particle, on the filter's arrays.

Two rows are drawn. If they share a group, it may split: each of the two begins a side, the
other rows of the group join a side one after the other, then choose again in restricted Gibbs
scans, and the last scan is the proposal. If they are in two groups, these may merge; the
reverse move is the same last scan, forced to end in the two groups as they are. Gibbs sweeps
alone almost never leave a partition in which one group should be two.

Hidden here: the probability of the reverse move is at most 1, so most merges are refused by
their evidence alone, before any scan.
"""

import numpy as np

from infinimix.families.product import engine
from infinimix.families.seam import add, copy, evidence, merge, score
from infinimix.inference.partition.gibbs import drop, lacks_slots, open_slot
from infinimix.inference.partition.population import (
    LIVE,
    LOGP,
    MASS,
    ORDER,
    SIZE,
    WIDEST,
    borrow,
    release,
)
from infinimix.kernels.compile import kernel, part
from infinimix.kernels.elementary import exp, log

SCANS = 1  # restricted scans between the first allocation and the last scan


# Families are called here, not inlined as elsewhere, and in few places: a call costs little
# beside a scan, and each level of inlining is one more time that a cold start compiles them.
@kernel
def put(family, stats, s, X, i, w):
    """Add row i to slot s with weight w."""
    add(family, stats, s, X, i, w)


@kernel
def compare(family, stats, X, i, sides, logp):
    """Score row i in two slots."""
    score(family, stats, X, i, sides, logp)


@kernel
def worth(family, stats, s):
    """Return the log evidence of what slot s holds."""
    return evidence(family, stats, s)


@kernel
def gather(family, stats, s, t, target):
    """Let a slot hold what s holds and, unless it is the same, what t holds."""
    copy(family, stats, s, target)
    if s != t:
        merge(family, stats, t, target)


@part
def members(z, first, second, places, side):
    """List the places of z with one of two values, and which of them; return how many."""
    n = 0
    for j in range(z.shape[0]):
        if z[j] == first or z[j] == second:
            places[n], side[j] = j, 1 if z[j] == second else 0
            n += 1
    return n


@part
def shuffle(x, n, rng):
    """Put the first n entries in random order."""
    for a in range(n - 1, 0, -1):
        b = int(rng.random() * (a + 1))
        x[a], x[b] = x[b], x[a]


@kernel
def propose(family, stats, X, rows, places, n, pair, sides, side, forced, mass, rng):
    """Let the rows at `places` choose sides; return the log probability of the last scan.

    `forced`, if it is not empty, says where the last scan must end.
    """
    logp, mass_of = mass[LOGP], mass[MASS]
    for c in range(2):
        gather(family, stats, 0, 0, sides[c])
        put(family, stats, sides[c], X, rows[pair[c]], 1.0)
        mass_of[sides[c]], side[pair[c]] = 1.0, c
    shuffle(places, n, rng)
    log_q = 0.0
    for scan in range(SCANS + 2):
        for a in range(n):
            j = places[a]
            if j == pair[0] or j == pair[1]:
                continue
            if scan > 0:
                put(family, stats, sides[side[j]], X, rows[j], -1.0)
                mass_of[sides[side[j]]] -= 1.0
            logp[sides[0]] = logp[sides[1]] = 0.0
            compare(family, stats, X, rows[j], sides, logp)
            odds = exp(min(logp[sides[0]] - logp[sides[1]], 700.0))
            p = 1.0 / (1.0 + mass_of[sides[0]] / mass_of[sides[1]] * odds)
            side[j] = 1 if rng.random() < p else 0
            if scan == SCANS + 1:
                if forced.shape[0] > 0:
                    side[j] = forced[j]
                log_q += log(p) if side[j] == 1 else log(1.0 - p)
            put(family, stats, sides[side[j]], X, rows[j], 1.0)
            mass_of[sides[side[j]]] += 1.0
    return log_q


@part
def log_factorials(a, b):
    """Return log((a - 1)! (b - 1)! / (a + b - 1)!), the prior odds of two groups against one."""
    total, low, high = 0.0, min(a, b), max(a, b)
    for x in range(int(low)):
        total += log((x if x > 0 else 1.0) / (high + x))
    return total


@kernel
def log_odds(family, stats, halves, both, mass):
    """Return how much more probable two groups are than both together, in log probability."""
    gain = worth(family, stats, halves[0]) + worth(family, stats, halves[1])
    gain += log(mass[MASS, 0]) + log_factorials(mass[MASS, halves[0]], mass[MASS, halves[1]])
    return gain - worth(family, stats, both)


@part
def divide(z, k, places, n, side, r, p):
    """Let the two sides, in the first spare slots, take the place of group k."""
    slots, mass, groups, particles, counters = p.slots, p.mass, p.groups, p.particles, p.counters
    s = groups[r, k]
    groups[r, k] = open_slot(mass[MASS, slots[ORDER, counters[LIVE]]], p)
    new = particles[SIZE, r]
    groups[r, new] = open_slot(mass[MASS, slots[ORDER, counters[LIVE]]], p)
    for a in range(n):
        if side[places[a]] == 1:
            z[places[a]] = new
    particles[SIZE, r] += 1
    counters[WIDEST] = max(counters[WIDEST], particles[SIZE, r])
    release(s, p)


@part
def unite(z, k, m, places, n, r, p):
    """Let both groups together, in the first spare slot, take the place of groups k and m."""
    s, t = p.groups[r, k], p.groups[r, m]
    p.groups[r, k] = open_slot(p.mass[MASS, s] + p.mass[MASS, t], p)
    for a in range(n):
        z[places[a]] = k
    release(s, p)
    release(t, p)
    drop(r, m, z, p)


@engine("score", "count", "refresh", "copy", "merge", "column_evidence")
def split_merge(
    family, stats, X, rows, z, moves, r, slots, mass, groups, particles, logw, counters, rng, bound,
    made,
):  # fmt: skip
    """Try so many moves; return how many are left, for want of room. `made` counts successes.

    All rows of the particle must be at hand: a group with rows elsewhere cannot be cut.
    """
    p, n_rows = borrow(slots, mass, groups, particles, logw, counters), rows.shape[0]
    places, side = np.empty(n_rows, np.int64), np.empty(n_rows, np.int64)
    forced = np.empty(n_rows, np.int64)
    pair = np.empty(2, np.int64)
    while moves > 0 and n_rows > 1 and not lacks_slots(p, r):
        moves -= 1
        pair[0], pair[1] = int(rng.random() * n_rows), int(rng.random() * (n_rows - 1))
        pair[1] += 1 if pair[1] >= pair[0] else 0
        k, m = z[pair[0]], z[pair[1]]
        apart, level = k != m, log(1.0 - rng.random())
        if not apart and particles[SIZE, r] > bound:
            continue
        both = slots[ORDER, counters[LIVE]] if apart else groups[r, k]
        first = counters[LIVE] + (1 if apart else 0)
        sides = slots[ORDER, first : first + 2].copy()
        halves = np.array([groups[r, k], groups[r, m]]) if apart else sides
        gain = 0.0  # of the halves over both, in log probability
        if apart:
            gather(family, stats, halves[0], halves[1], both)
            gain = log_odds(family, stats, halves, both, mass)
            if not level < -gain:
                continue
        n = members(z, k, m, places, forced)
        ends = forced if apart else forced[:0]
        log_q = propose(family, stats, X, rows, places, n, pair, sides, side, ends, mass, rng)
        if not apart:
            gain = log_odds(family, stats, halves, both, mass)
        if apart and level < log_q - gain:
            unite(z, k, m, places, n, r, p)
            made[1] += 1
        elif not apart and level < gain - log_q:
            divide(z, k, places, n, side, r, p)
            made[0] += 1
    return moves
