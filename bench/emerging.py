"""Streams whose classes emerge: error, and how well new classes are noticed.

`tweets_stream` and `googlenews_stream` in their order in time; `kddcup99_10pct` in file order, as a
table; `clinc150` as trained on its training part, its test rows in-scope and out-of-scope. A row is
new if its label had not come before. The baselines answer "new" where they are not sure enough: the
threshold on their confidence is the one with the best F1 on the first fifth of the stream (for
clinc150 on the validation part). They are scikit-learn's SGD (log loss) and naive Bayes, on
unit-length log-idf, and River's multinomial naive Bayes on counts; for the table Gaussian naive
Bayes of both. Of the slow ones of River the first RIVER_ROWS rows are shown. Beside the default,
infinimix is shown with the paper's term for a new class (`new_class="published"`).
"""

from __future__ import annotations

import importlib.util
import time
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn.linear_model import SGDClassifier
from sklearn.metrics import roc_auc_score
from sklearn.naive_bayes import GaussianNB, MultinomialNB

from bench.corpora import known_before, load, read, unit_log_idf
from bench.realdata import find, lacking
from bench.report import Grid, Line, Section
from infinimix import NEW_CLASS, OnlineCRPClassifier

PREFIX = 0.2  # of a stream, on which thresholds are chosen
KDD_ROWS = 100_000
PUBLISHED = "infinimix, new class as published"
RIVER_ROWS = 12_000
BATCH = 100  # rows that scikit-learn's models predict, then learn


class Said(NamedTuple):
    """What a model said of each row: a label, and how likely its class is new."""

    label: np.ndarray
    newness: np.ndarray
    is_new: np.ndarray  # by its own decision or by a threshold
    seconds: float


def threshold(newness: np.ndarray, new: np.ndarray) -> float:
    """The value from which on a row is called new, by the best F1."""
    order = np.argsort(-newness, kind="stable")
    hits = np.cumsum(new[order])
    f1 = 2 * hits / (np.arange(1, len(new) + 1) + max(new.sum(), 1))
    return float(newness[order][int(np.argmax(f1))])


def describe(said: Said, y: np.ndarray, new: np.ndarray) -> dict[str, float]:
    """Error on known rows, precision, recall and AUROC of new ones, rows a second."""
    called, hits = int(said.is_new.sum()), int((said.is_new & new).sum())
    return {
        "error_known": float(np.mean(said.label[~new] != y[~new])),
        "precision": hits / called if called else 0.0,
        "recall": hits / max(int(new.sum()), 1),
        "auroc": float(roc_auc_score(new, said.newness)) if 0 < new.sum() < len(new) else np.nan,
        "rate": len(y) / max(said.seconds, 1e-9),
    }


def ours(X: Any, y: np.ndarray, **parameters: Any) -> Said:
    """`OnlineCRPClassifier(open_world=True)`; its label is the most probable known class."""
    OnlineCRPClassifier(**parameters).forecast(X[:60], y[:60])  # load the kernels
    start = time.process_time()
    closed = OnlineCRPClassifier(**parameters).forecast(X, y)
    seconds = time.process_time() - start
    opened = OnlineCRPClassifier(open_world=True, **parameters).forecast(X, y)
    label = np.array([-1 if z is None else z for z in closed.predicted.tolist()])
    is_new = np.array([z is NEW_CLASS or z is None for z in opened.predicted.tolist()])
    return Said(label, opened.new, is_new, seconds)


def in_batches(model: Any, X: Any, y: np.ndarray) -> Said:
    """A scikit-learn model: batches are predicted, then learned; confidence is its newness."""
    classes, n = np.unique(y), len(y)
    label, newness, start = np.full(n, -1), np.ones(n), time.process_time()
    for k in range(0, n, BATCH):
        part = slice(k, k + BATCH)
        if k:
            seen = np.isin(classes, y[:k])
            P = model.predict_proba(X[part]) * seen
            P = P / np.maximum(P.sum(axis=1, keepdims=True), 1e-300)
            label[part], newness[part] = classes[P.argmax(axis=1)], 1.0 - P.max(axis=1)
        model.partial_fit(X[part], y[part], classes=classes)
    return Said(label, newness, np.zeros(n, bool), time.process_time() - start)


def row_by_row(model: Any, rows: list[dict[str, float]], y: np.ndarray) -> Said:
    """A model of River; what it is not sure of is new."""
    label, newness, start = np.full(len(y), -1), np.ones(len(y)), time.process_time()
    for i, (x, true) in enumerate(zip(rows, y.tolist(), strict=True)):
        P = model.predict_proba_one(x)
        if P:
            label[i] = max(P, key=P.get)
            newness[i] = 1.0 - P[int(label[i])]
        model.learn_one(x, true)
    return Said(label, newness, np.zeros(len(y), bool), time.process_time() - start)


def words_of(X: Any) -> list[dict[str, float]]:
    """Rows of counts as dicts."""
    names = [f"w{j}" for j in range(X.shape[1])]
    return [
        {names[j]: x for j, x in zip(row.indices.tolist(), row.data.tolist(), strict=True)}
        for row in X
    ]


def has_river() -> bool:
    """Is River installed?"""
    return importlib.util.find_spec("river") is not None


def with_threshold(said: Said, new: np.ndarray) -> Said:
    """Call rows new by the threshold that was best on the prefix."""
    prefix = int(PREFIX * len(new))
    return said._replace(is_new=said.newness >= threshold(said.newness[:prefix], new[:prefix]))


def text_stream(name: str, n_rows: int | None) -> dict[str, dict[str, float]]:
    """A corpus in its order in time."""
    corpus = load(name, None, n_rows)
    X, y = corpus.X, corpus.y
    new, weighted = ~known_before(y), unit_log_idf(corpus.X)
    late = slice(int(PREFIX * len(y)), None)
    peers = {
        "SGD, log loss": in_batches(SGDClassifier(loss="log_loss", random_state=0), weighted, y),
        "naive Bayes": in_batches(MultinomialNB(), weighted, y),
    }
    said = {"infinimix": ours(X, y), PUBLISHED: ours(X, y, new_class="published")}
    said |= {n: with_threshold(s, new) for n, s in peers.items()}
    found = {who: describe(_cut(s, late), y[late], new[late]) for who, s in said.items()}
    if has_river():
        from river.naive_bayes import MultinomialNB as RiverNB

        found |= _river(RiverNB(), words_of(X[:RIVER_ROWS]), y[:RIVER_ROWS], new[:RIVER_ROWS])
    return found


def _river(
    model: Any, rows: list[dict[str, float]], y: np.ndarray, new: np.ndarray
) -> dict[str, dict[str, float]]:
    said = with_threshold(row_by_row(model, rows, y), new)
    late = slice(int(PREFIX * len(y)), None)
    name = f"River, naive Bayes, {len(y):,} rows"
    return {name: describe(_cut(said, late), y[late], new[late])}


def kdd(n_rows: int) -> dict[str, dict[str, float]]:
    """Connections to a network, in file order, as a table."""
    folder = find("kddcup99_10pct")
    assert folder is not None
    names = (folder / "columns.txt").read_text().split()
    path = folder / "kddcup.data_10_percent.gz"
    frame = pd.read_csv(path, names=names, nrows=n_rows)
    y = pd.factorize(frame.pop(names[-1]))[0].astype(np.int64)
    new = ~known_before(y)
    late = slice(int(PREFIX * len(y)), None)
    numbers = frame.select_dtypes("number").to_numpy(float)
    numbers = np.sign(numbers) * np.log1p(np.abs(numbers))
    peers = {"Gaussian naive Bayes": in_batches(GaussianNB(var_smoothing=1e-3), numbers, y)}
    said = {
        "infinimix": ours(frame, y, columns="auto"),
        PUBLISHED: ours(frame, y, columns="auto", new_class="published"),
    }
    said |= {n: with_threshold(s, new) for n, s in peers.items()}
    found = {who: describe(_cut(s, late), y[late], new[late]) for who, s in said.items()}
    if has_river():
        from river.naive_bayes import GaussianNB as RiverNB

        few = slice(0, RIVER_ROWS)
        rows = [dict(zip(map(str, range(len(x))), x, strict=True)) for x in numbers[few].tolist()]
        found |= _river(RiverNB(), rows, y[few], new[few])
    return found


def clinc() -> dict[str, dict[str, float]]:
    """Trained on the intents; the test rows have a tenth and more that are none of them."""
    folder = find("clinc150")
    assert folder is not None
    X, y, _ = read(folder)
    split = np.load(folder / "meta.npz")["split"]
    outside = y == y.max()
    train = np.random.default_rng(0).permutation(np.flatnonzero((split == 0) & ~outside))
    valid, test = np.flatnonzero(split == 1), np.flatnonzero(split == 2)
    start = time.process_time()
    model = OnlineCRPClassifier(open_world=True).fit(X[train], y[train])
    fitted = time.process_time() - start
    linear = SGDClassifier(loss="log_loss", random_state=0)
    order = np.r_[train, valid, test]
    weighted = unit_log_idf(X[order])
    linear.fit(weighted[: len(train)], y[train])
    found = {}
    scores = {
        "infinimix": lambda rows, at: (
            model.predict_proba(X[rows]),
            model.new_class_proba(X[rows]),
        ),
        "SGD, log loss": lambda rows, at: _confidence(linear.predict_proba(weighted[at])),
    }
    for who, score in scores.items():
        ends = np.cumsum([len(train), len(valid), len(test)])
        _, doubt = score(valid, slice(ends[0], ends[1]))
        cut = threshold(doubt, outside[valid])
        P, newness = score(test, slice(ends[1], ends[2]))
        label = np.unique(y[train])[P.argmax(axis=1)]
        said = Said(label, newness, newness >= cut, fitted if who == "infinimix" else np.nan)
        found[who] = describe(said, y[test], outside[test])
    return found


def _confidence(P: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return P, 1.0 - P.max(axis=1)


def _cut(said: Said, part: slice) -> Said:
    return Said(said.label[part], said.newness[part], said.is_new[part], said.seconds)


def run(quick: bool = False) -> Section:
    section = Section("Streams whose classes emerge")
    tasks = {
        "tweets_stream": lambda: text_stream("tweets_stream", 600 if quick else None),
        "googlenews_stream": lambda: text_stream("googlenews_stream", 600 if quick else None),
        "kddcup99_10pct": lambda: kdd(600 if quick else KDD_ROWS),
        "clinc150": clinc,
    }
    for name, task in tasks.items():
        if find(name) is None or (quick and name == "clinc150"):
            section.notes.append(f"skipped {name}" if quick else lacking([name]))
            continue
        found = task()
        section.figures[name] = found
        mine = found["infinimix"]
        peers = [value for who, value in found.items() if not who.startswith("infinimix")]
        best = max(value["auroc"] for value in peers)
        section.lines.append(
            Line(f"{name}: AUROC of new classes", f"{mine['auroc']:.3f}", f"{best:.3f}")
        )
        headings = ["", *mine]
        rows = [[who, *(f"{x:,.3f}" for x in value.values())] for who, value in found.items()]
        section.grids.append(Grid(name, headings, rows))
    section.lines.append(Line("", "")) if not section.lines else None
    return section
