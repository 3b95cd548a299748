"""Family scores: the log marginal likelihood of a child given a set of parents.

Discrete columns have Dirichlet tables with `gamma` in every cell, which is not score-equivalent
and so orients edges; with `bdeu` the equivalent sample size `gamma` is shared by all cells of a
table. Real columns have the Gaussian score BGe (Geiger and Heckerman; constants of Kuipers,
Moffa and Heckerman 2014). A set of parents is a word of bits over the child's candidates. Scores
are computed when asked for, and kept by (child, word): in a full table for a few nodes, otherwise
in a hash table of fixed size that is emptied when it is full.
"""

from math import lgamma
from math import log as libm_log
from typing import NamedTuple

import numpy as np
from numba import types

from infinimix.kernels.compile import kernel, part
from infinimix.kernels.elementary import log
from infinimix.networks.engine.calls import Calls, call_of, through
from infinimix.networks.engine.graphs import ONE, ZERO, lowest
from infinimix.networks.engine.packs import packed

DENSE = 16  # up to so many nodes there is a full table of scores
MOST_CELLS = 1 << 18  # families with larger tables have probability 0
HASHED = 1 << 20  # slots of all children together
MIX, SPREAD, HALF = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9), np.uint64(29)


@packed
class Data(NamedTuple):
    """The rows, for either likelihood; what the other needs is empty."""

    codes: np.ndarray  # (N, n) int16: column by column
    cards: np.ndarray  # (N,) int64: categories of each column
    skip: np.ndarray  # (N, n) uint8: rows in which the child was set from outside; or (N, 0)
    logs: np.ndarray  # (largest card + 1, n + 1): log(r gamma + k), row 0 is log(gamma + k)
    R: np.ndarray  # (1 or N, N, N) posterior scatter, for each child if there were interventions
    rows: np.ndarray  # (1 or N,) how many rows it is of
    settings: np.ndarray  # see GAMMA .. PRIOR_T


GAMMA, IS_BDEU, IS_GAUSSIAN, PRIOR_MU, PRIOR_W, PRIOR_T = range(6)  # PRIOR_W is alpha_w - N


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
    room: np.ndarray  # (n + 2 cells,) int32
    chol: np.ndarray  # (N + 1, N + 2)
    calls: Calls  # `discrete_score` or `gaussian_score`


score_at = through(None, None, None, types.int64, types.uint64, returns=types.float64)


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
    bdeu, each = data.settings[IS_BDEU] > 0.0, data.settings[GAMMA] / (q * r)
    for t in range(n):
        if skips and data.skip[c, t]:
            continue
        j = code[t]
        cell = j * r + child[t]
        if bdeu:
            score += log(each + counts[cell]) - log(r * each + totals[j])
        else:
            score += data.logs[0, counts[cell]] - data.logs[r, totals[j]]
        counts[cell] += 1
        totals[j] += 1
    for t in range(n):
        counts[code[t] * r + child[t]] = 0
        totals[code[t]] = 0
    return score


@kernel
def gaussian_score(data, layout, cache, c, mask):
    """Return the BGe score of child c: Cholesky's factor of the scatter of parents and child."""
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


@kernel
def compute_score(data, layout, cache, c, mask):
    """Return a family score without looking it up."""
    return score_at(cache.calls[0], (data, layout, cache, c, mask))


@part
def find_slot(cache, c, mask):
    """Return where the score of a family is, or would be."""
    if cache.keys.shape[1] == 0:
        return np.int64(mask)
    last = np.int64(cache.keys.shape[1] - 1)
    h = mask * MIX
    at = np.int64((h ^ (h >> HALF)) & np.uint64(last))
    while cache.keys[c, at] != mask and not np.isnan(cache.values[c, at]):
        at = (at + 1) & last
    return at


@kernel
def keep_score(data, layout, cache, c, mask, at):
    """Compute a family score and keep it."""
    value = compute_score(data, layout, cache, c, mask)
    N, slots = cache.values.shape
    if cache.keys.shape[1] > 0:
        if cache.held[c] * 4 > slots * 3:
            for s in range(slots):
                cache.values[c, s] = np.nan
            cache.held[c] = 0
            at = find_slot(cache, c, mask)
        cache.keys[c, at] = mask
        cache.held[c] += 1
    cache.values[c, at] = value
    cache.held[N] += 1
    return value


@part
def family_score(data, layout, cache, c, mask):
    """Return the score of child c with the candidates in `mask` as parents."""
    at = find_slot(cache, c, mask)
    value = cache.values[c, at]
    if value != value:
        value = keep_score(data, layout, cache, c, mask, at)
    return value


@kernel
def forget(cache):
    """Empty the cache: the rows or gamma have changed."""
    for c in range(cache.values.shape[0]):
        for s in range(cache.values.shape[1]):
            cache.values[c, s] = np.nan
        cache.held[c] = 0


@kernel
def set_logs(data):
    """Fill the tables of logarithms for the gamma that is set."""
    gamma = data.settings[GAMMA]
    for k in range(data.logs.shape[1]):
        data.logs[0, k] = libm_log(gamma + k)
        for r in range(1, data.logs.shape[0]):
            data.logs[r, k] = libm_log(r * gamma + k)


def discrete_data(codes, cards, gamma=0.5, bdeu=False, skip=None):
    """Return the data of a table of codes, (rows, N), none of them missing."""
    codes = np.ascontiguousarray(np.asarray(codes).T, dtype=np.int16)
    N, n = codes.shape
    cards = np.asarray(cards, dtype=np.int64)
    data = Data(
        codes, cards, _skip(skip, N), np.zeros((int(cards.max()) + 1, n + 1)), np.zeros((1, 1, 1)),
        np.zeros(1), np.array([gamma, bdeu, 0.0, 0.0, 0.0, 0.0], float),
    )  # fmt: skip
    set_logs(data)
    return data


def gaussian_data(X, skip=None, alpha_mu=1.0):
    """Return the data of a table of numbers, (rows, N), none of them missing."""
    N = X.shape[1]
    skip = _skip(skip, N)
    t = alpha_mu * alpha_mu / (alpha_mu + 1.0)
    parts = 1 if skip.shape[1] == 0 else N
    data = Data(
        np.zeros((N, 0), np.int16), np.full(N, 2), skip, np.zeros((1, 1)), np.zeros((parts, N, N)),
        np.zeros(parts), np.array([0.5, 0.0, 1.0, alpha_mu, alpha_mu + 1.0, t]),
    )  # fmt: skip
    fill_scatter(data, X)
    return data


def fill_scatter(data, X):
    """Set the posterior scatter matrices to those of rows X."""
    mu, t = data.settings[PRIOR_MU], data.settings[PRIOR_T]
    for k in range(len(data.R)):
        rows = X if data.skip.shape[1] == 0 else X[data.skip[k] == 0]
        n, mean = len(rows), rows.mean(axis=0) if len(rows) else np.zeros(X.shape[1])
        centred = rows - mean
        data.R[k] = centred.T @ centred + n * mu / (n + mu) * np.outer(mean, mean)
        data.R[k].flat[:: X.shape[1] + 1] += t
        data.rows[k] = n


def _skip(skip, N):
    if skip is None or not np.any(skip):
        return np.zeros((N, 0), np.uint8)
    return np.ascontiguousarray(np.asarray(skip).T, dtype=np.uint8)


def new_cache(data, layout):
    """Return an empty cache."""
    N = len(layout.cand)
    full = layout.cand.shape[1] == N - 1 and N <= DENSE
    slots = 1 << (N - 1) if full else 1 << max(int(HASHED / N).bit_length() - 1, 10)
    cells = 0 if data.settings[IS_GAUSSIAN] else 2 * MOST_CELLS
    cache = Cache(
        np.empty((N, slots)), np.zeros((N, 0 if full else slots), np.uint64),
        np.zeros(N + 1, np.int64), np.zeros(data.codes.shape[1] + cells, np.int32),
        np.zeros((N + 1, N + 2)), Calls(),
    )  # fmt: skip
    forget(cache)
    kernel = gaussian_score if data.settings[IS_GAUSSIAN] else discrete_score
    return cache._replace(calls=Calls([call_of(kernel, data, layout, cache, 0, ZERO)]))
