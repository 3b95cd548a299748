"""Who takes part: the Online CRP as published and by default, and its peers, by their names."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import MultinomialNB
from sklearn.preprocessing import normalize
from sklearn.svm import LinearSVC

from infinimix import NEW_CLASS, OnlineCRPClassifier
from infinimix.papers.online_crp.corpora import Corpus, measure
from infinimix.papers.online_crp.linear import LEARNERS
from infinimix.papers.online_crp.perceptrons import Perceptrons

FORMS = ("published", "default")
NEW = -1  # an answer that is none of the labels
KERNEL_ROWS = 2000  # training documents of the kernel perceptrons, whose time is quadratic
CHOSEN_ON = 3000  # training documents on which the strength of a penalty is chosen
STRENGTHS = (0.1, 1.0, 10.0)
WARM = 40  # documents that load the kernels, before time is measured


def online_crp(form: str, **changes: Any) -> OnlineCRPClassifier:
    """Return the Online CRP, as published or by default."""
    if form == "published":
        return OnlineCRPClassifier.as_published(**changes)
    return OnlineCRPClassifier(**changes)


def _answers(predicted: np.ndarray, right_if_new: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return labels; an answer that a class is new is right where it is."""
    new = np.array([z is NEW_CLASS or z is None for z in predicted.tolist()])
    labels = np.array([NEW if n else z for z, n in zip(predicted, new, strict=True)], np.int64)
    return np.where(new & right_if_new, y, labels)


def _first(y: np.ndarray) -> np.ndarray:
    first = np.zeros(len(y), bool)
    first[np.unique(y, return_index=True)[1]] = True
    return first


def run_online(who: str, corpus: Corpus, **changes: Any) -> dict[str, float]:
    """Predict each document, then learn it."""
    X, y = corpus.X, corpus.y
    if who in FORMS:
        online_crp(who, **changes).forecast(X[:WARM], y[:WARM])
        start = time.process_time()
        said = online_crp(who, **changes).forecast(X, y).predicted
        seconds = time.process_time() - start
        opens = online_crp(who, **changes).open_world
        return measure(_answers(said, _first(y) & opens, y), y, seconds)
    start = time.process_time()
    answers = LEARNERS[who](X.shape[1], int(y.max()) + 1).run(X, y)
    return measure(answers, y, time.process_time() - start)


def run_batch(who: str, train: Corpus, test: Corpus, **changes: Any) -> dict[str, float]:
    """Learn the training part, then predict the test part."""
    if who in FORMS:
        online_crp(who, **changes).fit(train.X[:WARM], train.y[:WARM]).predict(test.X[:1])
    start = time.process_time()
    if who in FORMS:
        said = online_crp(who, **changes).fit(train.X, train.y).predict(test.X)
        answers = _answers(said, np.zeros(len(said), bool), test.y)
    else:
        answers = SUPERVISED[who](train, test)
    return measure(answers, test.y, time.process_time() - start)


def _perceptrons(variant: Any, kernel: bool) -> Callable[[Corpus, Corpus], np.ndarray]:
    def run(train: Corpus, test: Corpus) -> np.ndarray:
        rows = slice(0, KERNEL_ROWS if kernel else None)
        return Perceptrons(variant, kernel).fit(train.X[rows], train.y[rows]).predict(test.X)

    return run


def _logistic_online(train: Corpus, test: Corpus) -> np.ndarray:
    """Gradient descent on the log loss, in one pass over unit rows."""
    model = SGDClassifier(loss="log_loss", penalty=None, max_iter=1, tol=None, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # one pass has not converged
        return np.asarray(model.fit(unit(train.X), train.y).predict(unit(test.X)))


def _naive_bayes(train: Corpus, test: Corpus) -> np.ndarray:
    return np.asarray(MultinomialNB().fit(train.X, train.y).predict(test.X))


def _penalised(model: Callable[[float], Any]) -> Callable[[Corpus, Corpus], np.ndarray]:
    """Return a learner that chooses its strength on a part of the training rows."""

    def run(train: Corpus, test: Corpus) -> np.ndarray:
        X, few = unit(train.X), min(CHOSEN_ON, len(train.y))
        cut = max(2 * few // 3, 1)
        own, kept = slice(0, cut), slice(cut, few)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of slow convergence
            scores = [
                model(C).fit(X[own], train.y[own]).score(X[kept], train.y[kept]) for C in STRENGTHS
            ]
            best = model(STRENGTHS[int(np.argmax(scores))])
            return np.asarray(best.fit(X, train.y).predict(unit(test.X)))

    return run


def _one_against_all(C: float) -> OneVsRestClassifier:
    return OneVsRestClassifier(LogisticRegression(C=C, solver="liblinear"))


def unit(X: sp.csr_matrix) -> sp.csr_matrix:
    """Return log(1 + count) in rows of length one."""
    return normalize(X.log1p())


SUPERVISED: dict[str, Callable[[Corpus, Corpus], np.ndarray]] = {
    "Last Perceptron": _perceptrons("last", kernel=False),
    "Voted Perceptron": _perceptrons("voted", kernel=False),
    "Average Perceptron": _perceptrons("average", kernel=False),
    "Kernel Last Perceptron": _perceptrons("last", kernel=True),
    "Kernel Voted Perceptron": _perceptrons("voted", kernel=True),
    "Kernel Average Perceptron": _perceptrons("average", kernel=True),
    "Online Logistic Regression": _logistic_online,
    "SVM": _penalised(lambda C: LinearSVC(C=C)),
    "Logistic Regression": _penalised(_one_against_all),
    "Naive Bayes": _naive_bayes,
}
