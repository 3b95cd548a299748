"""How the rows of a call are divided among classes, and the densities of held-out rows.

A step is what `Island.learn` takes: the rows of each class in a stretch where all rows have labels,
and the row without label that ends it, if there is one.
"""

from itertools import pairwise

import numpy as np


def cutter(codes, n_known):
    """Return what tells the steps (see `Island.learn`) of some rows by the first and the last."""
    if n_known is None:
        shares = by_class(codes, 0, len(codes)) if len(codes) else []
        return lambda first, last: [(_within(shares, first, last), None)]
    n_open = np.maximum(np.maximum.accumulate(codes) + 1, n_known)
    return lambda first, last: _steps(codes, n_open, first, last)


def _steps(codes, n_open, first, last):
    """Return the stretches of rows with labels, each with the row without label that ends it."""
    steps = []
    for row in first + np.flatnonzero(codes[first:last] < 0):
        shares = by_class(codes, first, row) if row > first else []
        steps.append((shares, (int(row), int(n_open[row]))))
        first = row + 1
    return [*steps, (by_class(codes, first, last), None)] if last > first else steps


def by_class(codes, first, last):
    """Return (class, its rows in order) for the rows first to last."""
    if last - first == 1:
        return [(codes.item(first), np.array([first]))]
    codes = codes[first:last]
    small = codes.max() < 2**15 and codes.min() >= 0  # then they are sorted in one pass
    order = (codes.astype(np.int16) if small else codes).argsort(kind="stable")
    codes = codes[order]
    ends = [0, *(np.flatnonzero(codes[1:] != codes[:-1]) + 1).tolist(), len(codes)]
    order += first
    return [(codes.item(a), order[a:b]) for a, b in pairwise(ends)]


def _within(shares, first, last):
    """Return (class, its rows in order) for the rows first to last, given those of all rows."""
    cut = [(c, rows, rows.searchsorted((first, last)).tolist()) for c, rows in shares]
    return [(c, rows[a:b]) for c, rows, (a, b) in cut if a < b]


def average_held_out(held_out, n, n_classes):
    """Return the rows that some island has held out, and the log of their mean densities."""
    total, count = np.full((n, n_classes), -np.inf), np.zeros(n)
    for rows, log_density in held_out:
        total[rows] = np.logaddexp(total[rows], log_density)
        count[rows] += 1.0
    rows = np.flatnonzero(count)
    return rows, total[rows] - np.log(count[rows])[:, None]
