"""Completed tables that a chain remembers: graphs, and the missing cells that were drawn with them.

A pair of a graph and the cells drawn given it is a draw from their joint posterior, so answers
about rows are averages over such pairs. A chain keeps a few of them, from all of its sweeps.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

MOST_KEPT = 32  # pairs that a chain remembers
MOST_CELLS = 4_000_000  # of all of them together


class Completions(NamedTuple):
    """Pairs of graphs and completed rows, of all chains."""

    missing: np.ndarray  # (n, C) bool
    graphs: np.ndarray  # (M, N, W) uint64
    values: np.ndarray  # (M, cells): what the missing cells are, in the order of the mask
    negative: np.ndarray | None = None  # (M, N, W) uint64: parents with a negative effect, if
    # effects have signs

    def table(self, X: np.ndarray, m: int) -> np.ndarray:
        """Return rows X with the missing cells of pair m."""
        out = X.copy()
        out[self.missing] = self.values[m]
        return out


class KeptCompletions:
    """What one chain remembers; when there is no room, every other pair is forgotten."""

    def __init__(self, missing: np.ndarray) -> None:
        cells = max(int(missing.sum()), 1)
        self.room = int(np.clip(MOST_CELLS // cells, 2, MOST_KEPT))
        self.thin, self.seen = 1, 0
        self.pairs: list[tuple[np.ndarray, ...]] = []

    def note(self, *pair: np.ndarray) -> None:
        """Take a pair, graph and values, if it is its turn; and negative effects, if any."""
        if self.seen % self.thin == 0:
            if len(self.pairs) == self.room:
                self.pairs, self.thin = self.pairs[::2], 2 * self.thin
            if self.seen % self.thin == 0:
                self.pairs.append(tuple(part.copy() for part in pair))
        self.seen += 1


def gather_completions(chains: list[Any]) -> Completions | None:
    """Return the pairs of all chains; None if no cell was missing."""
    missing = chains[0].problem.missing
    pairs = [pair for chain in chains for pair in chain.completions.pairs]
    if not missing.any() or not pairs:
        return None
    return Completions(missing, *(np.array(part) for part in zip(*pairs, strict=True)))
