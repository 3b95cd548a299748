"""What the guard watches: each measure is a function that returns one number.

A speed is how many times faster we are than a peer, or than a yardstick that never changes, on the
same rows in the same process: contestants take turns and the median over rounds counts, so that
the machine cancels out. A cost (kernels compiled, time of an import) is better when it is smaller.
Everything here is asked of public classes, so that a change inside is measured and not broken.
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import warnings
from collections import Counter, defaultdict
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.naive_bayes import BernoulliNB, MultinomialNB

import infinimix
from bench import cold_cases
from bench.rowwise import Stream
from bench.stream_speed import CLASSES, Synthetic
from bench.synthetic import two_classes
from bench.timing import ratio, take_turns, warm_up
from bench.training import fresh, model, train
from infinimix import AClassClassifier, BlockmodelBayesNet, OnlineCRPClassifier
from infinimix.papers.aclass.worlds import knock_out

MIXES = ("binary", "real", "categorical", "mixed", "mixed, gaussian, spiked")
MIXED = MIXES.index("mixed")  # of the three kinds before it


def faster(ours: Callable[[], Any], peer: Callable[[], Any], rounds: int) -> float:
    """How many times faster than the peer, the median over rounds."""
    turns = {"ours": ours, "peer": peer}
    warm_up(turns)
    times = take_turns(turns, rounds)
    return ratio(times["peer"], times["ours"]).median


def training(quick: bool = False) -> float:
    """`partial_fit` in batches of 1,000, P = 10, alpha learned, against BernoulliNB."""
    n, rounds = (2000, 2) if quick else (20_000, 15)
    bits, y = two_classes(n)
    X = bits.astype(float)
    return faster(fresh(10, X, y), lambda: train(BernoulliNB(), X, y), rounds)


def one_row(quick: bool = False) -> float:
    """One row a call, against BernoulliNB."""
    rows, rounds, before = (20, 2, 1000) if quick else (100, 20, 2000)
    bits, y = two_classes(before + rows * (rounds + 1))
    X = bits.astype(float)
    ours, peer = (
        Stream(train(learner, X[:before], y[:before]), X[before:], y[before:], rows)
        for learner in (model(), BernoulliNB())
    )
    return faster(ours, peer, rounds)


def prediction(quick: bool = False) -> float:
    """`predict_proba` of many rows, against BernoulliNB."""
    n, rounds = (2000, 2) if quick else (20_000, 25)
    bits, y = two_classes(n)
    X = bits.astype(float)
    ours, peer = train(model(), X, y), train(BernoulliNB(), X, y)
    return faster(lambda: ours.predict_proba(X), lambda: peer.predict_proba(X), rounds)


def holes(quick: bool = False) -> float:
    """Training with a quarter of the cells missing, against complete rows."""
    n, rounds = (2000, 2) if quick else (20_000, 15)
    bits, y = two_classes(n)
    missing = knock_out(bits, 0.25, np.random.default_rng(1))
    return faster(fresh(10, missing, y), fresh(10, bits.astype(float), y), rounds)


def text_stream(quick: bool = False) -> float:
    """Documents in chunks of 1,000, predicted and learned, against MultinomialNB."""
    chunks, rounds = (1, 2) if quick else (10, 9)
    source = Synthetic()
    parts = [source.draw(1000) for _ in range(chunks)]

    def ours() -> None:
        model = OnlineCRPClassifier()
        for X, y in parts:
            model.forecast(X, y)

    def peer() -> None:
        model = MultinomialNB()
        model.partial_fit(*parts[0], classes=np.arange(CLASSES))
        for X, y in parts:
            model.predict_proba(X)
            model.partial_fit(X, y)

    return faster(ours, peer, rounds)


def text_dicts(quick: bool = False) -> float:
    """`learn_one` and `predict_one` of documents as dicts, against plain Python."""
    X, y = Synthetic().draw(300 if quick else 3000)
    parts = [slice(*X.indptr[i : i + 2]) for i in range(X.shape[0])]
    rows = [{f"w{j}": 1.0 for j in X.indices[part].tolist()} for part in parts]
    return _one_by_one(OnlineCRPClassifier(), PlainNaiveBayes(), rows, y.tolist(), quick)


def table_dicts(quick: bool = False) -> float:
    """`learn_one` and `predict_one` of rows as dicts, against plain Python."""
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=300 if quick else 3000)
    cells = rng.normal(size=(len(y), 10)) + y[:, None]
    rows = [{f"x{j}": x for j, x in enumerate(row)} for row in cells.tolist()]
    ours = AClassClassifier(columns="real", n_islands=1, random_state=0)
    return _one_by_one(ours, PlainNaiveBayes(), rows, y.tolist(), quick)


def network_sweep(quick: bool = False) -> float:
    """Sweeps over the networks of 12 nodes, against random reads and a running sum in NumPy.

    The yardstick allocates nothing and has no form for newer processors: both would move it.
    """
    sweeps, rounds = (5, 2) if quick else (60, 7)
    rng = np.random.default_rng(0)
    X = rng.integers(2, size=(200, 12))
    X[:, 6:] ^= X[:, :6] & (rng.random((200, 6)) < 0.8)
    table, places = rng.random(1 << 16), rng.integers(1 << 16, size=1 << 20)
    read, sums = np.empty(len(places)), np.empty(len(places))

    def ours() -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # so short a chain is not together
            BlockmodelBayesNet(n_iter=sweeps, n_chains=2, random_state=0).fit(X)

    def peer() -> None:
        np.take(table, places, out=read, mode="clip")  # what is checked would be copied first
        np.cumsum(read, out=sums)

    return faster(ours, peer, rounds)


def kernels(quick: bool = False) -> float:
    """How many kernels five mixes of kinds need together."""
    return float(_kernels(MIXES[:1] if quick else MIXES)[-1])


def kernels_of_a_mix(quick: bool = False) -> float:
    """How many of these are for a mix alone, whose kinds have each had a table before."""
    counts = _kernels(MIXES[:1] if quick else MIXES)
    return 0.0 if quick else float(counts[MIXED] - counts[MIXED - 1])


def import_package(quick: bool = False) -> float:
    """CPU time of `import infinimix`, against `import numpy`."""
    return _import_time("import infinimix", 1 if quick else 7)


def import_classifier(quick: bool = False) -> float:
    """CPU time of importing a classifier, against `import numpy`."""
    return _import_time("from infinimix import AClassClassifier", 1 if quick else 3)


SPEEDS = (
    training, one_row, prediction, holes, text_stream, text_dicts, table_dicts, network_sweep,
)  # fmt: skip
COSTS = (kernels, kernels_of_a_mix, import_package, import_classifier)


class PlainNaiveBayes:
    """A yardstick: multinomial naive Bayes in dicts, with no library that could get faster."""

    def __init__(self) -> None:
        self.rows: Counter[int] = Counter()
        self.words: dict[int, defaultdict[str, float]] = {}

    def learn_one(self, x: dict[str, float], y: int) -> None:
        words = self.words.setdefault(y, defaultdict(float))
        for word, weight in x.items():
            words[word] += abs(weight)
        self.rows[y] += 1

    def predict_one(self, x: dict[str, float]) -> int:
        scores = {y: math.log(n) for y, n in self.rows.items()}
        for y, words in self.words.items():
            for word, weight in x.items():
                scores[y] += weight * math.log(1.0 + words.get(word, 0.0))
        return max(scores, key=scores.__getitem__)


def _one_by_one(ours: Any, peer: Any, rows: list[Any], y: list[int], quick: bool) -> float:
    """Both have learned a half; then every call learns and predicts so many further rows."""
    rounds = 2 if quick else 15
    half, each = len(rows) // 2, len(rows) // 2 // (rounds + 1)

    def stream(learner: Any) -> Callable[[], None]:
        for x, label in zip(rows[:half], y[:half], strict=True):
            learner.learn_one(x, label)
        rest = zip(rows[half:], y[half:], strict=True)

        def go_on() -> None:
            for _, (x, label) in zip(range(each), rest, strict=False):
                learner.predict_one(x)
                learner.learn_one(x, label)

        return go_on

    return faster(stream(ours), stream(peer), rounds)


@cache
def _kernels(mixes: tuple[str, ...]) -> list[int]:
    """Kernels needed up to each mix; one process tells for all measures."""
    found = json.loads(_python(cold_cases.__file__, "--count", *mixes))
    if found["compiled"]:  # compiling loads inner kernels too; from disk only what is called is
        found = json.loads(_python(cold_cases.__file__, "--count", *mixes))
    return found["kernels"]


def _import_time(statement: str, rounds: int) -> float:
    """The least CPU time of a fresh process over that of one which imports NumPy."""
    clock = "import time; print(time.process_time())"
    times = [
        [float(_python("-c", f"{first}; {clock}")) for first in (statement, "import numpy")]
        for _ in range(rounds)
    ]
    ours, peer = np.min(times, axis=0)
    return float(ours / peer)


def _python(*arguments: str) -> str:
    """What a fresh interpreter prints that finds the infinimix of this process."""
    source = str(Path(infinimix.__file__).parents[1])
    path = os.pathsep.join(filter(None, [source, os.environ.get("PYTHONPATH")]))
    return subprocess.run(
        [sys.executable, *arguments],
        env=os.environ | {"PYTHONPATH": path},
        check=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ).stdout
