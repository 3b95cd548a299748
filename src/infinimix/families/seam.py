"""The seam between engines and families: the operations that every family offers.

A family is a NamedTuple of hyper-parameters; its statistics are a NamedTuple of arrays whose first
axis is the slot of a group. The array `n` holds what is counted, the others what `refresh` makes of
it. Engines know slots, weights and log densities, and never look inside. A tuple of families is a
product of families over a tuple of blocks of columns (`tuples`), and a row may have missing cells
in any of them.

A family brings ten operations: the compiled `count`, `refresh`, `score` and `column_evidence`, and
in Python `empty`, `sound`, `prior`, `typical`, `draw` and `fill`. All others have a default built
on these (`registration`), which a family overrides where its mathematics differs, or for speed.
CONTRIBUTING.md, "How to add a family", says how.

`score_rows`, `typical`, `draw` and `fill` read what `refresh` has left and the layout of the
family, never its hyper-parameters: groups refreshed under different ones may stand in one table.
"""

import numpy as np

from infinimix.kernels.compile import part
from infinimix.kernels.dispatch import operation
from infinimix.kernels.holes import is_hole

MANY = 1e7  # rows of a group that knows its parameters: see `estimate_point`
FLOOR = 1e-3  # least pseudo-count beside a mode, so that nothing is impossible
FAR = 4.0  # the largest feature: what is farther away counts as if it were just so far
MOST_FEATURES = 2  # of one cell


# --- core: what a group is, and how probable a row is in it -------------------------------------


@operation
def empty(family, slots):
    """Statistics of `slots` groups without rows, ready to score (Python only)."""


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
def score_two(family, stats, X, i, j, live, out, ahead):
    """Add to out[k] the log density of row X[i], and to ahead[k] that of row X[j].

    They are those of `score` to the last bit. Return how many families gain by two rows at once.
    """


@operation
def column_evidence(family, stats, k, out):
    """Add to out[d] the log marginal likelihood of the cells of column d in group k."""


@operation
def sound(family, stats):
    """Could rows have left these statistics? Asked of those from a file (Python only)."""


@operation
def prior(family, pool, given, factors):
    """The family with the hyper-parameters that its columns are to have (Python only).

    `family` has the right shape, and no more. `pool` holds statistics of the pooled table in slot
    0. `given[d]` is the word for column d (`base_measures`), or the numbers that the user gave.
    `factors[j, d]` multiplies the j-th hyper-parameter of the kind's grid (`catalogue`).
    """


@operation
def prior_finder(family, pool, given):
    """A function of factors: what `prior` returns for each of factors[0], factors[1], ... in turn.

    What the pooled table says is found once, and the function is called at many positions. It
    returns one family whose arrays have a further first axis, of length 1 where an array is the
    same at all positions (`unstacked` returns one of them).
    """


@operation
def width(family):
    """Return the number of columns that `column_evidence` tells apart."""


@operation
def copy(family, stats, source, target):
    """Copy the statistics of a group over another's; `refresh` makes that one ready."""


@operation
def merge(family, stats, source, target):
    """Add the statistics of group `source` to group `target`, and make that one ready."""


@operation
def score_rows(family, stats, live, X, out):
    """Add to out[i, j] the log density of row X[i] in slot live[j] (Python only)."""


# --- answers: what people ask of a group --------------------------------------------------------


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


# --- EM -----------------------------------------------------------------------------------------


@operation
def count_rows(family, stats, weight, X):
    """Add row X[i] to the statistics of group k with weight[i, k], for all of them (Python only).

    The groups are not made ready to score; weights are not negative.
    """


@operation
def estimate_point(family, stats, mode):
    """Let every group be scored by a point estimate of its parameters (Python only).

    The estimate is the posterior mean, or the mode if `mode` is true; of a number the mean has the
    posterior mean of the precision. What `score` reads is then what MANY rows of such a group
    would have left. Returned is for each slot the log of the prior, up to a constant, under
    which the estimate is the most probable parameter: EM climbs the likelihood times this. A
    family that has no such estimate is scored by its predictive, and returns zeros.
    """


@operation
def freedom(family):
    """Return the number of free parameters of one group (Python only)."""


# --- streams ------------------------------------------------------------------------------------


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
def features(family, stats, X, i, first, index, value):
    """Write the sparse linear features of row X[i], numbered from `first` on; return how many.

    They are what a linear correction of the scores may read: of numbers, their distance from
    the mean of group 0. Missing cells have none.
    """


@operation
def n_features(family):
    """Return how many features `features` tells apart."""


@operation
def unseen_share(family, stats, k, X, i):
    """Return which share of row X[i] consists of words or categories that group k has not."""


CORE = (
    empty, count, refresh, score, score_two, column_evidence, sound, prior, prior_finder, width,
    copy, merge, score_rows,
)  # fmt: skip
ANSWERS = (typical, draw, fill, column)
EM = (count_rows, estimate_point, freedom)
STREAMS = (widen, reserve, fade, features, n_features, unseen_share)


# --- of all families ----------------------------------------------------------------------------


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


def unstacked(families, i):
    """Return the i-th of the families that `prior_finder` stacks."""
    return families._make([array[i if len(array) > 1 else 0] for array in families])


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


# --- for families whose columns are independent -------------------------------------------------


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
