"""The weights of the links of a node that joins a class, for `relocation`.

Sets of parents and children have log weights of their own; the prior of their links depends on how
many there are in each class. Sums over the subsets of all sets of parents are taken without
logarithms, unless almost nothing is left of the total: weights are relative to the best, and what
is too small to be told from nothing is below exp(DROPPED), far below SURE.
"""

import numpy as np

from infinimix.kernels.compile import kernel
from infinimix.kernels.elementary import exp, log
from infinimix.networks.engine.blocks import UNIFORM, log_beta, pairs
from infinimix.networks.engine.model import (
    CHILD_COUNT,
    CHILD_STRIDE,
    INTO,
    OUT,
    OWN,
    PARENT_COUNT,
    PARENT_STRIDE,
)
from infinimix.networks.engine.plain_orders import DROPPED, SURE, add_plainly

LOGS, SUMS, KIDS, IN_PRIOR, OUT_PRIOR, PLACES = range(6)  # rows of `sheets`
PLAIN = 6  # added to LOGS, KIDS, IN_PRIOR and OUT_PRIOR: the same without logarithms
PARENT_CODE, CHILD_CODE, BLOCKED = range(3)  # rows of `codes`


@kernel
def number_sets(z, nodes, size, count, stride, codes, K):
    """Number the subsets of `nodes` by how many members they have in each class."""
    for a in range(K):
        count[a] = 0
    for q in range(size):
        count[z[nodes[q]]] += 1
    at = 1
    for a in range(K):
        stride[a] = at
        at *= count[a] + 1
    codes[0], n = 0, 1
    for q in range(size):
        for s in range(n):
            codes[n + s] = codes[s] + stride[z[nodes[q]]]
        n *= 2


@kernel
def fill_links(model, state, k, inward):
    """Fill IN_PRIOR, or OUT_PRIOR, with the log prior of links if the node joins class k."""
    prior, own = model.prior, model.tables[k]
    kept = model.room[INTO if inward else OUT]
    count = model.room[PARENT_COUNT if inward else CHILD_COUNT]
    stride = model.room[PARENT_STRIDE if inward else CHILD_STRIDE]
    out = model.sheets[IN_PRIOR if inward else OUT_PRIOR]
    plain = model.sheets[PLAIN + (IN_PRIOR if inward else OUT_PRIOR)]
    out[0], plain[0] = 0.0, 1.0
    for a in range(state.m.shape[0]):
        m = state.m[a]
        if m == 0:
            continue
        n, full = state.plus[a, k], pairs(prior, state, a, k)
        if not inward:
            n, full = state.plus[k, a], pairs(prior, state, k, a)
        for x in range(count[a], -1, -1):
            links = kept[a] + x
            if a == k:
                more = links * own[OWN] + (m - links) * own[OWN + 1]
            else:
                more = log_beta(prior, n + links, full + m) - log_beta(prior, n, full)
            times = exp(more)
            for s in range(stride[a]):
                out[s + x * stride[a]] = out[s] + more
                plain[s + x * stride[a]] = plain[s] * times


@kernel
def add_subsets(logs, n):
    """Let every set have the log of the sum over its subsets."""
    step = 1
    while step < n:
        for base in range(0, n, 2 * step):
            for s in range(base, base + step):
                high, low = max(logs[s], logs[s + step]), min(logs[s], logs[s + step])
                logs[s + step] = high + log(1.0 + exp(low - max(high, -1e300)))
        step *= 2


@kernel
def weigh_prior(model, state, k, size, kids):
    """Fill the prior of all links, in and out, if the node joins class k."""
    if model.prior.kind == UNIFORM:
        for q in range(max(size, kids) + 1):
            model.sheets[IN_PRIOR, q] = model.sheets[OUT_PRIOR, q] = 0.0
            model.sheets[PLAIN + IN_PRIOR, q] = model.sheets[PLAIN + OUT_PRIOR, q] = 1.0
    else:
        fill_links(model, state, k, True)
        fill_links(model, state, k, False)


@kernel
def weigh_plainly(model, size, kids):
    """Fill SUMS and PLACES without logarithms; return the sum of PLACES."""
    sheets, codes, n, total = model.sheets, model.codes, 1 << size, 0.0
    logs, kid, sums, places = (
        sheets[PLAIN + LOGS],
        sheets[PLAIN + KIDS],
        sheets[SUMS],
        sheets[PLACES],
    )
    into, out = sheets[PLAIN + IN_PRIOR], sheets[PLAIN + OUT_PRIOR]
    for s in range(n):
        sums[s] = logs[s] * into[codes[PARENT_CODE, s]]
    add_plainly(sums[:n])
    for t in range(1 << kids):
        free = (n - 1) & ~codes[BLOCKED, t]
        places[t] = kid[t] * out[codes[CHILD_CODE, t]] * sums[free]
        total += places[t]
    return total


@kernel
def weigh_class(model, state, k, size, kids):
    """Fill PLACES with the weights of all sets of children if i joins class k.

    Returns their log sum, and whether SUMS are without logarithms.
    """
    sheets, codes, last = model.sheets, model.codes, (1 << size) - 1
    into, out, sums, places = sheets[IN_PRIOR], sheets[OUT_PRIOR], sheets[SUMS], sheets[PLACES]
    weigh_prior(model, state, k, size, kids)
    total = weigh_plainly(model, size, kids)
    if total > SURE:
        return log(total), True
    for s in range(last + 1):
        sums[s] = sheets[LOGS, s] + into[codes[PARENT_CODE, s]]
    add_subsets(sums, last + 1)
    top, total = -np.inf, 0.0
    for t in range(1 << kids):
        places[t] = sheets[KIDS, t] + out[codes[CHILD_CODE, t]] + sums[last & ~codes[BLOCKED, t]]
        top = max(top, places[t])
    for t in range(1 << kids):
        places[t] = exp(places[t] - top)
        total += places[t]
    return top + log(total), False


@kernel
def draw_parents(model, allowed, plain, rng):
    """Draw a set of parents among the bits of `allowed`."""
    sheets, code, sums = model.sheets, model.codes[PARENT_CODE], model.sheets[SUMS]
    u, s, pick = rng.random(), allowed, 0
    if plain:
        u *= sums[allowed]
    while True:
        if plain:
            share = sheets[PLAIN + LOGS, s] * sheets[PLAIN + IN_PRIOR, code[s]]
        else:
            weight = sheets[LOGS, s] + sheets[IN_PRIOR, code[s]] - sums[allowed]
            share = exp(weight) if weight > DROPPED else 0.0
        if share > 0.0:
            pick = s
            u -= share
        if u < 0.0 or s == 0:
            return model.words[pick]
        s = (s - 1) & allowed
