"""Pairs of a directed network that are linked, though neither direction is probable by itself."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


def undecided_links(edges: Any, threshold: float) -> Iterator[tuple[int, int, float]]:
    """Yield pairs whose two directions reach the threshold together and neither does alone.

    Equivalent networks share their probability, so that a pair which is surely linked has about
    half of it in each direction. The more probable direction comes first.

    >>> list(undecided_links([[0.0, 0.25, 0.75], [0.375, 0.0, 0.0], [0.125, 0.0, 0.0]], 0.5))
    [(1, 0, 0.625)]
    """
    for i in range(len(edges)):
        for j in range(i):
            one, other = float(edges[i][j]), float(edges[j][i])
            if max(one, other) < threshold <= one + other:
                yield (i, j, one + other) if one >= other else (j, i, one + other)
