"""Rows of a chain: digits, what experts see in holes, where a chain begins, shares of classes."""

from __future__ import annotations

import numpy as np
from scipy.special import expit, softmax

from infinimix.estimators.common.labels import Labels
from infinimix.maxmargin.descent.starts import find_price
from infinimix.maxmargin.dpmeans import nearness
from infinimix.maxmargin.experts.training import Data, plain_clusters
from infinimix.maxmargin.objective.divergences import find_divergence
from infinimix.maxmargin.objective.rows import make_rows


def round_digits(X: np.ndarray) -> np.ndarray:
    """Return columns to some ten digits.

    A chain amplifies rounding until it takes another way: rows close to a margin weigh as much as
    they are close. So a last digit that depends on the layout of a table must not reach it.
    """
    largest = np.nanmax(np.abs(X), axis=0, initial=0.0)
    unit = np.exp2(np.floor(np.log2(np.where(largest > 0, largest, 1.0))) - 36)
    return np.round(X / unit) * unit


def mean_of_columns(X: np.ndarray) -> np.ndarray:
    """Return what an expert sees in a hole of each column."""
    seen = ~np.isnan(X)
    return np.where(seen, X, 0.0).sum(axis=0) / np.maximum(seen.sum(axis=0), 1)


def experts_rows(X: np.ndarray, fill: np.ndarray) -> np.ndarray:
    """Return rows as experts take them: holes filled, and a one."""
    return np.ascontiguousarray(np.c_[np.where(np.isnan(X), fill, X), np.ones(len(X))])


def first_clusters(rng: np.random.Generator, X: np.ndarray) -> np.ndarray:
    """Return clusters of DP-means, where the chain begins."""
    divergence = find_divergence("euclidean", X)
    rows = make_rows(X, divergence)
    data = Data(rows, np.zeros(rows.n, np.int64), Labels(), divergence)
    clusters = plain_clusters(rng, data, find_price(rng, rows, divergence))
    z = nearness(rows, divergence, clusters.means + divergence.centre).argmin(axis=1)
    return np.unique(z, return_inverse=True)[1].astype(np.int64)


def class_shares(scores: np.ndarray, c: float, margin: float) -> np.ndarray:
    """Return the pseudo-likelihood of each class beside the others, from scores (..., C)."""
    pull = np.maximum(margin + scores, 0.0) - np.maximum(margin - scores, 0.0)
    if scores.shape[-1] > 1:
        return softmax(2.0 * c * pull, axis=-1)
    p = expit(2.0 * c * pull[..., 0])
    return np.stack([1.0 - p, p], axis=-1)
