"""What mixtures say of the missing cells of rows, as the regressions of a `Completion` read it.

`Reader.read_without` is for learning: the rows as they would be if one column were missing, for
each column of numbers. Hiding a column changes the density of a row in each group by that of one
cell, so the densities of whole rows are found once for all columns; for a gaussian block see
`families.expectations.expect_without`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from infinimix.estimators.answers.filling import predictive_of
from infinimix.estimators.common.features import category_values, is_number, number_cells
from infinimix.estimators.common.joint_numbers import JointNumbers
from infinimix.families.expectations import expect_cells, expect_without
from infinimix.families.gaussian import groups_of
from infinimix.families.seam import fill
from infinimix.inference.ensemble.bank import Bank
from infinimix.tables import EncodedTable, Schema
from infinimix.tables.column import KINDS, kind_of

ROWS_AT_ONCE = 500


class Rows(NamedTuple):
    """Rows with missing cells, and what is known of these."""

    numbers: np.ndarray  # (n, J) encoded, NaN where missing
    means: np.ndarray  # (1 or 2, n, J) by the mixtures, in natural units
    others: np.ndarray  # (n, H) features of cells that are no numbers, filled


class Reader:
    """One or two mixtures that are asked about rows; `columns` are those of numbers."""

    def __init__(
        self, bank: Bank, joint: JointNumbers | None, schema: Schema, columns: np.ndarray, n: Any
    ) -> None:
        self.mixture, self.joint, self.schema = predictive_of(bank), joint, schema
        self.columns, self.n_categories = columns.tolist(), n
        self.by_slot = {
            j: self._mean_by_slot(j)
            for j in self.columns
            if schema.columns[j].record.has_categories
        }
        self.block = None if joint is None else predictive_of(joint.bank)

    def _mean_by_slot(self, j: int) -> np.ndarray:
        values = np.array(category_values(self.schema, j), float)
        return values @ self.mixture.category_chances(*self.schema.places[j], len(values))

    def read(self, table: EncodedTable) -> Rows:
        """Return rows as they are."""
        parts = [self._read(part) for part in _in_parts(table)]
        return join_rows(parts)

    def read_without(self, table: EncodedTable) -> list[Rows]:
        """Return the rows without each of the columns of numbers."""
        parts = [self._read_without(part) for part in _in_parts(table)]
        return [join_rows(list(rows)) for rows in zip(*parts, strict=True)]

    def _read(self, table: EncodedTable) -> Rows:
        weight = self.mixture.responsibilities(table.blocks)
        second = None
        if self.joint is not None:
            second = expect_cells(*self._groups(), self.joint.numbers.cells(table))
        return self._rows(table, weight, second)

    def _read_without(self, table: EncodedTable) -> list[Rows]:
        mixture, scores = self.mixture, self.mixture.score(table.blocks) + self.mixture.log_weight
        second: dict[int, np.ndarray] = {}
        if self.joint is not None:
            numbers = self.joint.numbers
            whole, *hidden = expect_without(*self._groups(), numbers.cells(table))
            second = dict.fromkeys(self.columns, whole)
            second |= dict(zip(numbers.columns.tolist(), hidden, strict=True))
        found = []
        for j in self.columns:
            b, k = self.schema.places[j]
            rest = scores + mixture.score_others(b, table.blocks[b], k)
            weight = np.exp(rest - rest.max(axis=1, keepdims=True))
            weight /= weight.sum(axis=1, keepdims=True)
            found.append(self._rows(table.hide(np.array([j])), weight, second.get(j)))
        return found

    def _groups(self) -> tuple[Any, np.ndarray]:
        assert self.block is not None
        return groups_of(self.block.stats[0]), self.block.log_weight

    def _rows(self, table: EncodedTable, weight: np.ndarray, second: np.ndarray | None) -> Rows:
        """Return rows, given the probabilities of slots and the second mixture's means."""
        values, _ = fill(self.mixture.family, self.mixture.stats, weight, table.blocks)
        filled = filled_table(table, values)
        found = [
            weight @ self.by_slot[j] if j in self.by_slot else number_cells(filled, j)
            for j in self.columns
        ]
        means = [in_natural_units(self.schema, self.columns, found)]
        if self.joint is not None and second is not None:
            numbers = self.joint.numbers
            cells = (second * numbers.scale + numbers.mean).T
            own = dict(zip(numbers.columns.tolist(), cells, strict=True))
            found = [own.get(j, mean) for j, mean in zip(self.columns, found, strict=True)]
            means.append(in_natural_units(self.schema, self.columns, found))
        observed = np.stack([number_cells(table, j) for j in self.columns], axis=1)
        return Rows(observed, np.stack(means), other_features(filled, self.n_categories))


def _in_parts(table: EncodedTable) -> list[EncodedTable]:
    starts = range(0, max(table.n_rows, 1), ROWS_AT_ONCE)
    return [table.take(slice(i, i + ROWS_AT_ONCE)) for i in starts]


def join_rows(parts: list[Rows]) -> Rows:
    """Return the rows of several parts as one."""
    return Rows(
        np.concatenate([rows.numbers for rows in parts]),
        np.concatenate([rows.means for rows in parts], axis=1),
        np.concatenate([rows.others for rows in parts]),
    )


def to_number(schema: Schema, j: int, values: np.ndarray) -> np.ndarray:
    """Return natural values as `number_cells` has them."""
    transform = transform_of(schema, j)
    return values if transform is None else np.asarray(transform.encode(values))


def to_natural(schema: Schema, j: int, numbers: np.ndarray) -> np.ndarray:
    """Undo `to_number`."""
    transform = transform_of(schema, j)
    return numbers if transform is None else np.asarray(transform.decode(numbers))


def transform_of(schema: Schema, j: int) -> Any:
    """Return how the numbers of a column are encoded, or None."""
    column: Any = schema.columns[j]
    return column.transform.inner if column.record.has_atom else column.transform


def in_natural_units(schema: Schema, columns: list[int], numbers: list[Any]) -> np.ndarray:
    """Return columns of encoded numbers as a table in natural units."""
    pairs = zip(columns, numbers, strict=True)
    return np.stack([to_natural(schema, j, cells) for j, cells in pairs], axis=1)


def is_filled(schema: Schema, j: int) -> bool:
    """Return whether a column has numbers to fill; categories that were asked for are codes."""
    column = schema.columns[j]
    return is_number(schema, j) and (column.guessed or not column.record.has_categories)


def filled_table(table: EncodedTable, values: tuple[np.ndarray, ...]) -> EncodedTable:
    """Return a table with the means and modes that `Predictive.fill` has found."""
    kinds = [KINDS[kind_of(block)] for block in table.schema.blocks]
    blocks = (
        kind.nearest(value).astype(kind.dtype) for kind, value in zip(kinds, values, strict=True)
    )
    return table._replace(blocks=tuple(map(np.ascontiguousarray, blocks)))


def count_categories(schema: Schema) -> np.ndarray:
    """Return how many categories each categorical column has that has no numbers."""
    codes = [j for j in schema.positions("categorical").tolist() if not is_filled(schema, j)]
    return np.array([len(category_values(schema, j)) for j in codes], np.int64)


def other_features(table: EncodedTable, n_categories: np.ndarray) -> np.ndarray:
    """Return what is no number as features: bits, and one for each category."""
    schema, counts = table.schema, iter(n_categories.tolist())
    parts: list[np.ndarray] = [np.empty((table.n_rows, 0))]
    for j, (b, k) in enumerate(schema.places):
        cells = table.blocks[b][:, k]
        if schema.columns[j].record.two_valued:
            parts.append(np.maximum(cells, 0)[:, None].astype(float))
        elif not is_filled(schema, j):
            parts.append((cells[:, None] == np.arange(next(counts))).astype(float))
    return np.concatenate(parts, axis=1)
