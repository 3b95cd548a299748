"""Text corpora as streams of sparse counts: where they are, how they are filtered and ordered.

A corpus is a folder with `X.npz` (SciPy counts) and `meta.npz` (`y`; `order_t` if it has an order
in time). 20 Newsgroups keeps the words of three or more and of less than a tenth of the documents;
all others keep all words. Without an order in time a corpus is shuffled by a seed.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from bench.realdata import find, lacking
from infinimix.papers.online_crp.corpora import NEWS, numbered, read_folder, without_stop_words

TEXTS = (
    NEWS, "wordnet_glosses", "stackoverflow_titles", "dblp_titles", "reuters21578",
    "biomedical_titles", "clinc150",
)  # fmt: skip


#: Corpora on which no default was looked at while it was chosen; those of TEXTS were.
UNSEEN = ("search_snippets", "nyt_2012_2022", "ag_news_part")


class Corpus(NamedTuple):
    """Rows of counts in their order, with labels 0, 1, 2, ..."""

    name: str
    X: sp.csr_matrix
    y: np.ndarray

    @property
    def n_classes(self) -> int:
        return int(self.y.max()) + 1


def load(name: str, seed: int | None = 0, n_rows: int | None = None) -> Corpus:
    """Read a corpus; without a seed in its own order in time."""
    folder = find(name)
    if folder is None:
        raise FileNotFoundError(lacking([name]))
    X, y, order = read(folder)
    if name == NEWS:
        X = without_stop_words(X)
    if seed is not None:
        order = np.random.default_rng(seed).permutation(len(y))
    X, y = X[order][:n_rows], y[order][:n_rows]
    X.sort_indices()
    return Corpus(name, X, numbered(y))


def read(folder: Path) -> tuple[sp.csr_matrix, np.ndarray, np.ndarray]:
    """Counts, labels and order of a corpus; rows without a label of their own are left out."""
    corpus, meta = read_folder(folder)
    n_rows = len(corpus.y)
    ordered = "order_t" in meta.files and len(meta["y"]) == n_rows
    return corpus.X, corpus.y, meta["order_t"] if ordered else np.arange(n_rows)


def unit_log_idf(X: sp.csr_matrix) -> sp.csr_matrix:
    """log(1 + c) log((N + 2) / (n + 1)) of the N rows before, n of them with the word; length 1."""
    X, rows_with = X.copy(), np.zeros(X.shape[1])
    for i in range(X.shape[0]):
        part = slice(*X.indptr[i : i + 2])
        words = X.indices[part]
        weight = np.log1p(X.data[part]) * np.maximum(np.log((i + 2) / (rows_with[words] + 1)), 0)
        norm = np.linalg.norm(weight)
        X.data[part] = weight / norm if norm > 0 else weight
        rows_with[words] += 1
    return X


def known_before(y: np.ndarray) -> np.ndarray:
    """Which rows have a label that an earlier row had."""
    first = np.unique(y, return_index=True)[1]
    known = np.ones(len(y), bool)
    known[first] = False
    return known
