"""The base move on graphs: for each pair of nodes, none, one or the other edge.

The likelihood is raised to `power`, for tempering; 1 is the posterior.
"""

import numpy as np

from infinimix.kernels.compile import kernel
from infinimix.kernels.elementary import exp
from infinimix.networks.engine.blocks import UNIFORM, set_edge
from infinimix.networks.engine.graphs import LAST, ONE, ZERO, popcount, reaches
from infinimix.networks.engine.hyper import B1, B2, PAIRS
from infinimix.networks.engine.model import look_up
from infinimix.networks.engine.scores import keep_score


@kernel
def pair_gibbs(model, state, begin, end, power, rng):
    """For each pair from `begin` to `end`, draw none, i -> j or j -> i given everything else.

    A direction that would close a cycle is found out only when it is drawn; it is then struck
    off and the draw repeated, which is a draw from the distribution without it. Everything is
    taken out of the model before the loop: each access inside it would cost more than the draw.
    """
    values, keys, pos, most = model.cache.values, model.cache.keys, model.layout.pos, 0
    fam, pa, z, m, plus = state.fam, state.pa, state.z, state.m, state.plus
    bonus, held, couples = model.prior.bonus, model.prior.held, model.couples
    b1, b2, blocks = model.prior.hyper[B1], model.prior.hyper[B2], model.prior.kind != UNIFORM
    most = model.layout.max_parents
    for p in range(begin, end):
        i, j = couples[0, p], couples[1, p]
        there = (pa[j, i >> 6] >> (np.uint64(i) & LAST)) & ONE != ZERO
        back = (pa[i, j >> 6] >> (np.uint64(j) & LAST)) & ONE != ZERO
        weight, other, log_weight, log_other = 0.0, 0.0, -np.inf, -np.inf
        for turn in range(2):  # the log weight of u -> v against no edge
            u, v = (i, j) if turn == 0 else (j, i)
            k = pos[v, u]
            if k < 0 or bonus[v, u] == np.inf:
                continue
            word, a, b = ONE << np.uint64(k), z[u], z[v]
            bare, here = fam[v] & ~word, there if turn == 0 else back
            if popcount(bare) >= most:
                continue
            at = look_up(values, keys, v, bare)
            low = values[v, at]
            if low != low:
                low = keep_score(model.data, model.layout, model.cache, v, bare, at)
            at = look_up(values, keys, v, bare | word)
            high = values[v, at]
            if high != high:
                high = keep_score(model.data, model.layout, model.cache, v, bare | word, at)
            odds = 1.0
            if blocks:
                n = plus[a, b] - here
                if a == b:  # the other direction may be in the same block
                    n -= back if turn == 0 else there
                gaps = m[a] * (m[b] - (a == b)) + held[PAIRS, a, b] - n - 1
                odds = (b1 + n) / (b2 + gaps)
            log_w = power * (high - low)
            if bonus[u, v] < np.inf:
                log_w += bonus[u, v]
            if turn == 0:
                weight, log_weight = odds, log_w
            else:
                other, log_other = odds, log_w
        required = bonus[i, j] == np.inf or bonus[j, i] == np.inf
        choice = 0
        while True:  # weights relative to the largest that is left: with many rows, those that
            # stand far below one that is struck off would all come out as the smallest number
            top = max(0.0, max(log_weight, log_other))
            none = 0.0 if required else exp(-top)
            one = weight * exp(log_weight - top) if weight > 0.0 else 0.0
            two = other * exp(log_other - top) if other > 0.0 else 0.0
            x = rng.random() * (none + one + two)
            choice = 0 if x < none else 1 if x < none + one else 2
            if choice == 1 and not there:
                if back:
                    set_edge(model.layout, state, j, i, False)
                    back = False
                if reaches(pa, j, i):
                    weight, log_weight = 0.0, -np.inf
                    continue
            if choice == 2 and not back:
                if there:
                    set_edge(model.layout, state, i, j, False)
                    there = False
                if reaches(pa, i, j):
                    other, log_other = 0.0, -np.inf
                    continue
            break
        if there and choice != 1:
            set_edge(model.layout, state, i, j, False)
        if back and choice != 2:
            set_edge(model.layout, state, j, i, False)
        if choice == 1 and not there:
            set_edge(model.layout, state, i, j, True)
        if choice == 2 and not back:
            set_edge(model.layout, state, j, i, True)


@kernel
def visit_pairs(model, state, power, rng):
    """Visit every pair of nodes once."""
    pair_gibbs(model, state, 0, model.couples.shape[1], power, rng)
