"""Products of families as engines take them: tables of blocks in place of families and statistics.

An engine is a kernel whose first arguments are `family, stats`, and `X` if it reads rows. From
Python it is called with a family or a tuple of families, statistics and rows; what it gets is a
table of addresses (`kernels.blocks`), so it is compiled once for all of them. Each engine says
which operations it uses, and only these are compiled for a family. Interpreted, it gets what it was
called with; so does an engine of a family that does not stand in products (`words`).
"""

from inspect import signature

import numpy as np

from infinimix.families import tuples  # noqa: F401 - products as plain tuples, for `empty` and all
from infinimix.families.seam import (
    column_evidence,
    copy,
    count,
    features,
    merge,
    n_features,
    refresh,
    score,
    score_two,
    width,
)
from infinimix.kernels import blocks as at
from infinimix.kernels.blocks import invoke
from infinimix.kernels.compile import INTERPRETED, entry, kernel
from infinimix.kernels.memory import borrowed

OPERATIONS = dict(
    zip(
        at.OPERATIONS,
        (count, refresh, score, column_evidence, copy, merge, features, score_two),
        strict=True,
    )
)
FIRST = np.zeros(1, np.int64)  # the slots of a table of which one is asked
_CELLS: dict = {}  # by family: the dtype of its cells
_PLACES: dict = {}  # by family and operations: the first entries of a row
_LATEST = (None, None)  # the latest rows and their table


def admit(family_class, cells):
    """Let a family stand in products; its cells have this dtype. `registration` asks for it."""
    _CELLS[family_class] = np.dtype(cells)


def table_of(families, stats, uses):
    """Return the table of a product, for engines that use these operations.

    The arrays must live, and stay where they are, for as long as the table is used.
    """
    if type(families) is not tuple:  # one family is a product of one
        families, stats = (families,), (stats,)
    arrays = max([len(family) + len(own) for family, own in zip(families, stats, strict=True)])
    table = np.zeros((len(families), at.FIRST + at.STEP * arrays), np.int64)
    alike = latest = before = None
    for row, family, own in zip(table, families, stats, strict=True):
        if own is latest and is_like(family, alike):  # other hyper-parameters, the same groups
            row[:] = before
            move_row(row, family)
        else:
            places, width_of, features_of = _places(family, own, uses)
            entries = [*places, width_of(family), features_of(family)]
            for array in (*family, *own):
                if not array.flags.c_contiguous:
                    raise ValueError(f"{type(family).__name__} has an array that is not contiguous")
                entries += at.describe_array(array)
            row[: len(entries)] = entries
        alike, latest, before = family, own, row
    return table


def is_like(family, other):
    """Do two families differ by nothing but numbers?"""
    if type(family) is not type(other):
        return False
    for a, b in zip(family, other):
        if a.shape != b.shape or not a.flags.c_contiguous:
            return False
    return True


def are_like(families, others):
    """Do two products differ by nothing but numbers?"""
    if type(families) is not tuple:
        return is_like(families, others)
    return all([is_like(*pair) for pair in zip(families, others, strict=True)])


def moved(table, families):
    """Return a table for the same groups with other hyper-parameters."""
    table = table.copy()
    for row, family in zip(table, families if type(families) is tuple else (families,)):
        move_row(row, family)
    return table


def move_row(row, family):
    """Let a row have the hyper-parameters of a family that is like its own."""
    for j, array in enumerate(family):
        row[at.FIRST + at.STEP * j] = at.data_address(array)


def _places(family, own, uses):
    """Return the addresses of the operations, and what counts columns and features."""
    key = type(family), uses
    if key not in _PLACES:
        fields = tuple((array.dtype.str, array.ndim) for array in (*family, *own))
        places = [0] * len(at.OPERATIONS)
        for name in uses:
            body = OPERATIONS[name].find(type(family))
            if name == "score_two" and score_two.is_default(body):
                continue  # no address: the product scores one row after the other
            given = (type(family), type(own), fields, _CELLS[type(family)])
            places[at.OPERATIONS.index(name)] = at.address_of(name, body, *given)
        _PLACES[key] = places, width.find(type(family)), n_features.find(type(family))
    return _PLACES[key]


def as_cells(families, X):
    """Return rows with the dtypes that the families read; mostly they have them."""
    if INTERPRETED:
        return X
    if type(families) is not tuple:
        families, X = (families,), (X,)
    for family, block in zip(families, X):
        if block.dtype is not _CELLS[type(family)] or not block.flags.c_contiguous:
            dtypes = [_CELLS[type(f)] for f in families]
            return tuple(map(np.ascontiguousarray, X, dtypes))
    return X


def rows_of(X):
    """Return the table of rows; many products ask for that of the same ones in turn."""
    global _LATEST
    latest, table = _LATEST
    if X is not latest:
        table = at.table_of_rows(X)
        _LATEST = X, table
    return table


class Bound:
    """The table of a product that many calls use; it is made anew when an array is replaced."""

    def __init__(self, uses):
        self.uses, self._families, self._stats, self._table = uses, None, None, None

    def __call__(self, families, stats):
        """Return the product as engines take it, in place of families and statistics."""
        if INTERPRETED:
            return families, stats
        if stats is not self._stats or families is not self._families:
            if stats is self._stats and are_like(families, self._families):
                self._table = moved(self._table, families)
            else:
                self._table = table_of(families, stats, self.uses)
            self._families, self._stats = families, stats
        return self._table, None

    def __reduce__(self):
        return Bound, (self.uses,)  # addresses are those of one process


class Engine:
    """A kernel over any product of families; called from Python with the product itself."""

    def __init__(self, func, uses):
        self.kernel, self.uses, self.machine = kernel(func), uses, None
        self.reads_rows = list(signature(func).parameters)[2:3] == ["X"]
        self.__name__, self.__doc__, self.__module__ = func.__name__, func.__doc__, func.__module__

    def __call__(self, family, stats, *args):
        """Run, with a table in place of families, statistics and rows."""
        if INTERPRETED or not (type(family) is tuple or type(family) in _CELLS):
            return self.kernel(family, stats, *args)
        table = table_of(family, stats, self.uses)
        if self.reads_rows:
            X = as_cells(family, args[0])
            return self.kernel(table, None, rows_of(X), *args[1:])
        return self.kernel(table, None, *args)

    def run(self, *args):
        """Run with a bound product; all callers have arguments of one type."""
        if self.machine is None:
            self.machine = entry(self.kernel, *args)
        return self.machine(*args)


def engine(*uses):
    """Compile a function of a product of families that uses these operations of them."""

    def make(func):
        return Engine(func, uses)

    return make


# --- the operations of a table ------------------------------------------------------------------


@count.implement(np.ndarray)
def _(table, stats, k, X, i, w):
    table, X = borrowed(table), borrowed(X)
    for b in range(table.shape[0]):
        invoke(table[b, at.COUNT], (table[b], X[b], k, i, w))


@refresh.implement(np.ndarray)
def _(table, stats, k):
    table = borrowed(table)
    for b in range(table.shape[0]):
        invoke(table[b, at.REFRESH], (table[b], k))


@score.implement(np.ndarray)
def _(table, stats, X, i, live, out):
    table, X, live, out = borrowed(table), borrowed(X), borrowed(live), borrowed(out)
    for b in range(table.shape[0]):
        invoke(table[b, at.SCORE], (table[b], X[b], i, live, live.shape[0], out))


@score_two.implement(np.ndarray)
def _(table, stats, X, i, j, live, out, ahead):
    table, X, live = borrowed(table), borrowed(X), borrowed(live)
    out, ahead, size, gain = borrowed(out), borrowed(ahead), live.shape[0], 0
    for b in range(table.shape[0]):
        if table[b, at.SCORE_TWO] != 0:
            given = (table[b], X[b], i, j, live, size, out, ahead)
            gain += invoke(table[b, at.SCORE_TWO], given)
        else:
            invoke(table[b, at.SCORE], (table[b], X[b], i, live, size, out))
            invoke(table[b, at.SCORE], (table[b], X[b], j, live, size, ahead))
    return gain


@width.implement(np.ndarray)
def _(table):
    total = 0
    for b in range(table.shape[0]):
        total += table[b, at.WIDTH]
    return total


@column_evidence.implement(np.ndarray)
def _(table, stats, k, out):
    first = 0
    for b in range(table.shape[0]):
        invoke(table[b, at.EVIDENCE], (table[b], k, out[first:]))
        first += table[b, at.WIDTH]


@copy.implement(np.ndarray)
def _(table, stats, source, target):
    table = borrowed(table)
    for b in range(table.shape[0]):
        invoke(table[b, at.COPY], (table[b], source, target))


@merge.implement(np.ndarray)
def _(table, stats, source, target):
    table = borrowed(table)
    for b in range(table.shape[0]):
        invoke(table[b, at.MERGE], (table[b], source, target))


@features.implement(np.ndarray)
def _(table, stats, X, i, first, index, value):
    used = 0
    for b in range(table.shape[0]):
        row, rows = table[b], X[b]
        used += invoke(row[at.FEATURES], (row, rows, i, first, index[used:], value[used:]))
        first += row[at.N_FEATURES]
    return used


# --- what many ask of whole tables of groups ----------------------------------------------------


@engine("refresh")
def refresh_of(family, stats, slots):
    """Make these groups ready to score."""
    for k in slots:
        refresh(family, stats, k)


def refresh_all(family, stats, slots):
    """Make the first `slots` groups ready to score."""
    refresh_of(family, stats, np.arange(slots))


def refresh_alike(family, stats):
    """Make groups ready that all hold the same: the first, and then the others as its copies."""
    if len(stats.n):
        refresh_of(family, stats, FIRST)
        for array in stats:
            array[1:] = array[0]


@engine("column_evidence")
def add_columns(family, stats, slots, step, out):
    """Add to out[j * step, d] the log evidence of column d in the j-th of these groups.

    With a step of 0 they add up.
    """
    for j in range(slots.shape[0]):
        column_evidence(family, stats, slots[j], out[j * step])


def evidence_of(family, stats, slots):
    """Return the log marginal likelihood of what each of these groups holds."""
    families = family if type(family) is tuple else (family,)
    out = np.zeros((len(slots), sum(map(width, families))))
    add_columns(family, stats, slots, 1, out)
    return out.sum(axis=1)


def evidence_all(family, stats, slots):
    """Return the log marginal likelihood of what each of the first groups holds."""
    return evidence_of(family, stats, np.arange(slots))


@engine("count")
def count_slots(family, stats, X, weight):
    """Add row X[i] to group k with weight[i, k], for all of them that are positive."""
    for i in range(weight.shape[0]):
        for k in range(weight.shape[1]):
            if weight[i, k] > 0.0:
                count(family, stats, k, X, i, weight[i, k])


@engine("score")
def score_slots(family, stats, X, live, out):
    """Add to out[i, j] the log density of row X[i] in slot live[j]."""
    most = 0
    for k in live:
        most = max(most, k)
    logp = np.empty(most + 1)
    for i in range(out.shape[0]):
        for k in live:
            logp[k] = 0.0
        score(family, stats, X, i, live, logp)
        for j in range(live.shape[0]):
            out[i, j] += logp[live[j]]
