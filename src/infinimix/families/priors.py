"""The hyper-parameters of a table's families, given or found in the data.

`base_measures` says what the words mean, `given` what a mapping may say, each family's `prior` what
becomes of that, and `catalogue` which family a kind of column has.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from infinimix.families import seam
from infinimix.families.base_measures import POOLED
from infinimix.families.catalogue import modelled
from infinimix.families.grids import factors


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
    return tuple(
        find_family(block, layout, prior, stats, None if grid is None else grid.get(block))
        for block, stats in zip(layout.names, pool, strict=True)
    )


def find_family(block, layout, prior, stats, positions=None):
    """Return the family of the columns of one block."""
    if positions is None:
        positions = np.zeros((len(modelled(block).grid), len(layout.names[block])))
    return families_at(block, layout, prior, stats, positions[None])[0]


def families_at(block, layout, prior, stats, positions):
    """Return the families at several positions: (families, hyper-parameters, columns)."""
    names, entry = layout.names[block], modelled(block)
    given = [prior if isinstance(prior, str) else prior[name] for name in names]
    blank = entry.blank(names, layout)
    return seam.prior_at_each(blank, stats, given, factors(entry.grid, given, positions))
