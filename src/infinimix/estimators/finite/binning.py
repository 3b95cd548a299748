"""Quantile bins for real columns: the paper's variables are discrete, and so may these be."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from infinimix.estimators.common.table_estimator import block_names
from infinimix.families.priors import Layout
from infinimix.tables import Schema

Blocks = tuple[np.ndarray, ...]


def find_edges(schema: Schema, blocks: Sequence[np.ndarray], bins: int) -> tuple[np.ndarray, ...]:
    """Return the inner edges of the bins of each real column: quantiles of these rows."""
    if "real" not in schema.blocks:
        return ()
    shares = np.arange(1, bins) / bins
    edges = []
    for column in blocks[schema.blocks.index("real")].T:
        seen = column[~np.isnan(column)]
        edges.append(np.unique(np.quantile(seen, shares)) if seen.size else np.empty(0))
    return tuple(edges)


def lay_out(schema: Schema, edges: tuple[np.ndarray, ...]) -> Layout:
    """Return the layout of a table whose real columns are cut at these edges."""
    names = block_names(schema)
    if not edges:
        return Layout(names, schema.category_counts)
    cut = names.pop("real")
    names["categorical"] = names.get("categorical", ()) + cut
    order = [kind for kind in ("binary", "categorical", *names) if kind in names]
    counts = np.append(schema.category_counts, [len(e) + 1 for e in edges]).astype(np.int64)
    return Layout({kind: names[kind] for kind in dict.fromkeys(order)}, counts)


def cut_blocks(schema: Schema, blocks: Blocks, edges: tuple[np.ndarray, ...]) -> Blocks:
    """Return the blocks as `lay_out` has them: codes of bins beside those of categories."""
    if not edges:
        return blocks
    found = dict(zip(schema.blocks, blocks, strict=True))
    real = found.pop("real")
    pairs = zip(edges, real.T, strict=True)
    codes = [np.searchsorted(e, column, side="right") for e, column in pairs]
    cut = np.where(np.isnan(real), -1, np.stack(codes, axis=1)).astype(np.int32)
    if "categorical" in found:
        cut = np.concatenate([found["categorical"], cut], axis=1)
    found["categorical"] = np.ascontiguousarray(cut)
    return tuple(found[kind] for kind in lay_out(schema, edges).names)
