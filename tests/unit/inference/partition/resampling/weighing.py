"""The pairs of one row with weight and hope, by one kernel for all tests that list them."""

import numpy as np

from infinimix.families.product import engine
from infinimix.inference.partition.population import Population, note_origins, weigh
from infinimix.inference.partition.resampling.lookahead import first_stage_weights, score_ahead
from infinimix.inference.partition.resampling.pairs import candidates


@engine("score", "count", "refresh", "copy")  # compiled once for all families
def weigh_pairs(
    family, stats, X, slots, mass, groups, particles, logw, counters, bound, rho, q, first_stage,
    owner, pick,
):  # fmt: skip
    """List the pairs for row 5 as `advance` does; return how many, and the level of weights."""
    p = Population(slots, mass, groups, particles, logw, counters)
    note_origins(p)
    w, now, then = np.empty(1000), np.empty(1000), np.empty(1000)
    top = weigh(family, stats, X, 5, p, w)
    near, share = np.empty(1000, np.int64), np.empty(1000)
    n, level = candidates(p, bound, top, w, near, share, q, owner, pick)
    score_ahead(family, stats, X, 5, 6, n, q, owner, pick, p, now, then)
    first_stage_weights(n, q, owner, pick, p, bound, now, then, rho, first_stage)
    return n, level
