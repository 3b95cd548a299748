"""The seam between engines and families: the operations that every family offers.

A family is a NamedTuple of hyper-parameters; its statistics are a NamedTuple of arrays
whose first axis is the slot of a group. Engines know slots, weights and log densities, and
never look inside. A tuple of families is a product of families over a tuple of blocks of
columns, and one row may have missing cells in any of them.

Compiled: `count`, `copy`, `merge`, `refresh`, `score`, `width`, `column_evidence`, and for all
`add` and `evidence`. `score_rows`, `typical`, `draw` and `fill` read what `refresh` has left and
the layout of the family, never its hyper-parameters: groups refreshed under different ones may
stand in one table.
Python only: `empty`, `sound`, `widen`, `typical`, `draw`, `fill`, `column`, and for many rows at
once `score_rows` and `count_rows`. EM asks for `settle` and `freedom` too.
"""

import numpy as np

from infinimix.kernels.compile import part
from infinimix.kernels.dispatch import operation
from infinimix.kernels.holes import is_hole

MANY = 1e7  # rows of a group that knows its parameters: see `settle`
FLOOR = 1e-3  # least pseudo-count beside a mode, so that nothing is impossible
FAR = 4.0  # deviations: what is farther away is marked as if it were just so far
MOST_MARKS = 2  # features of one cell


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
def count_rows(family, stats, weight, X):
    """Add row X[i] to the statistics of group k with weight[i, k], for all of them (Python only).

    The groups are not made ready to score; weights are not negative.
    """


@operation
def settle(family, stats, mode):
    """Let every group be scored by one estimate of its parameters (Python only).

    The estimate is the posterior mean, or the mode if `mode` is true; of a number the mean has the
    posterior mean of the precision. What `score` reads is then what MANY rows of such a group
    would have left. Returned is for each slot the log of that prior (but for a constant) under
    which the estimate is the most probable parameter: EM climbs the likelihood times this. A
    family that has no such estimate is scored by its predictive, and returns zeros.
    """


@operation
def freedom(family):
    """Return the number of free parameters of one group (Python only)."""


@operation
def sound(family, stats):
    """Could rows have left these statistics? Asked of those from a file (Python only)."""


@operation
def typical(family, stats, slots):
    """A typical value of each column in each slot: one row a slot (Python only)."""


@operation
def draw(family, stats, slots, X, rng):
    """Rows like X with their missing cells drawn (Python only).

    Row i is drawn from slot slots[i], given its observed cells.
    """


@operation
def fill(family, stats, weight, X):
    """What the missing cells of each row are, and how sure that is (Python only).

    `weight[i, k]` is the probability of slot k given the observed cells of row i. Returns two
    float arrays of the shape of X. The value of a number is its mean, of a binary cell the
    probability of a one, of a categorical cell the code of the most probable category (-1 if
    none is known); of a spiked one +inf if the common value is at least as probable as not. Its
    spread is the standard deviation of a number, otherwise the probability that the most probable
    value is wrong (NaN if there is none). An observed cell is its own value, with spread 0.
    """


@operation
def column(family, stats, d):
    """The family and the statistics of column d alone, for scoring (Python only).

    Asked of families whose columns are independent within a group; one whose columns are
    not has the class attribute `tied = True` and need not answer.
    """


@operation
def widen(family, stats, wider):
    """Statistics laid out for the family `wider`, which knows more categories (Python only)."""


@operation
def reserve(family, stats, slots):
    """Statistics with room for `slots` groups, those there are first (Python only)."""


@operation
def fade(family, stats, share):
    """Let every group count only this share of what it holds; then refresh it (Python only)."""


@operation
def mark(family, stats, X, i, first, index, value):
    """Write the sparse features of row X[i], numbered from `first` on; return how many.

    They are what a linear correction of the scores may read: of numbers, their distance from
    the mean of group 0. Missing cells have none.
    """


@operation
def marks(family):
    """Return how many features `mark` tells apart."""


@operation
def foreign(family, stats, k, X, i):
    """Return which share of row X[i] consists of words or categories that group k has not."""


@operation
def copy(family, stats, source, target):
    """Copy the statistics of a group over another's; `refresh` makes that one ready."""


def map_arrays(function, *stats):
    """Apply a function to the arrays at each place of equal nests of statistics."""
    if isinstance(stats[0], np.ndarray):
        return function(*stats)
    parts = [map_arrays(function, *members) for members in zip(*stats, strict=True)]
    return stats[0]._make(parts) if hasattr(stats[0], "_make") else tuple(parts)


def arrays_of(stats):
    """Return all arrays in a nest of statistics."""
    if isinstance(stats, np.ndarray):
        return [stats]
    return [array for member in stats for array in arrays_of(member)]


def map_first(stats):
    """Return the first array in a nest of statistics."""
    return stats if isinstance(stats, np.ndarray) else map_first(stats[0])


def column_of_fields(family, stats, d):
    """Do what `column` asks, for hyper-parameters and statistics whose last axis is the column."""
    return family._make(_one_column(family, d)), stats._make(_one_column(stats, d))


def _one_column(arrays, d):
    return [np.ascontiguousarray(array[..., d : d + 1]) for array in arrays]


def keep_observed(X, drawn):
    """Return X with its holes filled from `drawn`: what `draw` asks of independent columns."""
    return np.where(is_hole(X), drawn, X).astype(X.dtype)


def fill_columns(X, column):
    """Do what `fill` asks, for independent columns.

    `column(d, rows)` returns the value and the spread of column d for rows that lack it.
    """
    holes = is_hole(X)
    value, spread = np.where(holes, np.nan, X.astype(float)), np.zeros(X.shape)
    for d in np.flatnonzero(holes.any(axis=0)):
        rows = np.flatnonzero(holes[:, d])
        value[rows, d], spread[rows, d] = column(d, rows)
    return value, spread


def mix_moments(weight, mean, variance):
    """Return mean and standard deviation of a mixture, one row of weights for each of them.

    The deviations are taken from the mixture's own mean: a column of time stamps would lose
    all its digits in a difference of squares.
    """
    value = weight @ mean
    within, between = weight @ variance, (weight * (mean - value[:, None]) ** 2).sum(axis=1)
    return value, np.sqrt(within + between)


def one_mark_a_column(family):
    """Do what `marks` asks, where every column has one feature."""
    return family.prior.shape[1]


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


@reserve.implement(tuple)
def _(families, stats, slots):
    """Do what `reserve` asks, where the slot is the first axis of every array."""
    more = empty(families, slots - len(map_first(stats)))
    return map_arrays(lambda *arrays: np.concatenate(arrays), stats, more)


@fade.implement(tuple)
def _(families, stats, share):
    for family, own in zip(families, stats, strict=True):
        fade(family, own, share)


@mark.implement(tuple)
def _(families, stats, X, i, first, index, value):
    used = mark(families[0], stats[0], X[0], i, first, index, value)
    if len(families) > 1:
        first += marks(families[0])
        used += mark(families[1:], stats[1:], X[1:], i, first, index[used:], value[used:])
    return used


@marks.implement(tuple)
def _(families):
    if len(families) > 1:
        return marks(families[0]) + marks(families[1:])
    return marks(families[0])


@foreign.implement(tuple, np.ndarray)
def _(families, stats, k, X, i):
    return 0.0  # the densities say it


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
def _(families, stats, slots, X, rng):
    parts = zip(families, stats, X, strict=True)
    return tuple(draw(family, own, slots, block, rng) for family, own, block in parts)


@fill.implement(tuple)
def _(families, stats, weight, X):
    parts = zip(families, stats, X, strict=True)
    pairs = [fill(family, own, weight, block) for family, own, block in parts]
    return tuple(value for value, _ in pairs), tuple(spread for _, spread in pairs)


@count_rows.implement(tuple)
def _(families, stats, weight, X):
    for family, own, block in zip(families, stats, X, strict=True):
        count_rows(family, own, weight, block)


@settle.implement(tuple)
def _(families, stats, mode):
    return sum(settle(family, own, mode) for family, own in zip(families, stats, strict=True))


@freedom.implement(tuple)
def _(families):
    return sum(map(freedom, families))


@widen.implement(tuple)
def _(families, stats, wider):
    return tuple(map(widen, families, stats, wider))


@score_rows.implement(tuple)
def _(families, stats, live, X, out):
    for family, own, block in zip(families, stats, X, strict=True):
        score_rows(family, own, live, block, out)
