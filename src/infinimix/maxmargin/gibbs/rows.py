"""Rows of a chain: digits, columns within clusters and for experts, where a chain begins."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import expit, softmax

from infinimix.estimators.common.labels import Labels
from infinimix.estimators.common.state import layout_of
from infinimix.families.given import resolve_prior
from infinimix.families.priors import blank, find_families
from infinimix.families.seam import empty
from infinimix.inference.ensemble.bank import pool_rows
from infinimix.maxmargin.descent.starts import find_penalty
from infinimix.maxmargin.experts.training import TrainingData, plain_clusters
from infinimix.maxmargin.objective.divergences import find_divergence
from infinimix.maxmargin.objective.problem import divergences_from
from infinimix.maxmargin.objective.rows import make_rows
from infinimix.tables import Schema, encode, read_schema

Blocks = tuple[np.ndarray, ...]


def round_digits(X: np.ndarray) -> np.ndarray:
    """Return columns to some ten digits.

    A chain amplifies rounding errors: the weight of a row grows without bound as it comes close to
    a margin. So the last digits, which depend on the memory layout of a table, are removed.
    """
    largest = np.nanmax(np.abs(X), axis=0, initial=0.0)
    unit = np.exp2(np.floor(np.log2(np.where(largest > 0, largest, 1.0))) - 36)
    return np.round(X / unit) * unit


def mean_of_columns(X: np.ndarray) -> np.ndarray:
    """Return what an expert sees for a missing cell of each column."""
    seen = ~np.isnan(X)
    return np.where(seen, X, 0.0).sum(axis=0) / np.maximum(seen.sum(axis=0), 1)


def experts_rows(X: np.ndarray, fill: np.ndarray, constant: float = 1.0) -> np.ndarray:
    """Return rows as experts take them: missing cells filled, and a constant for the bias."""
    bias = np.full(len(X), constant)  # zero if there is none
    return np.ascontiguousarray(np.c_[np.where(np.isnan(X), fill, X), bias])


def as_frame(X: np.ndarray, names: Any) -> Any:
    """Return rows with the names of their columns, if they have names."""
    if names is None:
        return X
    import pandas as pd  # slow to load, and arrays need none

    return pd.DataFrame(X, columns=names)


def read_blocks(X: np.ndarray, names: Any, clusters: Any, who: str) -> tuple[Schema, Blocks]:
    """Return what the columns are within a cluster, and the rows as densities take them."""
    frame = as_frame(X, names)
    schema = read_schema(frame, clusters, [])
    odd = [c.name for c in schema.columns if c.record.has_categories]
    if odd:
        raise ValueError(
            f"Column {odd[0]!r} is categorical, and experts take numbers; encode it first, "
            "with OneHotEncoder for example, or name another kind in 'clusters'."
        )
    return schema, encode(schema, frame, learn=True, who=who).blocks


def find_base(schema: Schema, blocks: Blocks, prior: Any) -> Any:
    """Return the families of the columns with the base measure that `prior` says."""
    layout = layout_of(schema)
    shape = blank(layout)
    pool = empty(shape, 1)
    pool_rows(shape, pool, blocks, 0, len(blocks[0]))
    resolved = resolve_prior(prior, schema.kinds(), schema.gaussian_blocks)
    return find_families(layout, resolved, pool)


def first_clusters(rng: np.random.Generator, X: np.ndarray) -> np.ndarray:
    """Return clusters of DP-means, where the chain begins."""
    divergence = find_divergence("euclidean", X)
    rows = make_rows(X, divergence)
    data = TrainingData(rows, np.zeros(rows.n, np.int64), Labels(), divergence)
    clusters = plain_clusters(rng, data, find_penalty(rng, rows, divergence))
    means = clusters.means + divergence.centre
    z = divergences_from(rows, divergence, means).argmin(axis=1)
    return np.unique(z, return_inverse=True)[1].astype(np.int64)


def class_shares(scores: np.ndarray, c: float, margin: float) -> np.ndarray:
    """Return the pseudo-likelihood of each class beside the others, from scores (..., C)."""
    pull = np.maximum(margin + scores, 0.0) - np.maximum(margin - scores, 0.0)
    if scores.shape[-1] > 1:
        return softmax(2.0 * c * pull, axis=-1)
    p = expit(2.0 * c * pull[..., 0])
    return np.stack([1.0 - p, p], axis=-1)
