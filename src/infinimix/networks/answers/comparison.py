"""How far a fitted network is from another one, or from a graph: SHD, AUPR, and edges by name."""

from __future__ import annotations

from typing import Any

import numpy as np

from infinimix.networks.engine.blocks import ACYCLIC, UNDIRECTED


def compare_graphs(state: Any, other: np.ndarray, marginals: np.ndarray | None) -> dict[str, Any]:
    """Return distances of the best graph to another one, and of probabilities if it has some."""
    mine, other = state.graph(None) != 0, other != 0
    off = ~np.eye(len(mine), dtype=bool) if state.shape in (ACYCLIC, UNDIRECTED) else mine | True
    if state.shape == UNDIRECTED:
        other, off = other | other.T, np.triu(off)
    mine, other = mine & off, other & off
    turned = mine & other.T & ~other & ~mine.T if state.shape == ACYCLIC else mine & False
    extra, missing = mine & ~other & ~turned, other & ~mine & ~turned.T
    P = state.edge_marginals
    found: dict[str, Any] = {
        "shd": int(extra.sum() + missing.sum() + turned.sum()),
        "extra": _named(state, extra),
        "missing": _named(state, missing),
        "reversed": _named(state, turned),
        "aupr": average_precision(other[off], P[off]),
    }
    if marginals is not None:
        found["largest_difference"] = float(np.abs(P - marginals)[off].max(initial=0.0))
    return found


def _named(state: Any, A: np.ndarray) -> list[tuple[str, str]]:
    return [(state.names[i], state.names[j]) for i, j in np.argwhere(A)]


def average_precision(truth: np.ndarray, p: np.ndarray) -> float:
    """Return the area under the precision-recall curve, a sum of steps; NaN without any edge.

    Examples
    --------
    >>> average_precision(np.array([1, 0, 1, 0]), np.array([0.9, 0.8, 0.7, 0.1])).__round__(3)
    0.833
    """
    if not truth.any():
        return float("nan")
    levels = np.unique(p)[::-1]
    hits = np.array([truth[p >= level].sum() for level in levels], float)
    size = np.array([(p >= level).sum() for level in levels], float)
    gained = np.diff(np.concatenate([[0.0], hits / truth.sum()]))
    return float((gained * hits / size).sum())
