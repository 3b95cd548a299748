"""A second model of the target: one gaussian block of the numbers and the target.

Within a group of the first model the target does not depend on the cells. Within one of this model
it is linear in the numbers, so that the mixture is piecewise linear. Binary and categorical columns
stay as they are beside the block. Only its conditional mean is used, and never beyond the training
values: a straight line through a few rows leads anywhere for a row that is far from all of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from infinimix.estimators.answers.filling import predictive_of
from infinimix.estimators.common.features import is_number, number_cells
from infinimix.estimators.common.joint_numbers import (
    MOST_COLUMNS,
    ROWS_PER_COLUMN,
    are_numbers,
    choose_columns,
    correlation_within,
)
from infinimix.families.priors import Layout
from infinimix.inference.ensemble.bank import Bank, Settings
from infinimix.tables import EncodedTable, Schema

PLAIN = ("binary", "categorical")  # blocks that stay beside


class Linked(NamedTuple):
    """Which columns are in the block, and how they and the target (the last) are standardised."""

    columns: np.ndarray  # (D,) positions in the table
    mean: np.ndarray  # (D + 1,)
    scale: np.ndarray  # (D + 1,)
    ends: np.ndarray  # (2,) the least and the largest training value of the target

    @classmethod
    def find(cls, table: EncodedTable, t: np.ndarray) -> Linked | None:
        """Return the numbers that a table has; None if there are none, or too few rows for one.

        If there are too many, those most correlated with the target are taken. A column that those
        before it predict is left out.
        """
        candidates = [j for j in range(table.schema.width) if is_number(table.schema, j)]
        most = min(MOST_COLUMNS, len(t) // ROWS_PER_COLUMN)
        if table.schema.joint or not candidates or most < 1 or not t.std() > 0.0:
            return None
        cells = np.stack([number_cells(table, j) for j in candidates], axis=1)
        R = correlation_within(np.column_stack([cells, t]), np.zeros(len(t), np.int64))
        chosen = choose_columns(R[:-1, :-1], np.abs(R[:-1, -1]), most, least=-1.0)
        if len(chosen) == 0:
            return None
        block = np.column_stack([cells[:, chosen], t])
        columns, mean = np.array(candidates, np.int64)[chosen], means(block)
        ends = np.array([t.min(), t.max()])
        return cls(columns, mean, np.sqrt(means((block - mean) ** 2)), ends)

    def blocks(self, table: EncodedTable, t: np.ndarray | None = None) -> tuple[np.ndarray, ...]:
        """Return the blocks of rows, in which the target is missing if it is not given."""
        cells = [number_cells(table, j) for j in self.columns.tolist()]
        cells.append(np.full(table.n_rows, np.nan) if t is None else t)
        block = (np.stack(cells, axis=1) - self.mean) / self.scale
        plain = [
            b for kind, b in zip(table.schema.blocks, table.blocks, strict=True) if kind in PLAIN
        ]
        return (*plain, np.ascontiguousarray(block))

    def layout(self, schema: Schema) -> Layout:
        """Return the layout of statistics."""
        names = {
            kind: tuple(f"{kind} {d}" for d in range(len(schema.owners(kind))))
            for kind in PLAIN if kind in schema.blocks
        }  # fmt: skip
        names["gaussian"] = tuple(f"x{d}" for d in range(len(self.columns) + 1))
        return Layout(names, schema.category_counts)

    def fits(self, schema: Schema) -> bool:
        """Return whether these are numbers of such columns."""
        return (
            are_numbers(schema, self.columns, self.mean, self.scale, others=1)
            and self.ends.shape == (2,)
            and bool(np.isfinite(self.ends).all() and self.ends[0] <= self.ends[1])
        )


@dataclass
class Second:
    """The block, learned."""

    linked: Linked
    bank: Bank

    @classmethod
    def learn(
        cls, linked: Linked, table: EncodedTable, t: np.ndarray, settings: Settings, seed: Any,
        run: Callable[..., Any],
    ) -> Second:  # fmt: skip
        """Learn rows of the table and their target."""
        bank = Bank(settings, linked.layout(table.schema), seed)
        run(bank.fit, linked.blocks(table, t), np.zeros(len(t), np.int64), 1)
        return cls(linked, bank)

    def mean(self, table: EncodedTable) -> np.ndarray:
        """Return the mean of the target of each row given its cells."""
        values, _ = predictive_of(self.bank).fill(self.linked.blocks(table))
        mean = values[-1][:, -1] * self.linked.scale[-1] + self.linked.mean[-1]
        return np.clip(mean, *self.linked.ends)


def means(cells: np.ndarray) -> np.ndarray:
    """Return the mean of the observed cells of each column, 0 if there are none."""
    return np.asarray(np.nansum(cells, axis=0) / np.maximum((~np.isnan(cells)).sum(axis=0), 1))
