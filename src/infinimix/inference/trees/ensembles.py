"""A random forest and boosted trees, each with answers for rows that a tree has not learned.

A forest averages the shares of classes in the leaves of trees that learned bootstrap samples, and
scores each training row by the trees whose sample it is not in. Boosting follows FOLDS sequences of
trees at once, each of which leaves out one fold and scores it; the number of rounds is that with
the least loss of these scores, and the answer for a new row is the mean of the sequences.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from infinimix.inference.trees.growth import LEAF, grow
from infinimix.inference.trees.paths import add_trees
from infinimix.inference.trees.slopes import find_slopes

SEEDS = 2**31 - 2
NO_CODES = np.empty(0, np.int64)
DEEPEST = 60  # of a tree of a forest
TREES, FEWEST_TREES = 200, 40  # of a forest
PILOT = 5  # the forests by which the size of leaves is chosen have one of so many trees
LEAVES = (1, 4)  # least rows of a leaf
LEVELS = 12  # of a tree of a forest, roughly
DEPTH, RIDGE, LEAST = 5, 3.0, 3  # of boosted trees; least rows of a leaf
SHARE = 0.6  # of rows and of columns that a boosted tree sees
RATE, ROUNDS, PATIENCE = 0.1, 150, 12
FASTEST, FEWEST = 0.3, 30  # rate and rounds of large tables
FOLDS, FOLDS_OF_MANY, MANY = 5, 3, 1000
WORK = 7.5e7  # additions that an ensemble may take, more or less


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
        self.add_to(out, cells)
        return out

    def add_to(self, out: np.ndarray, cells: BinnedCells, rows: np.ndarray | None = None) -> None:
        """Add to `out` what the trees say of all rows, or of some."""
        rows = np.arange(len(out)) if rows is None else rows
        add_trees(*cells, self.roots, tuple(self[:5]), rows, out)

    @classmethod
    def joined(cls, parts: list[Trees]) -> Trees:
        """Return the trees of several."""
        starts = np.cumsum([0, *(len(part.column) for part in parts)])
        roots = [part.roots + start for part, start in zip(parts, starts, strict=False)]
        arrays = [np.concatenate(fields) for fields in list(zip(*parts, strict=True))[:5]]
        return cls._make([*arrays, np.concatenate(roots)])


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


def grow_tree(cells: BinnedCells, votes: Votes, rows: np.ndarray, how: Growth, seed: int) -> Trees:
    """Return one tree that has learned these rows."""
    most = 2 * (len(rows) // how.least) + 1
    if how.deepest < 30:
        most = min(most, 2 ** (how.deepest + 1))
    tree = (
        np.empty(most, np.int16), np.empty(most, np.uint8), np.empty(most, np.int32),
        np.empty(most, np.float32), np.empty((most, votes.g.shape[1]), np.float32),
    )  # fmt: skip
    n = grow(*cells, *votes, rows, *how, seed, tree)
    return Trees._make([*(array[:n].copy() for array in tree), np.zeros(1, np.int64)])


def grow_forest(
    cells: BinnedCells, codes: np.ndarray, n_classes: int, rng: np.random.Generator
) -> tuple[Trees, np.ndarray]:
    """Return a forest, and for each row the shares of classes by the trees without it.

    The least size of a leaf is the one of LEAVES with the lower loss of such rows. A row that is in
    all samples has the shares of the classes in the table.
    """
    prior = np.bincount(codes, minlength=n_classes) / len(codes)
    bags = [_Bagging(cells, codes, n_classes, least) for least in LEAVES]
    one = len(codes) * bags[0].how.n_try * n_classes * LEVELS
    n_trees = max(min(TREES, int(WORK / one)), FEWEST_TREES)
    pilots = [bag.add(n_trees // PILOT, rng) for bag in bags]
    losses = [-np.log(p.shares(prior)[np.arange(len(codes)), codes]).sum() for p in pilots]
    best = pilots[int(np.argmin(losses))]
    best.add(n_trees - n_trees // PILOT, rng)
    return Trees.joined(best.trees), best.shares(prior)


class _Bagging:
    """Trees that have learned bootstrap samples, and what they say of the other rows."""

    def __init__(self, cells: BinnedCells, codes: np.ndarray, n_classes: int, least: int):
        self.cells, self.codes, self.none = cells, codes, np.empty((0, n_classes))
        n_try = int(np.ceil(np.sqrt(len(cells.bins))))
        self.how = Growth(n_try, DEEPEST, least, 0.0)
        self.trees: list[Trees] = []
        self.total, self.votes = np.zeros((len(codes), n_classes)), np.zeros(len(codes))

    def add(self, n_trees: int, rng: np.random.Generator) -> _Bagging:
        n = len(self.codes)
        for _ in range(n_trees):
            times = np.bincount(rng.integers(n, size=n), minlength=n).astype(float)[:, None]
            rows, others = np.flatnonzero(times), np.flatnonzero(times == 0.0)
            seed = int(rng.integers(1, SEEDS))
            votes = Votes(self.codes, self.none, times)
            tree = grow_tree(self.cells, votes, rows, self.how, seed)
            tree.add_to(self.total, self.cells, others)
            self.votes[others] += 1.0
            self.trees.append(tree)
        return self

    def shares(self, prior: np.ndarray) -> np.ndarray:
        """Return the mean over trees that do not know a row, and the whole table as one more."""
        return np.asarray((self.total + prior) / (self.votes + 1.0)[:, None])


def smoothed(forest: Trees, cells: BinnedCells, prior: np.ndarray) -> np.ndarray:
    """Return the shares of classes for new rows.

    The whole table counts as one more tree in as many as had not learned a training row, on
    average: a share e^-1 of them.
    """
    n_trees = len(forest.roots) * np.exp(-1.0)
    mean = forest.total(cells) / len(forest.roots)
    return np.asarray((n_trees * mean + prior) / (n_trees + 1.0))


def n_folds(n: int) -> int:
    """Return into how many folds boosting deals so many rows."""
    return FOLDS if n <= MANY else FOLDS_OF_MANY


def boost(
    cells: BinnedCells,
    codes: np.ndarray,
    fold: np.ndarray,
    n_classes: int,
    rng: np.random.Generator,
) -> tuple[Trees, np.ndarray] | None:
    """Return boosted trees and, for each row, the sum of those that have not learned its fold.

    The sums are what trees add to log P(y), up to a constant: one number, the log odds of the
    second class, if there are two classes. None if no round lowers the loss, or there is too
    much to learn for the time.
    """
    folds = range(int(fold.max()) + 1)
    one = cells.bins.size * SHARE**2 * DEPTH * n_outputs(n_classes) * len(folds)
    rounds = min(ROUNDS, int(WORK / one))
    if rounds < FEWEST:
        return None
    rate = min(RATE * ROUNDS / rounds, FASTEST)
    sequences = [_Sequence(cells, codes, fold == k, n_classes, rate) for k in folds]
    losses: list[float] = []
    for _ in range(rounds + 1):
        losses.append(sum(sequence.loss() for sequence in sequences) / len(codes))
        best = int(np.argmin(losses))
        if len(losses) > best + PATIENCE:
            break
        if best == len(losses) - 1:
            held_out = np.stack([s.scores for s in sequences])[fold, np.arange(len(codes))]
        for sequence in sequences:
            sequence.add(rng)
    if best == 0:
        return None
    trees = [tree for sequence in sequences for tree in sequence.trees[:best]]
    found = Trees.joined(trees)
    return found._replace(value=found.value / np.float32(len(sequences))), held_out


class _Sequence:
    """Trees each of which corrects those before it."""

    def __init__(
        self,
        cells: BinnedCells,
        codes: np.ndarray,
        left_out: np.ndarray,
        n_classes: int,
        rate: float,
    ):
        self.cells, self.codes, self.rate = cells, codes, np.float32(rate)
        self.rows, self.others = np.flatnonzero(~left_out), np.flatnonzero(left_out)
        self.log_prior = np.log(np.bincount(codes, minlength=n_classes) / len(codes))
        self.n_columns = max(1, int(np.ceil(SHARE * len(cells.bins))))
        self.scores = np.zeros((len(codes), n_outputs(n_classes)))
        self.g, self.h = np.zeros_like(self.scores), np.zeros_like(self.scores)
        self.trees: list[Trees] = []

    def loss(self) -> float:
        """Return the log-loss of all rows that are left out."""
        return self._slopes(self.others)

    def _slopes(self, rows: np.ndarray) -> float:
        """Find the slope and the curvature of the loss of some rows; return their loss."""
        return float(find_slopes(self.scores, self.log_prior, self.codes, rows, self.g, self.h))

    def add(self, rng: np.random.Generator) -> None:
        """Add a tree, which has seen a part of the rows and of the columns."""
        rows = self.rows[rng.random(len(self.rows)) < SHARE]
        columns = np.sort(rng.permutation(len(self.cells.bins))[: self.n_columns])
        some = BinnedCells(self.cells.bins[columns], self.cells.is_category[columns])
        how = Growth(len(columns), DEPTH, LEAST, RIDGE)
        self._slopes(rows)
        votes = Votes(NO_CODES, self.g, self.h)
        tree = grow_tree(some, votes, rows, how, int(rng.integers(1, SEEDS)))
        column = np.where(tree.column >= 0, columns[tree.column], tree.column).astype(np.int16)
        tree = tree._replace(column=column, value=tree.value * self.rate)
        tree.add_to(self.scores, self.cells)
        self.trees.append(tree)


def n_outputs(n_classes: int) -> int:
    """Return how many numbers a boosted tree has for each leaf."""
    return 1 if n_classes == 2 else n_classes


def as_classes(scores: np.ndarray, n_classes: int) -> np.ndarray:
    """Return what sums of boosted trees add to each class."""
    return np.concatenate([-scores, scores], axis=1) / 2.0 if n_classes == 2 else scores


def log_softmax(x: np.ndarray) -> np.ndarray:
    """Return the normalised log probabilities of each row."""
    x = x - x.max(axis=1, keepdims=True)
    return np.asarray(x - np.log(np.exp(x).sum(axis=1, keepdims=True)))


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
