"""Base measures: the hyper-parameters of a table's families, given or found in the data.

`"reference"`: Beta(.5, .5) and symmetric Dirichlet(.5); a real column has the
Normal-inverse-chi-squared prior of REAL_REFERENCE around the mean and the variance of the
pooled column, since no proper prior is free of units. So has each column of a gaussian block, and
the block has a part of the pooled correlations. A count has Gamma(.5, .5) in units of the
pooled mean: shape .5 and rate .5 / mean.

`"empirical"`: the pooled column (over all classes) is the mean of the prior, and a common
strength says how firmly. A symmetric prior makes a new group cost 2^-D on binary columns
however common its values are; this one does not. The rate of a count has the pooled mean, and
the shape COUNT_SHAPES.

`"learn"`: the same, but the evidence may turn each column's hyper-parameters away from there;
`"spread"`: the same, but the strengths of binary and categorical columns differ from island to
island, so that islands that see one stream in one order err apart. See `dials`.

A mapping gives hyper-parameters by column or by kind; see `given`. Hidden here: constant,
empty and nearly constant columns have proper priors too.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from infinimix.families import normal, poisson
from infinimix.families.bernoulli import BetaBernoulli
from infinimix.families.categorical import DirichletCategorical
from infinimix.families.dials import factors
from infinimix.families.gaussian import NormalInverseWishart
from infinimix.families.normal import NormalInverseChiSquared
from infinimix.families.pairwise import CROSS, MEAN, SQUARE, N
from infinimix.families.poisson import GammaPoisson

REFERENCE = 0.5
SCALED = ("real", "count", "gaussian")  # kinds whose reference prior has the scale of the data
STRENGTH = {"binary": 0.5, "categorical": 1.0}  # pseudo-rows behind an empirical base measure
LEAST_SPREAD = 1e-28  # of a variance beside the squared mean: rounding makes less than that
LEAST_SQUARE = 1e-280  # less is zero: its products with other numbers would lose their digits
POOLED = ("empirical", "learn", "spread")  # priors that have the pooled column in their centre
COUNT_SHAPES = {"reference": 0.5} | dict.fromkeys(POOLED, 1.0)  # Gamma with the pooled mean


class RealPrior(NamedTuple):
    """Hyper-parameters of a real column, in units of the pooled column's variance."""

    kappa: float
    nu: float
    variance: float


REAL_REFERENCE = RealPrior(kappa=0.1, nu=1.0, variance=1.0)
REAL_EMPIRICAL = RealPrior(kappa=0.3, nu=2.0, variance=0.15)
GAUSSIAN_REFERENCE = RealPrior(kappa=0.1, nu=1.0, variance=1.0)  # of each column of a block
GAUSSIAN_EMPIRICAL = RealPrior(kappa=0.1, nu=3.0, variance=0.15)
LEAST_EIGENVALUE = 0.05  # of the correlations in the prior of a gaussian block
CORRELATION_KEPT = 0.5  # of the pooled correlations, in the prior of a gaussian block


class Layout(NamedTuple):
    """What a prior must know of a table: the columns of each block, in table order."""

    names: Mapping[str, tuple[str, ...]]  # kind, or "gaussian 1", ... -> names of the columns
    category_counts: np.ndarray  # of each categorical column, as known so far


def blank(layout):
    """Return families of the right shape, for counting the pooled table."""
    makers = {
        "binary": lambda names: BetaBernoulli(np.full((2, len(names)), REFERENCE)),
        "categorical": lambda names: _categorical([np.full(c, REFERENCE) for c in counts]),
        "real": lambda names: NormalInverseChiSquared(np.ones((4, len(names)))),
        "count": lambda names: GammaPoisson(np.ones((2, len(names)))),
        "gaussian": lambda names: NormalInverseWishart(np.eye(3 + len(names), len(names), -3) + 1),
    }
    counts = layout.category_counts
    return tuple(makers[_kind_of(block)](names) for block, names in layout.names.items())


def _kind_of(block):
    """Return the kind of a block: gaussian ones after the first have a number too."""
    return block.partition(" ")[0]


def depends_on_data(layout, prior):
    """Does the prior change as rows come in (beyond the number of categories)?"""
    if isinstance(prior, str):
        return prior in POOLED or not layout.names.keys().isdisjoint(SCALED)
    scaled = [name for kind in SCALED for name in layout.names.get(kind, ())]
    if "gaussian" in layout.names:  # has the units of the pooled block, whatever is given
        return True
    if any(given in POOLED for given in prior.values()):
        return True
    return any(prior[name] == "reference" for name in scaled)


def find_families(layout, prior, pool, dials=None):
    """Return the families of a table.

    `pool` holds statistics of the pooled columns in slot 0; `dials` has the notches of each
    kind, as `dials.untouched` lays them out, for the columns whose prior is `"learn"`.
    """
    return tuple(
        find_family(kind, layout, prior, stats, None if dials is None else dials.get(kind))
        for kind, stats in zip(layout.names, pool, strict=True)
    )


def find_family(kind, layout, prior, stats, notches=None):
    """Return the family of the columns of one block."""
    makers = {
        "binary": _binary_columns,
        "categorical": _all_categories,
        "real": _real_columns,
        "count": _count_columns,
        "gaussian": _gaussian_block,
    }
    return makers[_kind_of(kind)](layout.names[kind], layout, prior, stats, notches)


def _given(prior, name):
    """Return what a resolved prior says of a column."""
    return prior if isinstance(prior, str) else prior[name]


def _binary_columns(names, layout, prior, stats, notches):
    strength, odds = factors("binary", names, prior, notches)
    zeros, ones = stats.n[0]
    share = (ones + 0.5) / (zeros + ones + 1.0)
    table = STRENGTH["binary"] * strength * np.array([1.0 - share, share * odds])
    table /= 1.0 + share * (odds - 1.0)
    for d, name in enumerate(names):
        given = _given(prior, name)
        if given == "reference":
            table[:, d] = REFERENCE
        elif given not in POOLED:
            a, b = given
            table[:, d] = b, a
    return BetaBernoulli(table)


def _all_categories(names, layout, prior, stats, notches):
    strength, heat = factors("categorical", names, prior, notches)
    ends = np.cumsum(layout.category_counts)
    columns = []
    for d, (name, end, size) in enumerate(zip(names, ends, layout.category_counts, strict=True)):
        given = _given(prior, name)
        n = stats.n[0, end - size : end]
        if given == "reference":
            columns.append(np.full(size, REFERENCE))
        elif given in POOLED:
            share = _temper((n + 0.5) / (n.sum() + 0.5 * size), heat[d])
            columns.append(STRENGTH["categorical"] * strength[d] * share)
        else:
            columns.append(np.full(size, given[0]))
    return _categorical(columns)


def _temper(share, heat):
    """Return shares raised to the power 1 / heat: even ones when it is hot."""
    if heat == 1.0:
        return share
    share = share ** (1.0 / heat)
    return share / share.sum()


def _categorical(columns):
    start = np.cumsum([0, *map(len, columns)]).astype(np.int64)
    return DirichletCategorical(np.concatenate([np.zeros(0), *columns]), start)


def _real_columns(names, layout, prior, stats, notches):
    table = np.empty((4, len(names)))
    for d, name in enumerate(names):
        given = _given(prior, name)
        if isinstance(given, str):
            shape = REAL_REFERENCE if given == "reference" else REAL_EMPIRICAL
            column = stats.n[0, :, d]
            mean, variance = _location_and_scale(
                column[normal.N], column[normal.CENTRE], column[normal.SPREAD]
            )
            table[:, d] = mean, shape.kappa, shape.nu, shape.variance * variance
        else:
            mean, kappa, nu, scale = given
            table[:, d] = mean, kappa, nu, scale**2
    kappa, nu, variance = factors("real", names, prior, notches)
    table[normal.KAPPA :] *= kappa * variance, nu, variance
    return NormalInverseChiSquared(table)


def _location_and_scale(n, mean, spread):
    """Return mean and variance of a pooled column, both usable whatever the column holds."""
    if n == 0:
        return 0.0, 1.0
    square, variance = mean**2, spread / n
    if variance > max(LEAST_SPREAD * square, LEAST_SQUARE):  # rounding errors are no scale
        return mean, variance
    return mean, square if square > LEAST_SQUARE else 1.0  # a constant has its own size, or one


def _count_columns(names, layout, prior, stats, notches):
    shape, level = factors("count", names, prior, notches)
    rows, total = stats.n[0, poisson.N], stats.n[0, poisson.SUM]
    mean = (total + 0.5) / (rows + 0.5)  # of zeros, or of nothing, it is positive too
    mean *= level
    table = np.empty((2, len(names)))
    for d, name in enumerate(names):
        given = _given(prior, name)
        if isinstance(given, str):
            a = COUNT_SHAPES[given] * shape[d]
            table[:, d] = a, a / mean[d]
        else:
            table[:, d] = given
    return GammaPoisson(table)


def _gaussian_block(names, layout, prior, stats, notches):
    given, d = _given(prior, names[0]), len(names)  # all columns of a block have the same
    if isinstance(given, str):
        shape = GAUSSIAN_REFERENCE if given == "reference" else GAUSSIAN_EMPIRICAL
    else:
        kappa, nu, scale = given
        shape = RealPrior(kappa, nu, scale**2)
    n = stats.n[0]
    columns = [_location_and_scale(n[N, i, i], n[MEAN, i, i], n[SQUARE, i, i]) for i in range(d)]
    mean, variance = np.array(columns).T
    root = np.sqrt(shape.nu * shape.variance) * np.sqrt(variance)
    table = np.empty((3 + d, d))
    table[0], table[1], table[2] = mean, shape.kappa, shape.nu
    table[3:] = _pooled_correlations(n, variance) * root * root[:, None]
    return NormalInverseWishart(table)


def _pooled_correlations(n, variance):
    """Return correlations shrunk to none: by CORRELATION_KEPT, more so if they are of few rows.

    With holes each is of other rows, and they may contradict each other: then more so again.
    """
    d, rows = len(variance), n[N]
    root = np.sqrt(n[SQUARE]) * np.sqrt(n[SQUARE].T)
    found = root > LEAST_SPREAD * np.sqrt(variance) * np.sqrt(variance)[:, None]
    R = np.where(found, n[CROSS] / np.where(found, root, 1.0), 0.0) * rows / (rows + d + 1.0)
    np.fill_diagonal(R, 1.0)
    least = np.linalg.eigvalsh(R)[0]
    kept = min(CORRELATION_KEPT, (1.0 - LEAST_EIGENVALUE) / (1.0 - min(least, 0.0)))
    return kept * R + (1.0 - kept) * np.eye(d)
