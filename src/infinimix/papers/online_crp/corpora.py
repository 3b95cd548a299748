"""The texts of the experiments: counts, labels and posting times, subsets and folds.

A corpus is a folder with `X.npz` (SciPy counts) and `meta.npz` (`y`, -1 without a label of its own;
`time` if there is one). The paper removes stop words and stems; of 20 Newsgroups the words of three
or more and of less than a tenth of the documents are kept here, of the others all, unstemmed.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from infinimix.evaluation.running import Contingency
from infinimix.papers.data import folder

NEWS = "20news_19997_dated"
REUTERS, GLOSSES, TITLES = "reuters21578", "wordnet_glosses", "dblp_titles"
RAREST, COMMONEST = 3, 0.1  # documents, and share of them, that a word of 20 Newsgroups is in
FOLDS = 5


class Corpus(NamedTuple):
    """Documents in an order, with labels 0, 1, 2, ..."""

    X: sp.csr_matrix
    y: np.ndarray
    time: np.ndarray | None = None

    def take(self, rows: np.ndarray) -> Corpus:
        """Return some documents, in this order."""
        time = None if self.time is None else self.time[rows]
        return Corpus(self.X[rows], self.y[rows], time)


def read_folder(place: Path) -> tuple[Corpus, np.lib.npyio.NpzFile]:
    """Return the labelled documents of a folder, with the labels that it has, and its notes."""
    meta = np.load(place / "meta.npz")
    X, y = sp.load_npz(place / "X.npz").tocsr().astype(float), meta["y"].astype(np.int64)
    corpus = Corpus(X, y, meta["time"] if "time" in meta.files else None)
    return (corpus if (y >= 0).all() else corpus.take(np.flatnonzero(y >= 0))), meta


def without_stop_words(X: sp.csr_matrix) -> sp.csr_matrix:
    """Return counts without the rarest and the commonest words."""
    with_word = np.asarray((X > 0).sum(axis=0)).ravel()
    return X[:, (with_word >= RAREST) & (with_word < COMMONEST * X.shape[0])]


def numbered(y: np.ndarray) -> np.ndarray:
    """Return labels as 0, 1, 2, ..."""
    return np.asarray(np.unique(y, return_inverse=True)[1], dtype=np.int64)


@lru_cache(maxsize=2)
def read(name: str) -> Corpus:
    """Return all documents of a corpus, in the order of its file."""
    corpus, _ = read_folder(folder(name))
    X = without_stop_words(corpus.X) if name == NEWS else corpus.X
    X.sort_indices()
    return Corpus(X, numbered(corpus.y), corpus.time)


def shuffled(name: str, n_rows: int | None, seed: int) -> Corpus:
    """Return so many documents in random order; None is all of them."""
    corpus = read(name)
    return corpus.take(np.random.default_rng(seed).permutation(len(corpus.y))[:n_rows])


def by_time(name: str, n_rows: int | None) -> Corpus:
    """Return so many documents, chosen at random, sorted by time."""
    corpus = shuffled(name, n_rows, 0)
    assert corpus.time is not None
    return corpus.take(np.argsort(corpus.time, kind="stable"))


def fold_of(name: str, n_rows: int | None, fold: int) -> tuple[Corpus, Corpus]:
    """Return the training part, in random order, and the test part of one of five folds."""
    corpus = shuffled(name, n_rows, 0)
    tested = np.arange(len(corpus.y)) % FOLDS == fold
    train = np.random.default_rng(1 + fold).permutation(np.flatnonzero(~tested))
    return corpus.take(train), corpus.take(np.flatnonzero(tested))


def measure(answers: np.ndarray, y: np.ndarray, seconds: float) -> dict[str, float]:
    """Return the paper's measures: error rate, clustering F1 over pairs, and CPU time."""
    pairs = Contingency()
    pairs.add(answers.tolist(), y.tolist())
    f1 = pairs.scores()["pair_f1"]
    return {"error": float(np.mean(answers != y)), "F1": float(f1), "seconds": seconds}
