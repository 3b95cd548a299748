"""Quantile bins for real columns: the paper's variables are discrete, and so may these be."""

from __future__ import annotations

import numpy as np

from infinimix.estimators.common.state import block_names, layout_of
from infinimix.families.priors import Layout
from infinimix.tables import EncodedTable, Schema
from infinimix.tables.encoded import Blocks

Edges = tuple[np.ndarray, ...]  # the inner edges of the bins of each real column


def find_edges(table: EncodedTable, bins: int) -> Edges:
    """Return the quantiles of each real column of these rows."""
    if "real" not in table.schema.blocks:
        return ()
    real = table.blocks[table.schema.blocks.index("real")]
    return tuple(edges_of(column, bins) for column in real.T)


def edges_of(column: np.ndarray, bins: int) -> np.ndarray:
    """Return the quantiles of the cells of a column."""
    seen = column[~np.isnan(column)]
    return np.unique(np.quantile(seen, np.arange(1, bins) / bins)) if seen.size else np.empty(0)


def lay_out(schema: Schema, edges: Edges) -> Layout:
    """Return the layout of a table whose real columns are cut at these edges."""
    names = block_names(schema)
    if not edges:
        return layout_of(schema)
    cut = names.pop("real")
    names["categorical"] = names.get("categorical", ()) + cut
    order = [kind for kind in ("binary", "categorical", *names) if kind in names]
    counts = np.append(schema.category_counts, [len(e) + 1 for e in edges]).astype(np.int64)
    return Layout({kind: names[kind] for kind in dict.fromkeys(order)}, counts)


def cut_blocks(table: EncodedTable, edges: Edges) -> Blocks:
    """Return the blocks as `lay_out` has them: codes of bins beside those of categories."""
    if not edges:
        return table.blocks
    found = dict(zip(table.schema.blocks, table.blocks, strict=True))
    real = found.pop("real")
    pairs = zip(edges, real.T, strict=True)
    codes = [np.searchsorted(e, column, side="right") for e, column in pairs]
    cut = np.where(np.isnan(real), -1, np.stack(codes, axis=1)).astype(np.int32)
    if "categorical" in found:
        cut = np.concatenate([found["categorical"], cut], axis=1)
    found["categorical"] = np.ascontiguousarray(cut)
    return tuple(found[kind] for kind in lay_out(table.schema, edges).names)
