"""A second model of each class, in which numbers go together: one gaussian block of them.

The mixtures of the classes take the columns of a group as independent. Where numbers are
correlated within the classes, groups with a full covariance say more, though alone they are often
worse. So `fit` learns both and the correction stacks them (`stacking`), each with a power of its
own, as far as the held-out rows of both call for it. The block takes time: in a large table a pilot
of it is judged by such rows first.

The block is made of the columns whose values are numbers, also whole numbers that are categories
in the first model, and that are correlated with another one. A column that the ones before it
predict, such as their sum or a copy, adds nothing but a density without bound, and is left out.
Only rows with labels are learned.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from infinimix.estimators.common.features import is_number, number_cells
from infinimix.estimators.common.mixture_estimator import Labelled, Learned, check_whole
from infinimix.estimators.common.parameters import child_seed
from infinimix.estimators.common.state import read_bank
from infinimix.families.priors import Layout
from infinimix.inference.ensemble.bank import Bank
from infinimix.inference.ensemble.storage import bank_to_tree
from infinimix.tables import EncodedTable, Schema

LEAST_CORRELATION = 0.3  # within classes, with some other column: weaker ones pay for no covariance
LEAST_OWN = 1e-3  # share of its variance that a column must have beside the others
MOST_COLUMNS = 24  # of a block: its time grows with their square and cube
ROWS_PER_COLUMN = 5  # that a class must have on average
SHARE = 2  # the block has one of so many islands and particles of the first model
PILOT_ROWS = 2000  # that a pilot learns, at most


class NumberColumns(NamedTuple):
    """Which columns of a table are in the block, and how they are standardised."""

    columns: np.ndarray  # (D,) positions in the table
    mean: np.ndarray  # (D,)
    scale: np.ndarray  # (D,)

    def cells(self, table: EncodedTable) -> np.ndarray:
        """Return the block of each row; a missing cell is NaN."""
        found = [number_cells(table, j) for j in self.columns.tolist()]
        return np.ascontiguousarray((np.stack(found, axis=1) - self.mean) / self.scale)

    def fits(self, schema: Schema) -> bool:
        """Return whether these are numbers of such columns."""
        return len(self.columns) > 1 and are_numbers(schema, self.columns, self.mean, self.scale)


@dataclass
class JointNumbers:
    """A gaussian block for each class."""

    numbers: NumberColumns
    bank: Bank

    def log_densities(self, table: EncodedTable) -> np.ndarray:
        """Return the log density of the numbers of each row in each class."""
        check_whole(self.bank)
        return np.asarray(self.bank.log_densities((self.numbers.cells(table),)))

    def prepare(self) -> None:
        """Note that the first model is about to learn rows that this one does not know yet."""
        check_whole(self.bank)
        self.bank.torn = True

    def learn(self, table: EncodedTable, labelled: Labelled, execute: Callable[..., Any]) -> None:
        """Learn rows of a stream, those that have labels."""
        while self.bank.n_classes < labelled.n_classes:
            self.bank.add_class()
        known = np.flatnonzero(labelled.codes >= 0)
        if len(known):
            blocks = (self.numbers.cells(table.take(known)),)
            self.bank.learn(blocks, labelled.codes[known], (), execute)
        self.bank.torn = False

    def to_tree(self) -> dict[str, Any]:
        """Return plain values and arrays."""
        return {"numbers": list(self.numbers), "bank": bank_to_tree(self.bank)}

    @classmethod
    def from_tree(cls, tree: dict[str, Any], schema: Schema, n_classes: int) -> JointNumbers:
        """Return the model that `to_tree` wrote; raise ValueError if it does not fit."""
        numbers = NumberColumns(*tree["numbers"])
        if not all(isinstance(x, np.ndarray) for x in numbers) or not numbers.fits(schema):
            raise ValueError("its second model does not fit its columns")
        bank = read_bank(tree["bank"], layout_of_block(len(numbers.columns)))
        if bank.n_classes != n_classes:
            raise ValueError("its second model does not fit its classes")
        return cls(numbers, bank)


def learn_joint(
    learned: Learned, seed: np.random.SeedSequence, run: Callable[..., Any], pilot: bool = False
) -> tuple[JointNumbers, np.ndarray, np.ndarray] | None:
    """Learn the block that a table calls for, if it calls for one.

    A pilot has one island and learns PILOT_ROWS rows at most, to tell whether the block can bring
    anything. Returned are the model, the rows of the table that it held out, and their log
    densities in each class before they were learned.
    """
    known = np.flatnonzero(learned.codes >= 0)
    table, codes = learned.table.take(known), learned.codes[known]
    numbers = find_numbers(table, codes)
    if numbers is None:
        return None
    own = learned.bank.settings
    settings = own._replace(
        prior="learn", sweeps=0, window=0,
        n_islands=-(-own.n_islands // SHARE), n_particles=-(-own.n_particles // SHARE),
    )  # fmt: skip
    if pilot:
        settings = settings._replace(n_islands=1)
        rng = np.random.default_rng(child_seed(seed, 2**32 - 10))
        some = np.sort(rng.permutation(len(codes))[:PILOT_ROWS])
        known, table, codes = known[some], table.take(some), codes[some]
    bank = Bank(settings, layout_of_block(len(numbers.columns)), child_seed(seed, 2**32 - 7))
    fit = partial(bank.fit, check=True)
    held_out, log_density = run(fit, (numbers.cells(table),), codes, learned.bank.n_classes)
    return JointNumbers(numbers, bank), known[held_out], log_density


def layout_of_block(width: int) -> Layout:
    """Return the layout of statistics for a block of so many columns."""
    names = {"gaussian": tuple(f"x{d}" for d in range(width))}
    return Layout(names, np.zeros(0, np.int64))


def find_numbers(
    table: EncodedTable, codes: np.ndarray, most: int = MOST_COLUMNS
) -> NumberColumns | None:
    """Return the columns that go together within classes; None if there are no two."""
    if table.schema.joint:  # somebody has said already which numbers go together
        return None
    candidates = [j for j in range(table.schema.width) if is_number(table.schema, j)]
    most = min(most, len(codes) // (ROWS_PER_COLUMN * (int(codes.max()) + 1)))
    if len(candidates) < 2 or most < 2:
        return None
    cells = np.stack([number_cells(table, j) for j in candidates], axis=1)
    chosen = choose_columns(correlation_within(cells, codes), strength_within(cells, codes), most)
    if len(chosen) < 2:
        return None
    cells = cells[:, chosen]
    scale = np.nanstd(cells, axis=0)
    return NumberColumns(
        np.array(candidates, np.int64)[chosen],
        np.nanmean(cells, axis=0),
        np.where(scale > 0.0, scale, 1.0),
    )


def correlation_within(cells: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Return the correlations of columns around the means of the classes; 0 for a constant.

    A missing cell counts as the mean of its class, which weakens correlations.
    """
    observed = ~np.isnan(cells)
    own = np.eye(int(codes.max()) + 1)[codes]
    total = own.T @ np.where(observed, cells, 0.0)
    means = total / np.maximum(own.T @ observed, 1.0)
    gap = np.where(observed, cells - own @ means, 0.0)
    covariance = gap.T @ gap
    # Against rounding, a column that is constant within classes has no variance left.
    size = np.sqrt(np.diag(covariance))
    size[size <= 1e-9 * np.sqrt((np.where(observed, cells, 0.0) ** 2).sum(axis=0))] = np.inf
    return np.asarray(covariance / np.outer(size, size))


def strength_within(cells: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Return how strongly each column goes together with some other one within the classes.

    That is the root of the mean of r^2 over the rows, where r is the correlation in the class of
    the row, so that correlations of different signs do not cancel; of independent columns r^2
    would be 1 / (rows - 1), which is taken off.
    """
    total = np.zeros((cells.shape[1],) * 2)
    for c in np.unique(codes):
        rows = cells[codes == c]
        r = correlation_within(rows, np.zeros(len(rows), np.int64))
        total += len(rows) * np.maximum(r**2 - 1.0 / max(len(rows) - 1, 1), 0.0)
    np.fill_diagonal(total, 0.0)
    return np.asarray(np.sqrt(total.max(axis=0) / len(codes)))


def are_numbers(
    schema: Schema, columns: np.ndarray, mean: np.ndarray, scale: np.ndarray, others: int = 0
) -> bool:
    """Return whether these may be numbers of a table and how they, and others, are standardised."""
    width = len(columns)
    return (
        columns.dtype == np.int64
        and width > 0
        and bool((np.diff(columns) > 0).all())
        and columns[0] >= 0
        and columns[-1] < schema.width
        and all(is_number(schema, j) for j in columns.tolist())
        and mean.shape == scale.shape == (width + others,)
        and bool(np.isfinite(mean).all() and np.isfinite(scale).all())
        and bool((scale > 0.0).all())
    )


def choose_columns(
    R: np.ndarray, strength: np.ndarray, most: int, least: float = LEAST_CORRELATION
) -> np.ndarray:
    """Return the columns of a block, the strongest if there are too many; in table order.

    R are the correlations of columns. One that those before it predict is left out.
    """
    chosen: list[int] = []
    order = np.argsort(-strength, kind="stable")
    for j in order[strength[order] > least].tolist():
        if len(chosen) == most:
            break
        r = R[chosen, j]
        own = R[j, j] - r @ np.linalg.solve(R[np.ix_(chosen, chosen)], r)
        if own > LEAST_OWN:
            chosen.append(j)
    return np.sort(np.array(chosen, np.int64))
