"""Graphs that may have cycles: undirected ones, and dynamic networks from one time to the next.

Without acyclicity every edge is a slot of its own, there or not, and its draw given all others is
exact. An undirected edge makes each end a parent of the other, so that the product of family scores
is the marginal pseudo-likelihood (Pensar, Nyman, Niiranen and Corander 2017); what it does to both
families counts. In a dynamic network the children are the variables now and their parents the
variables before, which are further columns of the same rows: the family scores, blocks and moves on
classes are those of other networks, and no kernel here knows of time.
"""

import numpy as np

from infinimix.kernels.compile import kernel
from infinimix.kernels.elementary import exp, log
from infinimix.networks.engine.blocks import DYNAMIC, UNDIRECTED, UNIFORM
from infinimix.networks.engine.candidates import ALL, MOST, MOST_PARENTS, full_layout
from infinimix.networks.engine.families import ParentLayout
from infinimix.networks.engine.graphs import ONE, ZERO, bit, has, popcount
from infinimix.networks.engine.hyper import B1, B2
from infinimix.networks.engine.model import score_of


@kernel
def slot_gibbs(model, state, power, rng):
    """Draw each slot i -> j, or i -- j, given everything else."""
    prior, pos, most = model.prior, model.layout.pos, model.layout.max_parents
    fam, pa, z, m, plus = state.fam, state.pa, state.z, state.m, state.plus
    b1, b2, n_nodes, loops = prior.hyper[B1], prior.hyper[B2], z.shape[0], 0
    ends = 2 if prior.shape == UNDIRECTED else 1
    for i in range(n_nodes):
        loops += has(pa[i], i)
    for s in range(model.couples.shape[1]):
        i, j = model.couples[0, s], model.couples[1, s]
        odds = prior.bonus[i, j]
        if odds == np.inf:
            continue
        there, room = has(pa[j], i), True
        for end in range(ends):
            c, p = (j, i) if end == 0 else (i, j)
            word = ONE << np.uint64(pos[c, p])
            bare = fam[c] & ~word
            room = room and popcount(bare) < most
            if room:
                odds += power * (score_of(model, c, bare | word) - score_of(model, c, bare))
        if not room:
            continue
        a, b = z[i], z[j]
        if prior.kind != UNIFORM:
            if i == j:
                n, total = loops - there, n_nodes
            elif a == b:
                n, total = plus[a, a] // ends - there, m[a] * (m[a] - 1) // ends
            else:
                n, total = plus[a, b] - there, m[a] * m[b]
            odds += log((b1 + n) / (b2 + total - n - 1))
        if (rng.random() * (1.0 + exp(min(-odds, 700.0))) < 1.0) == there:
            continue
        step = -1 if there else 1
        for end in range(ends):
            c, p = (j, i) if end == 0 else (i, j)
            fam[c] ^= ONE << np.uint64(pos[c, p])
            pa[c, p >> 6] ^= bit(p)
            if i == j:
                loops += step
            else:
                plus[z[p], z[c]] += step


def choose_slots(layout, shape):
    """Return the slots, (2, S): pairs that may be linked."""
    possible = layout.pos.T >= 0
    if shape == UNDIRECTED:
        possible = np.triu(possible & possible.T, 1)
    return np.ascontiguousarray(np.argwhere(possible).T)


def bound_parents(N, n, cards):
    """Return the most parents by default: a usual table has no more cells than there are rows.

    Where it has many more, each row meets a cell of its own, all that is learned is forgotten,
    and an even coin scores better than it does without parents, which are counted once for all.
    That second mode, of sets that say nothing, would draw chains and take probability.
    """
    most = N if N <= ALL else MOST_PARENTS
    if cards is None:
        return most
    usual = np.log(np.maximum(cards, 2)).mean()
    return max(min(most, int(np.log(max(n, 1)) / usual + 1e-9) - 1), 1)


def unconstrained_layout(allowed, shape, max_parents):
    """Return which nodes may be parents; in a dynamic network node N + i is i before.

    No move enumerates sets of parents, so no candidates are strong.
    """
    N, most = len(allowed), max_parents
    if N > MOST:
        raise ValueError(f"X has {N} columns; graphs with cycles can have at most {MOST}")
    if shape != DYNAMIC:
        return full_layout(allowed, most)._replace(strong=np.full(N, ZERO))
    cand = np.tile(N + np.arange(N), (N, 1))
    pos = np.where(allowed.T, np.arange(N), -1).astype(np.int16, order="C")
    return ParentLayout(cand, pos, np.full(N, ZERO), int(most))
