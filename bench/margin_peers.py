"""Classifiers of the max-margin benchmarks, tuned alike: on folds of the training rows alone.

Columns are standardised on the training rows. Linear and RBF SVMs and logistic regression have
their C (and gamma) chosen by 3-fold cross-validation; so have `DPMeansSVC` its price and c, and
`MaxMarginDPMeansCV` its own grid. `GibbsInfiniteSVC` has c and alpha from one held-out third, with
fewer sweeps, as it is slow.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

from bench.dpmnl import DPMNL
from infinimix import DPMeans, DPMeansSVC, GibbsInfiniteSVC, MaxMarginDPMeansCV

FOLDS = 3
PART = 1500  # rows that the C and gamma of linear and RBF SVMs are chosen on, at most
C_GRID = tuple(10.0 ** np.arange(-3, 3))
Fit = Callable[[np.ndarray, np.ndarray], Any]


def _search(model: Any, grid: dict[str, Any], X: np.ndarray, y: np.ndarray) -> Any:
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # rare classes, solvers that stop early
        return GridSearchCV(model, grid, cv=folds).fit(X, y)


def linear(X: np.ndarray, y: np.ndarray) -> Any:
    part = np.random.default_rng(0).permutation(len(y))[:PART]
    model = LinearSVC(loss="hinge", max_iter=1000, random_state=0)
    best = _search(model, {"C": C_GRID}, X[part], y[part])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.set_params(**best.best_params_).fit(X, y) if len(y) > PART else best


def logistic(X: np.ndarray, y: np.ndarray) -> Any:
    return _search(LogisticRegression(max_iter=2000), {"C": C_GRID}, X, y)


def rbf(X: np.ndarray, y: np.ndarray) -> Any:
    part = np.random.default_rng(0).permutation(len(y))[:PART]
    grid = {"C": [0.1, 1.0, 10.0, 100.0], "gamma": [f / X.shape[1] for f in (0.03, 0.3, 1.0, 3.0)]}
    best = _search(SVC(), grid, X[part], y[part])
    return SVC(**best.best_params_).fit(X, y) if len(y) > PART else best


def pipeline(X: np.ndarray, y: np.ndarray) -> Any:
    lam = DPMeans(random_state=0).fit(X).lam_
    grid = {"lam": [0.1 * lam, lam, 10 * lam], "c": [0.01, 0.1, 1.0]}
    return _search(DPMeansSVC(random_state=0), grid, X, y)


def max_margin(X: np.ndarray, y: np.ndarray) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # inert experts
        return MaxMarginDPMeansCV(cv=FOLDS, random_state=0).fit(X, y)


def max_margin_soft(X: np.ndarray, y: np.ndarray) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return MaxMarginDPMeansCV(cv=FOLDS, gating="soft", random_state=0).fit(X, y)


def gibbs(X: np.ndarray, y: np.ndarray) -> Any:
    many = np.bincount(np.unique(y, return_inverse=True)[1]).min() > 1
    train, held = train_test_split(
        np.arange(len(y)), test_size=1 / 3, random_state=0, stratify=y if many else None
    )
    choices = [(alpha, c) for alpha in (0.1, 1.0) for c in (0.1, 1.0)]

    def fit(alpha: float, c: float, rows: np.ndarray, n_iter: int) -> Any:
        model = GibbsInfiniteSVC(alpha, c, n_iter=n_iter, burn_in=n_iter // 3, random_state=0)
        return model.fit(X[rows], y[rows])

    scores = [fit(a, c, train, 90).score(X[held], y[held]) for a, c in choices]
    return fit(*choices[int(np.argmax(scores))], np.arange(len(y)), 300)


def dp_mnl(X: np.ndarray, y: np.ndarray) -> Any:
    return DPMNL(n_iter=80, burn_in=40, random_state=0).fit(X, y)


PEERS: dict[str, Fit] = {
    "linear SVM": linear,
    "logistic": logistic,
    "RBF SVM": rbf,
    "DPMeansSVC": pipeline,
    "M2DPM": max_margin,
    "M2DPM soft": max_margin_soft,
    "Gibbs": gibbs,
    "dpMNL": dp_mnl,
}


def fit_scaled(fit: Fit, X: np.ndarray, y: np.ndarray) -> Any:
    """Fit on standardised columns; the answer takes rows as they are."""
    scale = StandardScaler().fit(X)
    return make_pipeline(scale, fit(scale.transform(X), y))
