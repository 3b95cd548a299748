"""Cells as bins, for decision trees.

A number has at most 254 bins, each value its own if there are no more of them; a category is its
own bin, and so are the two values of binary cells and of missingness indicators. Missing is what
has no bin: a missing cell, a category that `fit` has not seen, and one beyond the 254th.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from infinimix.estimators.common.features import is_number, number_cells
from infinimix.inference.trees.arrays import BinnedCells
from infinimix.inference.trees.cuts import HOLE
from infinimix.kernels.holes import is_hole
from infinimix.tables import EncodedTable, Schema

MOST_BINS = HOLE - 1


class Binning(NamedTuple):
    """How cells become bins. Columns are those of the table, then its missingness indicators."""

    edges: np.ndarray  # of all columns one after the other: the largest number of each bin
    n_edges: np.ndarray  # (columns,) int64; that of the last bin is not there, nor of categories
    n_bins: np.ndarray  # (columns,) int64

    @classmethod
    def learn(cls, table: EncodedTable) -> Binning:
        """Find bins with about the same number of cells."""
        edges, n_bins = [], []
        is_category = categories_of(table.schema)
        for cells, category in zip(_columns(table), is_category.tolist(), strict=True):
            seen = np.sort(cells[~np.isnan(cells)])
            values = np.unique(seen)
            if category:
                edges.append(np.empty(0))
                n_bins.append(min(int(values[-1]) + 1 if len(values) else 0, MOST_BINS))
                continue
            if len(values) > MOST_BINS:
                at = np.arange(1, MOST_BINS) * len(seen) // MOST_BINS
                values = np.append(np.unique(seen[at]), values[-1])
                values = np.unique(values)
            edges.append(values[:-1])
            n_bins.append(len(values))
        n_edges = [len(part) for part in edges]
        return cls(np.concatenate(edges), np.array(n_edges, np.int64), np.array(n_bins, np.int64))

    def transform(self, table: EncodedTable) -> BinnedCells:
        """Return the bins of each row."""
        is_category = categories_of(table.schema)
        bins = np.full((len(is_category), table.n_rows), HOLE, np.uint8)
        ends = np.cumsum(self.n_edges)
        for f, cells in enumerate(_columns(table)):
            seen = ~np.isnan(cells)
            if is_category[f]:
                seen[seen] = cells[seen] < self.n_bins[f]
                bins[f, seen] = cells[seen]
            elif self.n_bins[f]:
                edges = self.edges[ends[f] - self.n_edges[f] : ends[f]]
                bins[f, seen] = np.searchsorted(edges, cells[seen], side="left")
        return BinnedCells(bins, is_category)

    def fits(self, schema: Schema) -> bool:
        """Return whether these are bins of such columns."""
        shape = categories_of(schema).shape
        return (
            self.n_edges.shape == self.n_bins.shape == shape
            and self.n_edges.dtype == self.n_bins.dtype == np.int64
            and self.edges.dtype == np.float64
            and bool((self.n_edges >= 0).all())
            and self.edges.shape == (int(self.n_edges.sum()),)
            and bool(((self.n_bins >= 0) & (self.n_bins <= MOST_BINS)).all())
            and bool((self.n_edges <= np.maximum(self.n_bins - 1, 0)).all())
            and not np.isnan(self.edges).any()
        )


def categories_of(schema: Schema) -> np.ndarray:
    """Return which columns and indicators have values without an order."""
    kinds = [
        c.record.has_categories and not is_number(schema, j) for j, c in enumerate(schema.columns)
    ]
    return np.array(kinds + [False] * len(schema.indicated), bool)


def _columns(table: EncodedTable) -> list[np.ndarray]:
    """Return each column and indicator as numbers or codes, NaN where missing."""
    schema = table.schema
    found: list[Any] = []
    for j in range(schema.width):
        if is_number(schema, j):
            found.append(number_cells(table, j))
            continue
        b, k = schema.places[j]
        cells = table.blocks[b][:, k]
        found.append(np.where(is_hole(cells), np.nan, cells.astype(float)))
    if schema.indicated:
        block = table.blocks[schema.blocks.index("binary")]
        found += list(block[:, len(schema.positions("binary")) :].T.astype(float))
    return found
