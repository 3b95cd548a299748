"""A whole table learned class by class: a task is one filter, and has the rows of its class.

Within an island the classes share hyper-parameters, and no more. So between the points where these
are found the filters of all classes and islands go on by themselves, on any worker, and come
together at these points: the same draws, in the same order, as `Island.fit`. A worker then holds
the rows of the classes that it works on instead of the whole table, and there may be more workers
than islands.
"""

import numpy as np

from infinimix import execution
from infinimix.inference.ensemble.island import advance, held_rows
from infinimix.inference.ensemble.steps import by_class

LARGE = 1 << 26  # bytes of a table, from which on workers had better hold a part of it


def pays(bank, X):
    """Are filters to be sent to other processes, and classes worth parting?"""
    executor, settings = execution.executor_for(), bank.settings
    if not executor.is_remote or bank.n_classes < 2 or bank.n_drawn or settings.sweeps:
        return False
    large = sum(block.nbytes for block in X) > LARGE
    if large and not executor.keeps:  # the rows would be sent anew for each stretch
        return False
    return large or executor.n > settings.n_islands


class ClassRows:
    """The rows of each class of a table of this process, and which of them may be held out."""

    def __init__(self, X, codes, scored):
        self.X = X
        shares = by_class(codes, 0, len(codes))
        self.classes, self.rows = zip(*shares)
        self.arrays = [
            (*(np.ascontiguousarray(block[rows]) for block in X), scored[rows])
            for rows in self.rows
        ]
        self.placed = [execution.Placed(arrays) for arrays in self.arrays]
        self.checks = bool(scored.any())

    def find(self, k, rest):
        """Return where some of the rows of the k-th class are in X."""
        return self.rows[k][rest]


def fit(islands, rows, base, execute):
    """Let new islands learn all rows, in place; return the held-out rows of each."""
    orders = [[f.rng.bit_generator.state for f in island.filters] for island in islands]
    held_out = [(np.empty(0, np.int64), np.empty((0, len(i.filters)))) for i in islands]
    with execution.keeping([array for arrays in rows.arrays for array in arrays]):
        for stretch in islands[0].stretches(base, rows.checks):
            tasks = [
                (island.filters[c], placed, order[c], stretch)
                for island, order in zip(islands, orders)
                for c, placed in zip(rows.classes, rows.placed)
            ]
            found = iter(execute(filter_class, tasks))
            for k, island in enumerate(islands):
                held = _take_back(island, rows, found)
                if stretch.scores:
                    held_out[k] = island.score(rows.X, held)
                else:
                    island.find_hyper(base)
    return held_out


def _take_back(island, rows, found):
    """Put filters back into their island; return where in X the rows are that they hold out."""
    held = []
    for k, c in enumerate(rows.classes):
        island.filters[c], rest = next(found)
        held.append(rows.find(k, rest))
    return np.concatenate(held)


def filter_class(task):
    """Filter the rows of a class in a stretch; return the filter, and rows to be scored.

    The order of the rows is drawn again in each stretch, as it would be the largest part of what
    travels.
    """
    f, placed, state, stretch = task
    *X, scored = placed.value
    X, rng = tuple(X), f.rng
    if stretch.first > 0.0:
        rng = np.random.default_rng()
        rng.bit_generator.state = state
    order = rng.permutation(np.arange(len(scored)))
    advance(f, X, order, stretch)
    return f, held_rows(order, scored) if stretch.scores else order[:0]
