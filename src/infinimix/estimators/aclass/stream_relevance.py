"""Feature relevance in a stream: which columns the classes share, found from statistics alone.

A column is alike in all rows or differs between classes; with evidence(d, rows) as in `relevance`,

    log F_d = sum_classes evidence(d, rows of the class) - evidence(d, all rows)

and a column is relevant with a probability s that all columns have in common, which is uniform and
summed out (`missingness.telling`). That is found anew at every power of two of the row count, as
hyper-parameters are, from the statistics of each class and of all rows with labels under the
empirical base measure of that moment: no row is kept. Groups have no say here: those of a filter
follow any column that splits rows, noise too, and without the rows nothing can be held against
that. So columns that tell only together count as shared, which `fit` would not do.

The groups go on learning all columns, and a column that was shared may come back. Shared is a
column in P(y | x): its cells count as missing there. Densities, draws and filled cells are as the
groups have them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from infinimix.estimators.aclass.missingness import telling
from infinimix.estimators.aclass.relevance import evidence_of_columns
from infinimix.estimators.common.mixture_estimator import Labelled, check_whole
from infinimix.estimators.common.parameters import check_parameter
from infinimix.families import product
from infinimix.families.priors import blank, find_families
from infinimix.families.seam import empty, map_arrays, reserve, sound, widen
from infinimix.inference.ensemble.bank import Bank
from infinimix.tables import EncodedTable, Schema
from infinimix.tables.column import Novel

EVERYBODY, FIRST = range(2)  # slots: all rows with labels; then the classes


class Portion(NamedTuple):
    """Rows of a call between two of which nothing is found anew."""

    table: EncodedTable
    codes: np.ndarray
    n_known: int | None  # classes that a row without label may be of, before the first of these


def portions(
    table: EncodedTable, codes: np.ndarray, n_known: int | None, n_before: int
) -> Iterator[Portion]:
    """Cut a call after each power of two of the row count, and before rows with new categories."""
    ends, power = {table.n_rows} | set(table.novel.rows.tolist()), 1
    while power <= n_before + table.n_rows:
        ends.add(max(power - n_before, 0))
        power *= 2
    first = 0
    for last in sorted(ends - {0}):
        rows = slice(first, last)
        yield Portion(_part(table, first, last), codes[rows], n_known)
        if n_known is not None:
            n_known = max(n_known, int(codes[rows].max()) + 1)
        first = last


def _part(table: EncodedTable, first: int, last: int) -> EncodedTable:
    novel = table.novel
    here = np.flatnonzero((novel.rows >= first) & (novel.rows < last))
    values = [novel.values[k] for k in here.tolist()]
    return table.take(slice(first, last))._replace(
        novel=Novel(novel.rows[here] - first, novel.columns[here], values)
    )


def check_stream_relevance(model: Any, state: Any) -> None:
    """Raise ValueError if a stream cannot learn what `relevance` says."""
    check_parameter(model, "relevance", model.relevance)
    if state is None:
        return
    if state.relevance is not None:
        raise ValueError(
            "fit has found with relevance='learn' which columns the classes share, and keeps no "
            "more of them than that: partial_fit cannot go on from there. Learn all rows by "
            "partial_fit, or use relevance='all'."
        )
    if (model.relevance == "learn") != (state.stream_relevance is not None):
        raise ValueError(
            f"partial_fit got relevance={model.relevance!r}, but the rows so far were learned "
            "otherwise. Set it back, or fit the model anew."
        )


def learn_with_relevance(
    state: Any, table: EncodedTable, labelled: Labelled, learn: Callable[..., None]
) -> None:
    """Let a bank learn the rows of a stream, and find the columns anew at each power of two."""
    bank, relevance = state.bank, state.stream_relevance
    check_whole(bank)
    for portion in portions(table, labelled.codes, labelled.n_known, bank.n_rows):
        bank.torn = False  # `learn` marks it again, and leaves it so until the call is over
        codes, n_known = portion.codes, portion.n_known
        learn(bank, portion.table, Labelled(codes, labelled.n_classes, n_known))
        relevance.learn(portion, bank)


class StreamRelevance:
    """What is kept of a stream to tell which columns differ between classes."""

    def __init__(self, bank: Bank, width: int) -> None:
        self.layout = bank.layout
        self.stats = empty(blank(bank.layout), FIRST)
        self.inclusion = np.ones(width)

    @property
    def shared(self) -> np.ndarray:
        """The columns that say nothing of the class."""
        return np.flatnonzero(self.inclusion < 0.5)

    def hide(self, table: EncodedTable) -> EncodedTable:
        """Return rows as P(y | x) reads them."""
        shared = self.shared
        return table.hide(shared) if shared.size else table

    def learn(self, portion: Portion, bank: Bank) -> None:
        """Count rows that the bank has learned, and find the columns anew where it is time."""
        self._make_room(bank)
        known = np.flatnonzero(portion.codes >= 0)
        weight = np.zeros((len(known), FIRST + bank.n_classes))
        weight[:, EVERYBODY] = weight[np.arange(len(known)), FIRST + portion.codes[known]] = 1.0
        rows = portion.table.take(known).blocks
        product.count_slots(blank(self.layout), self.stats, rows, weight)  # in their order
        if bank.n_rows & (bank.n_rows - 1) == 0:
            self.inclusion = telling(self.log_factors(portion.table.schema), rarity=1.0)

    def _make_room(self, bank: Bank) -> None:
        """Follow new classes and categories."""
        if self.layout is not bank.layout:
            self.stats = widen(blank(self.layout), self.stats, blank(bank.layout))
            self.layout = bank.layout
        slots = len(self.stats[0].n)
        if FIRST + bank.n_classes > slots:
            self.stats = reserve(blank(self.layout), self.stats, FIRST + bank.n_classes)

    def log_factors(self, schema: Schema) -> np.ndarray:
        """Return the log Bayes factor of each column for a model of each class."""
        pool = map_arrays(lambda array: array[: EVERYBODY + 1], self.stats)
        family = find_families(self.layout, "empirical", pool)
        slots = np.arange(len(self.stats[0].n))
        apart, together = (
            evidence_of_columns(family, schema, [(self.stats, own)])
            for own in (slots[FIRST:], slots[:FIRST])
        )
        return np.asarray(apart - together)

    # --- Files ----------------------------------------------------------------------------------

    def to_tree(self) -> dict[str, Any]:
        """Return plain values and arrays."""
        return {"stats": [own.n for own in self.stats], "inclusion": self.inclusion}

    @classmethod
    def from_tree(cls, tree: dict[str, Any], bank: Bank, width: int) -> StreamRelevance:
        """Return what `to_tree` wrote; raise ValueError if it does not fit the bank."""
        found = cls(bank, width)
        found._make_room(bank)
        for own, saved in zip(found.stats, tree["stats"], strict=True):
            _fill(own.n, saved)
        _fill(found.inclusion, tree["inclusion"])
        p = found.inclusion
        if not sound(blank(bank.layout), found.stats) or (p < 0).any() or (p > 1).any():
            raise ValueError("the relevance of its columns has statistics that no rows have")
        return found


def _fill(array: np.ndarray, saved: Any) -> None:
    fits = isinstance(saved, np.ndarray) and saved.shape == array.shape
    if not fits or saved.dtype != np.float64 or not np.isfinite(saved).all():
        raise ValueError("the relevance of its columns does not fit them")
    array[:] = saved
