"""Cells as numbers: of one column, or as the features of a linear correction.

Features are standardised, or one for each category.

A missing cell, and a category that `fit` has not seen, is 0 everywhere: it says nothing. A number
is standardised by the training rows and cut off at CLIP deviations, so that no single cell decides.
"""

from __future__ import annotations

from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from infinimix.kernels.holes import is_hole
from infinimix.tables import EncodedTable, Schema
from infinimix.tables.column import record_of

CLIP = 4.0


class LinearFeatures(NamedTuple):
    """How the cells of a table become numbers."""

    mean: np.ndarray  # (D,) of each number, in the order of `_numbers`
    scale: np.ndarray  # (D,)
    n_categories: np.ndarray  # (K,) of each categorical column, when it was fitted

    @classmethod
    def learn(cls, table: EncodedTable) -> LinearFeatures:
        """Find means and deviations of the observed cells."""
        numbers = _numbers(table)
        with np.errstate(invalid="ignore"):
            count = np.maximum((~np.isnan(numbers)).sum(axis=0), 1)
            mean = np.nansum(numbers, axis=0) / count
            scale = np.sqrt(np.nansum((numbers - mean) ** 2, axis=0) / count)
        scale[~(scale > 0.0)] = 1.0
        return cls(mean, scale, np.array(table.schema.category_counts, np.int64))

    @property
    def width(self) -> int:
        """The number of features."""
        return len(self.mean) + int(self.n_categories.sum())

    def transform(self, table: EncodedTable) -> np.ndarray:
        """Return the features of each row."""
        numbers = (_numbers(table) - self.mean) / self.scale
        parts = [np.clip(np.nan_to_num(numbers, nan=0.0), -CLIP, CLIP)]
        if len(self.n_categories):
            codes = table.blocks[table.schema.blocks.index("categorical")]
            for cells, count in zip(codes.T, self.n_categories.tolist(), strict=True):
                parts.append((cells[:, None] == np.arange(count)).astype(float))
        return np.concatenate(parts, axis=1)

    def fits(self, schema: Schema) -> bool:
        """Return whether these are features of such columns."""
        numbers = [kind for kind in schema.blocks if not record_of(kind).has_categories]
        width = sum(_width(schema, kind) for kind in numbers)
        return (
            self.mean.shape == self.scale.shape == (width,)
            and bool(np.isfinite(self.mean).all() and (self.scale > 0.0).all())
            and self.n_categories.shape == schema.category_counts.shape
            and bool((self.n_categories >= 0).all())
            and bool((self.n_categories <= schema.category_counts).all())
        )


def _width(schema: Schema, kind: str) -> int:
    return len(schema.owners(kind)) * (2 if record_of(kind).has_atom else 1)


def _numbers(table: EncodedTable) -> np.ndarray:
    """Return all cells that are no categories, NaN where missing.

    Of a spiked column there are two: is it the common value, and how large is it if not.
    """
    parts: list[Any] = [np.empty((table.n_rows, 0))]
    for kind, block in zip(table.schema.blocks, table.blocks, strict=True):
        if record_of(kind).has_categories:
            continue
        cells = np.where(is_hole(block), np.nan, block.astype(float))
        if record_of(kind).has_atom:
            common = np.isinf(cells)
            parts += [np.where(np.isnan(cells), np.nan, common), np.where(common, np.nan, cells)]
        else:
            parts.append(cells)
    return np.concatenate(parts, axis=1)


def is_number(schema: Schema, j: int) -> bool:
    """Return whether a column has numbers for values, and more than two if they are categories."""
    kind = schema.columns[j].record
    if not kind.has_categories:
        return not kind.discrete
    values = category_values(schema, j)
    return len(values) > 2 and all(isinstance(v, Real) and not isinstance(v, bool) for v in values)


def number_cells(table: EncodedTable, j: int) -> np.ndarray:
    """Return a column as numbers, transformed as the first model has them; NaN where missing."""
    schema, column = table.schema, table.schema.columns[j]
    b, k = schema.places[j]
    cells = table.blocks[b][:, k]
    if column.record.has_categories:
        values = np.append(_as_numbers(category_values(schema, j)), np.nan)
        return np.asarray(values[np.where(cells < len(values) - 1, cells, -1)])
    if column.record.has_atom:
        spike: Any = column.transform
        atom = np.array([spike.atom])
        atom = spike.inner.encode(atom) if spike.inner else atom
        return np.where(np.isposinf(cells), atom, cells)
    return cells.astype(float)


def category_values(schema: Schema, j: int) -> tuple[Any, ...]:
    """Return the values of a categorical column, in the order of their codes."""
    return schema.categories[int(np.searchsorted(schema.positions("categorical"), j))]


def _as_numbers(values: tuple[Any, ...]) -> np.ndarray:
    """Return categories as numbers; one that came later and is none counts as missing."""
    is_real = [isinstance(v, Real) and not isinstance(v, bool) for v in values]
    return np.array([float(v) if real else np.nan for v, real in zip(values, is_real, strict=True)])
