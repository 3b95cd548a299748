"""Missing cells that tell of the class: which columns get a missingness indicator.

A missing cell is left out of the model, which is right where cells are missing at random. Where a
lab value is missing because nobody thought it worth measuring, that it is missing says
something, and an indicator beside the column (`tables.holes`) lets every group learn it.

For a column with h_c holes in the n_c rows of class c, h in all n, compare two Beta-Bernoulli
models of its holes, both with Beta(.5, .5): a share of holes for each class, or one for all. The
Bayes factor is, with B the Beta function,

    log F = sum_c log B(h_c + .5, n_c - h_c + .5) - log B(h + .5, n - h + .5)
            - (classes - 1) log B(.5, .5)

Where some columns tell, others are likelier to: of m columns with holes each tells with a
probability s that they have in common, and s is Beta(1, m), so one of them is expected to. A column
gets an indicator if it is more probable than not that it tells.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from infinimix.families.base_measures import REFERENCE
from infinimix.kernels.holes import is_hole
from infinimix.tables import EncodedTable, encode

SHARES = (np.arange(1000) + 0.5) / 1000  # a grid for s


def indicate(
    rule: str, X: Any, table: EncodedTable, codes: np.ndarray | None, who: str
) -> EncodedTable:
    """Return the first table X, encoded, with the indicators that a rule asks for.

    `codes` are as in `find_indicated`; `who` is for error messages.
    """
    indicated = find_indicated(rule, table, codes)
    if not indicated:
        return table
    return encode(replace(table.schema, indicated=indicated), X, learn=True, who=who)


def find_indicated(rule: str, table: EncodedTable, codes: np.ndarray | None) -> tuple[int, ...]:
    """Return the columns that get an indicator, by a rule: "auto", "ignore" or "mark".

    `codes` are the classes of its rows, None in a stream, whose first rows decide nothing.
    """
    if rule == "ignore" or (rule == "auto" and codes is None):
        return ()
    if rule == "mark":
        codes = None
    every = _columns_of(table)
    chosen = _choose((_holes_of(table, j) for j in every), codes)
    return tuple(every[k] for k in chosen)


def _columns_of(table: EncodedTable) -> list[int]:
    """Return one of the places of each column: parts of a date are missing together."""
    same = {j for places in table.schema.positions_of.values() for j in places[1:]}
    return [j for j in range(table.schema.width) if j not in same]


def count_missing(table: EncodedTable, codes: np.ndarray, n_classes: int) -> np.ndarray:
    """Return how many cells of each column are missing in each class (classes, columns)."""
    holes = (_holes_of(table, j) for j in _columns_of(table))
    return _count_holes(holes, codes, n_classes)[0]


def choose_counted(
    rule: str, table: EncodedTable, by_class: np.ndarray, rows: np.ndarray
) -> tuple[int, ...]:
    """Return what `find_indicated` does, given missing cells and rows of each class in all parts.

    `table` may have any rows: only its columns matter.
    """
    if rule == "ignore":
        return ()
    every = _columns_of(table)
    chosen = np.flatnonzero(by_class.any(axis=0)) if rule == "mark" else _telling(by_class, rows)
    return tuple(every[k] for k in chosen.tolist())


def _holes_of(table: EncodedTable, j: int) -> np.ndarray:
    """Return where a column is missing: one at a time, as a table may fill half of the memory."""
    b, k = table.schema.places[j]
    return np.asarray(is_hole(table.blocks[b][:, k]))


def columns_to_indicate(holes: np.ndarray, codes: np.ndarray | None) -> tuple[int, ...]:
    """Return the columns with holes; given the classes of the rows, those whose holes tell.

    Parameters
    ----------
    holes : array of bool (rows, columns)
        Where cells are missing.
    codes : array of int (rows,) or None
        The class of each row, from 0 on; -1 without label, which says nothing here.
    """
    return _choose(holes.T, codes)


def _choose(columns: Iterable[np.ndarray], codes: np.ndarray | None) -> tuple[int, ...]:
    if codes is None:
        return tuple(j for j, holes in enumerate(columns) if holes.any())
    return tuple(_telling(*_count_holes(columns, codes)).tolist())


def _telling(by_class: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Return the columns whose holes tell, given those of each class and its rows."""
    chosen = np.flatnonzero(by_class.any(axis=0))
    if chosen.size:
        chosen = chosen[telling(_log_ratios(by_class[:, chosen], rows)) > 0.5]
    return chosen


def _count_holes(
    columns: Iterable[np.ndarray], codes: np.ndarray, n_classes: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    """Return the holes of each class (classes, columns), and its rows (classes, 1)."""
    known = codes >= 0
    rows = np.bincount(codes[known], minlength=n_classes)
    by_class = [np.bincount(codes[known & holes], minlength=len(rows)) for holes in columns]
    return np.stack(by_class, axis=1), rows[:, None]


def telling(log_factor: np.ndarray, rarity: float | None = None) -> np.ndarray:
    """Return the probability of each column that it tells, from their Bayes factors.

    The share s of columns that tell is Beta(1, rarity); by default that is Beta(1, m).
    """
    from scipy.special import expit, softmax  # slow to load, and most fits need none

    rarity = len(log_factor) if rarity is None else rarity
    log_odds = log_factor + np.log(SHARES / (1.0 - SHARES))[:, None]  # (shares, columns)
    log_prior = (rarity - 1) * np.log1p(-SHARES)  # of s, but for a constant
    all_columns = np.logaddexp(0.0, log_odds) + np.log1p(-SHARES)[:, None]
    weight = softmax(log_prior + all_columns.sum(axis=1))
    return np.asarray(weight @ expit(log_odds))


def log_factors(holes: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Return the log Bayes factor of each column, for holes that depend on the class."""
    return _log_ratios(*_count_holes(holes.T, codes))


def _log_ratios(by_class: np.ndarray, rows: np.ndarray) -> np.ndarray:
    apart = _log_evidence(by_class, rows).sum(axis=0)
    return np.asarray(apart - _log_evidence(by_class.sum(axis=0), rows.sum()))


def _log_evidence(holes: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Return the log probability of a sequence of so many rows with so many holes."""
    from scipy.special import betaln  # slow to load, and most fits need none

    return np.asarray(
        betaln(holes + REFERENCE, rows - holes + REFERENCE) - betaln(REFERENCE, REFERENCE)
    )
