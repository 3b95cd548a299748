"""A bank of CRP mixtures: one per class, on each of several islands.

This implements `CRPMixture` (one class) and `AClassClassifier` (one mixture per class;
AClass paper, figures 2 and 3). Islands are independent of each other, and their densities are
averaged with equal weight. The base measure is pooled over the classes. In a stream, rows without
labels give an island several label hypotheses, which are weighted; the islands stay equal.

Hidden here: while streaming the base measure is re-estimated when the number of rows is 1,
2, 4, 8, ..., and when a new category turns up, and what is learned is then drawn anew; both
are facts of a row, not of a call, so any cutting of the stream into calls does the same. The
particles are then weighed for the new posterior, so that the evidence is always that of the
latest hyper-parameters.
"""

from typing import NamedTuple

import numpy as np

from infinimix.families.priors import Base, blank, depends_on_data
from infinimix.families.product import Bound, as_cells, engine, rows_of, score_slots
from infinimix.families.seam import count, empty, map_arrays, score_rows, widen
from infinimix.inference.ensemble import apart
from infinimix.inference.ensemble.agreement import members_of
from infinimix.inference.ensemble.island import Island
from infinimix.inference.ensemble.snapshot import Snapshot, joined, portion
from infinimix.inference.ensemble.steps import average_held_out, by_class, cutter
from infinimix.inference.partition.filter import ROWS_AT_ONCE
from infinimix.inference.partition.live import log_densities, mix

RUNNING, LATEST = 0, 1  # slots of the pool: all rows, and those of the latest estimate
FEW = 8  # rows: fewer are scored one by one, as tables of groups would take longer to prepare
FIRST = np.zeros(1, np.int64)  # the rows of a call of one row
MOST_CHECKED = 20_000  # rows by whose held-out densities a classifier is corrected


class Settings(NamedTuple):
    """What a bank is asked to do; the names are those of the estimators."""

    alpha: float
    prior: object
    n_particles: int
    n_islands: int
    resampling: str
    max_groups: int | None
    sweeps: int = 0
    window: int = 0
    gamma: float = 1.0
    n_label_particles: int = 1


@engine("count")
def pool_rows(family, stats, X, first, last):
    """Count rows into the running pool."""
    for i in range(first, last):
        count(family, stats, 0, X, i, 1.0)


def keep_pool(stats):
    """Let the latest estimate be of all rows so far."""
    for own in stats:
        own.n[LATEST] = own.n[RUNNING]


class Bank:
    """Mixtures by class; `fit` for a whole table, `learn` for a stream."""

    def __init__(self, settings, layout, seed):
        self.settings, self.layout, self.seed = settings, layout, seed
        self.adaptive = depends_on_data(layout, settings.prior)
        self.revises = self.adaptive or settings.alpha == "learn"
        self.shape = blank(layout)
        self.pool, self._bound = empty(self.shape, 2), Bound(pool_rows.uses)
        self.n_rows = self.n_classes = 0
        self.n_drawn = 0  # rows whose labels the islands have drawn, each for itself
        self.n_branched = 0  # of these, those of a stream
        self.labelled = np.zeros(0, np.int64)  # rows that came with a label, by class
        base = self._base()
        self.islands = [Island(settings, seed, k, base) for k in range(settings.n_islands)]
        self._snapshot = self._sampler = None
        self._bound_answers = Bound(score_slots.uses)
        self._portions = {}  # of the next snapshot: those of the classes that have not changed
        self.torn = False  # by an interrupt: some islands have rows that others have not

    def _base(self):
        pool = self.pool  # of no rows where nothing is found in them
        if self.adaptive:
            pool = map_arrays(lambda array: array[LATEST:], pool)
        return Base(self.layout, self.settings.prior, pool)

    def add_class(self):
        """Open a class without rows."""
        for island in self.islands:
            island.add_class()
        self.n_classes += 1
        self.labelled = np.append(self.labelled, 0)
        self.forget_snapshot()

    def fit(
        self, X, codes, n_classes, execute, record=False, check=False, gamma=1.0, label_prior=None
    ):
        """Learn a whole table: the base measure first, then each island in its own order.

        A row of code -1 has no label: each island draws one for it (see `labelling`, which gamma
        and `label_prior`, if it is not that of the bank, are for), so the islands have different
        rows in a class.

        With `record` the islands can tell which row is in which group. With `check`, return
        held-out rows and their log densities in each class (rows, classes): each averaged over the
        islands that had not learned the row when they scored it.
        """
        base = self._begin(X, codes, n_classes)
        scored = self._choose_scored(codes) if check else np.zeros(len(codes), bool)
        drawing = (float(gamma), _with_prior(base, label_prior))
        if not record and apart.pays(self, X):
            rows = apart.ClassRows(X, codes, scored)
            held_out = apart.fit(self.islands, rows, base, execute)
            return average_held_out(held_out, len(codes), n_classes)
        tasks = [(island, X, codes, base, drawing, record, scored) for island in self.islands]
        self.islands, held_out = map(list, zip(*execute(fit_island, tasks)))
        return average_held_out(held_out, len(codes), n_classes)

    def label(self, X, codes, n_classes, gamma, execute, label_prior=None):
        """Return the probability of each class for each row, (rows, classes), and learn nothing.

        Rows of code -1 have no label; all others keep theirs. Asked of a new bank.
        """
        base = _with_prior(self._begin(X, codes, n_classes), label_prior)
        tasks = [(island, X, codes, base, gamma) for island in self.islands]
        return np.mean(execute(_label_island, tasks), axis=0)

    def fit_parts(self, parts, execute, place, record=False, check=False):
        """Learn a whole table of which only tasks see rows (`parts`), as `fit` would.

        Returned are the rows that are held out and their log densities, as by `fit`, but counted
        among the sample of rows that is taken from the parts.
        """
        if self.adaptive:
            self.pool = parts.pool(self.shape, self.pool, execute, place)
        base = self._find_base(parts.counts.sum(axis=0))
        sample = parts.draw(self.seed if check else None, execute)
        if record or self.settings.sweeps:
            tasks = [(island, base, record) for island in self.islands]
            self.islands, held_out = parts.fit_islands(tasks, execute, place)
        else:
            held_out = apart.fit(self.islands, parts.by_class(place), base, execute)
        return average_held_out(held_out, len(sample.rows), self.n_classes)

    def _begin(self, X, codes, n_classes):
        """Find the base measure of a whole table; return it."""
        self._pool(X, 0, len(codes))
        labelled = np.bincount(codes[codes >= 0], minlength=n_classes)
        return self._find_base(labelled, int((codes < 0).sum()))

    def _find_base(self, labelled, n_drawn=0):
        """Find the base measure of a pooled table with so many rows of each class, and others."""
        keep_pool(self.pool)
        base, self.n_rows, self.n_drawn = self._base(), int(labelled.sum()) + n_drawn, n_drawn
        for island in self.islands:
            island.rebase(base)
        for _ in labelled:
            self.add_class()
        self.labelled += labelled
        return base

    def _choose_scored(self, codes):
        """Return which rows may be held out: those with labels, at most so many, drawn."""
        known = np.flatnonzero(codes >= 0)
        scored = np.zeros(len(codes), bool)
        scored[known[draw_scored((self.seed, len(known)))]] = True
        return scored

    def learn(self, X, codes, novel, execute, n_known=None):
        """Learn rows in their order; `novel` lists the (row, column) of each new category.

        A row of code -1 has no label: it is of one of the first `n_known` classes, or of those
        that had a row before it in the table. None says that there is no such row.
        """
        first, pooled, n = 0, 0, len(codes)
        if n == 1 and n_known is None and not novel:
            X = as_cells(self.shape, X)
            if self.learn_row(rows_of(X), codes.item()):
                return
        self.torn = True
        self.forget_snapshot(() if n_known is None else None)
        steps_of = cutter(codes, n_known)
        for event in [*self._events(n, novel), n]:
            if event > first:
                self._pool(X, pooled, event)
                steps = steps_of(first, event)
                if len(self.islands) == 1:  # nothing to share out
                    self.islands[0].learn(X, steps)
                else:
                    tasks = [(island, X, steps) for island in self.islands]
                    self.islands = execute(_learn_island, tasks)
                self._count_labelled(steps)
                self.n_rows += event - first
                first = pooled = event
            if event < n:
                pooled = self._change(X, event, novel)
        if n_known is not None:
            n_free = int((codes < 0).sum())
            self.n_drawn += n_free
            self.n_branched += n_free
        self.torn = False

    def _turns(self):
        """Does the base measure change before the next row: is it one of 1, 2, 4, ...?"""
        return self.revises and self.n_rows & (self.n_rows + 1) == 0

    def learn_row(self, placed, c):
        """Learn one row of class c, placed for engines; return whether that was all to be done.

        It is not where hyper-parameters change before the row, where rows are kept for sweeps, or
        where a class has a filter for each of several label hypotheses.
        """
        if self._turns() or self.n_branched or self.settings.window:
            return False
        self.torn = True
        self.forget_snapshot((c,))
        if self.adaptive:
            pool_rows.run(*self._bound(self.shape, self.pool), placed, 0, 1)
        for island in self.islands:
            island.hypotheses[0].filters[c].update_placed(placed, FIRST)
        self.labelled[c] += 1
        self.n_rows += 1
        self.torn = False
        return True

    def _count_labelled(self, steps):
        for shares, _ in steps:
            for c, rows in shares:
                self.labelled[c] += len(rows)
                self._portions.pop(c, None)

    def forget_snapshot(self, classes=None):
        """Let the next answers see what has changed: these classes, or (None) all."""
        self._snapshot = None
        if classes is None or self.n_drawn:  # where labels are drawn, all classes hang together
            self._portions = {}
        for c in classes or ():
            self._portions.pop(c, None)

    def _events(self, n, novel):
        """Return the rows, in order, before which the hyper-parameters change."""
        power = 1 << self.n_rows.bit_length()  # the next row count that is a power of two
        if not novel and not (self.revises and power <= self.n_rows + n):
            return ()
        events = {row for row, _ in novel}
        while self.revises and power <= self.n_rows + n:
            events.add(power - self.n_rows - 1)
            power *= 2
        return sorted(events)

    def _change(self, X, row, novel):
        """Change the base measure for a row; return the first row that is not pooled."""
        new = [column for at, column in novel if at == row]
        if new:
            counts = self.layout.category_counts.copy()
            np.add.at(counts, new, 1)
            self.layout = self.layout._replace(category_counts=counts)
            wider = blank(self.layout)
            self.pool, self.shape = widen(self.shape, self.pool, wider), wider
        turn = self._turns()
        if turn:
            self._pool(X, row, row + 1)
            if self.adaptive:
                keep_pool(self.pool)
        self.forget_snapshot()
        base, changed = self._base(), self.adaptive or bool(new)
        for island in self.islands:
            island.rebase(base, changed)
        return row + 1 if turn else row

    def _pool(self, X, first, last):
        if self.adaptive and last > first:
            X = as_cells(self.shape, X)
            pool_rows.run(*self._bound(self.shape, self.pool), rows_of(X), first, last)

    @property
    def family(self):
        """Return the family of the first island: all have its kinds of columns."""
        return self.islands[0].family

    @property
    def classes(self):
        """Return the filters of each class, island by island, in their heaviest hypotheses."""
        best = [
            island.hypotheses[int(island.hypothesis_weights().argmax())] for island in self.islands
        ]
        return [[h.filters[c] for h in best] for c in range(self.n_classes)]

    def filters(self):
        """Return all filters, class by class."""
        return [f for filters in self.classes for f in filters]

    def sampler(self):
        """Return the generator for drawing rows; it does not disturb the filters."""
        if self._sampler is None:
            key = (*self.seed.spawn_key, 2**32 - 1)
            seed = np.random.SeedSequence(self.seed.entropy, spawn_key=key)
            self._sampler = np.random.default_rng(seed)
        return self._sampler

    def snapshot(self):
        """Return all groups of all classes as one table; it is kept until the next row."""
        if self._snapshot is None:
            for c, members in enumerate(members_of(self)):
                if c not in self._portions:
                    self._portions[c] = portion(members)
            parts, logs = zip(*(self._portions[c] for c in range(self.n_classes)))
            bounds = np.cumsum([0, *map(len, logs)])
            self._snapshot = Snapshot(joined(parts), np.concatenate(logs), bounds)
        return self._snapshot

    def log_densities(self, X):
        """Return the log predictive density of each row in each class."""
        n = len(X[0])
        if n < FEW and not self.n_drawn:
            filters = [island.hypotheses[0].filters for island in self.islands]
            return log_densities([*zip(*filters)], X)
        stats, log_mix, bounds = self.snapshot()
        slots, out = np.arange(len(log_mix)), np.empty((n, self.n_classes))
        if n < FEW:
            scores, X = np.zeros((n, len(slots))), as_cells(self.family, X)
            product = self._bound_answers(self.family, stats)
            score_slots.run(*product, rows_of(X), slots, scores)
            mix(scores, log_mix, bounds, out)
            return out
        for i in range(0, n, ROWS_AT_ONCE):
            part = tuple(block[i : i + ROWS_AT_ONCE] for block in X)
            scores = np.zeros((len(part[0]), len(slots)))
            score_rows(self.family, stats, slots, part, scores)
            mix(scores, log_mix, bounds, out[i : i + ROWS_AT_ONCE])
        return out

    def log_evidence(self):
        """Return the log evidence of each class: over islands, the log of the mean."""
        logs = [[f.log_evidence() for f in islands] for islands in self.classes]
        return np.logaddexp.reduce(logs, axis=1) - np.log(self.settings.n_islands)


def draw_scored(task):
    """Return which of so many rows with labels may be held out; the seed is that of the bank."""
    seed, n = task
    key = (*seed.spawn_key, 2**32 - 3)
    rng = np.random.default_rng(np.random.SeedSequence(seed.entropy, spawn_key=key))
    return rng.permutation(n)[:MOST_CHECKED]


def _with_prior(base, prior):
    return base if prior is None else Base(base.layout, prior, base.pool)


def _learn_island(task):
    island, X, steps = task
    island.learn(X, steps)
    return island


def fit_island(task):
    """Return an island that has learned all rows, and what it held out."""
    island, X, codes, base, (gamma, label_base), record, scored = task
    if (codes < 0).any():
        codes = island.label(X, codes, label_base, gamma)[1]
    shares = by_class(codes, 0, len(codes))
    return island, island.fit(X, shares, base, record, scored)


def _label_island(task):
    island, X, codes, base, gamma = task
    return island.label(X, codes, base, gamma)[0]
