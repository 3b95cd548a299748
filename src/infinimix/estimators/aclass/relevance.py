"""Feature relevance: columns that say nothing of the class are modelled once for all classes.

With evidence(d, rows) the log marginal likelihood of the cells of column d under the empirical base
measure, a column may be alike in all rows, differ between classes, or between groups:

    alike    = max(evidence(d, all rows), sum_rows evidence(d, row))
    classes  = sum_classes evidence(d, rows of the class)
    groups   = sum_groups evidence(d, rows of the group)
    log F_d  = log(exp(classes) / 2 + exp(groups) / 2) - alike

The second term of `alike` has the base measure itself for the one model: without it groups of
single rows would beat the first for nothing. A column is relevant with a probability s that all
columns have in common, and s is uniform, as `missingness.telling` sums out; the groups are those of
the heaviest particle of each class, and the inclusions are averaged over the islands.

Columns of less than one half are shared: the classes learn the table without them, and then every
group is given the statistics of all rows in those columns. So nothing else changes: a shared column
has the same density in every group of every class, falls out of P(y | x), and still has its place
in densities, draws and filled cells.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from infinimix.estimators.aclass.missingness import telling
from infinimix.estimators.answers.filling import is_tied
from infinimix.estimators.common.mixture_estimator import Learned
from infinimix.families.priors import find_families
from infinimix.families.product import add_columns, refresh_all
from infinimix.families.seam import count_rows, empty, map_first
from infinimix.inference.ensemble.bank import Bank
from infinimix.tables import EncodedTable, Schema
from infinimix.tables.encoded import Blocks

ROWS_AT_ONCE = 256


class Relevance(NamedTuple):
    """What was found of the columns."""

    inclusion: np.ndarray  # (columns,) probability of each that it differs between groups
    log_shared: float  # log evidence of the columns that are shared

    @property
    def shared(self) -> np.ndarray:
        """The columns that are modelled once."""
        return np.flatnonzero(self.inclusion < 0.5)


def find_relevance(learned: Learned) -> Relevance:
    """Return the inclusion of each column, given the groups of a bank and its training rows."""
    schema, bank, blocks = learned.table.schema, learned.bank, learned.table.blocks
    codes = learned.codes
    pool, known = empty(bank.shape, 1), codes >= 0
    _count(bank.shape, pool, blocks, np.ones((len(codes), 1)))
    family = find_families(bank.layout, "empirical", pool)
    together = evidence_of_columns(family, schema, [(pool, np.zeros(1, np.int64))])
    alike = np.maximum(together, _row_by_row(family, schema, blocks))
    labelled = tuple(block[known] for block in blocks)
    by_class = _by_class(family, schema, labelled, codes[known], bank.n_classes)
    inclusion: np.ndarray = np.zeros(schema.width)
    for island in bank.islands:
        groups = [(f.stats, f.held(int(np.argmax(f.weights())))) for f in island.filters]
        by_group = evidence_of_columns(family, schema, groups) - alike
        inclusion += telling(np.logaddexp(by_class, by_group) - np.log(2.0), rarity=1.0)
    inclusion = np.minimum(inclusion / len(bank.islands), 1.0)
    return Relevance(inclusion, float(together[inclusion < 0.5].sum()))


def learn_relevant(
    learn: Callable[[EncodedTable], Learned], learned: Learned, relevance: Relevance
) -> Learned:
    """Learn the table again without the columns that are shared, and give these to all."""
    if not relevance.shared.size:
        return learned
    again = learn(learned.table.hide(relevance.shared))
    share(again.bank, learned.table, relevance.shared)
    return again._replace(table=learned.table)


def _by_class(
    family: Any, schema: Schema, blocks: Blocks, codes: np.ndarray, n_classes: int
) -> np.ndarray:
    """Return the log Bayes factor of each column for one model a class against one for all."""
    stats = empty(family, n_classes + 1)
    weight = np.column_stack([np.eye(n_classes)[codes], np.ones(len(codes))])
    _count(family, stats, blocks, weight)
    apart = evidence_of_columns(family, schema, [(stats, np.arange(n_classes))])
    together = evidence_of_columns(family, schema, [(stats, np.array([n_classes]))])
    return np.asarray(apart - np.maximum(together, _row_by_row(family, schema, blocks)))


def _row_by_row(family: Any, schema: Schema, blocks: Blocks) -> np.ndarray:
    """Return the log evidence of each column if every row is a group of its own."""
    total = np.zeros(schema.width)
    for rows in _portions(blocks):
        n = len(rows[0])
        stats = empty(family, n)
        count_rows(family, stats, np.eye(n), rows)
        total += evidence_of_columns(family, schema, [(stats, np.arange(n))])
    return total


def _count(family: Any, stats: Any, blocks: Blocks, weight: np.ndarray) -> None:
    for i, rows in enumerate(_portions(blocks)):
        first = i * ROWS_AT_ONCE
        count_rows(family, stats, weight[first : first + ROWS_AT_ONCE], rows)


def evidence_of_columns(family: Any, schema: Schema, groups: Any) -> np.ndarray:
    """Return the log evidence of each column of the table in all these groups.

    The columns of a gaussian block have that of the block in equal parts.
    """
    found = []
    for b, own in enumerate(family):
        width = sum(at == b for at, _ in schema.places)
        out = np.zeros((1, max(width, own.prior.shape[-1])))
        for stats, slots in groups:
            add_columns(own, stats[b], np.asarray(slots, np.int64), 0, out)
        found.append(np.full(width, out.sum() / width) if is_tied(own) else out[0])
    return np.array([found[b][k] for b, k in schema.places])


def share(bank: Bank, table: EncodedTable, columns: np.ndarray) -> None:
    """Give every group of a bank what all rows have in these columns.

    Missingness indicators stay with the groups.
    """
    others = np.setdiff1d(np.arange(table.schema.width), columns)
    rows = table.hide(others).hide_indicators().blocks
    for f in bank.filters():
        slots = len(map_first(f.stats))
        _count(f.family, f.stats, rows, np.ones((len(rows[0]), slots)))
        refresh_all(f.family, f.stats, slots)
    bank.forget_snapshot()


def _portions(blocks: Blocks) -> list[Blocks]:
    starts = range(0, len(blocks[0]), ROWS_AT_ONCE)
    return [tuple(np.ascontiguousarray(b[i : i + ROWS_AT_ONCE]) for b in blocks) for i in starts]
