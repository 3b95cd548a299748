"""Two nodes change names: each takes the class, the parents and the children of the other."""

import numpy as np

from infinimix.kernels.compile import kernel
from infinimix.kernels.elementary import log
from infinimix.networks.engine.blocks import set_parents
from infinimix.networks.engine.graphs import ONE, ZERO, has, lowest
from infinimix.networks.engine.model import required_parents, score_of


@kernel
def renamed(layout, state, c, i, j):
    """Return the parents of c after i and j have changed names, and whether they may be that."""
    d = j if c == i else i if c == j else c
    word, rest = ZERO, state.fam[d]
    while rest != ZERO:
        v = layout.cand[d, lowest(rest)]
        rest &= rest - ONE
        k = layout.pos[c, j if v == i else i if v == j else v]
        if k < 0:
            return word, False
        word |= ONE << np.uint64(k)
    return word, True


@kernel
def user_odds(model, c, word):
    """Return the sum of the user's log odds of the parents in `word`."""
    total = 0.0
    while word != ZERO:
        odds = model.prior.bonus[model.layout.cand[c, lowest(word)], c]
        word &= word - ONE
        total += odds if odds < np.inf else 0.0
    return total


@kernel
def swap_nodes(model, state, power, rng):
    """Let two nodes change names, or not (Metropolis); the prior of blocks stays as it is."""
    layout, prior, n, change = model.layout, model.prior, state.z.shape[0], 0.0
    if state.z.shape[0] < 2:
        return False
    i = np.int64(rng.random() * n)
    j = np.int64(rng.random() * (n - 1))
    j += j >= i
    if state.z[i] != state.z[j] and (prior.anchor[i] >= 0 or prior.anchor[j] >= 0):
        return False
    new = np.empty(n, np.uint64)
    for c in range(n):
        new[c] = state.fam[c]
        if c == i or c == j or has(state.pa[c], i) != has(state.pa[c], j):
            new[c], sound = renamed(layout, state, c, i, j)
            must = required_parents(model, c)
            if not sound or new[c] & must != must:
                return False
            change += power * (score_of(model, c, new[c]) - score_of(model, c, state.fam[c]))
            change += user_odds(model, c, new[c]) - user_odds(model, c, state.fam[c])
    if log(1.0 - rng.random()) >= change:
        return False
    for c in range(n):  # all links of i and j go, but to children of both, whose counts stay
        if c == i or c == j or has(state.pa[c], i) != has(state.pa[c], j):
            set_parents(layout, state, c, ZERO)
    state.z[i], state.z[j] = state.z[j], state.z[i]
    for c in range(n):
        set_parents(layout, state, c, new[c])
    return True
