"""Numbers filled better: by a regression on the rest of the row and on what mixtures say.

    x_j = m_j + c_j + a_j m_j + a'_j (g_j - m_j) + z . B_j

m_j is the mixture's mean of a cell given the rest of its row, g_j that of a second mixture in which
numbers that go together are one gaussian block (if there are such numbers), both in natural units.
z are the other cells: numbers, standardised, those that have a transform also as they are;
categories, one-hot; and how near the row is to each of some training rows, the landmarks l:
exp(-|z - l|^2 / dimension). With these the regression may bend, as a mean of the nearest rows does.
The first mixture takes the columns of a group as independent, so it says little of numbers that go
together; a regression alone says nothing of groups. a, a' and B have a ridge whose strength is that
of the least leave-one-out error. Landmarks are left out where that is not clearly less with them,
and where it is not clearly below the error of m_j as it is, m_j stays.

Column j is learned from rows as they would be if x_j were missing: m, g and whatever is filled in z
know nothing of x_j, and the mixtures have not learned the row (`completing`, `reading`). Missing
cells in z are filled by m first and by the regressions then, so there are ROUNDS of them. Answers
stay within the range of the values that were seen.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from infinimix.estimators.common.features import number_cells
from infinimix.estimators.common.ridge import solve_ridges
from infinimix.estimators.mixture.reading import (
    Rows,
    count_categories,
    in_natural_units,
    is_filled,
    to_number,
    transform_of,
)
from infinimix.tables import EncodedTable, Schema

STRENGTHS = (1e4, 3e3, 1e3, 300.0, 100.0, 30.0, 10.0, 3.0, 1.0, 0.3)  # and no regression at all
ROUNDS = 2
FEWEST = 30  # observed cells of a column; fewer are left to the mixture
MOST_NUMBERS = 100  # columns that are filled by regressions: the time grows with their cube
N_LANDMARKS = 128
NEARNESS = 3.0  # size of the features of a landmark, beside numbers in standard units
CLIP, WIDE_CLIP = 4.0, 8.0  # deviations of a number among the features; in natural units

NONE = np.zeros(0)


class Completion(NamedTuple):
    """The regressions of all columns of numbers."""

    columns: np.ndarray  # (J,) positions in the table
    mean: np.ndarray  # (J,) of the encoded numbers
    scale: np.ndarray  # (J,)
    low: np.ndarray  # (J,) the least value, in natural units
    high: np.ndarray  # (J,)
    n_categories: np.ndarray  # (K,) of each categorical column that has no numbers
    weights: np.ndarray  # (rounds, J, 1 + mixtures + features): c, a, perhaps a', B
    ratio: np.ndarray  # (J,) of the error with the regression to that without
    curved: np.ndarray = NONE.astype(np.int64)  # (C,) which of the J numbers have a transform
    middle: np.ndarray = NONE  # (C,) mean of those in natural units
    size: np.ndarray = NONE  # (C,) and standard deviation
    landmarks: np.ndarray = NONE[:, None]  # (L, J + C + H) training rows

    def fill(self, schema: Schema, rows: Rows) -> np.ndarray:
        """Return what is in missing cells, in natural units: (n, J), whether missing or not."""
        answer = rows.means[0]
        for weights in self.weights:
            answer = self._answer(self.features(schema, rows, answer), rows, weights)
        return np.asarray(answer)

    def features(self, schema: Schema, rows: Rows, answer: np.ndarray) -> np.ndarray:
        """Return z, given what is in the missing cells at present."""
        cells = self.cells(schema, rows, answer)
        if not len(self.landmarks):
            return cells
        gap = (cells**2).sum(axis=1)[:, None] + (self.landmarks**2).sum(axis=1)
        gap = np.maximum(gap - 2.0 * cells @ self.landmarks.T, 0.0)
        return np.concatenate([cells, NEARNESS * np.exp(-gap / cells.shape[1])], axis=1)

    def cells(self, schema: Schema, rows: Rows, answer: np.ndarray) -> np.ndarray:
        """Return z without the landmarks."""
        missing, columns = np.isnan(rows.numbers), self.columns.tolist()
        guess = np.stack([to_number(schema, j, answer[:, k]) for k, j in enumerate(columns)], 1)
        numbers = np.where(missing, guess, rows.numbers)
        parts = [np.clip((numbers - self.mean) / self.scale, -CLIP, CLIP)]
        if len(self.curved):
            natural = np.where(missing, answer, in_natural_units(schema, columns, list(numbers.T)))
            natural = (natural[:, self.curved] - self.middle) / self.size
            parts.append(np.clip(natural, -WIDE_CLIP, WIDE_CLIP))
        return np.concatenate([*parts, rows.others], axis=1)

    def _answer(self, features: np.ndarray, rows: Rows, weights: np.ndarray) -> np.ndarray:
        first, M = rows.means[0], len(rows.means)
        answer = first + weights[:, 0] + weights[:, 1] * first + features @ weights[:, 1 + M :].T
        if M == 2:
            answer += weights[:, 2] * (rows.means[1] - first)
        return np.clip(answer, self.low, self.high)


def number_columns(table: EncodedTable) -> np.ndarray:
    """Return the columns of numbers that have enough observed cells to learn from.

    Of too many, those with the most missing cells.
    """
    schema, observed = table.schema, (~table.holes()).sum(axis=0)
    found = [j for j in range(schema.width) if is_filled(schema, j) and observed[j] >= FEWEST]
    found = sorted(found, key=lambda j: int(observed[j]))[:MOST_NUMBERS]
    return np.array(sorted(found), np.int64)


def describe_numbers(table: EncodedTable, columns: np.ndarray) -> Completion:
    """Return a completion of some columns without any regression yet."""
    schema = table.schema
    numbers = np.stack([number_cells(table, j) for j in columns.tolist()], axis=1)
    natural = in_natural_units(schema, columns.tolist(), list(numbers.T))
    bent = [k for k, j in enumerate(columns.tolist()) if transform_of(schema, j) is not None]
    curved = np.array(bent, np.int64)
    return Completion(
        columns, np.nanmean(numbers, axis=0), _deviations(numbers),
        np.nanmin(natural, axis=0), np.nanmax(natural, axis=0), count_categories(schema),
        np.empty((0, len(columns), 0)), np.ones(len(columns)), curved,
        np.nanmean(natural[:, curved], axis=0), _deviations(natural[:, curved]),
    )  # fmt: skip


def _deviations(numbers: np.ndarray) -> np.ndarray:
    scale = np.nanstd(numbers, axis=0)
    return np.where(scale > 0.0, scale, 1.0)


def find_completion(found: Completion, table: EncodedTable, without: list[Rows]) -> Completion:
    """Learn the regressions; `without[k]` are the rows of a table without the kth number."""
    schema, columns = table.schema, found.columns.tolist()
    numbers = [number_cells(table, j) for j in columns]
    natural = in_natural_units(schema, columns, numbers)
    answers = [rows.means[0] for rows in without]
    whole = without[0]._replace(numbers=np.stack(numbers, axis=1))
    found = found._replace(landmarks=found.cells(schema, whole, answers[0])[:N_LANDMARKS])
    rounds: list[np.ndarray] = []
    for _ in range(ROUNDS):
        pairs = zip(without, answers, strict=True)
        features = [found.features(schema, rows, answer) for rows, answer in pairs]
        lines = [
            _regress(features[k], len(found.landmarks), without[k].means[:, :, k], natural[:, k])
            for k in range(len(columns))
        ]
        rounds.append(np.stack([w for w, _ in lines]))
        found = found._replace(weights=np.stack(rounds), ratio=np.array([r for _, r in lines]))
        answers = [
            found._answer(z, rows, rounds[-1]) for z, rows in zip(features, without, strict=True)
        ]
    return found


def _regress(
    z: np.ndarray, n_landmarks: int, means: np.ndarray, natural: np.ndarray
) -> tuple[np.ndarray, float]:
    """Return the weights of a column, and the ratio of its error to that of the mixture."""
    first = means[0]
    weights = np.zeros(1 + len(means) + z.shape[1])
    rows = np.flatnonzero(~np.isnan(natural))
    size = float(natural[rows].std())
    if len(rows) < FEWEST or not size > 0.0:
        return weights, 1.0
    X = np.column_stack([first[rows] / size, *((means[1:, rows] - first[rows]) / size), z[rows]])
    gap = (natural[rows] - first[rows]) / size
    found, error = best_ridge(X, gap, X.shape[1] - n_landmarks)
    weights[0] = size * found[0]
    weights[1 : 1 + len(means)] = found[1 : 1 + len(means)]
    weights[1 + len(means) :] = size * found[1 + len(means) :]
    return weights, min(float(np.sqrt(error / max((gap**2).mean(), 1e-300))), 1.0)


def best_ridge(
    X: np.ndarray, y: np.ndarray, n_plain: int | None = None
) -> tuple[np.ndarray, float]:
    """Return intercept and coefficients of the best ridge, and its leave-one-out error.

    There are three: no regression, whose answer is 0; one on the first `n_plain` features; one on
    all. The next one is taken only if its squared errors are less by a standard error of the mean
    difference.
    """
    found, least = np.zeros(1 + X.shape[1]), y**2
    for width in sorted({X.shape[1] if n_plain is None else n_plain, X.shape[1]}):
        lines = solve_ridges(X[:, :width], y, STRENGTHS)
        line = min(lines, key=lambda line: float((line.left_out**2).mean()))
        errors = line.left_out**2
        saved = least - errors
        if saved.mean() > saved.std() / np.sqrt(len(y)):
            found, least = np.zeros(1 + X.shape[1]), errors
            found[: 1 + width] = line.intercept, *line.coefficients
    return found, float(least.mean())
