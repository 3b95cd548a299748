"""The rows as scores read them, and the scores of families of one kind of column.

Discrete columns have Dirichlet tables with a pseudo-count in each cell (`cell_weight`): `gamma`, or
a share of it, where the categories of a configuration share one, or, as in BDeu, all cells of a
table. Only the last is score-equivalent; the others orient edges. Real columns have the Gaussian
score BGe (Geiger and Heckerman; constants of Kuipers, Moffa and Heckerman 2014). A set of parents
is a word of bits over the child's candidates. Families of both kinds are in `mixed_scores`, and
what keeps scores in `scores`.
"""

from math import lgamma
from math import log as libm_log
from typing import NamedTuple

import numpy as np

from infinimix.kernels.compile import exact, kernel, part
from infinimix.kernels.elementary import log
from infinimix.networks.engine.calls import Calls
from infinimix.networks.engine.graphs import ONE, ZERO, lowest
from infinimix.networks.engine.packs import packed
from infinimix.networks.engine.signs import Signs

MOST_CELLS = 1 << 18  # families with larger tables have probability 0


@packed
class Data(NamedTuple):
    """The rows, for any likelihood; what others need is empty."""

    codes: np.ndarray  # (N, n) int16: column by column
    cards: np.ndarray  # (N,) int64: categories of each column; beside these, 0 for numbers
    skip: np.ndarray  # (N, n) uint8: rows in which the child was set from outside; or (N, 0)
    logs: np.ndarray  # (2, largest card + 1, n + 1): log(k + weight) of a cell, of all r
    R: np.ndarray  # (1 or N, N, N) posterior scatter; for each child if rows differ, and if mixed
    rows: np.ndarray  # (1 or N,) how many rows it is of
    settings: np.ndarray  # see GAMMA .. GROUP_MU
    numbers: np.ndarray  # (n, N) of a table with both kinds: numbers, row by row; or (0, N)


# PRIOR_W is alpha_w - N, PRIOR_T the diagonal of T, GROUP_MU takes the place of PRIOR_MU for the
# rows of one configuration
GAMMA, SHARED_BY, IS_GAUSSIAN, PRIOR_MU, PRIOR_W, PRIOR_T, IS_MIXED, GROUP_MU = range(8)
NOT_SHARED, BY_TABLE, BY_CONFIGURATION = range(3)  # SHARED_BY: who shares gamma


def cell_weight(settings, q, r):
    """Return the pseudo-count in each cell of a table of q configurations and r categories."""
    if settings[SHARED_BY] == BY_TABLE:
        return settings[GAMMA] / (q * r)
    return settings[GAMMA] / (r if settings[SHARED_BY] == BY_CONFIGURATION else 1)


cell_weight_part = part(cell_weight)


@packed
class ParentLayout(NamedTuple):
    """Which nodes may be parents of which."""

    cand: np.ndarray  # (N, C) int64: the candidate parents of a child
    pos: np.ndarray  # (N, N) int16: pos[child, parent] is the bit of the parent, -1 if none
    strong: np.ndarray  # (N,) uint64: the few candidates over which sets are enumerated
    max_parents: int


@packed
class Cache(NamedTuple):
    """Scores that are known, and room to compute more."""

    values: np.ndarray  # (N, slots): NaN where nothing is known
    keys: np.ndarray  # (N, slots) uint64, or (N, 0) where the slot is the word itself
    held: np.ndarray  # (N + 1,) entries for each child; scores computed in all
    room: np.ndarray  # (n + 2 cells,) int32; with both kinds, n + N more
    chol: np.ndarray  # (N + 1, N + 2)
    scatter: np.ndarray  # (N + 1, N) with both kinds: room for a scatter matrix and for sums
    signs: Signs  # of families whose effects have signs (`signed_scores`)
    calls: Calls  # `discrete_score`, `gaussian_score`, `mixed_score` or `signed_score`


@kernel
def discrete_score(data, layout, cache, c, mask):
    """Return the Dirichlet-multinomial score of child c, row by row by the chain rule."""
    n, r, q = data.codes.shape[1], data.cards[c], 1
    code = cache.room[:n]
    counts, totals = cache.room[n : n + MOST_CELLS], cache.room[n + MOST_CELLS :]
    for t in range(n):
        code[t] = 0
    rest = mask
    while rest != ZERO:
        p = layout.cand[c, lowest(rest)]
        rest &= rest - ONE
        q *= data.cards[p]
        if q * r > MOST_CELLS:
            return -np.inf
        column, size = data.codes[p], np.int32(data.cards[p])
        for t in range(n):
            code[t] = code[t] * size + column[t]
    child, skips, score = data.codes[c], data.skip.shape[1] > 0, 0.0
    bdeu, each = data.settings[SHARED_BY] == BY_TABLE, cell_weight_part(data.settings, q, r)
    for t in range(n):
        if skips and data.skip[c, t]:
            continue
        j = code[t]
        cell = j * r + child[t]
        if bdeu:
            score += log(each + counts[cell]) - log(r * each + totals[j])
        else:
            score += data.logs[0, r, counts[cell]] - data.logs[1, r, totals[j]]
        counts[cell] += 1
        totals[j] += 1
    for t in range(n):
        counts[code[t] * r + child[t]] = 0
        totals[code[t]] = 0
    return score


@exact
def gaussian_score(data, layout, cache, c, mask):
    """Return the BGe score of child c: Cholesky's factor of the scatter of parents and child.

    Tables of both kinds have it too, to the last bit, so its sums must not depend on who calls.
    """
    L = cache.chol
    own = c if data.R.shape[0] > 1 else 0
    R, n = data.R[own], data.rows[own]
    size, log_det, residual = 0, 0.0, 0.0
    rest, last = mask, False
    while not last:
        last = rest == ZERO
        v = c if last else layout.cand[c, lowest(rest)]
        if not last:
            rest &= rest - ONE
        L[size, L.shape[1] - 1] = v
        for b in range(size + 1):
            u = v if b == size else np.int64(L[b, L.shape[1] - 1])
            value = R[v, u]
            for k in range(b):
                value -= L[size, k] * L[b, k]
            if b < size:
                L[size, b] = value / L[b, b]
            else:
                value = max(value, 1e-12 * R[v, v])
                L[size, size] = np.sqrt(value)
                if last:
                    residual = libm_log(value)
                else:
                    log_det += libm_log(value)
        size += 1
    k = size - 1  # parents
    mu, w, t = data.settings[PRIOR_MU], data.settings[PRIOR_W], data.settings[PRIOR_T]
    return (
        -0.5 * n * libm_log(np.pi)
        + 0.5 * libm_log(mu / (mu + n))
        + lgamma(0.5 * (n + w + k + 1))
        - lgamma(0.5 * (w + k + 1))
        + 0.5 * (w + 2 * k + 1) * libm_log(t)
        - 0.5 * log_det
        - 0.5 * (n + w + k + 1) * residual
    )
