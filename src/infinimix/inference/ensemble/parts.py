"""A table of which only tasks see rows: its parts stay where tasks have left them.

A part is a tuple of encoded blocks and, last, the class of each row. Rows go from their part to the
table of their class once, in the order of the parts; filters are then learned there (`apart`), or
islands where all parts are joined. What comes back to the caller are counts, statistics, and a
sample: the rows that may be held out.
"""

from typing import Any, NamedTuple

import numpy as np

from infinimix.execution import Placed
from infinimix.families.product import Bound, as_cells, rows_of
from infinimix.families.seam import map_arrays
from infinimix.inference.ensemble.bank import draw_scored, fit_island, pool_rows


class Sample(NamedTuple):
    """Rows of a table, in their order: all of a small one."""

    rows: np.ndarray  # where they are in the table
    X: tuple[np.ndarray, ...]
    codes: np.ndarray
    places: np.ndarray  # of each among the rows of its class


class Parts:
    """Parts of a table, in their order; `sample` is known once rows have gone to their classes."""

    def __init__(self, placed: list[Any], counts: np.ndarray) -> None:
        self.placed, self.counts = placed, counts  # (parts, classes)
        self.sample: Sample | None = None

    @property
    def n_rows(self):
        """The number of rows."""
        return int(self.counts.sum())

    def fold(self, task, start, more, execute, place):
        """Return what a task makes of one part after the other, and of what it made before.

        Sums of numbers depend on their order in the last bit: this one is that of the rows.
        """
        state = Placed(start)
        for part in self.placed:
            (state,) = place(task, [(state, part, more)])
        return execute(_read, [state])[0]

    def pool(self, shape, pool, execute, place):
        """Return the statistics of all rows."""
        return self.fold(_pool_part, pool, shape, execute, place)

    def draw(self, seed, execute):
        """Draw the rows that may be held out, and take them as the sample; None: there are none."""
        rows = np.empty(0, np.int64)
        if seed is not None:
            rows = np.sort(execute(draw_scored, [(seed, self.n_rows)])[0])
        self.sample = self._take(rows, execute)
        return self.sample

    def by_class(self, place):
        """Send each row to the table of its class."""
        classes, n = range(self.counts.shape[1]), len(self.placed)
        pieces = place(_take_class, [(part, c) for c in classes for part in self.placed])
        codes, places = self.sample.codes, self.sample.places
        tasks = [(tuple(pieces[c * n : (c + 1) * n]), places[codes == c]) for c in classes]
        return PlacedRows(self.sample, [*classes], place(_join_class, tasks))

    def fit_islands(self, tasks, execute, place):
        """Let whole islands learn all rows, each where the joined table is or goes.

        Returned are the islands, and the rows of the sample that each has held out.
        """
        (table,) = place(_join, [tuple(self.placed)])
        rows = self.sample.rows
        islands, held_out = zip(*execute(_fit_island, [(table, rows, *task) for task in tasks]))
        return [*islands], [(np.searchsorted(rows, held), logs) for held, logs in held_out]

    def _take(self, rows, execute):
        """Take a sample of the rows out of the parts."""
        ends = self.counts.sum(axis=1).cumsum()
        cuts = np.searchsorted(rows, [0, *ends])
        tasks = [
            (part, rows[a:b] - start)
            for part, a, b, start in zip(self.placed, cuts[:-1], cuts[1:], [0, *ends[:-1]])
        ]
        first = [k for k, (_, some) in enumerate(tasks) if len(some)] or [0]
        found = execute(_take_rows, [tasks[k] for k in first])
        before = (np.cumsum(self.counts, axis=0) - self.counts)[first]
        X = tuple(np.concatenate(blocks) for blocks in zip(*(blocks for blocks, *_ in found)))
        codes = np.concatenate([codes for _, codes, _ in found])
        places = [places + start[codes] for (_, codes, places), start in zip(found, before)]
        return Sample(rows, X, codes, np.concatenate(places))


class PlacedRows:
    """The rows of each class, elsewhere; X is the sample (see `apart.ClassRows`)."""

    arrays = ()  # of this process

    def __init__(self, sample, classes, placed):
        self.X, self.classes, self.placed = sample.X, classes, placed
        self.checks = len(sample.rows) > 0
        self._index = [np.flatnonzero(sample.codes == c) for c in classes]
        self._places = [sample.places[index] for index in self._index]

    def find(self, k, rest):
        """Return where some of the rows of the k-th class are in the sample."""
        return self._index[k][np.searchsorted(self._places[k], rest)]


def _read(placed):
    return placed.value


def _pool_part(task):
    """Count the rows of a part into statistics, which are copied: a task may be run again."""
    pool, part, shape = task
    stats, (*X, codes) = map_arrays(np.copy, pool.value), part.value
    cells = rows_of(as_cells(shape, tuple(X)))
    pool_rows.run(*Bound(pool_rows.uses)(shape, stats), cells, 0, len(codes))
    return stats


def _take_rows(task):
    """Return some rows of a part, their classes, and where each is among the rows of its class."""
    part, rows = task
    *X, codes = part.value
    places = np.zeros(len(rows), np.int64)
    for c in np.unique(codes[rows]):
        mine = codes[rows] == c
        places[mine] = np.searchsorted(np.flatnonzero(codes == c), rows[mine])
    return tuple(block[rows] for block in X), codes[rows].astype(np.int64), places


def _join(parts):
    """Return all parts as one."""
    return tuple(np.concatenate(blocks) for blocks in zip(*(part.value for part in parts)))


def _fit_island(task):
    table, rows, island, base, record = task
    *X, codes = table.value
    scored = np.zeros(len(codes), bool)
    scored[rows] = True
    drawing = (1.0, base)  # of labels, which no row lacks
    return fit_island((island, tuple(X), codes.astype(np.int64), base, drawing, record, scored))


def _take_class(task):
    part, c = task
    *X, codes = part.value
    mine = codes == c
    return tuple(block[mine] for block in X)


def _join_class(task):
    """Return the rows of a class, and which of them may be held out."""
    pieces, places = task
    X = [np.concatenate(blocks) for blocks in zip(*(piece.value for piece in pieces))]
    scored = np.zeros(len(X[0]), bool)
    scored[places] = True
    return (*X, scored)
