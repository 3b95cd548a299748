"""MNIST, raw pixels > 127, by one online pass: error on the 10,000 test rows and CPU time.

`AClassClassifier()` with its defaults, `partial_fit` in chunks of 1,000 in the order of the
file; and once more with half of the pixels missing at random in training and test rows.
Naive Bayes beside it is `BernoulliNB` on complete rows, and leaves holes out otherwise.
"""

from __future__ import annotations

import gzip
import time
from pathlib import Path

import numpy as np

from bench.realdata import find, lacking
from bench.report import Line, Section
from infinimix import AClassClassifier
from infinimix.papers.aclass.baselines import NaiveBayes
from infinimix.papers.aclass.worlds import knock_out

CHUNK = 1000
SHARES = (0.0, 0.5)


def read(folder: Path, part: str) -> tuple[np.ndarray, np.ndarray]:
    """Pixels as booleans, and digits, of "train" or "t10k"."""
    with gzip.open(folder / f"{part}-labels-idx1-ubyte.gz") as file:
        y = np.frombuffer(file.read(), np.uint8, offset=8)
    with gzip.open(folder / f"{part}-images-idx3-ubyte.gz") as file:
        pixels = np.frombuffer(file.read(), np.uint8, offset=16).reshape(len(y), -1)
    return pixels > 127, y


def run(quick: bool = False) -> Section:
    section = Section("MNIST, pixels > 127, one online pass (error, %)")
    folder = find("mnist")
    if folder is None:
        section.notes.append(lacking(["mnist"]))
        return section
    (X, y), (T, t) = read(folder, "train"), read(folder, "t10k")
    if quick:
        X, y, T, t = X[:400], y[:400], T[:200], t[:200]
    for share in SHARES:
        if share:
            rng = np.random.default_rng(0)
            X, T = knock_out(X, share, rng), knock_out(T, share, rng)
        section.lines.append(_line(share, X, y, T, t))
    section.figures = {line.what: line.figures for line in section.lines}
    return section


def _line(share: float, X: np.ndarray, y: np.ndarray, T: np.ndarray, t: np.ndarray) -> Line:
    AClassClassifier(random_state=0).fit(X[:100], y[:100]).predict(T[:10])  # load the kernels
    start = time.process_time()
    model = AClassClassifier(random_state=0)
    for k in range(0, len(y), CHUNK):
        model.partial_fit(X[k : k + CHUNK], y[k : k + CHUNK], classes=np.unique(y))
    trained = time.process_time()
    error = float(np.mean(model.predict(T) != t))
    predicted = time.process_time()
    bayes = float(np.mean(NaiveBayes().fit(X.astype(float), y).predict(T.astype(float)) != t))
    figures = {
        "error": error,
        "naive_bayes": bayes,
        "train_seconds": trained - start,
        "predict_seconds": predicted - trained,
        "n_groups": np.asarray(model.n_groups_).tolist(),
    }
    return Line(
        "half of the pixels missing" if share else "complete",
        f"{100 * error:.2f} in {trained - start:.0f} + {predicted - trained:.0f} s",
        f"{100 * bayes:.2f} naive Bayes",
        figures=figures,
    )
