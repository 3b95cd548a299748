"""Family scores, kept: the log marginal likelihood of a child given a set of parents.

Scores are computed when asked for (`families`, `mixed_scores`), and kept by (child, word of
parents): in a full table for a few nodes, otherwise in a hash table of fixed size that is emptied
when it is full. `discrete_data`, `gaussian_data` and `mixed_data` make the rows of a table what
scores read, and so say of which kind its families are.
"""

from math import log as libm_log

import numpy as np
from numba import types

from infinimix.kernels.compile import kernel, part
from infinimix.networks.engine.calls import Calls, call_of, through
from infinimix.networks.engine.families import (
    GROUP_MU,
    IS_GAUSSIAN,
    IS_MIXED,
    MOST_CELLS,
    NOT_SHARED,
    PRIOR_MU,
    PRIOR_T,
    Cache,
    Data,
    cell_weight_part,
    discrete_score,
    gaussian_score,
)
from infinimix.networks.engine.graphs import ZERO
from infinimix.networks.engine.mixed_scores import mixed_score
from infinimix.networks.engine.signs import NO_SIGNS

FEW_ROWS = 0.1  # weight of a prior mean of 0 where groups of rows have means of their own
DENSE = 16  # up to so many nodes there is a full table of scores
HASHED = 1 << 20  # slots of all children together
MIX, SPREAD, HALF = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9), np.uint64(29)


score_at = through(None, None, None, types.int64, types.uint64, returns=types.float64)


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
    for r in range(1, data.logs.shape[1]):
        each = cell_weight_part(data.settings, 1, r)
        for k in range(data.logs.shape[2]):
            data.logs[0, r, k] = libm_log(each + k)
            data.logs[1, r, k] = libm_log(r * each + k)


def discrete_data(codes, cards, gamma=0.5, shared_by=NOT_SHARED, skip=None):
    """Return the data of a table of codes, (rows, N), none of them missing."""
    codes = np.ascontiguousarray(np.asarray(codes).T, dtype=np.int16)
    N, n = codes.shape
    cards = np.asarray(cards, dtype=np.int64)
    data = Data(
        codes, cards, _skip(skip, N), np.zeros((2, int(cards.max()) + 1, n + 1)),
        np.zeros((1, 1, 1)), np.zeros(1), np.array([gamma, shared_by, *np.zeros(6)], float),
        np.zeros((0, N)),
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
        np.zeros((N, 0), np.int16), np.full(N, 2), skip, np.zeros((1, 1, 1)),
        np.zeros((parts, N, N)), np.zeros(parts),
        np.array([0.5, 0.0, 1.0, alpha_mu, alpha_mu + 1.0, t, 0.0, 0.0]), np.zeros((0, N)),
    )  # fmt: skip
    fill_scatter(data, X)
    return data


def mixed_data(X, cards, gamma=0.5, shared_by=NOT_SHARED, skip=None):
    """Return the data of a table of codes and numbers, (rows, N); `cards` are 0 for numbers."""
    cards, N = np.asarray(cards, dtype=np.int64), len(cards)
    data = discrete_data(np.where(cards > 0, X, 0.0), cards, gamma, shared_by, skip)
    data.settings[PRIOR_MU:] = gaussian_data(np.zeros((0, N))).settings[PRIOR_MU:]
    data.settings[[IS_MIXED, GROUP_MU]] = 1.0, FEW_ROWS
    scatter = np.zeros((N, N, N)), np.zeros(N)
    data = data._replace(R=scatter[0], rows=scatter[1], numbers=np.empty(X.shape))
    set_rows(data, X)
    return data


def set_rows(data, X):
    """Set the rows to others, as missing cells were drawn again."""
    if data.settings[IS_MIXED]:
        data.codes[:] = np.where(data.cards > 0, X, 0.0).T
        data.numbers[:] = np.where(data.cards > 0, 0.0, X)
        fill_scatter(data, data.numbers)
    elif data.settings[IS_GAUSSIAN]:
        fill_scatter(data, X)
    else:
        data.codes[:] = X.T


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
    mixed = sum(data.numbers.shape)
    cache = Cache(
        np.empty((N, slots)), np.zeros((N, 0 if full else slots), np.uint64),
        np.zeros(N + 1, np.int64), np.zeros(data.codes.shape[1] + cells + mixed, np.int32),
        np.zeros((N + 1, N + 2)), np.zeros((N + 1, N)), NO_SIGNS, Calls(),
    )  # fmt: skip
    forget(cache)
    kernel = gaussian_score if data.settings[IS_GAUSSIAN] else discrete_score
    kernel = mixed_score if data.settings[IS_MIXED] else kernel
    return cache._replace(calls=Calls([call_of(kernel, data, layout, cache, 0, ZERO)]))
