"""Which nodes may be parents of which, when there are too many for all sets of them.

Up to 13 nodes everything is allowed. Beyond, a child has up to 64 candidates for single edges,
and among them up to 10 strong ones, over whose subsets the larger moves enumerate. They are chosen
by what they gain as the only parent or beside one other: exact scores, no tests of independence.
"""

import numpy as np

from infinimix.kernels.compile import kernel
from infinimix.networks.engine.families import ParentLayout
from infinimix.networks.engine.graphs import ONE, ZERO, popcount
from infinimix.networks.engine.scores import compute_score, new_cache

ALL = 13  # up to so many nodes every set of parents is enumerated
MOST = 64
STRONG = 10
MOST_PARENTS = 8


def full_layout(allowed, max_parents=None):
    """Return a layout in which every allowed parent is a candidate, for up to 64 + 1 nodes."""
    N = len(allowed)
    order = np.array([[j for j in range(N) if j != c] for c in range(N)], int).reshape(N, N - 1)
    return _layout(order, allowed, max_parents or N, N)


def choose_layout(data, allowed, required, max_parents=None, most=None, strong=STRONG):
    """Return the layout for data: everything if there are few nodes, else the best candidates.

    Parameters
    ----------
    data : Data
        The rows.
    allowed, required : array of bool, (N, N)
        Which edges may and which must be there.
    max_parents, most, strong : int, optional
        Bounds on the parents, candidates and strong candidates of a child.
    """
    N = len(allowed)
    if N <= ALL and most is None:
        return full_layout(allowed, max_parents)
    base = full_layout(allowed) if N <= MOST + 1 else None
    gains = _gains(data, allowed, base)
    gains[required] = np.inf
    most = min(most or MOST, N - 1)
    order = np.argsort(-gains, axis=0, kind="stable")[:most].T
    if most == N - 1:  # the usual order, so that words mean the same everywhere
        return _layout(base.cand, allowed, max_parents or MOST_PARENTS, strong, gains)
    return _layout(np.sort(order, axis=1), allowed, max_parents or MOST_PARENTS, strong, gains)


def _layout(order, allowed, max_parents, strong, gains=None):
    N, C = len(allowed), order.shape[1]
    pos = np.full((N, N), -1, np.int16)
    best = np.zeros(N, np.uint64)
    for c in range(N):
        held = [k for k in range(C) if allowed[order[c, k], c]]
        pos[c, order[c, held]] = held
        if gains is not None:
            held = sorted(held, key=lambda k: -gains[order[c, k], c])[:strong]
        best[c] = sum(1 << int(k) for k in held)
    cand = np.ascontiguousarray(order, dtype=np.int64).reshape(N, C)
    return ParentLayout(cand, pos, best, int(max_parents))


def _gains(data, allowed, base):
    """Return gain[i, c]: how much i adds to the score of c, alone or beside its best partner."""
    N = len(allowed)
    if base is not None:
        return _pair_gains(data, base, new_cache(data, base))
    gains, cache = np.full((N, N), -np.inf), None
    for c in range(N):  # too many nodes for one word: singles in blocks of 64, then pairs
        others = [j for j in range(N) if j != c and allowed[j, c]]
        for k in range(0, len(others), MOST):
            group = np.array(others[k : k + MOST], np.int64)
            layout = single_layout(N, c, group)
            cache = cache or new_cache(data, layout)
            gains[group, c] = _single_gains(data, layout, cache, c)
    return gains


def single_layout(N, c, group):
    """Return a layout in which c has these candidates."""
    cand = np.zeros((N, len(group)), np.int64)
    cand[c] = group
    pos = np.full((N, N), -1, np.int16)
    return ParentLayout(cand, pos, np.zeros(N, np.uint64), 1)


def _single_gains(data, layout, cache, c):
    """Return what each candidate of c gains as its only parent."""
    nothing = compute_score(data, layout, cache, c, ZERO)
    return [
        compute_score(data, layout, cache, c, np.uint64(1 << k)) - nothing
        for k in range(layout.cand.shape[1])
    ]


@kernel
def _pair_gains(data, layout, cache):
    N, C = layout.cand.shape
    gains = np.full((N, N), -np.inf)
    single = np.zeros(C)
    for c in range(N):
        nothing = compute_score(data, layout, cache, c, ZERO)
        for a in range(C):
            single[a] = compute_score(data, layout, cache, c, ONE << np.uint64(a)) - nothing
        for a in range(C):
            i = layout.cand[c, a]
            if layout.pos[c, i] < 0:
                continue
            gains[i, c] = single[a]
            for b in range(C):
                if b != a and layout.pos[c, layout.cand[c, b]] >= 0:
                    word = (ONE << np.uint64(a)) | (ONE << np.uint64(b))
                    both = compute_score(data, layout, cache, c, word) - nothing
                    gains[i, c] = max(gains[i, c], both - max(single[b], 0.0))
    return gains


@kernel
def outside_mass(data, layout, cache, c, mask):
    """Return the share of weight, under a uniform prior, of candidates that are not strong.

    One parent more, beside the parents in `mask`: the sum over weak candidates against the sum
    over all and nothing.
    """
    base = compute_score(data, layout, cache, c, mask)
    weak, total = 0.0, 1.0
    if popcount(mask) >= layout.max_parents:
        return 0.0
    for k in range(layout.cand.shape[1]):
        word = ONE << np.uint64(k)
        if layout.pos[c, layout.cand[c, k]] < 0 or mask & word != ZERO:
            continue
        gain = np.exp(min(compute_score(data, layout, cache, c, mask | word) - base, 700.0))
        total += gain
        if layout.strong[c] & word == ZERO:
            weak += gain
    return weak / total
