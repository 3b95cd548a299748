"""Dirichlet-categorical columns: a cell is a code 0, 1, 2, ... or missing (-1).

The columns have different numbers of categories, so their counts lie end to end on one
axis. The predictive of category c is (prior_c + n_c) / (prior + n); its two logs are kept
apart, so that adding a row changes few of them.
"""

from typing import NamedTuple

import numpy as np

from infinimix.families import product, seam
from infinimix.families.base_measures import POOLED, REFERENCE, STRENGTH, temper
from infinimix.families.registration import register
from infinimix.kernels.compile import kernel
from infinimix.kernels.elementary import log
from infinimix.kernels.gamma import rise


class DirichletCategorical(NamedTuple):
    """Hyper-parameters of D independent categorical columns with W categories in all."""

    prior: np.ndarray  # (W,) pseudo-counts of the categories, column after column
    start: np.ndarray  # (D + 1,) where each column's categories start


class CategoricalStats(NamedTuple):
    """Statistics of K groups."""

    n: np.ndarray  # (K, W) counts of the categories
    t: np.ndarray  # (K, W) log(prior + n) of the categories
    norm: np.ndarray  # (K, D) log of the column's total, prior included


@seam.empty.implement(DirichletCategorical)
def _(family, slots):
    shape = (slots, family.prior.size)
    columns = family.start.size - 1
    stats = CategoricalStats(np.zeros(shape), np.zeros(shape), np.zeros((slots, columns)))
    product.refresh_alike(family, stats)
    return stats


@seam.count.implement(DirichletCategorical)
def _(family, stats, k, X, i, w):
    n, start = stats.n, family.start
    for d in range(X.shape[1]):
        if X[i, d] >= 0:
            c = start[d] + X[i, d]
            n[k, c] = max(n[k, c] + w, 0.0)


@seam.refresh.implement(DirichletCategorical)
def _(family, stats, k):
    prior, start, n, t = family.prior, family.start, stats.n, stats.t
    for c in range(prior.size):
        t[k, c] = log(prior[c] + n[k, c])
    for d in range(start.size - 1):
        total = 0.0
        for c in range(start[d], start[d + 1]):
            total += prior[c] + n[k, c]
        stats.norm[k, d] = log(total) if total > 0.0 else 0.0  # no category known yet


@seam.score.implement(DirichletCategorical)
def _(family, stats, X, i, live, out):
    start, t, norm = family.start, stats.t, stats.norm
    seen, place, used = np.empty(X.shape[1], np.int64), np.empty(X.shape[1], np.int64), 0
    for d in range(X.shape[1]):
        if X[i, d] >= 0:
            seen[used], place[used] = d, start[d] + X[i, d]
            used += 1
    for k in live:
        total = 0.0
        for j in range(used):
            total += t[k, place[j]] - norm[k, seen[j]]
        out[k] += total


@seam.width.implement(DirichletCategorical)
def _(family):
    return family.start.size - 1


@seam.column_evidence.implement(DirichletCategorical)
def _(family, stats, k, out):
    prior, start, n = family.prior, family.start, stats.n
    for d in range(start.size - 1):
        strength, rows, total = 0.0, 0.0, 0.0
        for c in range(start[d], start[d + 1]):
            strength += prior[c]
            rows += n[k, c]
            total += rise(prior[c], n[k, c]) if n[k, c] > 0.0 else 0.0
        if rows > 0.0:
            out[d] += total - rise(strength, rows)


@seam.features.implement(DirichletCategorical)
def _(family, stats, X, i, first, index, value):
    """Describe a cell by its category."""
    used, start = 0, family.start
    for d in range(X.shape[1]):
        if X[i, d] >= 0:
            index[used], value[used] = first + start[d] + X[i, d], 1.0
            used += 1
    return used


@seam.n_features.implement(DirichletCategorical)
def _(family):
    return family.prior.size


@seam.sound.implement(DirichletCategorical)
def _(family, stats):
    return np.isfinite(stats.n).all() and (stats.n >= 0.0).all()


@seam.prior.implement(DirichletCategorical)
def _(family, pool, given, factors):
    return seam.unstacked(seam.prior_finder(family, pool, given)(factors[None]), 0)


@seam.prior_finder.implement(DirichletCategorical)
def _(family, pool, given):
    """Find strength times shares; a heat's shares of all columns are kept, as the grid has few."""
    size = np.diff(family.start)
    column, every = np.repeat(np.arange(len(size)), size), np.arange(family.prior.size)
    fixed = {d: own for d, own in enumerate(given) if own not in POOLED}
    parts = np.split(pool.n[0], family.start[1:-1])
    shares = [(n + 0.5) / (n.sum() + 0.5 * n.size) for n in parts]
    kept, start = {}, family.start[None]

    def tempered(heat):
        found = kept.get(heat)
        if found is None:  # islands in several threads may all find it; it is the same
            found = kept[heat] = np.concatenate([temper(share, heat) for share in shares])
        return found

    def at(factors):
        strength, heat = factors[:, 0], factors[:, 1]
        few, order = heat[:1] if (heat == heat[0]).all() else heat, {}
        places = [[order.setdefault(own, len(order)) for own in row] for row in few.tolist()]
        table = (STRENGTH["categorical"] * strength).take(column, axis=1)
        if order:
            each = np.array([tempered(own) for own in order])
            table *= each[np.array(places)[:, column], every]
        for d, own in fixed.items():
            cells = slice(family.start[d], family.start[d + 1])
            table[:, cells] = REFERENCE if own == "reference" else own[0]
        return DirichletCategorical(table, start)

    return at


def join_columns(columns):
    """Return the family whose columns have these pseudo-counts."""
    start = np.cumsum([0, *map(len, columns)]).astype(np.int64)
    return DirichletCategorical(np.concatenate([np.zeros(0), *columns]), start)


@seam.typical.implement(DirichletCategorical)
def _(family, stats, slots):
    """Return the code of the most probable category; -1 where no category is known."""
    weight, start = stats.t[slots], family.start
    result = np.full((len(slots), start.size - 1), -1, np.int32)
    for d in np.flatnonzero(np.diff(start)):
        result[:, d] = weight[:, start[d] : start[d + 1]].argmax(axis=1)
    return result


@seam.draw.implement(DirichletCategorical)
def _(family, stats, slots, X, rng):
    result = np.full(X.shape, -1, X.dtype)
    for d in np.flatnonzero(np.diff(family.start)):
        sums = _probabilities(family, stats, d)[slots].cumsum(axis=1)
        u = rng.random((len(slots), 1)) * sums[:, -1:]
        result[:, d] = (sums <= u).sum(axis=1)
    return seam.keep_observed(X, result)


@seam.fill.implement(DirichletCategorical)
def _(family, stats, weight, X):
    def column(d, rows):
        if family.start[d] == family.start[d + 1]:  # no category known yet
            return -1.0, np.nan
        p = weight[rows] @ _probabilities(family, stats, d)
        return p.argmax(axis=1), np.clip(1.0 - p.max(axis=1), 0.0, 1.0)

    return seam.fill_columns(X, column)


def _probabilities(family, stats, d):
    """Return the probability of each category of column d in each slot."""
    return np.exp(stats.t[:, family.start[d] : family.start[d + 1]] - stats.norm[:, d, None])


@seam.column.implement(DirichletCategorical)
def _(family, stats, d):
    own = slice(family.start[d], family.start[d + 1])
    start = np.array([0, own.stop - own.start])
    parts = stats.n[:, own], stats.t[:, own], stats.norm[:, d : d + 1]
    alone = CategoricalStats(*map(np.ascontiguousarray, parts))
    return DirichletCategorical(family.prior[own].copy(), start), alone


@seam.widen.implement(DirichletCategorical)
def _(family, stats, wider):
    if wider.prior.size == family.prior.size:
        return stats
    result = seam.empty(wider, len(stats.n))
    for d in range(family.start.size - 1):
        old = slice(family.start[d], family.start[d + 1])
        first = wider.start[d]
        result.n[:, first : first + old.stop - old.start] = stats.n[:, old]
    return result


@seam.score_rows.implement(DirichletCategorical)
def _(family, stats, live, X, out):
    column = np.repeat(np.arange(family.start.size - 1), np.diff(family.start))
    logs = stats.t[live] - stats.norm[live][:, column]
    _gather(family.start, np.ascontiguousarray(logs.T), X, out)


@kernel
def _gather(start, table, X, out):
    """Add to out[i] the row of the table that each cell of X[i] names."""
    for i in range(X.shape[0]):
        for d in range(X.shape[1]):
            if X[i, d] >= 0:
                c = start[d] + X[i, d]
                for k in range(table.shape[1]):
                    out[i, k] += table[c, k]


@seam.count_rows.implement(DirichletCategorical)
def _(family, stats, weight, X):
    table = np.zeros(stats.n.shape[::-1])
    _scatter(family.start, np.ascontiguousarray(weight), X, table)
    stats.n[:] += table.T


@kernel
def _scatter(start, weight, X, table):
    """Add weight[i] to the row of the table that each cell of X[i] names."""
    for i in range(X.shape[0]):
        for d in range(X.shape[1]):
            if X[i, d] >= 0:
                c = start[d] + X[i, d]
                for k in range(table.shape[1]):
                    table[c, k] += weight[i, k]


@seam.estimate_point.implement(DirichletCategorical)
def _(family, stats, mode):
    pseudo = np.maximum(family.prior - 1.0, seam.FLOOR) if mode else family.prior
    n = stats.n + (pseudo - family.prior)  # with the prior it is what was counted and `pseudo`
    product.refresh_all(family, stats._replace(n=n), len(n))
    column = np.repeat(np.arange(family.start.size - 1), np.diff(family.start))
    return (stats.t - stats.norm[:, column]) @ pseudo


@seam.freedom.implement(DirichletCategorical)
def _(family):
    return int(np.maximum(np.diff(family.start) - 1, 0).sum())


register(DirichletCategorical, np.int32)
