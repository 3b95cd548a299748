"""Graphs that users give, in any form, as adjacency matrices in the order of the columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from infinimix.networks.learning.names import find_column, find_targets

FORMS = (
    "a graph may be an array of 0 and 1, a square frame with the names of the columns, a list of "
    "(from, to) pairs of columns, a networkx graph or a BayesNet"
)


def read_graph(graph: Any, names: Sequence[str]) -> np.ndarray:
    """Return a graph in any form as an adjacency matrix; ValueError if it is none.

    Examples
    --------
    >>> read_graph([("b", "a")], ("a", "b")).tolist()
    [[0, 0], [1, 0]]
    """
    if hasattr(graph, "adjacency") and hasattr(graph, "names"):
        own = list(graph.names)
        return _read_edges([(own[i], own[j]) for i, j in np.argwhere(graph.adjacency)], names)
    if hasattr(graph, "edges"):
        return _read_edges(graph.edges() if callable(graph.edges) else graph.edges, names)
    if hasattr(graph, "columns"):
        return _read_frame(graph, names)
    if isinstance(graph, np.ndarray):
        return _read_array(graph, len(names))
    if isinstance(graph, str | bytes | Mapping) or not isinstance(graph, Iterable):
        raise ValueError(f"{FORMS}; got {graph!r}")
    return _read_edges(graph, names)


def _read_edges(edges: Any, names: Sequence[str]) -> np.ndarray:
    A = np.zeros((len(names),) * 2, np.uint8)
    for edge in edges:
        if isinstance(edge, str) or not isinstance(edge, Sequence | np.ndarray) or len(edge) != 2:
            raise ValueError(f"{FORMS}; {edge!r} is no pair")
        i, j = find_targets(names, list(edge), None)
        A[i, j] = 1
    return A


def _read_array(values: np.ndarray, N: int) -> np.ndarray:
    if values.shape != (N, N):
        raise ValueError(f"a graph of {N} columns is an array of that many squared")
    if not np.isin(values, (0, 1)).all():
        raise ValueError(
            "a graph as an array or frame holds 0 and 1 alone; make one of probabilities P by "
            "P > 0.5"
        )
    return values.astype(np.uint8)


def _read_frame(frame: Any, names: Sequence[str]) -> np.ndarray:
    """Return the adjacency matrix in a frame; rows have names, or the order of the columns."""
    columns = list(frame.columns)
    rows = list(getattr(frame, "index", columns))
    rows = columns if rows == list(range(len(columns))) else rows
    at, own = ([find_column(names, name) for name in axis] for axis in (rows, columns))
    every = list(range(len(names)))
    if any(sorted(-1 if j is None else j for j in axis) != every for axis in (at, own)):
        raise ValueError(
            "a graph as a frame has a column and a row for each column of the model, with its "
            f"name; got the columns {columns[:6]} and {len(rows)} rows"
        )
    A = np.zeros((len(names),) * 2, np.uint8)
    A[np.array(at)[:, None], np.array(own)] = _read_array(np.asarray(frame), len(names))
    return A


def check_kinds(A: np.ndarray, numbers: np.ndarray, names: Sequence[str]) -> None:
    """Raise ValueError if a number is a parent of a category."""
    for i, j in np.argwhere(A[numbers][:, ~numbers]).tolist():
        source, end = np.flatnonzero(numbers)[i], np.flatnonzero(~numbers)[j]
        raise ValueError(
            f"in a mixed network the number {names[source]!r} is no parent of {names[end]!r}, "
            "which has categories"
        )
