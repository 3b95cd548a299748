"""Feature relevance: columns that say nothing of the class are modelled once for all classes.

Given the groups of all classes, column d has two models: one for each group, or a single one for
all rows. With evidence(d, rows) the log marginal likelihood of its cells under the reference prior,

    log F_d = sum_groups evidence(d, rows of the group) - evidence(d, all rows)

A column is relevant with a probability s that all columns have in common and s is uniform, as
`marking.telling` sums out; the groups are those of the heaviest particle of each class, and the
inclusions are averaged over the islands. Columns of less than one half are shared: the classes
learn the table without them, and then every group is given the statistics of all rows in those
columns. So nothing else changes: a shared column has the same density in every group of every
class, falls out of P(y | x), and still has its place in densities, draws and filled cells.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from infinimix.estimators.filling import Blocks, places
from infinimix.estimators.marking import telling
from infinimix.families.priors import find_families
from infinimix.families.seam import count_rows, empty, map_first, refresh_all
from infinimix.inference.bank import Bank
from infinimix.inference.dials import add_columns
from infinimix.tables import Schema

ROWS_AT_ONCE = 2048


class Relevance(NamedTuple):
    """What was found of the columns."""

    inclusion: np.ndarray  # (columns,) probability of each that it differs between groups
    log_shared: float  # log evidence of the columns that are shared

    @property
    def shared(self) -> np.ndarray:
        """The columns that are modelled once."""
        return np.flatnonzero(self.inclusion < 0.5)


def find_relevance(schema: Schema, bank: Bank, blocks: Blocks) -> Relevance:
    """Return the inclusion of each column, given the groups of a bank and its training rows."""
    pool = empty(bank.shape, 1)
    for rows in _portions(blocks):
        count_rows(bank.shape, pool, np.ones((len(rows[0]), 1)), rows)
    family = find_families(bank.layout, "reference", pool)
    together = _columns(family, schema, [(pool, np.zeros(1, np.int64))])
    inclusion = np.zeros(schema.width)
    for island in bank.islands:
        groups = [(f.stats, f.held(int(np.argmax(f.weights())))) for f in island.filters]
        inclusion += telling(_columns(family, schema, groups) - together, rarity=1.0)
    inclusion = np.minimum(inclusion / len(bank.islands), 1.0)
    return Relevance(inclusion, float(together[inclusion < 0.5].sum()))


def _columns(family: Any, schema: Schema, groups: Any) -> np.ndarray:
    """Return the log evidence of each column of the table in all these groups.

    The columns of a gaussian block have that of the block in equal parts.
    """
    found = []
    for b, own in enumerate(family):
        width = sum(at == b for at, _ in places(schema))
        out = np.zeros(max(width, own.prior.shape[-1]))
        for stats, slots in groups:
            add_columns(own, stats[b], np.asarray(slots, np.int64), out)
        found.append(np.full(width, out.sum() / width) if getattr(own, "tied", False) else out)
    return np.array([found[b][k] for b, k in places(schema)])


def hide(schema: Schema, blocks: Blocks, columns: np.ndarray) -> Blocks:
    """Return rows in which these columns are missing."""
    out, where = tuple(block.copy() for block in blocks), places(schema)
    for b, k in (where[j] for j in columns.tolist()):
        out[b][:, k] = np.nan if out[b].dtype.kind == "f" else -1
    return out


def share(schema: Schema, bank: Bank, blocks: Blocks, columns: np.ndarray) -> None:
    """Give every group of a bank what all rows have in these columns."""
    others = np.setdiff1d(np.arange(schema.width), columns)
    rows = _without_marks(schema, hide(schema, blocks, others))
    for f in bank.filters():
        slots = len(map_first(f.stats))
        for part in _portions(rows):
            count_rows(f.family, f.stats, np.ones((len(part[0]), slots)), part)
        refresh_all(f.family, f.stats, slots)
    bank._snapshot = None


def _without_marks(schema: Schema, blocks: Blocks) -> Blocks:
    """Return rows without marks of holes, which stay with the groups."""
    if schema.marked:
        block = blocks[schema.blocks.index("binary")]
        block[:, block.shape[1] - len(schema.mark_names) :] = -1
    return blocks


def _portions(blocks: Blocks) -> list[Blocks]:
    starts = range(0, len(blocks[0]), ROWS_AT_ONCE)
    return [tuple(np.ascontiguousarray(b[i : i + ROWS_AT_ONCE]) for b in blocks) for i in starts]
