"""Groups under other hyper-parameters: their evidence at all positions of a grid, and new scores.

Hyper-parameters are learned again and again while a table is learned, mostly of few groups and few
columns, where what Python does for each position would take longer than the numbers. Compiled code
goes along all of them instead: the table of a product (`kernels.blocks`) differs from one position
to the next by nothing but where the arrays of hyper-parameters begin.
"""

import numpy as np

from infinimix.families.product import add_columns, engine, move_row, table_of
from infinimix.families.seam import arrays_of, column_evidence, refresh, unstacked
from infinimix.kernels import blocks as at
from infinimix.kernels.blocks import data_address, numbers_at
from infinimix.kernels.compile import INTERPRETED, part

EVIDENCE = ("column_evidence",)


class Along:
    """The table of one family at the first of several positions, and the steps to the next ones.

    It holds the latest families, whose addresses are in the table.
    """

    def __init__(self, stats):
        self._stats, self._table, self._families = stats, None, None

    def __call__(self, families):
        """Return table and steps for families that are stacked, as `seam.prior_finder` says."""
        first, self._families = unstacked(families, 0), families
        if self._table is None:
            self._table = table_of(first, self._stats, EVIDENCE)
        else:
            move_row(self._table[0], first)
        steps = [array.strides[0] if len(array) > 1 else 0 for array in families]
        return self._table, np.array(steps)


@part
def weigh_along(table, steps, n_groups, out):
    """Add to out[i, d] the log evidence of column d of all groups, under the i-th of the families.

    The table is that of one family, and is moved along.
    """
    for i in range(out.shape[0]):
        for k in range(n_groups):
            column_evidence(table, None, k, out[i])
        for j in range(steps.shape[0]):
            table[0, at.FIRST + at.STEP * j] += steps[j]


def weigh_one_by_one(families, stats, out):
    """Do the same with one call for each of the families."""
    slots = np.arange(len(stats.n))
    for i in range(len(out)):
        add_columns(unstacked(families, i), stats, slots, 0, out[i : i + 1])


@engine("column_evidence", "refresh")
def reweigh(family, stats, new_family, new_stats, slots, columns):
    """Make groups ready to score by a new family of theirs.

    To columns[0, j, d] and columns[1, j, d] is added the log evidence of column d in the j-th of
    these groups, before and after.
    """
    for j in range(slots.shape[0]):
        column_evidence(family, stats, slots[j], columns[0, j])
        column_evidence(new_family, new_stats, slots[j], columns[1, j])
        refresh(new_family, new_stats, slots[j])


class Copies:
    """Let groups be what the first one is, in all arrays of a nest of statistics."""

    def __init__(self):
        self._stats, self._places = None, None

    def __call__(self, stats, slots):
        """Write the first group over these."""
        if INTERPRETED:
            copy_one_by_one(stats, slots)
            return
        if stats is not self._stats:
            places = [(data_address(own), own.size // len(own)) for own in arrays_of(stats)]
            self._stats, self._places = stats, np.array(places)
        _copy_first.run(self._places, slots)

    def __reduce__(self):
        return Copies, ()  # addresses are those of one process


def copy_one_by_one(stats, slots):
    """Do the same, one array after the other."""
    for array in arrays_of(stats):
        array[slots] = array[0]


@engine()
def _copy_first(places, slots):
    for j in range(places.shape[0]):
        size = places[j, 1]
        for s in slots:
            array = numbers_at(places[j, 0], (s + 1) * size)
            for i in range(size):
                array[s * size + i] = array[i]
