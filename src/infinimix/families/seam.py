"""The seam between engines and families: the operations that every family offers.

A family is a NamedTuple of hyper-parameters; its statistics are a NamedTuple of arrays
whose first axis is the slot of a group. Engines know slots, weights and log densities, and
never look inside. A tuple of families is a product of families over a tuple of blocks of
columns, and one row may have missing cells in any of them.

Compiled: `count`, `copy`, `merge`, `refresh`, `score`, `width`, `column_evidence`, and for all
`add` and `evidence`. `score_rows`, `typical` and `draw` read what `refresh` has left and the
layout of the family, never its hyper-parameters: groups refreshed under different ones may
stand in one table.
Python only: `empty`, `sound`, `widen`, `typical`, `draw`, and `score_rows` for many rows at once.
"""

import numpy as np

from infinimix.kernels.compile import kernel, part
from infinimix.kernels.dispatch import operation


@operation
def empty(family, slots):
    """Statistics of `slots` groups without rows (Python only)."""


@operation
def count(family, stats, k, X, i, w):
    """Add row X[i] to the statistics of group k with weight w (w = -1 removes it)."""


@operation
def refresh(family, stats, k):
    """Recompute what `score` reads of group k from its statistics."""


@operation
def score(family, stats, X, i, live, out):
    """Add to out[k] the predictive log density of row X[i], for every slot k in live."""


@operation
def width(family):
    """Return the number of columns that `column_evidence` tells apart."""


@operation
def column_evidence(family, stats, k, out):
    """Add to out[d] the log marginal likelihood of the cells of column d in group k."""


@operation
def merge(family, stats, source, target):
    """Add the statistics of group `source` to group `target`."""


@operation
def score_rows(family, stats, live, X, out):
    """Add to out[i, j] the log density of row X[i] in slot live[j] (Python only)."""


@operation
def sound(family, stats):
    """Could rows have left these statistics? Asked of those from a file (Python only)."""


@operation
def typical(family, stats, slots):
    """A typical value of each column in each slot: one row a slot (Python only)."""


@operation
def draw(family, stats, slots, rng):
    """A row from the predictive of each slot in turn, encoded as X is (Python only)."""


@operation
def widen(family, stats, wider):
    """Statistics laid out for the family `wider`, which knows more categories (Python only)."""


@operation
def copy(family, stats, source, target):
    """Copy the statistics of a group over another's; `refresh` makes that one ready."""


def map_arrays(function, *stats):
    """Apply a function to the arrays at each place of equal nests of statistics."""
    if isinstance(stats[0], np.ndarray):
        return function(*stats)
    parts = [map_arrays(function, *members) for members in zip(*stats, strict=True)]
    return stats[0]._make(parts) if hasattr(stats[0], "_make") else tuple(parts)


@part
def add(family, stats, k, X, i, w):
    """Add row X[i] to group k with weight w, and make it ready to score."""
    count(family, stats, k, X, i, w)
    refresh(family, stats, k)


@part
def evidence(family, stats, k):
    """Return the log marginal likelihood of all that group k holds."""
    columns = np.zeros(width(family))
    column_evidence(family, stats, k, columns)
    total = 0.0
    for d in range(columns.shape[0]):
        total += columns[d]
    return total


@kernel
def refresh_all(family, stats, slots):
    """Make the first `slots` groups ready to score."""
    for k in range(slots):
        refresh(family, stats, k)


@kernel
def score_each(family, stats, live, X, out):
    """Do what `score_rows` asks, row by row: right for every family."""
    logp = np.empty(live.max() + 1)
    for i in range(out.shape[0]):
        for k in live:
            logp[k] = 0.0
        score(family, stats, X, i, live, logp)
        for j in range(live.shape[0]):
            out[i, j] += logp[live[j]]


def copy_fields(family, stats, source, target):
    """Do what `copy` asks, for counts of shape (slots, fields, columns)."""
    n = stats.n
    for field in range(n.shape[1]):
        for d in range(n.shape[2]):
            n[target, field, d] = n[source, field, d]


def add_fields(family, stats, source, target):
    """Do what `merge` asks, where counts simply add up."""
    n = stats.n
    for field in range(n.shape[1]):
        for d in range(n.shape[2]):
            n[target, field, d] += n[source, field, d]
    refresh(family, stats, target)


@copy.implement(tuple)
def _(families, stats, source, target):
    copy(families[0], stats[0], source, target)
    if len(families) > 1:
        copy(families[1:], stats[1:], source, target)


@empty.implement(tuple)
def _(families, slots):
    return tuple(empty(family, slots) for family in families)


@count.implement(tuple)
def _(families, stats, k, X, i, w):
    count(families[0], stats[0], k, X[0], i, w)
    if len(families) > 1:
        count(families[1:], stats[1:], k, X[1:], i, w)


@refresh.implement(tuple)
def _(families, stats, k):
    refresh(families[0], stats[0], k)
    if len(families) > 1:
        refresh(families[1:], stats[1:], k)


@score.implement(tuple)
def _(families, stats, X, i, live, out):
    score(families[0], stats[0], X[0], i, live, out)
    if len(families) > 1:
        score(families[1:], stats[1:], X[1:], i, live, out)


@width.implement(tuple)
def _(families):
    if len(families) > 1:
        return width(families[0]) + width(families[1:])
    return width(families[0])


@column_evidence.implement(tuple)
def _(families, stats, k, out):
    column_evidence(families[0], stats[0], k, out)
    if len(families) > 1:
        column_evidence(families[1:], stats[1:], k, out[width(families[0]) :])


@merge.implement(tuple)
def _(families, stats, source, target):
    merge(families[0], stats[0], source, target)
    if len(families) > 1:
        merge(families[1:], stats[1:], source, target)


@sound.implement(tuple)
def _(families, stats):
    return all(map(sound, families, stats))


@typical.implement(tuple)
def _(families, stats, slots):
    return tuple(typical(family, own, slots) for family, own in zip(families, stats, strict=True))


@draw.implement(tuple)
def _(families, stats, slots, rng):
    pairs = zip(families, stats, strict=True)
    return tuple(draw(family, own, slots, rng) for family, own in pairs)


@widen.implement(tuple)
def _(families, stats, wider):
    return tuple(map(widen, families, stats, wider))


@score_rows.implement(tuple)
def _(families, stats, live, X, out):
    for family, own, block in zip(families, stats, X, strict=True):
        score_rows(family, own, live, block, out)
