"""The families there are, by the kind of column that each models: one record a kind.

What a kind is to a table (how cells are read, refused and shown) is in `tables.column`, under the
same name. A new kind is a record here and one there.

- binary: `strength` in pseudo-rows, `mean` the odds of a one;
- categorical: `strength`, and `evenness`, the temperature of the pooled shares: p^(1 / e^(step v)),
  towards uniform above 0, towards the most common category below;
- real: `variance`, that of a group beside that of the pooled column, which leaves the spread of the
  groups' means as it is; `kappa`, which changes that spread alone; and `nu`;
- spiked: the same, of all cells but the common value, whose Beta prior stays where it is;
- count: `shape` of the rate's Gamma prior, `mean` of the rate.
"""

from collections.abc import Callable
from math import log
from typing import Any, NamedTuple

import numpy as np

from infinimix.families.base_measures import REFERENCE
from infinimix.families.bernoulli import BetaBernoulli
from infinimix.families.categorical import join_columns
from infinimix.families.gaussian import NormalInverseWishart
from infinimix.families.normal import NormalInverseChiSquared
from infinimix.families.poisson import GammaPoisson
from infinimix.families.spiked import SpikedNormal
from infinimix.tables.column import kind_of


class Given(NamedTuple):
    """What a user may give in place of a word for the base measure of a column."""

    size: int  # how many numbers
    words: str  # what they are
    free: tuple[int, ...] = ()  # which of them need not be positive
    one_for_all: bool = False  # a single number stands for all of them
    longer: int = 0  # more numbers may be given, of which the first so many are positive


class Hyper(NamedTuple):
    """A hyper-parameter that `"learn"` moves: it is multiplied by e^(step v), v on the grid."""

    name: str
    step: float  # log of the factor between neighbours on the grid
    tau0: float  # spread of the level that the columns have in common around 0; 0 keeps it there


class Modelled(NamedTuple):
    """How columns of one kind are modelled."""

    blank: Callable[[tuple[str, ...], Any], Any]  # names, layout -> a family of that shape
    given: Given
    grid: tuple[Hyper, ...] = ()  # the first is the strength, where `spreads` is true
    scaled: bool = True  # the reference prior has the scale of the data
    always_scaled: bool = False  # and so has one that the user gives
    spreads: bool = False  # `"spread"` lets the strength differ from island to island
    uniform: Any = "reference"  # the prior of the papers' finite mixtures
    like: str = ""  # the kind whose word is used where a mapping says nothing of this one


REAL = (
    Hyper("kappa", log(2.0), 1.0),
    Hyper("nu", log(2.0), 1.5),
    Hyper("variance", log(3.0), 1.5),
)
CATALOGUE = {
    "binary": Modelled(
        lambda names, layout: BetaBernoulli(np.full((2, len(names)), REFERENCE)),
        Given(2, "pseudo-counts (a, b) of ones and zeros, both positive", one_for_all=True),
        (Hyper("strength", log(2.0), 2.0), Hyper("mean", 0.5, 0.0)),
        scaled=False,
        spreads=True,
        uniform=(1.0, 1.0),
    ),
    "categorical": Modelled(
        lambda names, layout: join_columns([np.full(c, REFERENCE) for c in layout.category_counts]),
        Given(1, "a positive pseudo-count, the same for every category"),
        (Hyper("strength", log(2.0), 2.0), Hyper("evenness", log(2.0) / 2, 0.0)),
        scaled=False,
        spreads=True,
        uniform=1.0,
    ),
    "real": Modelled(
        lambda names, layout: NormalInverseChiSquared(
            np.ones((4, len(names))), layout.grain(names)
        ),
        Given(4, "(mean, kappa, nu, scale), the last three positive", free=(0,)),
        REAL,
    ),
    "count": Modelled(
        lambda names, layout: GammaPoisson(np.ones((2, len(names)))),
        Given(2, "(a, b), shape and rate of the Gamma prior, both positive"),
        (Hyper("shape", log(2.0), 2.0), Hyper("mean", 0.5, 0.0)),
    ),
    "spiked": Modelled(
        lambda names, layout: SpikedNormal(np.ones((6, len(names))), layout.grain(names)),
        Given(6, "(a, b, mean, kappa, nu, scale), all but the mean positive", free=(2,)),
        REAL,
        like="real",
    ),
    "gaussian": Modelled(
        lambda names, layout: NormalInverseWishart(np.eye(3 + len(names), len(names), -3) + 1),
        Given(
            3,
            "(kappa, nu, scale), scale in units of the pooled column, all positive, or (kappa, nu, "
            "means, own variances, loadings) in one row",
            longer=2,
        ),
        always_scaled=True,
    ),
}


def modelled(block):
    """Return how the columns of a block are modelled."""
    return CATALOGUE[kind_of(block)]
