"""Split and merge moves (Jain and Neal 2004) of one particle, on the filter's arrays.

Two rows are drawn. If they share a group, it may split: each of the two founds a side, the
other rows of the group join a side one after the other, then settle by restricted Gibbs
scans, and the last scan is the proposal. If they are in two groups, these may merge; the way
back is the same last scan, led to the sides as they are. Gibbs sweeps alone almost never
leave a partition in which one group should be two.

Hidden here: the probability of the way back is at most 1, so most merges are refused by
their evidence alone, before any scan.
"""

import numpy as np

from infinimix.families.seam import add, copy, evidence, merge, score
from infinimix.inference.gibbs import adopt, cramped, drop
from infinimix.inference.population import (
    LIVE,
    LOGP,
    MASS,
    ORDER,
    SIZE,
    WIDEST,
    release,
)
from infinimix.kernels.compile import kernel, part
from infinimix.kernels.elementary import exp, log

SCANS = 1  # restricted scans between the first allocation and the last scan


# These are calls and not inlined as elsewhere: compiling them once for all their places halves
# the time of a cold start.
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


@part
def found(family, stats, X, i, s):
    """Let slot s hold row i alone."""
    copy(family, stats, 0, s)
    put(family, stats, s, X, i, 1.0)


@part
def lean(family, stats, X, i, sides, mass):
    """Return the probability that row i joins the second of two groups."""
    logp = mass[LOGP]
    a, b = sides[0], sides[1]
    logp[a] = logp[b] = 0.0
    compare(family, stats, X, i, sides, logp)
    return 1.0 / (1.0 + mass[MASS, a] / mass[MASS, b] * exp(min(logp[a] - logp[b], 700.0)))


@part
def members(z, first, second, out):
    """List the places of z with one of two values; return how many there are."""
    n = 0
    for j in range(z.shape[0]):
        if z[j] == first or z[j] == second:
            out[n] = j
            n += 1
    return n


@part
def shuffle(x, n, rng):
    """Put the first n entries in random order."""
    for a in range(n - 1, 0, -1):
        b = int(rng.random() * (a + 1))
        x[a], x[b] = x[b], x[a]


@part
def settle(family, stats, X, i, s, w, mass):
    """Add row i to a side with weight 1, or take it away with weight -1."""
    put(family, stats, s, X, i, w)
    mass[MASS, s] += w


@kernel  # not inlined: both moves call it
def propose(family, stats, X, rows, places, n, pair, sides, side, forced, mass, rng):
    """Let the rows at `places` choose sides; return the log probability of the last scan.

    `forced`, if it is not empty, says where the last scan must end.
    """
    for c in range(2):
        found(family, stats, X, rows[pair[c]], sides[c])
        mass[MASS, sides[c]] = 1.0
        side[pair[c]] = c
    shuffle(places, n, rng)
    log_q = 0.0
    for scan in range(SCANS + 2):
        for a in range(n):
            j = places[a]
            if j == pair[0] or j == pair[1]:
                continue
            if scan > 0:
                settle(family, stats, X, rows[j], sides[side[j]], -1.0, mass)
            p = lean(family, stats, X, rows[j], sides, mass)
            side[j] = 1 if rng.random() < p else 0
            if scan == SCANS + 1:
                if forced.shape[0] > 0:
                    side[j] = forced[j]
                log_q += log(p) if side[j] == 1 else log(1.0 - p)
            settle(family, stats, X, rows[j], sides[side[j]], 1.0, mass)
    return log_q


@part
def log_factorials(a, b):
    """Return log((a - 1)! (b - 1)! / (a + b - 1)!), the price of cutting a group in two."""
    total, low, high = 0.0, min(a, b), max(a, b)
    for x in range(int(low)):
        total += log((x if x > 0 else 1.0) / (high + x))
    return total


@part
def relocate(z, places, n, side, value, position):
    """Let the rows of one side stand in the group at a position."""
    for a in range(n):
        if side[places[a]] == value:
            z[places[a]] = position


@part
def try_split(
    family, stats, X, rows, z, k, pair, r, slots, mass, groups, crowd, tally, rng, places, side
):
    """Propose to cut group k in two; return whether it was."""
    s, n = groups[r, k], members(z, k, k, places)
    first, second = slots[ORDER, tally[LIVE]], slots[ORDER, tally[LIVE] + 1]
    sides = np.array([first, second])
    forced = side[:0]
    log_q = propose(family, stats, X, rows, places, n, pair, sides, side, forced, mass, rng)
    a, b = mass[MASS, first], mass[MASS, second]
    gain = worth(family, stats, first) + worth(family, stats, second)
    gain += log(mass[MASS, 0]) + log_factorials(a, b) - worth(family, stats, s)
    if not log(1.0 - rng.random()) < gain - log_q:
        return False
    groups[r, k] = adopt(a, slots, mass, tally)
    groups[r, crowd[SIZE, r]] = adopt(b, slots, mass, tally)
    relocate(z, places, n, side, 1, crowd[SIZE, r])
    crowd[SIZE, r] += 1
    tally[WIDEST] = max(tally[WIDEST], crowd[SIZE, r])
    release(s, slots, tally)
    return True


@part
def try_merge(
    family, stats, X, rows, z, k, m, pair, r, slots, mass, groups, crowd, tally, rng, places, side
):
    """Propose to make groups k and m one; return whether they are."""
    s, t, both = groups[r, k], groups[r, m], slots[ORDER, tally[LIVE]]
    a, b = mass[MASS, s], mass[MASS, t]
    copy(family, stats, s, both)
    merge(family, stats, t, both)
    gain = worth(family, stats, both) - worth(family, stats, s) - worth(family, stats, t)
    gain -= log(mass[MASS, 0]) + log_factorials(a, b)
    level = log(1.0 - rng.random())
    if not level < gain:
        return False
    n = members(z, k, m, places)
    forced = np.empty(z.shape[0], np.int64)
    for c in range(n):
        forced[places[c]] = 1 if z[places[c]] == m else 0
    sides = np.array([slots[ORDER, tally[LIVE] + 1], slots[ORDER, tally[LIVE] + 2]])
    log_q = propose(family, stats, X, rows, places, n, pair, sides, side, forced, mass, rng)
    if not level < gain + log_q:
        return False
    groups[r, k] = adopt(a + b, slots, mass, tally)
    for c in range(n):
        z[places[c]] = k
    release(s, slots, tally)
    release(t, slots, tally)
    drop(r, m, z, groups, crowd)
    return True


@kernel
def split_merge(
    family, stats, X, rows, z, moves, r, slots, mass, groups, crowd, tally, rng, bound, made
):
    """Try so many moves; return how many are left, for want of room. `made` counts successes.

    All rows of the particle must be at hand: a group with rows elsewhere cannot be cut.
    """
    n = rows.shape[0]
    places, side = np.empty(n, np.int64), np.empty(n, np.int64)
    pair = np.empty(2, np.int64)
    while moves > 0 and n > 1 and not cramped(slots, groups, crowd, r, tally):
        moves -= 1
        pair[0], pair[1] = int(rng.random() * n), int(rng.random() * (n - 1))
        pair[1] += 1 if pair[1] >= pair[0] else 0
        k, m = z[pair[0]], z[pair[1]]
        arrays = (slots, mass, groups, crowd, tally, rng, places, side)
        if k != m:
            made[1] += try_merge(family, stats, X, rows, z, k, m, pair, r, *arrays)
        elif crowd[SIZE, r] <= bound:
            made[0] += try_split(family, stats, X, rows, z, k, pair, r, *arrays)
    return moves
