"""Missing cells of a table with categories and numbers, drawn within the sampler.

As in `completion`: parameters given rows and graph, then each missing cell given the cells around
it. A category changes the regressions of its real children, so these have a say by their densities.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from infinimix.networks.engine.families import Data
from infinimix.networks.learning.completion import (
    SAME_ROW,
    Ties,
    code_parents,
    complete_discrete,
    complete_gaussian,
    draw_table,
)
from infinimix.networks.learning.conditional import ConditionalFamily


def completion_of(cards: np.ndarray | None) -> Callable[..., None]:
    """Return what draws missing cells in a table of numbers, of categories, or of both."""
    if cards is None:
        return complete_gaussian
    return complete_discrete if cards.all() else complete_mixed


class DrawnFamilies:
    """The families of a graph, with parameters drawn given all rows."""

    def __init__(
        self, X: np.ndarray, A: np.ndarray, wanted: list[int], data: Data, rng: np.random.Generator
    ) -> None:
        self.parents = [np.flatnonzero(A[:, j]) for j in range(len(A))]
        self.cards, self.rng = data.cards, rng
        codes = np.where(self.cards > 0, X, 0.0).astype(np.int64)
        rows = X.copy()  # as they were when parameters were drawn
        self.own: dict[int, Any] = {
            c: draw_table(codes, c, self.parents[c], data, rng, SAME_ROW)
            if self.cards[c]
            else ConditionalFamily(rows, c, self.parents[c], data)
            for c in wanted
        }

    def configurations(self, c: int, X: np.ndarray) -> np.ndarray:
        """Return the number of the configuration of the parents of a category."""
        return code_parents(X.astype(np.int64), self.parents[c], self.cards)

    def log_p(self, c: int, X: np.ndarray) -> np.ndarray:
        """Return the log probability or density of the cells of column c in rows X."""
        family = self.own[c]
        if self.cards[c]:
            return np.asarray(family[self.configurations(c, X), X[:, c].astype(np.int64)])
        return np.asarray(family.lines(X, self.rng).log_density(X[:, family.real], X[:, c]))


def complete_mixed(
    X: np.ndarray, missing: np.ndarray, A: np.ndarray, data: Data, rng: np.random.Generator,
    ties: Ties = SAME_ROW,
) -> None:  # fmt: skip
    """Draw the missing cells of rows X in place, given adjacency A."""
    holes = np.flatnonzero(missing.any(axis=0)).tolist()
    touched = sorted({*holes, *(int(c) for j in holes for c in np.flatnonzero(A[j]))})
    families = DrawnFamilies(X, A, touched, data, rng)
    used = ties.cells_used(X.shape, data)
    for j in holes:
        rows = np.flatnonzero(missing[:, j])
        draw = _draw_categories if data.cards[j] else _draw_numbers
        X[rows, j] = draw(families, j, X[rows], used[rows], np.flatnonzero(A[j]))


def _draw_categories(
    families: DrawnFamilies, j: int, X: np.ndarray, used: np.ndarray, children: np.ndarray
) -> np.ndarray:
    """Return categories of column j, given the rest of each row."""
    score, part = np.zeros((len(X), int(families.cards[j]))), X.copy()
    for v in range(score.shape[1]):
        part[:, j] = v
        for c in (j, *children.tolist()):
            score[:, v] += np.where(used[:, c], families.log_p(c, part), 0.0)
    return np.asarray(np.argmax(score + families.rng.gumbel(size=score.shape), axis=1))


def _draw_numbers(
    families: DrawnFamilies, j: int, X: np.ndarray, used: np.ndarray, children: np.ndarray
) -> np.ndarray:
    """Return numbers of column j, given the rest of each row; all its children are numbers."""
    family, rng = families.own[j], families.rng
    own = family.lines(X, rng)
    precision = used[:, j] / own.variance
    pull = precision * own.at(X[:, family.real])
    for c in children.tolist():
        family = families.own[c]
        lines = family.lines(X, rng)
        slope = lines.slopes[:, family.real == j][:, 0]
        rest = X[:, c] - lines.at(X[:, family.real]) + slope * X[:, j]
        weight = used[:, c] * slope / lines.variance
        precision += weight * slope
        pull += weight * rest
    sound = precision > 0
    scale = np.where(sound, precision, 1.0)
    draw = pull / scale + rng.standard_normal(len(X)) / np.sqrt(scale)
    return np.where(sound, draw, X[:, j])
