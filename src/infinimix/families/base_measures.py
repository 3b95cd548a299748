"""Base measures: what the words for a prior mean, and the pieces that several families share.

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

`"learn"`: the same, but the evidence may move each column's hyper-parameters away from there;
`"spread"`: the same, but the strengths of binary and categorical columns differ from island to
island, so that islands that see one stream in one order err apart. See `grids`.

Hidden here: constant, empty and nearly constant columns have proper priors too.
"""

from typing import NamedTuple

import numpy as np

REFERENCE = 0.5
STRENGTH = {"binary": 0.5, "categorical": 1.0}  # pseudo-rows behind an empirical base measure
POOLED = ("empirical", "learn", "spread")  # words that put the pooled column in the centre
FOUND = ("empirical", "reference", "learn", "spread")  # all words for a base measure
COUNT_SHAPES = {"reference": 0.5} | dict.fromkeys(POOLED, 1.0)  # Gamma with the pooled mean
LEAST_SPREAD = 1e-28  # of a variance beside the squared mean: rounding makes less than that
LEAST_SQUARE = 1e-280  # less is zero: its products with other numbers would lose their digits


class RealPrior(NamedTuple):
    """Hyper-parameters of a column, in units of the pooled column's variance."""

    kappa: float
    nu: float
    variance: float


REAL_REFERENCE = RealPrior(kappa=0.1, nu=1.0, variance=1.0)
REAL_EMPIRICAL = RealPrior(kappa=0.3, nu=2.0, variance=0.15)


def find_beta(given, zeros, ones):
    """Return a function of strengths and odds: the pseudo-counts of zeros and of ones.

    Its arguments have a row for each position on the grid and a column for each of the table. What
    is found here is the same at all of them. Given pseudo-counts are the first two numbers.
    """
    share = (ones + 0.5) / (zeros + ones + 1.0)
    fixed = {d: own for d, own in enumerate(given) if own not in POOLED}

    def at(strength, odds):
        table = np.empty((len(odds), 2, len(share)))
        table[:, 0], table[:, 1] = 1.0 - share, share * odds
        table *= (STRENGTH["binary"] * strength)[:, None]
        table /= (1.0 + share * (odds - 1.0))[:, None]
        for d, own in fixed.items():
            table[:, :, d] = REFERENCE if own == "reference" else (own[1], own[0])
        return table

    return at


def find_normal(given, moments):
    """Return a function of factors: mean, kappa, nu and scale^2 of the columns.

    Factors have the position on the grid, what they multiply, and the column as axes. `moments` are
    count, mean and squared deviations of each pooled column; given ones are the last four numbers.
    """
    table = np.empty((4, len(given)))
    table[0], variance = location_and_scale(*moments[:3])
    table[1:3], table[3] = np.array(REAL_EMPIRICAL[:2])[:, None], REAL_EMPIRICAL.variance * variance
    for d, own in enumerate(given):
        if isinstance(own, str):
            if own == "reference":
                kappa, nu, scale = REAL_REFERENCE
                table[1:, d] = kappa, nu, scale * variance[d]
        else:
            mean, kappa, nu, scale = own[-4:]
            table[:, d] = mean, kappa, nu, scale**2

    def at(factors):
        each = np.empty((len(factors), *table.shape))
        each[:, 0], each[:, 1:] = table[0], table[1:] * factors
        each[:, 1] = table[1] * (factors[:, 0] * factors[:, 2])
        return each

    return at


def location_and_scale(n, mean, spread):
    """Return mean and variance of pooled columns, both usable whatever the columns hold."""
    some = n > 0
    square, variance = mean**2, spread / np.where(some, n, 1.0)
    usable = variance > np.maximum(LEAST_SPREAD * square, LEAST_SQUARE)  # rounding is no scale
    own_size = np.where(square > LEAST_SQUARE, square, 1.0)  # a constant has its own size, or one
    variance = np.where(usable, variance, own_size)
    return np.where(some, mean, 0.0), np.where(some, variance, 1.0)


def temper(share, heat):
    """Return shares raised to the power 1 / heat: even ones when it is hot."""
    if heat == 1.0:
        return share
    share = share ** (1.0 / heat)
    return share / share.sum()
