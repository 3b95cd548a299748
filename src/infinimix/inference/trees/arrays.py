"""Trees and binned tables as arrays: what trees say of rows, and room for trees that grow.

All trees of an ensemble stand one after the other in the same five arrays. They are grown there
too, as a tree of a small table takes less time than arrays of its own would.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from infinimix.inference.trees.growth import LEAF, grow
from infinimix.inference.trees.paths import add_trees

FIRST_ROOM = 256  # nodes
ONE_ROOT = np.zeros(1, np.int64)


class BinnedCells(NamedTuple):
    """A table whose cells are bins."""

    bins: np.ndarray  # (columns, n) uint8, HOLE where missing
    is_category: np.ndarray  # (columns,) bool


class Growth(NamedTuple):
    """How a tree grows."""

    n_try: int
    deepest: int
    least: int
    ridge: float


class Votes(NamedTuple):
    """What rows add to a node: see `grow`."""

    codes: np.ndarray  # (n,) int64, or none of them
    g: np.ndarray
    h: np.ndarray


class Trees(NamedTuple):
    """Trees one after the other; children count from the root of their tree."""

    column: np.ndarray  # (nodes,) int16; LEAF at a leaf
    threshold: np.ndarray  # (nodes,) uint8
    child: np.ndarray  # (nodes,) int32: the left one; the right one is next to it
    share: np.ndarray  # (nodes,) float32: of the rows that went left
    value: np.ndarray  # (nodes, K) float32
    roots: np.ndarray  # (trees,) int64

    def total(self, cells: BinnedCells) -> np.ndarray:
        """Return the sum over the trees of what each says of each row."""
        out = np.zeros((cells.bins.shape[1], self.value.shape[1]))
        self.add_to(out, cells, np.arange(len(out)))
        return out

    def add_to(self, out: np.ndarray, cells: BinnedCells, rows: np.ndarray) -> None:
        """Add to `out` what the trees say of some rows."""
        add_trees(cells.bins, cells.is_category, self.roots, self[:5], rows, out)

    @classmethod
    def joined(cls, parts: list[Trees]) -> Trees:
        """Return the trees of several."""
        starts = np.cumsum([0, *(len(part.column) for part in parts)])
        roots = [part.roots + start for part, start in zip(parts, starts, strict=False)]
        arrays = [np.concatenate(fields) for fields in list(zip(*parts, strict=True))[:5]]
        return cls._make([*arrays, np.concatenate(roots)])


class TreeStore:
    """Trees that are grown one after the other into arrays which they share.

    The tree that was grown last may be changed in place, until the next one is grown.
    """

    def __init__(self, width: int):
        self._arrays = _node_arrays(FIRST_ROOM, width)
        self._ends = [0]  # of the trees, the end of none first

    def grow(
        self, cells: BinnedCells, votes: Votes, rows: np.ndarray, how: Growth, seed: int
    ) -> Trees:
        """Return one more tree, which has learned these rows."""
        most = 2 * (len(rows) // how.least) + 1
        if how.deepest < 30:
            most = min(most, 2 ** (how.deepest + 1))
        start = self._ends[-1]
        self._reserve(start + most)
        n = grow(*cells, *votes, rows, *how, seed, self._part(start, start + most))
        self._ends.append(start + n)
        return Trees._make((*self._part(start, start + n), ONE_ROOT))

    def first(self, n_trees: int) -> Trees:
        """Return the first trees, in arrays of their own."""
        arrays = [array.copy() for array in self._part(0, self._ends[n_trees])]
        return Trees._make((*arrays, np.array(self._ends[:n_trees], np.int64)))

    def _part(self, start: int, end: int) -> tuple[np.ndarray, ...]:
        column, threshold, child, share, value = self._arrays
        return (
            column[start:end], threshold[start:end], child[start:end], share[start:end],
            value[start:end],
        )  # fmt: skip

    def _reserve(self, nodes: int) -> None:
        old = self._arrays
        if nodes > len(old[0]):
            self._arrays = _node_arrays(2 * nodes, old[-1].shape[1])
            for new, array in zip(self._arrays, old, strict=True):
                new[: len(array)] = array


def _node_arrays(nodes: int, width: int) -> tuple[np.ndarray, ...]:
    """Return arrays for so many nodes, as `Trees` has them."""
    return (
        np.empty(nodes, np.int16), np.empty(nodes, np.uint8), np.empty(nodes, np.int32),
        np.empty(nodes, np.float32), np.empty((nodes, width), np.float32),
    )  # fmt: skip


def are_trees(trees: Trees, n_columns: int, width: int) -> bool:
    """Return whether arrays are trees in which every row reaches a leaf."""
    if not all(isinstance(x, np.ndarray) for x in trees):
        return False
    n = len(trees.column)
    kinds = [np.int16, np.uint8, np.int32, np.float32, np.float32, np.int64]
    if [x.dtype for x in trees] != kinds or trees.value.shape != (n, width):
        return False
    if not all(x.shape == (n,) for x in trees[:4]) or trees.roots.ndim != 1 or not len(trees.roots):
        return False
    roots = trees.roots
    if roots[0] != 0 or (np.diff(roots) <= 0).any() or roots[-1] >= n:
        return False
    tree = np.searchsorted(roots, np.arange(n), side="right") - 1
    own = np.arange(n) - roots[tree]
    size = np.diff(np.append(roots, n))[tree]
    inner = trees.column != LEAF
    below = (trees.child > own) & (trees.child + 1 < size)
    return (
        bool(((trees.column >= LEAF) & (trees.column < n_columns)).all())
        and bool(below[inner].all())
        and bool(((trees.share >= 0.0) & (trees.share <= 1.0)).all())
        and bool(np.isfinite(trees.value).all())
    )
