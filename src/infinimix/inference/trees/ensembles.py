"""A random forest and boosted trees, each with answers for rows that a tree has not learned.

A forest averages the shares of classes in the leaves of trees that learned bootstrap samples, and
scores each training row by the trees whose sample it is not in. Boosting follows FOLDS sequences of
trees at once, each of which leaves out one fold and scores it; the number of rounds is that with
the least loss of these scores, and the answer for a new row is the mean of the sequences.
"""

from __future__ import annotations

import numpy as np

from infinimix.inference.trees.arrays import BinnedCells, Growth, Trees, TreeStore, Votes
from infinimix.inference.trees.growth import LEAF
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
    return best.trees.first(n_trees), best.shares(prior)


class _Bagging:
    """Trees that have learned bootstrap samples, and what they say of the other rows."""

    def __init__(self, cells: BinnedCells, codes: np.ndarray, n_classes: int, least: int):
        self.cells, self.codes, self.none = cells, codes, np.empty((0, n_classes))
        n_try = int(np.ceil(np.sqrt(len(cells.bins))))
        self.how = Growth(n_try, DEEPEST, least, 0.0)
        self.trees = TreeStore(n_classes)
        self.total, self.votes = np.zeros((len(codes), n_classes)), np.zeros(len(codes))

    def add(self, n_trees: int, rng: np.random.Generator) -> _Bagging:
        n = len(self.codes)
        for _ in range(n_trees):
            times = np.bincount(rng.integers(n, size=n), minlength=n)
            rows, is_left = times.nonzero()[0], times == 0
            others = is_left.nonzero()[0]
            votes = Votes(self.codes, self.none, times.astype(float)[:, None])
            tree = self.trees.grow(self.cells, votes, rows, self.how, int(rng.integers(1, SEEDS)))
            tree.add_to(self.total, self.cells, others)
            self.votes += is_left
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
    found = Trees.joined([sequence.trees.first(best) for sequence in sequences])
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
        self.votes = Votes(NO_CODES, self.g, self.h)
        self.how = Growth(self.n_columns, DEPTH, LEAST, RIDGE)
        self.every = np.arange(len(codes))
        self.names = np.full(self.n_columns + 1, LEAF, np.int16)  # of columns that a tree sees
        self.trees = TreeStore(self.scores.shape[1])

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
        some = BinnedCells(*(field.take(columns, axis=0) for field in self.cells))
        self._slopes(rows)
        tree = self.trees.grow(some, self.votes, rows, self.how, int(rng.integers(1, SEEDS)))
        self.names[:-1] = columns
        tree.column[:] = self.names[tree.column]  # a leaf, -1, is the last one
        np.multiply(tree.value, self.rate, out=tree.value)
        tree.add_to(self.scores, self.cells, self.every)


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
