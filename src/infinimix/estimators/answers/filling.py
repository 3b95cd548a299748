"""What the missing cells of encoded rows are, by the predictive mixture of a bank.

Given its observed cells, a row lies in each group of each particle, island and class with a
probability: the weight of the group times the density of those cells in it, divided by the
sum. Means, modes, spreads and draws of the missing cells are then mixtures over the groups.
Within a group the family says what its cells are; the cells of one row are drawn together
from one group, so what depends on each other in the table does so in the draws.

Rows are handled in parts, as a table of rows by groups may be larger than all rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from infinimix.families.seam import column, draw, fill, score_rows
from infinimix.inference.ensemble.bank import Bank
from infinimix.inference.partition.filter import ROWS_AT_ONCE
from infinimix.inference.partition.live import mix
from infinimix.kernels.holes import hole_of
from infinimix.tables.encoded import Blocks


class Predictive(NamedTuple):
    """The predictive mixture of all classes of a bank."""

    family: Any  # its classes and its layout count here, not its numbers
    stats: Any
    log_weight: np.ndarray  # (S,) of each slot, those of all classes together sum to one
    bounds: np.ndarray  # (C + 1,) where each class starts

    @property
    def slots(self) -> np.ndarray:
        """The numbers of all slots."""
        return np.arange(len(self.log_weight))

    def score(self, blocks: Blocks) -> np.ndarray:
        """Return the log density of each row in each slot; mind the number of rows."""
        scores = np.zeros((len(blocks[0]), len(self.log_weight)))
        score_rows(self.family, self.stats, self.slots, blocks, scores)
        return scores

    def score_cells(self, b: int, block: np.ndarray, *columns: int) -> np.ndarray:
        """Return the log density in each slot of the cells of some columns of block b alone."""
        family, stats, scores = self.family[b], self.stats[b], np.zeros(self._shape(block))
        if is_tied(family):
            score_rows(family, stats, self.slots, _with_columns(block, columns), scores)
        else:
            for k in columns:
                cells = np.ascontiguousarray(block[:, k : k + 1])
                score_rows(*column(family, stats, k), self.slots, cells, scores)
        return scores

    def score_others(self, b: int, block: np.ndarray, k: int) -> np.ndarray:
        """Return how the log density in each slot changes when column k of block b is missing."""
        if not is_tied(self.family[b]):
            return -self.score_cells(b, block, k)
        every = range(block.shape[1])
        others = self.score_cells(b, block, *(m for m in every if m != k))
        return others - self.score_cells(b, block, *every)

    def _shape(self, block: np.ndarray) -> tuple[int, int]:
        return len(block), len(self.log_weight)

    def sum_slots(self, scores: np.ndarray) -> np.ndarray:
        """Return the log density of each row from those in the slots; `scores` is used up."""
        out = np.empty((len(scores), 1))
        mix(scores, self.log_weight, np.array([0, len(self.log_weight)]), out)
        return out[:, 0]

    def log_density(self, blocks: Blocks) -> np.ndarray:
        """Return the log density of each row."""
        out = np.empty(len(blocks[0]))
        for part, rows in parts_of(blocks):
            out[rows] = self.sum_slots(self.score(part))
        return out

    def responsibilities(self, blocks: Blocks, codes: np.ndarray | None = None) -> np.ndarray:
        """Return the probability of each slot given each row, and given its class if known."""
        scores = self.score(blocks) + self.log_weight
        if codes is not None:
            owner = np.repeat(np.arange(len(self.bounds) - 1), np.diff(self.bounds))
            scores[owner != codes[:, None]] = -np.inf
        scores -= scores.max(axis=1, keepdims=True)
        weight = np.exp(scores)
        return weight / weight.sum(axis=1, keepdims=True)

    def draw(self, blocks: Blocks, rng: np.random.Generator, codes: Any = None) -> Any:
        """Return the rows with their holes drawn, and the class that each was drawn from."""
        drawn, classes = [], []
        for part, rows in parts_of(blocks):
            weight = self.responsibilities(part, None if codes is None else codes[rows])
            chosen = choose(weight, rng)
            drawn.append(draw(self.family, self.stats, chosen, part, rng))
            classes.append(np.searchsorted(self.bounds, chosen, side="right") - 1)
        return _joined(drawn), np.concatenate(classes)

    def category_chances(self, b: int, k: int, count: int) -> np.ndarray:
        """Return the probability of each category of column k of block b in each slot."""
        cells = np.full((count, k + 1), -1, np.int32)
        cells[:, k] = np.arange(count)
        return np.exp(self.score_cells(b, cells, k))

    def expect(self, blocks: Blocks, b: int, k: int, values: np.ndarray) -> np.ndarray:
        """Return the mean of the values of a categorical column, k of block b, for each row."""
        by_slot = values @ self.category_chances(b, k, len(values))
        out = np.empty(len(blocks[0]))
        for part, rows in parts_of(blocks):
            out[rows] = self.responsibilities(part) @ by_slot
        return out

    def fill(self, blocks: Blocks, codes: np.ndarray | None = None) -> tuple[Blocks, Blocks]:
        """Return value and spread of each cell, as `families.seam.fill` defines them."""
        values, spreads = [], []
        for part, rows in parts_of(blocks):
            weight = self.responsibilities(part, None if codes is None else codes[rows])
            value, spread = fill(self.family, self.stats, weight, part)
            values.append(value)
            spreads.append(spread)
        return _joined(values), _joined(spreads)


def predictive_of(bank: Bank, log_prior: Any = (0.0,)) -> Predictive:
    """Return the predictive mixture of a bank whose classes have these log probabilities."""
    stats, log_mix, bounds = bank.snapshot()
    log_weight = log_mix + np.repeat(np.asarray(log_prior, float), np.diff(bounds))
    return Predictive(bank.family, stats, log_weight, bounds)


def is_tied(family: Any) -> bool:
    """Return whether the columns of a family depend on each other within a group."""
    return bool(getattr(family, "tied", False))


def _with_columns(block: np.ndarray, columns: Sequence[int]) -> np.ndarray:
    """Return a block that has the cells of some columns only."""
    out = np.full_like(block, hole_of(block.dtype))
    out[:, columns] = block[:, columns]
    return out


def parts_of(blocks: Blocks) -> Iterator[tuple[Blocks, slice]]:
    """Yield the rows in parts whose tables of densities are small; at least one part."""
    for i in range(0, max(len(blocks[0]), 1), ROWS_AT_ONCE):
        rows = slice(i, i + ROWS_AT_ONCE)
        yield tuple(block[rows] for block in blocks), rows


def choose(weight: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Draw a column for each row of a table of weights."""
    sums = weight.cumsum(axis=1)
    u = rng.random((len(weight), 1)) * sums[:, -1:]
    return (sums <= u).sum(axis=1)


def _joined(parts: list[Blocks]) -> Blocks:
    return tuple(np.concatenate(blocks) for blocks in zip(*parts, strict=True))
