"""The moves of the thesis (section 2.2): one edge at a time, and one node at a time.

Each edge is drawn given everything else, present or absent; then the class of each node, which is
`class_moves.visit_classes`. These moves are right but get stuck (docs/networks.md), so only
`moves="published"` has them. `ordered_sites` has those of the ordered prior.
"""

import numpy as np

from infinimix.kernels.compile import kernel, part
from infinimix.kernels.elementary import exp, log
from infinimix.networks.engine.blocks import UNIFORM, set_edge
from infinimix.networks.engine.graphs import ONE, has, popcount, reaches
from infinimix.networks.engine.hyper import B1, B2, PAIRS
from infinimix.networks.engine.scores import family_score


@part
def log_gain(data, layout, cache, fam, u, v):
    """Return by how much the log likelihood of v is larger with parent u than without."""
    word = ONE << np.uint64(layout.pos[v, u])
    bare = fam[v] & ~word
    high = family_score(data, layout, cache, v, bare | word)
    return high - family_score(data, layout, cache, v, bare)


@part
def may_add(layout, fam, u, v):
    """Is u a candidate parent of v, and has v room for it?"""
    k = layout.pos[v, u]
    return k >= 0 and popcount(fam[v] & ~(ONE << np.uint64(k))) < layout.max_parents


@kernel
def toggle_edges(model, state, power, rng):
    """Draw each edge, present or absent, given all others; one that closes a cycle stays absent."""
    prior, layout, n = model.prior, model.layout, state.z.shape[0]
    b1, b2 = prior.hyper[B1], prior.hyper[B2]
    for u in range(n):
        for v in range(n):
            if u == v or not may_add(layout, state.fam, u, v):
                continue
            here, a, b = has(state.pa[v], u), state.z[u], state.z[v]
            log_odds = power * log_gain(model.data, layout, model.cache, state.fam, u, v)
            log_odds += prior.bonus[u, v]
            if prior.kind != UNIFORM:
                edges = state.plus[a, b] - here
                full = state.m[a] * (state.m[b] - (a == b)) + prior.held[PAIRS, a, b]
                log_odds += log((b1 + edges) / (b2 + full - edges - 1))
            wanted = rng.random() < 1.0 / (1.0 + exp(-max(log_odds, -700.0)))
            if wanted and not here and reaches(state.pa, v, u):
                continue
            if wanted != here:
                set_edge(layout, state, u, v, wanted)
