"""Densities of a few rows, read from the filters as they are.

A table of all groups of all classes (`Bank.snapshot`) pays for itself over many rows. A stream asks
for one row, learns one, and asks again: here nothing is copied or kept. Both weigh the groups
alike, to the last bit.
"""

import numpy as np

from infinimix.families.product import as_cells, engine, rows_of
from infinimix.families.seam import score
from infinimix.inference.partition.population import (
    COPIES,
    LIVE,
    MASS,
    PLACE,
    SIZE,
    UNIQUE,
    borrow,
)
from infinimix.kernels.compile import entry, kernel, part
from infinimix.kernels.draws import log_sum_exp
from infinimix.kernels.elementary import exp, log

TINY = 1e-300  # a weight that is none
_MIX = None  # the machine code of `mix`


@kernel
def mix(scores, log_mix, bounds, out):
    """out[i, c] = log density of row i in class c."""
    for i in range(scores.shape[0]):
        for j in range(scores.shape[1]):
            scores[i, j] += log_mix[j]
        for c in range(bounds.shape[0] - 1):
            out[i, c] = log_sum_exp(scores[i, bounds[c] : bounds[c + 1]])


@part
def weigh_groups(p, bound, divisor, live, log_mix):
    """List the groups in the order of their slots, with their log weights in the predictive."""
    slots, mass, groups, particles, counters = p.slots, p.mass, p.groups, p.particles, p.counters
    logw = p.logw
    weight, top, total, j = np.zeros(slots.shape[1]), -np.inf, 0.0, 0
    for r in range(counters[UNIQUE]):
        top = max(top, logw[r] + log(float(particles[COPIES, r])))
    for r in range(counters[UNIQUE]):
        w = exp(logw[r] + log(float(particles[COPIES, r])) - top)
        first = 0 if particles[SIZE, r] <= bound else 1  # may a group open?
        for k in range(first, particles[SIZE, r]):
            s = groups[r, k]
            weight[s] += w * mass[MASS, s]
            total += w * mass[MASS, s]
    for s in range(slots.shape[1]):  # the order in which they came says nothing
        if slots[PLACE, s] < counters[LIVE]:
            share = weight[s] / (total * divisor)
            live[j], log_mix[j] = s, log(share) if share > TINY else -np.inf
            j += 1


@kernel
def log_mixture(slots, mass, groups, particles, logw, counters, bound, divisor):
    """Return the live slots, and their log weights less log(divisor)."""
    p = borrow(slots, mass, groups, particles, logw, counters)
    live, log_mix = np.empty(counters[LIVE], np.int64), np.empty(counters[LIVE])
    weigh_groups(p, bound, divisor, live, log_mix)
    return live, log_mix


@engine("score")
def score_groups(
    family,
    stats,
    X,
    slots,
    mass,
    groups,
    particles,
    logw,
    counters,
    bound,
    divisor,
    first,
    scores,
    log_mix,
):
    """Fill in, from place `first` on, log density of each row and log weight, group by group."""
    p = borrow(slots, mass, groups, particles, logw, counters)
    size, at = counters[LIVE], log_mix[first:]
    live, logp = np.empty(size, np.int64), np.empty(slots.shape[1])
    weigh_groups(p, bound, divisor, live, at)
    for i in range(scores.shape[0]):
        for s in live:
            logp[s] = 0.0
        score(family, stats, X, i, live, logp)
        for j in range(size):
            scores[i, first + j] = logp[live[j]]


def log_densities(classes, X):
    """Return the log predictive density of a few rows in each class.

    `classes` are the filters of each class, of equal weight.
    """
    global _MIX
    if not classes:
        return np.empty((len(X[0]), 0))
    n, divisor, bounds = len(X[0]), float(len(classes[0])), [0]
    for filters in classes:
        bounds.append(bounds[-1] + sum([f.counters.item(LIVE) for f in filters]))
    size = bounds[-1]
    scores, log_mix, out = np.empty((n, size)), np.empty(size), np.empty((n, len(classes)))
    X = as_cells(classes[0][0].family, X)
    rows = rows_of(X)
    for filters, first in zip(classes, bounds):
        for f in filters:
            f.score_groups(rows, divisor, first, scores, log_mix)
            first += f.counters.item(LIVE)
    given = scores, log_mix, np.array(bounds), out
    if _MIX is None:
        _MIX = entry(mix, *given)
    _MIX(*given)
    return out
