"""Encoded rows as a matrix of numbers, for classifiers that take nothing else."""

from __future__ import annotations

import numpy as np

from infinimix.estimators.answers.filling import Blocks
from infinimix.tables import Schema


def has_holes(schema: Schema, blocks: Blocks) -> np.ndarray:
    """Return which rows lack a cell of some column; marks of holes are never missing."""
    out = np.zeros(len(blocks[0]), bool)
    for block in blocks:
        gone = np.isnan(block) if block.dtype.kind == "f" else block < 0
        out |= gone.any(axis=1)
    return out


def design_matrix(schema: Schema, blocks: Blocks) -> np.ndarray:
    """Return numbers as they are, binary cells as 0 and 1, and one column for each category.

    Real columns are in natural units. A cell that is still missing, as those of a column without
    any known category are, is 0 everywhere.
    """
    parts = [np.zeros((len(blocks[0]), 0))]
    columns = schema.decode(blocks)
    for kind, block in zip(schema.blocks, blocks, strict=True):
        if kind == "categorical":
            for cells, count in zip(block.T, schema.category_counts.tolist(), strict=True):
                parts.append((cells[:, None] == np.arange(count)).astype(float))
        elif kind == "binary":
            parts.append(np.maximum(block, 0).astype(float))
        else:
            names = [schema.names[j] for j in schema.positions(kind)]
            parts.append(np.stack([np.asarray(columns[name], float) for name in names], axis=1))
    return np.nan_to_num(np.concatenate(parts, axis=1), nan=0.0)
