"""Predictions of rows that the predicting model has not learned.

Rows are either held out already, or each is predicted by a model of the same parameters that has
learned the other folds.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from infinimix.estimators.common.folds import deal_evenly
from infinimix.evaluation.folds import splits
from infinimix.evaluation.scores import align, confusion, log_losses, probability_of
from infinimix.scikit import clone
from infinimix.tables.missing import is_missing
from infinimix.tables.rows import count_rows, pick

FOLDS = 5
MOST_ROWS = 4000  # of a cross-validation; more are a sample
LEAST_ROWS = 10


@dataclass(frozen=True)
class Predictions:
    """What models predicted for rows they had not learned."""

    labels: list[Any]  # of the columns of proba
    rows: Any
    places: np.ndarray  # where the rows were in the table
    y: np.ndarray  # codes of the true labels
    proba: np.ndarray
    model_of: np.ndarray  # which of the models predicted the row
    models: list[Any]
    how: str

    @property
    def predicted(self) -> np.ndarray:
        """The most probable code of each row."""
        return self.proba.argmax(axis=1)

    @property
    def right(self) -> np.ndarray:
        """Whether it is the true one."""
        return self.predicted == self.y

    @property
    def p_true(self) -> np.ndarray:
        """The probability of the true label."""
        return probability_of(self.y, self.proba)

    @property
    def losses(self) -> np.ndarray:
        """Minus the log of that."""
        return log_losses(self.p_true)

    @property
    def confusion(self) -> np.ndarray:
        """Rows by the codes of their true and their predicted label."""
        return confusion(self.y, self.predicted, len(self.labels))


def labelled_rows(rows: Any, target: Any) -> tuple[Any, list[Any], np.ndarray]:
    """Return the rows that have a label, the labels, and where the rows were."""
    labels = np.asarray(target, dtype=object).tolist()
    n = count_rows(rows)
    if len(labels) != n:
        raise ValueError(f"rows has {n} rows, but target has {len(labels)} labels.")
    places = np.array([i for i, label in enumerate(labels) if not is_missing(label)], dtype=int)
    return pick(rows, places), [labels[i] for i in places], places


def cross_validate(model: Any, rows: Any, target: Any, seed: int = 0) -> Predictions | None:
    """Predict each row by a model that has not learned it; None where that makes no sense."""
    rows, y, places = labelled_rows(rows, target)
    rng = np.random.default_rng(seed)
    labels = _sorted_labels(y)
    codes = _codes(y, labels)
    if len(labels) < 2 or len(codes) < LEAST_ROWS:
        return None
    if len(codes) > MOST_ROWS:
        some = np.sort(rng.permutation(len(codes))[:MOST_ROWS])
        rows, codes, places = pick(rows, some), codes[some], places[some]
    folds = deal_evenly(codes, FOLDS, rng)
    proba, models = np.zeros((len(codes), len(labels))), []
    truth = np.empty(len(labels), dtype=object)
    truth[:] = labels
    for inner, outer in splits(folds, FOLDS):
        fresh = _fresh(model, seed)
        with warnings.catch_warnings():  # what there is to say, the model's own fit has said
            warnings.simplefilter("ignore", UserWarning)
            fresh.fit(pick(rows, inner), _plain(truth[codes[inner]]))
        proba[outer] = _predict(fresh, pick(rows, outer), labels)
        models.append(fresh)
    how = f"{FOLDS}-fold cross-validation"
    return Predictions(labels, rows, places, codes, proba, folds, models, how)


def judge_held_out(model: Any, rows: Any, target: Any) -> Predictions | None:
    """Let a model predict rows that it has never seen."""
    rows, y, places = labelled_rows(rows, target)
    known = np.asarray(model.classes_).tolist()
    if not y:
        return None
    if not set(y) & set(known):
        raise ValueError(
            f"target has none of the classes that the model knows: {known[:5]!r}; "
            f"its first label is {y[0]!r}."
        )
    labels = _sorted_labels([*known, *y])
    proba, codes = _predict(model, rows, labels), _codes(y, labels)
    by_it = np.zeros(len(y), dtype=int)
    return Predictions(labels, rows, places, codes, proba, by_it, [model], "held-out rows")


def _predict(model: Any, rows: Any, labels: Sequence[Any]) -> np.ndarray:
    return align(model.predict_proba(rows), np.asarray(model.classes_).tolist(), labels)


def _fresh(model: Any, seed: int) -> Any:
    fresh = clone(model)
    known = fresh.get_params()
    quiet = {"random_state": seed, "verbose": False}
    return fresh.set_params(**{name: value for name, value in quiet.items() if name in known})


def _sorted_labels(y: Sequence[Any]) -> list[Any]:
    found = list(dict.fromkeys(y))
    try:
        return sorted(found)
    except TypeError:  # labels of several types
        return sorted(found, key=lambda label: (type(label).__name__, str(label)))


def _codes(y: Sequence[Any], labels: Sequence[Any]) -> np.ndarray:
    place = {label: j for j, label in enumerate(labels)}
    return np.array([place[label] for label in y], dtype=int)


def _plain(labels: np.ndarray) -> Any:
    """Return labels as an array of their own type where they have one."""
    kinds = {type(label) for label in labels.tolist()}
    return np.array(labels.tolist()) if len(kinds) == 1 and kinds <= {bool, int, str} else labels
