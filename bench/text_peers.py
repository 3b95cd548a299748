"""Peers on streams of text, row by row: predict, then learn.

Vowpal Wabbit reads its own text format from a file, as its users have it; averaged
passive-aggressive (PA-I, C = 1, multi-class) and multinomial naive Bayes (pseudo-count 1, classes
known from their first row on) are compiled loops here, since scikit-learn's `partial_fit` of single
rows would take hours. The learners of LIBOL and the perceptrons in `papers.online_crp` are those of
the paper's tables, which have neither these averages nor probabilities.
"""

from __future__ import annotations

import importlib.util
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import numba
import numpy as np
import scipy.sparse as sp

from infinimix.evaluation.scores import log_losses

BITS = 22


class Outcome(NamedTuple):
    """What was predicted, with what probability of the truth (NaN: none), in which time."""

    predicted: np.ndarray
    proba_true: np.ndarray
    seconds: float

    def error(self, y: np.ndarray) -> float:
        return float(np.mean(self.predicted != y))

    def log_loss(self, known: np.ndarray) -> float:
        """Mean over the rows whose label was known before."""
        return float(log_losses(self.proba_true[known], 1e-12).mean())


def has_wabbit() -> bool:
    """Is Vowpal Wabbit installed?"""
    return importlib.util.find_spec("vowpalwabbit") is not None


def write_wabbit(X: sp.csr_matrix, y: np.ndarray, path: Path) -> None:
    """Write rows in Vowpal Wabbit's format; labels count from 1."""
    with path.open("w", encoding="ascii") as file:
        for i, label in enumerate(y.tolist()):
            part = slice(*X.indptr[i : i + 2])
            cells = zip(X.indices[part].tolist(), X.data[part].tolist(), strict=True)
            words = " ".join(f"{j}:{x:.5g}" for j, x in cells)
            file.write(f"{label + 1} | {words}\n")


def wabbit(X: sp.csr_matrix, y: np.ndarray, loss: str) -> Outcome:
    """`--oaa` by hinge, or by logistic loss with probabilities."""
    from vowpalwabbit import Workspace

    with tempfile.TemporaryDirectory() as folder:
        rows, answers = Path(folder, "rows"), Path(folder, "answers")
        write_wabbit(X, y, rows)
        wish = "--probabilities" if loss == "logistic" else ""
        command = f"-d {rows} --oaa {y.max() + 1} -b {BITS} --loss_function {loss} {wish}"
        start = time.process_time()
        Workspace(f"{command} -p {answers} --quiet").finish()
        seconds = time.process_time() - start
        lines = answers.read_text().splitlines()
    if loss != "logistic":
        return Outcome(np.array(lines, float).astype(int) - 1, np.full(len(y), np.nan), seconds)
    P = np.array([[float(cell.split(":")[1]) for cell in line.split()] for line in lines])
    return Outcome(P.argmax(axis=1), P[np.arange(len(y)), y], seconds)


@numba.njit(cache=True)
def _passive_aggressive(start, word, weight, y, n_classes, width, C, predicted):
    w, u = np.zeros((width, n_classes)), np.zeros((width, n_classes))
    now, mean = np.zeros(n_classes), np.zeros(n_classes)
    for i in range(y.size):
        now[:], mean[:], square = 0.0, 0.0, 0.0
        for j in range(start[i], start[i + 1]):
            square += weight[j] * weight[j]
            for k in range(n_classes):
                now[k] += weight[j] * w[word[j], k]
                mean[k] += weight[j] * (w[word[j], k] - u[word[j], k] / (i + 1.0))
        predicted[i] = mean.argmax()
        rival, best = -1, -np.inf
        for k in range(n_classes):
            if k != y[i] and now[k] > best:
                rival, best = k, now[k]
        loss = max(0.0, 1.0 - now[y[i]] + best)
        if loss > 0.0 and square > 0.0:
            tau = min(C, loss / (2.0 * square))
            for j in range(start[i], start[i + 1]):
                step = tau * weight[j]
                w[word[j], y[i]] += step
                w[word[j], rival] -= step
                u[word[j], y[i]] += i * step
                u[word[j], rival] -= i * step


def passive_aggressive(X: sp.csr_matrix, y: np.ndarray) -> Outcome:
    """Averaged PA-I; the mean of all weights so far predicts."""
    predicted, n_classes = np.zeros(len(y), np.int64), int(y.max()) + 1
    start = time.process_time()
    _passive_aggressive(X.indptr, X.indices, X.data, y, n_classes, X.shape[1], 1.0, predicted)
    return Outcome(predicted, np.full(len(y), np.nan), time.process_time() - start)


@numba.njit(cache=True)
def _naive_bayes(start, word, weight, y, n_classes, width, predicted, proba):
    n, total, rows = (
        np.ones((width, n_classes)),
        np.full(n_classes, float(width)),
        np.zeros(n_classes),
    )
    score = np.zeros(n_classes)
    for i in range(y.size):
        for k in range(n_classes):
            score[k] = np.log(rows[k]) if rows[k] > 0.0 else -np.inf
        for j in range(start[i], start[i + 1]):
            for k in range(n_classes):
                score[k] += weight[j] * np.log(n[word[j], k] / total[k])
        top = score.max()
        if top > -np.inf:
            predicted[i] = score.argmax()
            p = np.exp(score - top)
            proba[i] = p[y[i]] / p.sum()
        for j in range(start[i], start[i + 1]):
            n[word[j], y[i]] += weight[j]
            total[y[i]] += weight[j]
        rows[y[i]] += 1.0


def naive_bayes(X: sp.csr_matrix, y: np.ndarray) -> Outcome:
    """Multinomial naive Bayes."""
    predicted, proba = np.full(len(y), -1), np.zeros(len(y))
    start = time.process_time()
    _naive_bayes(X.indptr, X.indices, X.data, y, int(y.max()) + 1, X.shape[1], predicted, proba)
    return Outcome(predicted, proba, time.process_time() - start)
