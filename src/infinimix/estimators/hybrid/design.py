"""Encoded tables as matrices for classifiers that take nothing but numbers."""

from __future__ import annotations

import numpy as np

from infinimix.tables import EncodedTable, Schema
from infinimix.tables.column import record_of


def design_matrix(table: EncodedTable) -> np.ndarray:
    """Return numbers as they are, binary cells as 0 and 1, and one column for each category.

    Real columns are in natural units. A cell that is still missing, as those of a column without
    any known category are, is 0 everywhere.
    """
    schema = table.schema
    parts: list[np.ndarray] = [np.zeros((table.n_rows, 0))]
    columns = schema.decode(table.blocks)
    for kind, block in zip(schema.blocks, table.blocks, strict=True):
        if record_of(kind).has_categories:
            for cells, count in zip(block.T, schema.category_counts.tolist(), strict=True):
                parts.append((cells[:, None] == np.arange(count)).astype(float))
        elif record_of(kind).two_valued:
            parts.append(np.maximum(block, 0).astype(float))
        else:
            names = [schema.names[j] for j in schema.positions(kind)]
            parts.append(np.stack([np.asarray(columns[name], float) for name in names], axis=1))
    return np.nan_to_num(np.concatenate(parts, axis=1), nan=0.0)


def count_columns(schema: Schema) -> int:
    """Return how many columns `design_matrix` has."""
    categorical = [kind for kind in schema.blocks if record_of(kind).has_categories]
    plain = sum(len(schema.positions(kind)) for kind in schema.blocks if kind not in categorical)
    return plain + (int(schema.category_counts.sum()) if categorical else 0)
