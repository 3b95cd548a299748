"""Base measures: the hyper-parameters of a table's families, given or found in the data.

`"reference"`: Beta(.5, .5) and symmetric Dirichlet(.5); a real column has the
Normal-inverse-chi-squared prior of REAL_REFERENCE around the mean and the variance of the
pooled column, since no proper prior is free of units. So has each column of a gaussian block, and
the block has a part of the pooled correlations. A spiked column has Beta(.5, .5) for its common
value, and the prior of a real column for its other cells. A count has Gamma(.5, .5) in units of the
pooled mean: shape .5 and rate .5 / mean.

`"empirical"`: the pooled column (over all classes) is the mean of the prior, and a common
strength says how firmly. A symmetric prior makes a new group cost 2^-D on binary columns
however common its values are; this one does not. The rate of a count has the pooled mean, and
the shape COUNT_SHAPES; the common value of a spiked column has the Beta prior of a binary one.

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
from infinimix.families.grids import factors
from infinimix.families.gaussian import NormalInverseWishart
from infinimix.families.gaussian_priors import RealPrior, gaussian_block, location_and_scale
from infinimix.families.normal import NormalInverseChiSquared
from infinimix.families.poisson import GammaPoisson
from infinimix.families.spiked import ATOMS, SpikedNormal

REFERENCE = 0.5
SCALED = ("real", "count", "spiked", "gaussian")  # their reference prior has the data's scale
STRENGTH = {"binary": 0.5, "categorical": 1.0}  # pseudo-rows behind an empirical base measure
POOLED = ("empirical", "learn", "spread")  # priors that have the pooled column in their centre
COUNT_SHAPES = {"reference": 0.5} | dict.fromkeys(POOLED, 1.0)  # Gamma with the pooled mean
REAL_REFERENCE = RealPrior(kappa=0.1, nu=1.0, variance=1.0)
REAL_EMPIRICAL = RealPrior(kappa=0.3, nu=2.0, variance=0.15)


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
        "spiked": lambda names: SpikedNormal(np.ones((6, len(names)))),
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
        "spiked": _spiked_columns,
        "gaussian": _gaussian_block,
    }
    return makers[_kind_of(kind)](layout.names[kind], layout, prior, stats, notches)


def _given(prior, name):
    """Return what a resolved prior says of a column."""
    return prior if isinstance(prior, str) else prior[name]


def _binary_columns(names, layout, prior, stats, notches):
    turned = factors("binary", names, prior, notches)
    return BetaBernoulli(_beta(names, prior, *stats.n[0], *turned))


def _beta(names, prior, zeros, ones, strength=1.0, odds=1.0):
    """Return pseudo-counts of zeros and of ones; given ones are the first two numbers."""
    share = (ones + 0.5) / (zeros + ones + 1.0)
    table = STRENGTH["binary"] * strength * np.array([1.0 - share, share * odds])
    table /= 1.0 + share * (odds - 1.0)
    for d, name in enumerate(names):
        given = _given(prior, name)
        if given == "reference":
            table[:, d] = REFERENCE
        elif given not in POOLED:
            a, b = given[:2]
            table[:, d] = b, a
    return table


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
    return NormalInverseChiSquared(_normal("real", names, prior, stats, notches))


def _spiked_columns(names, layout, prior, stats, notches):
    """Return a Beta prior of the atom beside the prior of real columns for all other cells."""
    beta = _beta(names, prior, stats.n[0, normal.N], stats.n[0, ATOMS])
    return SpikedNormal(np.vstack([_normal("spiked", names, prior, stats, notches), beta]))


def _normal(kind, names, prior, stats, notches):
    """Return mean, kappa, nu and scale^2 of columns; given ones are the last four numbers."""
    table = np.empty((4, len(names)))
    for d, name in enumerate(names):
        given = _given(prior, name)
        if isinstance(given, str):
            shape = REAL_REFERENCE if given == "reference" else REAL_EMPIRICAL
            column = stats.n[0, :, d]
            mean, variance = location_and_scale(
                column[normal.N], column[normal.CENTRE], column[normal.SPREAD]
            )
            table[:, d] = mean, shape.kappa, shape.nu, shape.variance * variance
        else:
            mean, kappa, nu, scale = given[-4:]
            table[:, d] = mean, kappa, nu, scale**2
    kappa, nu, variance = factors(kind, names, prior, notches)
    table[normal.KAPPA :] *= kappa * variance, nu, variance
    return table


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
    return gaussian_block(_given(prior, names[0]), stats.n[0])  # all columns have the same
