"""The hyper-parameters of a table's families, given or found in the data.

`base_measures` says what the words mean, `given` what a mapping may say, each family's `prior` what
becomes of that, and `catalogue` which family a kind of column has.
"""

from collections.abc import Mapping
from functools import cached_property
from typing import NamedTuple

import numpy as np

from infinimix.families import seam
from infinimix.families.base_measures import POOLED
from infinimix.families.catalogue import modelled
from infinimix.families.grids import Factors, centred, learned


class Layout(NamedTuple):
    """What a prior must know of a table: the columns of each block, in table order."""

    names: Mapping[str, tuple[str, ...]]  # kind, or "gaussian 1", ... -> names of the columns
    category_counts: np.ndarray  # of each categorical column, as known so far
    resolutions: Mapping[str, float] = {}  # of columns of numbers that have one

    def grain(self, names):
        """Return d^2 / 12 of the resolution d of each of these columns, 0 without one."""
        return np.array([self.resolutions.get(name, 0.0) for name in names]) ** 2 / 12.0

    def to_tree(self):
        """Return plain values and arrays."""
        return {
            "names": {kind: list(names) for kind, names in self.names.items()},
            "category_counts": self.category_counts,
            "resolutions": dict(self.resolutions),
        }

    @classmethod
    def from_tree(cls, tree):
        """Return the layout that `to_tree` wrote; older files have no resolutions."""
        names = {kind: tuple(names) for kind, names in tree["names"].items()}
        resolutions = {name: float(d) for name, d in tree.get("resolutions", {}).items()}
        return cls(names, np.asarray(tree["category_counts"], np.int64), resolutions)


def blank(layout):
    """Return families of the right shape, for counting the pooled table."""
    return tuple(modelled(block).blank(names, layout) for block, names in layout.names.items())


def depends_on_data(layout, prior):
    """Does the prior change as rows come in (beyond the number of categories)?"""
    entries = [(modelled(block), names) for block, names in layout.names.items()]
    if isinstance(prior, str):
        return prior in POOLED or any(entry.scaled for entry, _ in entries)
    if any(entry.always_scaled for entry, _ in entries):
        return True
    if any(given in POOLED for given in prior.values()):
        return True
    return any(
        prior[name] == "reference" for entry, names in entries if entry.scaled for name in names
    )


def find_families(layout, prior, pool, grid=None):
    """Return the families of a table.

    `pool` holds statistics of the pooled columns in slot 0; `grid` has the positions of each kind
    on its grid, as `grids.centred` lays them out, for the columns whose prior is `"learn"`.
    """
    return Base(layout, prior, pool).families(centred(layout) if grid is None else grid)


class ColumnPriors:
    """The prior of the columns of one block, at any positions on its grid."""

    def __init__(self, block, layout, prior, pool):
        names, entry = layout.names[block], modelled(block)
        given = [prior if isinstance(prior, str) else prior[name] for name in names]
        self.hypers, self.width = entry.grid, len(names)
        self.free = learned(names, prior)
        self.moves = bool(self.hypers) and bool(self.free.any())
        self._factors = Factors(self.hypers, given)
        self._find = seam.prior_finder(entry.blank(names, layout), pool, given)
        self._only = None if self.hypers else self._at(np.zeros((0, self.width)))

    def _at(self, positions):
        return seam.unstacked(self._find(self._factors.at(positions)[None]), 0)

    def family(self, positions):
        """Return the family at positions (hyper-parameters, columns)."""
        return self._only or self._at(positions)

    def each(self, positions, j):
        """Return the families with hyper-parameter j of all columns at each position in turn.

        They are stacked, as `seam.prior_finder` says.
        """
        return self._find(self._factors.along(positions, j))


class Base:
    """What the base measure is made of: the columns, what was asked for, and the pooled table.

    What the pooled table says of the priors is found once, at the first question: one object serves
    many positions of many islands, and is out of date when rows are pooled.
    """

    def __init__(self, layout, prior, pool):
        self.layout, self.prior = layout, prior
        self.pool = pool  # statistics of the pooled columns at the latest estimate, slot 0

    def __reduce__(self):
        return Base, (self.layout, self.prior, self.pool)

    @cached_property
    def blocks(self):
        """The prior of each block, in the order of the layout."""
        blocks = zip(self.layout.names, self.pool, strict=True)
        return {block: ColumnPriors(block, self.layout, self.prior, own) for block, own in blocks}

    @property
    def learns(self):
        """Are there columns whose hyper-parameters are found from the evidence?"""
        given = self.prior if isinstance(self.prior, str) else self.prior.values()
        return "learn" in ([given] if isinstance(given, str) else given)

    def families(self, positions):
        """Return the families of the columns."""
        if not any([own.any() for own in positions.values()]):
            return self._centred  # where all islands begin: one object, so that they can share
        return tuple([own.family(positions[block]) for block, own in self.blocks.items()])

    @cached_property
    def _centred(self):
        return tuple([own.family(np.zeros((1, 1))) for own in self.blocks.values()])
