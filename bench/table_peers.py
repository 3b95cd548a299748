"""Classifiers for tables of mixed columns with holes: infinimix and its peers.

Each peer chooses on its training rows, so that none is hurt by a default:

- infinimix, chosen: whether all holes are marked, and whether the real columns are one gaussian
  block, by the log-loss of left-out rows (`loo_log_loss_`); infinimix alone has its defaults;
- boosting (`HistGradientBoostingClassifier`, native categories and holes): the number of
  iterations, of at most 100, by the log-loss of a 3-fold cross-validation;
- CatBoost, if it is installed (categories as they are): the number of iterations, of at most 300
  in steps of 20, by the log-loss of a quarter of the training rows;
- forest (300 trees): whether holes are marked, and the least size of a leaf, by the log-loss
  out of bag of 100 trees;
- logistic regression: whether holes are marked, and C, by the log-loss of a 3-fold
  cross-validation.

Forest and logistic regression have holes filled with the mean or the most frequent category;
where they are marked, numbers have an indicator beside them and a hole is a category of its
own. Categories are one-hot. Naive Bayes is Gaussian for numbers, each class
with one more row that has the pooled variance, and multinomial with a pseudo-count of 1 for
categories and for whole numbers of at most 10 values; it leaves holes out.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from importlib.util import find_spec
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from bench.realdata import as_objects, categorical_columns, numeric_columns
from infinimix import AClassClassifier
from infinimix.evaluation.scores import align, log_losses, probability_of

EFFORT = "default"  # of infinimix
ITERATIONS = 100
CATBOOST_ITERATIONS, CATBOOST_STEP = 300, 20
TREES = 300
INNER_FOLDS = 3
LEAVES = (1, 2, 5, 10)
MARKS = (False, True)  # are holes marked?
STRENGTHS = tuple(10.0 ** np.arange(-3, 3))

Answer = tuple[np.ndarray, np.ndarray]  # probabilities, and the classes of their columns
Model = Callable[[pd.DataFrame, np.ndarray, pd.DataFrame], Answer]


def infinimix(train: pd.DataFrame, y: np.ndarray, test: pd.DataFrame) -> Answer:
    model = AClassClassifier(effort=EFFORT, random_state=0).fit(train, y)
    return model.predict_proba(test), model.classes_


def chosen(train: pd.DataFrame, y: np.ndarray, test: pd.DataFrame) -> Answer:
    """Choose as the peers do, by the log-loss of left-out training rows that `fit` finds."""
    best = AClassClassifier(effort=EFFORT, random_state=0).fit(train, y)
    reals = tuple(c for c in train if best.columns_[c].startswith(("real", "spiked")))
    columns: list[Any] = ["auto", {reals: "gaussian"}] if len(reals) > 1 else ["auto"]
    holes = ["auto", "mark"] if train.isna().any(axis=None) else ["auto"]
    for settings in list(product(columns, holes))[1:]:
        model = AClassClassifier(settings[0], effort=EFFORT, holes=settings[1], random_state=0)
        model.fit(train, y)
        if model.loo_log_loss_ < best.loo_log_loss_:
            best = model
    return best.predict_proba(test), best.classes_


def boosting(train: pd.DataFrame, y: np.ndarray, test: pd.DataFrame) -> Answer:
    train, test = _as_categories(train), _as_categories(test)

    def stages(rows: np.ndarray, held: np.ndarray) -> np.ndarray:
        part = _seen(train.iloc[rows])
        model = _booster(ITERATIONS).fit(part, y[rows])
        staged = model.staged_predict_proba(train.iloc[held][part.columns])
        return np.array([_loss(p, model.classes_, y[held]) for p in staged])

    full = _seen(train)
    model = _booster(int(_cross_validate(stages, y).argmin()) + 1).fit(full, y)
    return model.predict_proba(test[full.columns]), model.classes_


def catboost(train: pd.DataFrame, y: np.ndarray, test: pd.DataFrame) -> Answer:
    from catboost import CatBoostClassifier

    train, test = _as_strings(train), _as_strings(test)

    def fit(rows: np.ndarray, iterations: int) -> CatBoostClassifier:
        model = CatBoostClassifier(
            iterations=iterations, random_seed=0, thread_count=1, verbose=False,
            allow_writing_files=False, cat_features=categorical_columns(train),
            loss_function="MultiClass",
        )  # fmt: skip
        return model.fit(train.iloc[rows], y[rows])

    # One split and not folds: an iteration takes long where classes or categories are many.
    folds = StratifiedKFold(4, shuffle=True, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # rare classes
        rows, held = next(folds.split(y, y))
    tried = fit(rows, CATBOOST_ITERATIONS)
    staged = tried.staged_predict_proba(train.iloc[held], eval_period=CATBOOST_STEP)
    losses = [_loss(p, tried.classes_.ravel(), y[held]) for p in staged]
    best = min((int(np.argmin(losses)) + 1) * CATBOOST_STEP, CATBOOST_ITERATIONS)
    model = fit(np.arange(len(y)), best)
    return model.predict_proba(test), model.classes_.ravel()


def forest(train: pd.DataFrame, y: np.ndarray, test: pd.DataFrame) -> Answer:
    train, test = as_objects(train), as_objects(test)
    least, best = np.inf, (False, LEAVES[0])
    for mark in MARKS:
        X = _preprocessor(train, mark).fit_transform(train)
        for leaf in LEAVES:
            tried = _forest(TREES // 3, leaf, oob_score=True).fit(X, y)
            loss = _loss(tried.oob_decision_function_, tried.classes_, y)
            if loss < least:
                least, best = loss, (mark, leaf)
    model = make_pipeline(_preprocessor(train, best[0]), _forest(TREES, best[1])).fit(train, y)
    return model.predict_proba(test), model.classes_


def logistic(train: pd.DataFrame, y: np.ndarray, test: pd.DataFrame) -> Answer:
    train, test = as_objects(train), as_objects(test)

    def losses(rows: np.ndarray, held: np.ndarray) -> np.ndarray:
        found = []
        for mark in MARKS:
            dense = _preprocessor(train, mark)
            X, Z = dense.fit_transform(train.iloc[rows]), dense.transform(train.iloc[held])
            models = [_regression(C).fit(X, y[rows]) for C in STRENGTHS]
            found += [_loss(m.predict_proba(Z), m.classes_, y[held]) for m in models]
        return np.array(found)

    mark, k = divmod(int(_cross_validate(losses, y).argmin()), len(STRENGTHS))
    dense = _preprocessor(train, MARKS[mark])
    model = make_pipeline(dense, _regression(STRENGTHS[k])).fit(train, y)
    return model.predict_proba(test), model.classes_


def naive_bayes(train: pd.DataFrame, y: np.ndarray, test: pd.DataFrame) -> Answer:
    train, test = as_objects(train), as_objects(test)
    classes, code = np.unique(y, return_inverse=True)
    members = np.eye(len(classes))[code]
    joint = np.tile(np.log(members.mean(axis=0)), (len(test), 1))
    numbers = [name for name in numeric_columns(train) if not _few(train[name])]
    for name in train.columns.difference(numbers):
        joint += _log_categories(train[name], members, test[name])
    if numbers:
        joint += _log_normals(train[numbers].to_numpy(), members, test[numbers].to_numpy())
    joint -= joint.max(axis=1, keepdims=True)
    proba = np.exp(joint)
    return proba / proba.sum(axis=1, keepdims=True), classes


MODELS: dict[str, Model] = {
    "infinimix": infinimix,
    "infinimix, chosen": chosen,
    "boosting": boosting,
    **({"CatBoost": catboost} if find_spec("catboost") else {}),
    "forest": forest,
    "logistic": logistic,
    "naive Bayes": naive_bayes,
}


def _few(cells: pd.Series) -> bool:
    """Whole numbers, and few of them: a code rather than a quantity."""
    found = cells.dropna().unique()
    return len(found) <= 10 and bool(np.all(found == np.round(found)))


def _log_categories(cells: pd.Series, members: np.ndarray, test: pd.Series) -> np.ndarray:
    """Log probability of each test cell in each class, pseudo-count 1; 0 for holes."""
    kinds = pd.Index(cells.dropna().unique())
    place = kinds.get_indexer(cells)  # -1 for a hole, and for what training has not seen
    counts = members[place >= 0].T @ np.eye(len(kinds))[place[place >= 0]] + 1.0
    logs = np.log(counts / counts.sum(axis=1, keepdims=True)) if len(kinds) else counts
    where = kinds.get_indexer(test)
    out = np.zeros((len(test), members.shape[1]))
    out[where >= 0] = logs[:, where[where >= 0]].T
    return out


def _log_normals(X: np.ndarray, members: np.ndarray, test: np.ndarray) -> np.ndarray:
    """Log density of the observed cells of each test row in each class.

    A class without any observed cell in a column has the moments of the whole column.
    """
    seen, hole = ~np.isnan(X), np.isnan(test)
    keep = seen.any(axis=0)
    X, seen, test, hole = X[:, keep], seen[:, keep], test[:, keep], hole[:, keep]
    filled = np.where(seen, X, 0.0)
    n_all = seen.sum(axis=0)
    mean_all = filled.sum(axis=0) / n_all
    centred = np.where(seen, X - mean_all, 0.0)
    var_all = (centred**2).sum(axis=0) / n_all
    n = members.T @ seen
    mean = np.where(n > 0, mean_all + members.T @ centred / np.maximum(n, 1), mean_all)
    squares = np.maximum(members.T @ centred**2 - n * (mean - mean_all) ** 2, 0.0)
    var = (squares + var_all + 1e-9) / (n + 1)
    out = np.zeros((len(test), members.shape[1]))
    for k in range(members.shape[1]):
        log_density = -0.5 * (np.log(2 * np.pi * var[k]) + (test - mean[k]) ** 2 / var[k])
        out[:, k] = np.where(hole, 0.0, log_density).sum(axis=1)
    return out


def _as_categories(frame: pd.DataFrame) -> pd.DataFrame:
    frame = as_objects(frame)
    return frame.astype(dict.fromkeys(categorical_columns(frame), "category"))


def _as_strings(frame: pd.DataFrame) -> pd.DataFrame:
    """Categories as strings, a missing one among them."""
    frame = as_objects(frame)
    names = categorical_columns(frame)
    return frame.assign(**{n: frame[n].astype(object).fillna("missing").astype(str) for n in names})


def _seen(frame: pd.DataFrame) -> pd.DataFrame:
    """Without columns of holes, which boosting cannot bin."""
    return frame.dropna(axis="columns", how="all")


def _preprocessor(frame: pd.DataFrame, mark: bool) -> ColumnTransformer:
    """Numbers filled and scaled, categories one-hot; holes marked, or not."""
    numbers = make_pipeline(
        SimpleImputer(add_indicator=mark, keep_empty_features=True), StandardScaler()
    )
    one_hot = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    fill = SimpleImputer(strategy="most_frequent", keep_empty_features=True)
    return ColumnTransformer(
        [
            ("numbers", numbers, numeric_columns(frame)),
            (
                "categories",
                one_hot if mark else make_pipeline(fill, one_hot),
                categorical_columns(frame),
            ),
        ]
    )


def _booster(iterations: int) -> HistGradientBoostingClassifier:
    return HistGradientBoostingClassifier(
        max_iter=iterations,
        early_stopping=False,
        categorical_features="from_dtype",
        random_state=0,
    )


def _forest(trees: int, leaf: int, **options: bool) -> RandomForestClassifier:
    return RandomForestClassifier(trees, min_samples_leaf=leaf, random_state=0, **options)


def _regression(C: float) -> LogisticRegression:
    return LogisticRegression(C=C, max_iter=300)


def _loss(proba: np.ndarray, known: np.ndarray, y: np.ndarray) -> float:
    classes = np.union1d(known, y)
    p_true = probability_of(np.searchsorted(classes, y), align(proba, known, classes))
    return log_losses(p_true).mean()


def _cross_validate(scores: Callable, y: np.ndarray) -> np.ndarray:
    """Sum of the losses of several settings over the inner folds."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # rare classes; C so large that the optimum is far
        folding = StratifiedKFold(INNER_FOLDS, shuffle=True, random_state=0)
        return sum(scores(rows, held) for rows, held in folding.split(y, y))
