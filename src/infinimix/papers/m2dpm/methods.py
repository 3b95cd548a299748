"""The classifiers of tables 1, 3 and 4, tuned alike: on folds of the training rows alone.

A method takes standardised training rows and returns a model with its choices made, not yet fitted,
so that the time of learning and predicting can be told from that of choosing. Linear and RBF SVMs
and logistic regression (MNL) have C (and gamma) chosen on folds, DP-means + SVM its penalty and c,
max-margin DP-means lam, s and c: five folds as published, three by default. Gibbs-iSVM has c and
the spread of its clusters (as published) or alpha (by default) from one held-out third, with fewer
sweeps, as it is slow; dpMNL chooses nothing.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score
from sklearn.model_selection import GridSearchCV, StratifiedKFold, train_test_split
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

from infinimix import DPMeans, DPMeansSVC, GibbsInfiniteSVC, MaxMarginDPMeans, MaxMarginDPMeansCV
from infinimix.papers.experiment import Estimate
from infinimix.papers.m2dpm.dpmnl import DPMNL

FOLDS = 3
PART = 1500  # rows that the C and gamma of linear and RBF SVMs are chosen on, at most
C_GRID = tuple(10.0 ** np.arange(-3, 3))
SWEEPS, TRIAL_SWEEPS = 300, 90
Choose = Callable[[np.ndarray, np.ndarray], Any]


def _search(model: Any, grid: Mapping[str, Any], X: np.ndarray, y: np.ndarray) -> Any:
    """Return the model with what was best on folds, of a part of many rows."""
    part = np.random.default_rng(0).permutation(len(y))[:PART]
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=0)
    search = GridSearchCV(model, grid, cv=folds, refit=False).fit(X[part], y[part])
    return model.set_params(**search.best_params_)


def linear(X: np.ndarray, y: np.ndarray) -> Any:
    """Return a linear SVM."""
    return _search(LinearSVC(loss="hinge", max_iter=1000, random_state=0), {"C": C_GRID}, X, y)


def logistic(X: np.ndarray, y: np.ndarray) -> Any:
    """Return multinomial logistic regression."""
    return _search(LogisticRegression(max_iter=2000), {"C": C_GRID}, X, y)


def rbf(X: np.ndarray, y: np.ndarray) -> Any:
    """Return an SVM with a Gaussian kernel."""
    gammas = [f / X.shape[1] for f in (0.03, 0.3, 1.0, 3.0)]
    return _search(SVC(), {"C": [0.1, 1.0, 10.0, 100.0], "gamma": gammas}, X, y)


def pipeline(X: np.ndarray, y: np.ndarray) -> Any:
    """Return DP-means with an SVM in each cluster."""
    lam = DPMeans(random_state=0).fit(X).lam_
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=0)
    grid = {"lam": [0.1 * lam, lam, 10 * lam], "c": [0.01, 0.1, 1.0]}
    model = DPMeansSVC(random_state=0)
    search = GridSearchCV(model, grid, cv=folds, refit=False).fit(X, y)
    return model.set_params(**search.best_params_)


def _chosen(search: MaxMarginDPMeansCV, X: np.ndarray, y: np.ndarray) -> dict[str, Any]:
    found = search.fit(X, y)
    return {"lam": found.lam_, "s": found.s_, "c": found.c_, "random_state": 0}


def max_margin(X: np.ndarray, y: np.ndarray) -> Any:
    """Return max-margin DP-means as published."""
    search = MaxMarginDPMeansCV.as_published(random_state=0)
    return MaxMarginDPMeans.as_published(**_chosen(search, X, y))


def max_margin_default(X: np.ndarray, y: np.ndarray) -> Any:
    """Return max-margin DP-means by default."""
    return MaxMarginDPMeans(**_chosen(MaxMarginDPMeansCV(random_state=0), X, y))


def max_margin_soft(X: np.ndarray, y: np.ndarray) -> Any:
    """Return max-margin DP-means whose experts are averaged."""
    search = MaxMarginDPMeansCV(gating="soft", random_state=0)
    return MaxMarginDPMeans(gating="soft", **_chosen(search, X, y))


def gibbs(X: np.ndarray, y: np.ndarray) -> Any:
    """Return the Gibbs infinite SVM as published."""
    make = GibbsInfiniteSVC.as_published
    choices = [{"variance": v, "c": c} for v in (0.02, 0.1, 0.5) for c in (0.1, 1.0)]
    return _held_out(make, choices, X, y)


def gibbs_default(X: np.ndarray, y: np.ndarray) -> Any:
    """Return the Gibbs infinite SVM by default."""
    choices = [{"alpha": a, "c": c} for a in (0.1, 1.0) for c in (0.1, 1.0)]
    return _held_out(GibbsInfiniteSVC, choices, X, y)


def _held_out(
    make: Callable[..., Any], choices: list[dict[str, float]], X: np.ndarray, y: np.ndarray
) -> Any:
    many = np.unique(y, return_counts=True)[1].min() > 1
    train, held = train_test_split(
        np.arange(len(y)), test_size=1 / 3, random_state=0, stratify=y if many else None
    )

    def model(choice: dict[str, float], sweeps: int) -> Any:
        return make(**choice, n_iter=sweeps, burn_in=sweeps // 3, random_state=0)

    scores = [
        model(c, TRIAL_SWEEPS).fit(X[train], y[train]).score(X[held], y[held]) for c in choices
    ]
    return model(choices[int(np.argmax(scores))], SWEEPS)


def dp_mnl(X: np.ndarray, y: np.ndarray) -> Any:
    """Return a Dirichlet process mixture of multinomial logits."""
    few = np.r_[0, np.flatnonzero(y != y[0])[:1]]
    DPMNL(n_iter=1, burn_in=0, n_samples=1).fit(X[few], y[few])  # compiled before it is timed
    return DPMNL()


M2DPM, GIBBS = "M2DPM", "Gibbs-iSVM"
METHODS: dict[str, Choose] = {  # the names of the paper's tables
    "linear SVM": linear,
    "RBF SVM": rbf,
    "MNL": logistic,
    "dpMNL": dp_mnl,
    "DP-means + SVM": pipeline,
    GIBBS: gibbs,
    M2DPM: max_margin,
}
BY_DEFAULT: dict[str, Choose] = {GIBBS: gibbs_default, M2DPM: max_margin_default}
EVERY: dict[str, Choose] = METHODS | {f"{n} by default": f for n, f in BY_DEFAULT.items()}


def judge(
    choose: Choose, X: np.ndarray, y: np.ndarray, test: np.ndarray, truth: np.ndarray,
    scale: bool = True,
) -> dict[str, float]:  # fmt: skip
    """Return accuracy and macro F1 in percent, and CPU seconds to learn and predict."""
    if scale:
        scaler = StandardScaler().fit(X)
        X, test = scaler.transform(X), scaler.transform(test)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # rare classes, solvers that stop early, inert experts
        model = choose(X, y)
        start = time.process_time()
        answer = model.fit(X, y).predict(test)
        seconds = time.process_time() - start
    return {
        "accuracy": 100 * float((answer == truth).mean()),
        "f1": 100 * float(f1_score(truth, answer, average="macro", zero_division=0)),
        "seconds": seconds,
    }


def both_forms(name: str, find: Callable[[str], Estimate]) -> tuple[Estimate, Estimate | None]:
    """Return the figure of a method as published (or the only one), and by default."""
    return find(name), find(f"{name} by default") if name in BY_DEFAULT else None
