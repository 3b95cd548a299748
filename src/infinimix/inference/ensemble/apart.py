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


def fit(islands, X, codes, base, scored, execute):
    """Let new islands learn all rows, in place; return the held-out rows of each."""
    shares = by_class(codes, 0, len(codes))
    tables = [tuple(np.ascontiguousarray(block[rows]) for block in X) for _, rows in shares]
    masks = [scored[rows] for _, rows in shares]
    orders = [[f.rng.bit_generator.state for f in island.filters] for island in islands]
    held_out = [(np.empty(0, np.int64), np.empty((0, len(i.filters)))) for i in islands]
    with execution.keeping([array for arrays in (*tables, masks) for array in arrays]):
        for stretch in islands[0].stretches(base, scored.any()):
            tasks = [
                (island.filters[c], table, mask, order[c], stretch)
                for island, order in zip(islands, orders)
                for (c, _), table, mask in zip(shares, tables, masks)
            ]
            found = iter(execute(filter_class, tasks))
            for k, island in enumerate(islands):
                held = _take_back(island, shares, found)
                if stretch.scores:
                    held_out[k] = island.score(X, held)
                else:
                    island.find_hyper(base)
    return held_out


def _take_back(island, shares, found):
    """Put filters back into their island; return the rows of the table that they hold out."""
    held = []
    for c, rows in shares:
        island.filters[c], rest = next(found)
        held.append(rows[rest])
    return np.concatenate(held)


def filter_class(task):
    """Filter the rows of a class in a stretch; return the filter, and rows to be scored.

    The order of the rows is drawn again in each stretch, as it would be the largest part of what
    travels.
    """
    f, X, scored, state, stretch = task
    rng = f.rng
    if stretch.first > 0.0:
        rng = np.random.default_rng()
        rng.bit_generator.state = state
    order = rng.permutation(np.arange(len(scored)))
    advance(f, X, order, stretch)
    return f, held_rows(order, scored) if stretch.scores else order[:0]
