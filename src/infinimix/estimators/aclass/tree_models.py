"""A forest and boosted trees beside the mixtures, for what a linear correction cannot say.

Where the class depends on columns together (this number is large *and* that category is there),
neither groups nor a line say it well, and trees do. Both ensembles score training rows by trees
that have not learned them (`inference.trees`), so the correction can stack them as it stacks
densities. What they give it is

    r(y, x) = log p(y | x) - o(x) log P(y) - (1 - o(x)) log p(y | no cell),

where p is the answer of the trees and o(x) the share of observed cells: 0 for a row without cells.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from infinimix.estimators.aclass.binned_cells import Binning
from infinimix.estimators.common.folds import deal_evenly
from infinimix.inference.trees.arrays import BinnedCells, Trees, are_trees
from infinimix.inference.trees.cuts import HOLE
from infinimix.inference.trees.ensembles import (
    as_classes,
    boost,
    grow_forest,
    log_softmax,
    n_folds,
    n_outputs,
    smoothed,
)
from infinimix.tables import EncodedTable, Schema

FEWEST_ROWS = 40  # fewer say nothing that a line does not
MOST_ROWS = 20_000


class Scored(NamedTuple):
    """Ensembles, and what each says of rows of the table that it has not learned."""

    models: TreeModels
    table: EncodedTable  # the rows that were learned
    codes: np.ndarray  # of their classes
    rows: np.ndarray  # where they are in the whole table, sorted
    log_ratios: np.ndarray  # (models, rows, classes)


@dataclass
class TreeModels:
    """The forest, and boosted trees if they say anything."""

    binning: Binning
    log_prior: np.ndarray  # (classes,) of the rows that were learned
    forest: Trees | None
    boosted: Trees | None

    @property
    def n_models(self) -> int:
        """The number of ensembles."""
        return (self.forest is not None) + (self.boosted is not None)

    def log_ratios(self, table: EncodedTable) -> np.ndarray:
        """Return r(y, x) of each ensemble, row and class."""
        return self.relative(self._answer(self.binning.transform(table)), table)

    def relative(self, log_p: np.ndarray, table: EncodedTable) -> np.ndarray:
        """Return r(y, x), given log p(y | x) of each ensemble."""
        share = (1.0 - table.holes().mean(axis=1))[:, None]
        return np.asarray(log_p - share * self.log_prior - (1.0 - share) * self._empty)

    def boosted_answer(self, scores: np.ndarray) -> np.ndarray:
        """Return log p(y | x), given sums over boosted trees."""
        return log_softmax(self.log_prior + as_classes(scores, len(self.log_prior)))

    def _answer(self, cells: BinnedCells) -> np.ndarray:
        """Return log p(y | x) of each ensemble."""
        found = []
        if self.forest is not None:
            found.append(np.log(smoothed(self.forest, cells, np.exp(self.log_prior))))
        if self.boosted is not None:
            found.append(self.boosted_answer(self.boosted.total(cells)))
        return np.stack(found)

    @cached_property
    def _empty(self) -> np.ndarray:
        """Return log p(y | no cell) of each ensemble: (ensembles, 1, classes)."""
        width = len(self.binning.n_bins)
        return self._answer(BinnedCells(np.full((width, 1), HOLE, np.uint8), np.zeros(width, bool)))

    def to_tree(self) -> dict[str, Any]:
        """Return plain values and arrays."""
        return {
            "binning": list(self.binning),
            "log_prior": self.log_prior,
            "forest": None if self.forest is None else list(self.forest),
            "boosted": None if self.boosted is None else list(self.boosted),
        }

    @classmethod
    def from_tree(cls, tree: dict[str, Any], schema: Schema) -> TreeModels:
        """Return the models that `to_tree` wrote; raise ValueError if they do not fit."""
        binning, log_prior = Binning(*tree["binning"]), tree["log_prior"]
        sound = (
            all(isinstance(x, np.ndarray) for x in (*binning, log_prior))
            and binning.fits(schema)
            and log_prior.dtype == np.float64
            and log_prior.ndim == 1
            and bool(np.isfinite(log_prior).all())
        )
        if not sound:
            raise ValueError("the bins of its trees do not fit its columns")
        ensembles = []
        for name, width in (("forest", len(log_prior)), ("boosted", n_outputs(len(log_prior)))):
            ensembles.append(None if tree[name] is None else Trees(*tree[name]))
            if ensembles[-1] is not None and not are_trees(
                ensembles[-1], len(binning.n_bins), width
            ):
                raise ValueError("its trees do not fit its columns")
        return cls(binning, log_prior, *ensembles)


def learn_forest(
    table: EncodedTable,
    codes: np.ndarray,
    rows: np.ndarray,
    rng: np.random.Generator,
    n_classes: int = 0,
) -> Scored | None:
    """Let a forest learn the labelled rows of a table; None if they are too few, or of one class.

    Of a large table only `rows` are learned, which the correction is found on. So it is with a
    sample of such a table, whose number of classes is then given.
    """
    known = np.flatnonzero(codes >= 0)
    if len(known) > MOST_ROWS or n_classes:
        known = rows
    n_classes = n_classes or int(codes.max()) + 1
    table, codes = table.take(known), codes[known]
    count = np.bincount(codes, minlength=n_classes)
    if len(known) < FEWEST_ROWS or n_classes < 2 or (count == 0).any():
        return None
    binning = Binning.learn(table)
    cells = binning.transform(table)
    forest, shares = grow_forest(cells, codes, n_classes, rng)
    models = TreeModels(binning, np.log(count / len(codes)), forest, None)
    return Scored(models, table, codes, known, models.relative(np.log(shares)[None], table))


def add_boosted(scored: Scored, rng: np.random.Generator) -> Scored:
    """Return the same with boosted trees beside the forest, if they say anything."""
    forest, table, codes = scored.models, scored.table, scored.codes
    n_classes = len(forest.log_prior)
    fold = deal_evenly(codes, n_folds(len(codes)), rng)
    found = boost(forest.binning.transform(table), codes, fold, n_classes, rng)
    if found is None:
        return scored
    boosted, scores = found
    alone = TreeModels(forest.binning, forest.log_prior, None, boosted)
    ratios = alone.relative(alone.boosted_answer(scores)[None], table)
    return scored._replace(
        models=TreeModels(forest.binning, forest.log_prior, forest.forest, boosted),
        log_ratios=np.concatenate([scored.log_ratios, ratios]),
    )
