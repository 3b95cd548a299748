"""An Online CRP over encoded tables: any families of the library, a product for mixed columns.

Group 0 holds all rows, so it is also the pooled table that an empirical base measure follows: that
is renewed at every power of two of the rows, and when a categorical column gets a new category.
"""

import numpy as np

from infinimix.families.priors import blank, find_families
from infinimix.families.product import Bound, as_cells, refresh_all, rows_of
from infinimix.families.seam import MOST_FEATURES, empty, map_arrays, n_features, typical, widen
from infinimix.inference.online_crp.learner import OnlineAnswers, OnlineLearner
from infinimix.inference.online_crp.model import HELD, SHARE, UNTOLD
from infinimix.inference.online_crp.refinement import Refinement
from infinimix.inference.online_crp.weighting import AsIs
from infinimix.kernels.compile import INTERPRETED
from infinimix.tables.column import record_of


class TableLearner(OnlineLearner):
    """Rows are tuples of blocks, as `tables.encode` makes them."""

    def __init__(self, settings, layout, prior, seed):
        self.layout, self.prior = layout, prior
        self.pool = empty(blank(layout), 1)  # the rows that the base measure was found in
        family = find_families(layout, prior, self.pool)
        self._bound = Bound(("score", "count", "refresh", "features"))
        self._given = (None, None)  # the model, and how the kernels take it
        weights = AsIs(np.zeros(0))
        super().__init__(settings, family, empty(family, 1), weights, n_features(family), seed)

    def _spare(self):
        return int(self.settings.new_class == "published")  # a slot without rows, to be scored

    def run_novel(self, X, n_rows, novel, told=None, given=None, proba=False):
        """Run rows some of which bring new categories, listed by row and column.

        A row is predicted as if it lacked a cell of which no row was; then it is learned with it.
        """
        if not len(novel.rows):
            return self.run(X, n_rows, told, given, proba)
        parts, first = [], 0
        for row in [*np.unique(novel.rows).tolist(), n_rows]:
            if row > first:
                here = slice(first, row)
                X_here = self._slice(X, first, row)
                labels = _part(told, here), _part(given, here)
                parts.append(self.run(X_here, row - first, *labels, proba))
            if row < n_rows:
                columns, here = novel.columns[novel.rows == row], slice(row, row + 1)
                labels = _part(told, here), _part(given, here)
                parts.append(self._run_first(X, row, columns, *labels, proba))
            first = row + 1
        return OnlineAnswers(*map(np.concatenate, zip(*parts, strict=True)))

    def _run_first(self, X, row, columns, told, given, proba):
        """Run a row that has categories of which no row was in these columns."""
        whole = self._slice(X, row, row + 1)
        shown = [block.copy() for block in whole]
        shown[list(self.layout.names).index("categorical")][0, columns] = -1
        untold = None if told is None else np.full(1, UNTOLD)
        said = self.run(tuple(shown), 1, untold, proba=True)
        if told is not None:
            counts = self.layout.category_counts.copy()
            np.add.at(counts, columns, 1)
            self.widen(counts)
        if told is not None and told[0] >= 0:
            seen = self.model.classes[HELD, told[0]] > 0.0
            said.proba_told[0] = said.proba[0, told[0]] if seen else np.nan
            made = given is not None and given[0] != UNTOLD
            self.run(whole, 1, told, given if made else said.predicted)
        return said if proba else said._replace(proba=said.proba[:, :0])

    def typical(self, c):
        """Return the typical values of class c, in the blocks of the table."""
        model = self.model
        best = 1 + c * self.size + int(np.argmax(model.replicas[SHARE]))
        return typical(model.family, model.stats, np.array([best]))

    def widen(self, category_counts):
        """Let categorical columns have more categories."""
        if np.array_equal(category_counts, self.layout.category_counts):
            return
        before, model = self.layout.category_counts, self.model
        self.layout = self.layout._replace(category_counts=category_counts)
        wider = blank(self.layout)
        stats = widen(model.family, model.stats, wider)
        refinement = model.refinement
        if any(self.settings.steps):
            places = self._places(before)
            shape = (n_features(wider), refinement.b.shape[1])
            moved = [np.zeros(shape, np.float32) for _ in range(2)]
            for array, old in zip(moved, refinement[:2], strict=True):
                array[places] = old
            refinement = Refinement(*moved, refinement.bias)
        self.model = model._replace(family=wider, stats=stats, refinement=refinement)
        self.rebase()

    def _places(self, before):
        """Return where the features of the narrower table are in the wider one."""
        places, first = [], 0
        for block, family in zip(self.layout.names, self.model.family, strict=True):
            if record_of(block).has_categories:
                starts = first + np.concatenate([[0], np.cumsum(self.layout.category_counts)])
                places += [s + np.arange(size) for s, size in zip(starts, before, strict=False)]
                first = int(starts[-1])
            else:
                features = n_features(family)
                places.append(first + np.arange(features))
                first += features
        return np.concatenate(places).astype(np.int64)

    def rebase(self):
        """Renew the base measure from the pooled rows."""
        model = self.model
        self.pool = map_arrays(lambda array: array[:1].copy(), model.stats)
        family = find_families(self.layout, self.prior, self.pool)
        refresh_all(family, model.stats, len(model.stats[0][0]))
        self.model = model._replace(family=family)

    def _empty_slots(self, slots):
        fresh = empty(self.model.family, slots.stop - slots.start)

        def put(array, new):
            array[slots] = new

        map_arrays(put, self.model.stats, fresh)

    def _slice(self, X, first, last):
        if last - first == len(X[0]):
            return X
        return tuple(np.ascontiguousarray(block[first:last]) for block in X)

    def _bind(self, X):
        if INTERPRETED:
            return self.model, X
        model, given = self._given
        if model is not self.model:
            model = self.model
            family, stats = self._bound(model.family, model.stats)
            given = model._replace(family=family, stats=stats)
            self._given = model, given
        self._rows = as_cells(model.family, X)  # kept while their addresses are used
        return given, rows_of(self._rows)

    def __getstate__(self):
        return super().__getstate__() | {"_given": (None, None), "_rows": None}

    def _longest(self, X):
        return MOST_FEATURES * sum([block.shape[1] for block in X])

    def _stops(self, n_rows):
        stops, power = set(super()._stops(n_rows)), 1 << self.steps.bit_length()
        while power - 1 <= self.steps + n_rows:  # before the row of a power of two
            stops.add(power - 1 - self.steps)
            power *= 2
        return sorted(stops - {0})

    def _change(self):
        super()._change()
        if self.steps & (self.steps + 1) == 0:
            self.rebase()


def _part(array, here):
    return None if array is None else array[here]
