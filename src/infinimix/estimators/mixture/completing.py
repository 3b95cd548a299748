"""Learn and apply the completion of numbers: mixtures by halves of the rows, then regressions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from infinimix import execution
from infinimix.estimators.common.joint_numbers import (
    JointNumbers,
    NumberColumns,
    find_numbers,
    layout_of_block,
)
from infinimix.estimators.common.mixture_estimator import one_class
from infinimix.estimators.common.parameters import child_seed
from infinimix.estimators.common.state import layout_of
from infinimix.estimators.mixture.completion import (
    FEWEST,
    N_LANDMARKS,
    Completion,
    describe_numbers,
    find_completion,
    number_columns,
)
from infinimix.estimators.mixture.reading import Reader, join_rows
from infinimix.inference.ensemble.bank import Bank
from infinimix.inference.ensemble.parts import Parts
from infinimix.tables import EncodedTable, Schema

FOLDS = 2
MOST_ROWS = 2000  # for the regressions; each is read for every column
MOST_CELLS = 2e7  # of the features of all rows and columns at once
MOST_COLUMNS = 16  # of the gaussian block: the time to fill a row grows with their cube
ISLANDS, HALF_ISLANDS = 4, 2  # of the block, for answers and for the halves
FIRST_ISLANDS = 4  # of the mixtures of the halves

Execute = Callable[..., Any]


@dataclass
class Completing:
    """Regressions, and the second mixture that they read, if there is one."""

    completion: Completion
    joint: JointNumbers | None

    def fill(self, bank: Bank, table: EncodedTable) -> dict[int, tuple[np.ndarray, float]]:
        """Return values of each column of numbers, and the ratio of errors to the mixture's own."""
        columns = self.completion.columns
        reader = Reader(bank, self.joint, table.schema, columns, self.completion.n_categories)
        rows = reader.read(table)
        answer = self.completion.fill(table.schema, rows)
        ratios = self.completion.ratio.tolist()
        return {j: (answer[:, k], ratios[k]) for k, j in enumerate(columns.tolist())}


def learn_completing(
    table: EncodedTable, bank: Bank, seed: np.random.SeedSequence, execute: Execute
) -> Completing | None:
    """Learn what a table calls for; None if no column of numbers has enough cells."""
    columns = number_columns(table)
    if len(columns) == 0 or table.n_rows < 2 * FEWEST:
        return None
    known = describe_numbers(table, columns)
    numbers = find_numbers(table, one_class(table)[0], MOST_COLUMNS)
    rng = np.random.default_rng(child_seed(seed, 2**32 - 8))
    order = rng.permutation(table.n_rows)
    some, parts = order[: _most_rows(known)], []
    for half in range(FOLDS):
        test = some[half::FOLDS]
        learn = table.take(np.sort(np.setdiff1d(order, test)))
        key = child_seed(seed, 2**32 - 8, half)
        settings = bank.settings._replace(n_islands=FIRST_ISLANDS, sweeps=0)
        first = Bank(settings, layout_of(table.schema), key)
        first.fit(learn.blocks, *one_class(learn), execute)
        second = _learn_block(numbers, learn, bank, key, HALF_ISLANDS, execute)
        reader = Reader(first, second, table.schema, columns, known.n_categories)
        parts.append(reader.read_without(table.take(test)))
    table_of_some = table.take(np.concatenate([some[half::FOLDS] for half in range(FOLDS)]))
    without = [join_rows([part[k] for part in parts]) for k in range(len(columns))]
    found = find_completion(known, table_of_some, without)
    joint = _learn_block(numbers, table, bank, child_seed(seed, 2**32 - 9), ISLANDS, execute)
    return Completing(found, joint)


def learn_completing_there(schema: Schema, bank: Bank, parts: Parts) -> Completing | None:
    """Let one worker learn the same of rows that are in parts."""
    task = (tuple(parts.placed), schema, bank)
    found: Completing | None = execution.map(complete_parts, [task])[0]
    return found


def complete_parts(task: tuple[tuple[Any, ...], Schema, Bank]) -> Completing | None:
    """Join the parts of a table, and learn what it calls for."""
    placed, schema, bank = task
    *blocks, _ = (np.concatenate(some) for some in zip(*(p.value for p in placed), strict=True))
    return learn_completing(EncodedTable(schema, tuple(blocks)), bank, bank.seed, execution.map)


def _most_rows(known: Completion) -> int:
    """Return how many rows the regressions are learned from; at least FEWEST."""
    width = 2 * len(known.columns) + int(known.n_categories.sum()) + N_LANDMARKS
    most = int(MOST_CELLS / (width * len(known.columns)))
    return max(min(most, MOST_ROWS), FEWEST)


def _learn_block(
    numbers: NumberColumns | None,
    table: EncodedTable,
    bank: Bank,
    seed: np.random.SeedSequence,
    n_islands: int,
    execute: Execute,
) -> JointNumbers | None:
    """Learn the mixture of numbers that go together, if there are any."""
    if numbers is None:
        return None
    settings = bank.settings._replace(
        prior="learn", sweeps=0, window=0, n_particles=1, n_islands=n_islands
    )
    block = Bank(settings, layout_of_block(len(numbers.columns)), seed)
    block.fit((numbers.cells(table),), *one_class(table), execute)
    return JointNumbers(numbers, block)
