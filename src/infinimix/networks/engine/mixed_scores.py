"""Scores of families in a table of categories and numbers: conditional Gaussian families.

A number has, for each configuration of its discrete parents, a Bayesian regression on its real
parents, with the prior that BGe has: its score is the sum of BGe scores of the rows of the
configurations, each with a prior of its own, as every row of a table has. Columns have mean 0, but
the rows of a configuration need not: there the prior mean of 0 weighs as much as `GROUP_MU` rows. A
category has discrete parents alone; with a number among them its score is -inf. Families of one
kind of column have the scores that they have in a table of that kind.
"""

import numpy as np

from infinimix.kernels.compile import kernel
from infinimix.networks.engine.families import (
    GROUP_MU,
    MOST_CELLS,
    PRIOR_MU,
    PRIOR_T,
    discrete_score,
    gaussian_score,
)
from infinimix.networks.engine.graphs import ONE, ZERO, lowest


@kernel
def mixed_score(data, layout, cache, c, mask):
    """Return the score of child c, whatever it and its parents are."""
    discrete, rest = ZERO, mask
    while rest != ZERO:
        word = rest & (~rest + ONE)
        rest &= rest - ONE
        if data.cards[layout.cand[c, lowest(word)]] > 0:
            discrete |= word
    if data.cards[c] > 0:
        return discrete_score(data, layout, cache, c, mask) if discrete == mask else -np.inf
    if discrete == ZERO:
        return gaussian_score(data, layout, cache, c, mask)
    return conditional_score(data, layout, cache, c, discrete, mask & ~discrete)


@kernel
def conditional_score(data, layout, cache, c, discrete, real):
    """Return the score of a number with discrete parents, and perhaps real ones.

    The rows of a configuration take the place of all rows in `data` while `gaussian_score` scores
    them, so that there is one formula; each chain has data of its own.
    """
    n, N, q = data.numbers.shape[0], data.cards.shape[0], 1
    code, spare = cache.room[:n], n + 2 * MOST_CELLS
    first = cache.room[n : n + MOST_CELLS]  # 1 + the first row of a configuration, 0 if none
    after = cache.room[spare : spare + n]  # the same of the next row
    nodes = cache.room[spare + n :]
    for t in range(n):
        code[t] = 0
    while discrete != ZERO:
        p = layout.cand[c, lowest(discrete)]
        discrete &= discrete - ONE
        q *= data.cards[p]
        if q > MOST_CELLS:
            return -np.inf
        column, size = data.codes[p], np.int32(data.cards[p])
        for t in range(n):
            code[t] = code[t] * size + column[t]
    k, rest = 0, real
    while rest != ZERO:
        nodes[k] = layout.cand[c, lowest(rest)]
        rest &= rest - ONE
        k += 1
    nodes[k] = c
    skips, score = data.skip.shape[1] > 0, 0.0
    for back in range(n):
        t = n - 1 - back
        if not (skips and data.skip[c, t]):
            after[t] = first[code[t]]
            first[code[t]] = t + 1
    R, rows, mu = data.R[c], data.rows[c], data.settings[PRIOR_MU]
    move_scatter(R, cache.scatter, nodes, k + 1)
    data.settings[PRIOR_MU] = data.settings[GROUP_MU]
    for t in range(n):
        row = first[code[t]]
        if row > 0:
            first[code[t]] = 0
            data.rows[c] = gather_scatter(data, R, cache.scatter[N], nodes, k + 1, after, row)
            score += gaussian_score(data, layout, cache, c, real)
    move_scatter(cache.scatter, R, nodes, k + 1)
    data.rows[c], data.settings[PRIOR_MU] = rows, mu
    return score


@kernel
def move_scatter(source, end, nodes, size):
    """Copy what scores read of some nodes from one matrix to another."""
    for a in range(size):
        for b in range(a + 1):
            end[nodes[a], nodes[b]] = source[nodes[a], nodes[b]]


@kernel
def gather_scatter(data, R, sums, nodes, size, after, row):
    """Set R to the posterior scatter of the rows that are linked from one on; return how many."""
    count = 0.0
    for a in range(size):
        sums[nodes[a]] = 0.0
        for b in range(a + 1):
            R[nodes[a], nodes[b]] = 0.0
    while row > 0:
        x = data.numbers[row - 1]
        for a in range(size):
            u = nodes[a]
            sums[u] += x[u]
            for b in range(a + 1):
                R[u, nodes[b]] += x[u] * x[nodes[b]]
        count += 1.0
        row = after[row - 1]
    shrink = 1.0 / (count + data.settings[PRIOR_MU])  # a prior mean of 0
    for a in range(size):
        u = nodes[a]
        for b in range(a + 1):
            R[u, nodes[b]] -= sums[u] * sums[nodes[b]] * shrink
        R[u, u] += data.settings[PRIOR_T]
    return count
