"""Numbers filled better: by a regression on the rest of the row and on what mixtures say.

    x_j = m_j + c_j + a_j m_j + a'_j (g_j - m_j) + z . B_j

m_j is the mixture's mean of a cell given the rest of its row, g_j that of a second mixture in which
numbers that go together are one gaussian block (if there are such numbers), both in natural units.
z are the other cells: numbers, standardised, and categories, one-hot. The first mixture takes the
columns of a group as independent, so it says little of numbers that go together; a regression
alone says nothing of groups. a, a' and B have a ridge whose strength is that of the least
leave-one-out error; where that is not clearly below the error of m_j as it is, m_j stays.

Column j is learned from rows as they would be if x_j were missing: m, g and whatever is filled in z
know nothing of x_j, and the mixtures have not learned the row (`completing`). Missing cells in z
are filled by m first and by the regressions then, so there are ROUNDS of them. Answers stay within
the range of the values that were seen.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from infinimix.estimators.answers.filling import Predictive, predictive_of
from infinimix.estimators.common.features import category_values, is_number, number_cells
from infinimix.estimators.common.joint_numbers import JointNumbers
from infinimix.estimators.common.ridge import solve_ridge
from infinimix.inference.ensemble.bank import Bank
from infinimix.tables import EncodedTable, Schema
from infinimix.tables.column import KINDS, kind_of

STRENGTHS = (1e4, 3e3, 1e3, 300.0, 100.0, 30.0, 10.0, 3.0, 1.0, 0.3)  # and no regression at all
ROUNDS = 2
FEWEST = 30  # observed cells of a column; fewer are left to the mixture
CLIP = 4.0  # standard deviations of a number among the features


class Rows(NamedTuple):
    """Rows with missing cells, and what is known of these."""

    numbers: np.ndarray  # (n, J) encoded, NaN where missing
    means: np.ndarray  # (1 or 2, n, J) by the mixtures, in natural units
    others: np.ndarray  # (n, H) features of cells that are no numbers, filled


class Completion(NamedTuple):
    """The regressions of all columns of numbers."""

    columns: np.ndarray  # (J,) positions in the table
    mean: np.ndarray  # (J,) of the encoded numbers
    scale: np.ndarray  # (J,)
    low: np.ndarray  # (J,) the least value, in natural units
    high: np.ndarray  # (J,)
    n_categories: np.ndarray  # (K,) of each categorical column that has no numbers
    weights: np.ndarray  # (rounds, J, 1 + mixtures + J + H): c, a, perhaps a', B
    ratio: np.ndarray  # (J,) of the error with the regression to that without

    def fill(self, schema: Schema, rows: Rows) -> np.ndarray:
        """Return what is in missing cells, in natural units: (n, J), whether missing or not."""
        answer = rows.means[0]
        for weights in self.weights:
            answer = self._answer(self.features(schema, rows, answer), rows, weights)
        return np.asarray(answer)

    def features(self, schema: Schema, rows: Rows, answer: np.ndarray) -> np.ndarray:
        """Return z, given what is in the missing cells at present."""
        guess = np.stack(
            [to_number(schema, j, answer[:, k]) for k, j in enumerate(self.columns.tolist())], 1
        )
        numbers = np.where(np.isnan(rows.numbers), guess, rows.numbers)
        numbers = np.clip((numbers - self.mean) / self.scale, -CLIP, CLIP)
        return np.concatenate([numbers, rows.others], axis=1)

    def _answer(self, features: np.ndarray, rows: Rows, weights: np.ndarray) -> np.ndarray:
        first, M = rows.means[0], len(rows.means)
        answer = first + weights[:, 0] + weights[:, 1] * first + features @ weights[:, 1 + M :].T
        if M == 2:
            answer += weights[:, 2] * (rows.means[1] - first)
        return np.clip(answer, self.low, self.high)


def to_number(schema: Schema, j: int, values: np.ndarray) -> np.ndarray:
    """Return natural values as `number_cells` has them."""
    transform = _transform(schema, j)
    return values if transform is None else np.asarray(transform.encode(values))


def to_natural(schema: Schema, j: int, numbers: np.ndarray) -> np.ndarray:
    """Undo `to_number`."""
    transform = _transform(schema, j)
    return numbers if transform is None else np.asarray(transform.decode(numbers))


def _transform(schema: Schema, j: int) -> Any:
    column: Any = schema.columns[j]
    return column.transform.inner if column.kind == "spiked" else column.transform


def is_filled(schema: Schema, j: int) -> bool:
    """Return whether a column has numbers to fill; categories that were asked for are codes."""
    column = schema.columns[j]
    return is_number(schema, j) and (column.kind != "categorical" or column.guessed)


def number_columns(table: EncodedTable) -> np.ndarray:
    """Return the columns of numbers that have enough observed cells to learn from."""
    schema, observed = table.schema, (~table.holes()).sum(axis=0)
    found = [j for j in range(schema.width) if is_filled(schema, j) and observed[j] >= FEWEST]
    return np.array(found, np.int64)


def read_rows(
    bank: Bank, joint: JointNumbers | None, table: EncodedTable, known: Completion
) -> Rows:
    """Return rows as regressions read them, given one or two mixtures."""
    schema, columns = table.schema, known.columns
    mixture = predictive_of(bank)
    values, _ = mixture.fill(table.blocks)
    filled = filled_table(table, values)
    found = [_means(mixture, table, filled, j) for j in columns.tolist()]
    means = [_in_natural_units(schema, columns, found)]
    if joint is not None:
        numbers = joint.numbers
        second, _ = predictive_of(joint.bank).fill((numbers.cells(table),))
        cells = second[0] * numbers.scale + numbers.mean
        own = {int(j): cells[:, k] for k, j in enumerate(numbers.columns)}
        found = [own.get(j, cells) for j, cells in zip(columns.tolist(), found, strict=True)]
        means.append(_in_natural_units(schema, columns, found))
    observed = np.stack([number_cells(table, j) for j in columns.tolist()], axis=1)
    return Rows(observed, np.stack(means), other_features(filled, known.n_categories))


def _means(mixture: Predictive, table: EncodedTable, filled: EncodedTable, j: int) -> np.ndarray:
    """Return the mixture's means of a column of numbers, also where these are categories."""
    if table.schema.columns[j].kind != "categorical":
        return number_cells(filled, j)
    values = np.array(category_values(table.schema, j), float)
    return mixture.expect(table.blocks, *table.schema.places[j], values)


def _in_natural_units(schema: Schema, columns: np.ndarray, numbers: list[Any]) -> np.ndarray:
    pairs = zip(columns.tolist(), numbers, strict=True)
    return np.stack([to_natural(schema, j, cells) for j, cells in pairs], axis=1)


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
    parts = [np.empty((table.n_rows, 0))]
    for j, (b, k) in enumerate(schema.places):
        cells = table.blocks[b][:, k]
        if schema.columns[j].kind == "binary":
            parts.append(np.maximum(cells, 0)[:, None].astype(float))
        elif not is_filled(schema, j):
            parts.append((cells[:, None] == np.arange(next(counts))).astype(float))
    return np.concatenate(parts, axis=1)


def describe_numbers(table: EncodedTable, columns: np.ndarray) -> Completion:
    """Return a completion of some columns without any regression yet."""
    numbers = np.stack([number_cells(table, j) for j in columns.tolist()], axis=1)
    natural = _in_natural_units(table.schema, columns, list(numbers.T))
    scale = np.nanstd(numbers, axis=0)
    return Completion(
        columns, np.nanmean(numbers, axis=0), np.where(scale > 0.0, scale, 1.0),
        np.nanmin(natural, axis=0), np.nanmax(natural, axis=0), count_categories(table.schema),
        np.empty((0, len(columns), 0)), np.ones(len(columns)),
    )  # fmt: skip


def find_completion(found: Completion, table: EncodedTable, without: list[Rows]) -> Completion:
    """Learn the regressions; `without[k]` are the rows of a table without the kth number."""
    schema, columns = table.schema, found.columns
    numbers = [number_cells(table, j) for j in columns.tolist()]
    natural = _in_natural_units(schema, columns, numbers)
    answers = [rows.means[0] for rows in without]
    rounds: list[np.ndarray] = []
    for _ in range(ROUNDS):
        features = [
            found.features(schema, rows, answer)
            for rows, answer in zip(without, answers, strict=True)
        ]
        pairs = [
            _regress(features[k], without[k].means[:, :, k], natural[:, k])
            for k in range(len(columns))
        ]
        rounds.append(np.stack([w for w, _ in pairs]))
        found = found._replace(weights=np.stack(rounds), ratio=np.array([r for _, r in pairs]))
        answers = [
            found._answer(z, rows, rounds[-1]) for z, rows in zip(features, without, strict=True)
        ]
    return found


def _regress(z: np.ndarray, means: np.ndarray, natural: np.ndarray) -> tuple[np.ndarray, float]:
    """Return the weights of a column, and the ratio of its error to that of the mixture."""
    first = means[0]
    weights = np.zeros(1 + len(means) + z.shape[1])
    rows = np.flatnonzero(~np.isnan(natural))
    size = float(natural[rows].std())
    if len(rows) < FEWEST or not size > 0.0:
        return weights, 1.0
    X = np.column_stack([first[rows] / size, *((means[1:, rows] - first[rows]) / size), z[rows]])
    gap = (natural[rows] - first[rows]) / size
    found, error = best_ridge(X, gap)
    weights[0] = size * found[0]
    weights[1 : 1 + len(means)] = found[1 : 1 + len(means)]
    weights[1 + len(means) :] = size * found[1 + len(means) :]
    return weights, min(float(np.sqrt(error / max((gap**2).mean(), 1e-300))), 1.0)


def best_ridge(X: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, float]:
    """Return intercept and coefficients of the best ridge, and its leave-one-out error.

    Unless that is below the error of no regression, whose answer is 0, by a standard error of the
    difference, there is none.
    """
    tried = [solve_ridge(X, y, np.full(X.shape[1], strength)) for strength in STRENGTHS]
    best = min(tried, key=lambda line: float((line.left_out**2).mean()))
    saved = y**2 - best.left_out**2
    if saved.mean() <= saved.std() / np.sqrt(len(y)):
        return np.zeros(1 + X.shape[1]), float((y**2).mean())
    return np.append(best.intercept, best.coefficients), float((best.left_out**2).mean())
