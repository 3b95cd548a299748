"""How many documents a second `OnlineCRPClassifier()` predicts and learns, and whether that lasts.

20 Newsgroups from a SciPy matrix, in one call and in chunks of 1,000, beside Vowpal Wabbit from a
file (hinge, the faster of its two); one dict at a time beside River's MultinomialNB; and a
synthetic stream of two million documents (24 classes, 50,000 words by Zipf's law, 20 words each)
for speed and memory at its end. CPU time of one thread; the contestants take turns.
"""

from __future__ import annotations

import importlib.util
import resource
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from bench.corpora import NEWS, Corpus, load
from bench.realdata import find, lacking
from bench.report import Line, Section
from bench.text_peers import has_wabbit, wabbit
from bench.timing import count, rate, ratio
from infinimix import OnlineCRPClassifier

ROUNDS = 9
CLASSES, WORDS, LENGTH = 24, 50_000, 20
CHUNK = 10_000
ONE_BY_ONE = 3000


def whole(corpus: Corpus) -> float:
    """CPU seconds of all rows in one call."""
    start = time.process_time()
    OnlineCRPClassifier().forecast(corpus.X, corpus.y)
    return time.process_time() - start


def in_chunks(corpus: Corpus, size: int = 1000) -> float:
    """CPU seconds in calls of so many rows; the matrix is cut beforehand."""
    parts = [
        (corpus.X[k : k + size], corpus.y[k : k + size]) for k in range(0, len(corpus.y), size)
    ]
    start, model = time.process_time(), OnlineCRPClassifier()
    for X, y in parts:
        model.forecast(X, y)
    return time.process_time() - start


def by_dict(model: Any, corpus: Corpus, n: int) -> float:
    """CPU seconds a row of the last n rows as dicts, one at a time, predicted and then learned."""
    rows, X = [], corpus.X
    names = np.array([f"w{j}" for j in range(X.shape[1])], dtype=object)
    for i in range(X.shape[0]):
        part = slice(*X.indptr[i : i + 2])
        rows.append(dict(zip(names[X.indices[part]], X.data[part].tolist(), strict=True)))
    labels = corpus.y.tolist()
    for x, label in zip(rows[:-n], labels[:-n], strict=True):
        model.learn_one(x, label)
    start = time.process_time()
    for x, label in zip(rows[-n:], labels[-n:], strict=True):
        model.learn_one(x, label)
    return (time.process_time() - start) / n


class Synthetic:
    """Documents of classes that share a Zipf law and each favour words of their own."""

    def __init__(self, seed: int = 0) -> None:
        self.rng = np.random.default_rng(seed)
        usual = 1.0 / np.arange(1, WORDS + 1)
        self.cumulative = np.cumsum(usual) / usual.sum()
        self.permuted = [self.rng.permutation(WORDS) for _ in range(CLASSES)]

    def draw(self, n: int) -> tuple[sp.csr_matrix, np.ndarray]:
        """Half of the words by the common law, half by that of the class."""
        y = self.rng.integers(0, CLASSES, n)
        words = np.searchsorted(self.cumulative, self.rng.random((n, LENGTH)))
        own = self.rng.random((n, LENGTH)) < 0.5
        tables = np.array(self.permuted)
        words = np.where(own, tables[y[:, None], words], words).astype(np.int32)
        starts = np.arange(0, n * LENGTH + 1, LENGTH)
        X = sp.csr_matrix((np.ones(n * LENGTH), words.ravel(), starts), shape=(n, WORDS))
        X.sum_duplicates()
        return X, y


def long_stream(n_rows: int) -> dict[str, float]:
    """Rate and memory at a tenth and at the end of a long stream."""
    source, model = Synthetic(), OnlineCRPClassifier()
    seconds, memory, wrong = [], [], []
    for _ in range(n_rows // CHUNK):
        X, y = source.draw(CHUNK)
        start = time.process_time()
        said = model.forecast(X, y)
        seconds.append(time.process_time() - start)
        memory.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
        wrong.append(float(np.mean(said.predicted != y)))
    part = max(len(seconds) // 10, 1)
    begin, end = slice(part, 2 * part), slice(-part, None)
    return {
        "begin": CHUNK / float(np.median(seconds[begin])),
        "end": CHUNK / float(np.median(seconds[end])),
        "memory_begin": memory[2 * part - 1] if len(memory) > 1 else memory[-1],
        "memory_end": memory[-1],
        "error_end": float(np.mean(wrong[end])),
    }


def run(quick: bool = False) -> Section:
    section = Section("Streams of text: documents a second")
    long = long_stream(2 * CHUNK if quick else 2_000_000)
    section.figures["long"] = long
    section.lines.append(
        Line(
            "two million documents: end (ours) against begin (peer)",
            count(long["end"]), count(long["begin"]), f"{long['end'] / long['begin']:.2f}",
            ">= 0.8", long["end"] >= 0.8 * long["begin"],
        )
    )  # fmt: skip
    section.lines.append(
        Line("peak memory at the end (ours) and after two tenths (peer), MB",
             f"{long['memory_end']:.0f}", f"{long['memory_begin']:.0f}")
    )  # fmt: skip
    if find(NEWS) is None:
        section.notes.append(lacking([NEWS]))
        return section
    corpus = load(NEWS, 0, 500 if quick else None)
    _race(section, corpus, 1 if quick else ROUNDS)
    _one_by_one(section, corpus, 100 if quick else ONE_BY_ONE)
    return section


def _race(section: Section, corpus: Corpus, rounds: int) -> None:
    runners: dict[str, Callable[[], float]] = {
        "one call": lambda: whole(corpus),
        "chunks of 1,000": lambda: in_chunks(corpus),
    }
    if has_wabbit():
        runners["Vowpal Wabbit"] = lambda: wabbit(corpus.X, corpus.y, "hinge").seconds
    whole(corpus)
    times = {name: np.array([0.0] * rounds) for name in runners}
    for k in range(rounds):
        for name, runner in runners.items():
            times[name][k] = runner()
    rows, peer = len(corpus.y), times.get("Vowpal Wabbit")
    for name in ("one call", "chunks of 1,000"):
        speed = ratio(peer, times[name]) if peer is not None else None
        section.lines.append(
            Line(
                f"20 Newsgroups, {name}, against Vowpal Wabbit from file",
                count(rate(rows, times[name])),
                "" if peer is None else count(rate(rows, peer)),
                "" if speed is None else str(speed), ">= 1.1",
                None if speed is None else speed.median >= 1.1,
            )
        )  # fmt: skip
    section.figures["news"] = {name: (rows / t).tolist() for name, t in times.items()}


def _one_by_one(section: Section, corpus: Corpus, n: int) -> None:
    ours = 1.0 / by_dict(OnlineCRPClassifier(), corpus, n)
    section.lines.append(
        Line("one dict at a time", count(ours), bar=">= 20,000", meets=ours >= 20_000)
    )
    if importlib.util.find_spec("river") is None:
        section.notes.append("River is not installed: pip install 'infinimix[bench]'")
        return
    from river.naive_bayes import MultinomialNB

    few = Corpus(corpus.name, corpus.X[: 2 * n], corpus.y[: 2 * n])
    model = MultinomialNB()
    peer = 1.0 / by_dict(_Both(model), few, min(n, 300))
    many = max(section.figures["news"]["one call"])
    section.lines.append(
        Line("20 Newsgroups, one call, against River's MultinomialNB", count(many), count(peer),
             f"{many / peer:.0f}", ">= 50", many >= 50 * peer)
    )  # fmt: skip


class _Both:
    """River's model predicts, then learns, as ours does within `learn_one`."""

    def __init__(self, model: Any) -> None:
        self.model = model

    def learn_one(self, x: dict[str, float], y: int) -> None:
        self.model.predict_one(x)
        self.model.learn_one(x, y)
