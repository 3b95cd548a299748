"""An Online CRP over encoded tables: any families of the library, a product for mixed columns.

Group 0 holds all rows, so it is also the pooled table that an empirical base measure follows: that
is renewed at every power of two of the rows, and when a categorical column gets a new category.
"""

import numpy as np

from infinimix.families.priors import blank, find_families
from infinimix.families.seam import empty, map_arrays, marks, refresh_all, widen
from infinimix.inference.learner import Learner
from infinimix.inference.refinement import Refinement
from infinimix.inference.weighting import AsIs


class TableLearner(Learner):
    """Rows are tuples of blocks, as `tables.encode` makes them."""

    def __init__(self, settings, layout, prior, seed):
        self.layout, self.prior = layout, prior
        family = find_families(layout, prior, empty(blank(layout), 1))
        weights = AsIs(np.zeros(0))
        super().__init__(settings, family, empty(family, 1), weights, marks(family), seed)

    def widen(self, category_counts):
        """Let categorical columns have more categories."""
        if np.array_equal(category_counts, self.layout.category_counts):
            return
        before, model = self.layout.category_counts, self.model
        self.layout = self.layout._replace(category_counts=category_counts)
        wider = blank(self.layout)
        stats = widen(model.family, model.stats, wider)
        refinement = model.refinement
        if len(refinement.b):
            places = self._places(before)
            moved = [np.zeros((marks(wider), refinement.b.shape[1])) for _ in range(2)]
            for array, old in zip(moved, refinement[:2], strict=True):
                array[places] = old
            refinement = Refinement(*moved, refinement.bias)
        self.model = model._replace(family=wider, stats=stats, refinement=refinement)
        self.rebase()

    def _places(self, before):
        """Return where the features of the narrower table are in the wider one."""
        places, first = [], 0
        for block, names in self.layout.names.items():
            if block == "categorical":
                starts = first + np.concatenate([[0], np.cumsum(self.layout.category_counts)])
                places += [s + np.arange(size) for s, size in zip(starts, before, strict=False)]
                first = int(starts[-1])
            else:
                places.append(first + np.arange(len(names)))
                first += len(names)
        return np.concatenate(places).astype(np.int64)

    def rebase(self):
        """Renew the base measure from the pooled rows."""
        model = self.model
        pool = map_arrays(lambda array: array[:1], model.stats)
        family = find_families(self.layout, self.prior, pool)
        refresh_all(family, model.stats, len(model.stats[0][0]))
        self.model = model._replace(family=family)

    def _empty_slots(self, slots):
        fresh = empty(self.model.family, slots.stop - slots.start)

        def put(array, new):
            array[slots] = new

        map_arrays(put, self.model.stats, fresh)

    def _slice(self, X, first, last):
        return tuple(np.ascontiguousarray(block[first:last]) for block in X)

    def _longest(self, X):
        return sum(block.shape[1] for block in X)

    def _turns(self, learned, is_learned):
        return is_learned & (learned & (learned + 1) == 0)  # before the row of a power of two

    def _change(self, X, row):
        super()._change(X, row)
        if self.steps & (self.steps + 1) == 0:
            self.rebase()
