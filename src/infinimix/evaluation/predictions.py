"""Predictions of rows that the predicting model has not learned.

Rows are either held out already, or each is predicted by a model of the same parameters that has
learned the other folds. `infinimix evaluate`, reports and plots all ask here, so that they agree.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from infinimix.evaluation.abilities import AnswersBatches, KnowsKinds, able
from infinimix.evaluation.folds import deal, deal_groups, splits
from infinimix.evaluation.scores import align, confusion, log_losses, probability_of
from infinimix.scikit import clone
from infinimix.tables.missing import is_missing
from infinimix.tables.rows import count_rows, is_frame, pick

FOLDS = 5
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
    groups: np.ndarray | None = None  # rows of one group depend on each other

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
    labels, known, _ = _read_target(rows, target)
    return pick(rows, known), [labels[i] for i in known], known


def _read_target(rows: Any, target: Any) -> tuple[list[Any], np.ndarray, np.ndarray]:
    """Return the labels, and where the rows with and without label are."""
    labels = np.asarray(target, dtype=object).tolist()
    n = count_rows(rows)
    if len(labels) != n:
        raise ValueError(f"rows has {n} rows, but target has {len(labels)} labels.")
    bare = np.array([is_missing(label) for label in labels], dtype=bool)
    return labels, np.flatnonzero(~bare), np.flatnonzero(bare)


def cross_validate(
    model: Any,
    rows: Any,
    target: Any,
    seed: int = 0,
    *,
    n_folds: int = FOLDS,
    groups: Any = None,
    least: int = LEAST_ROWS,
    quiet: bool = True,
    step: Callable[[], None] = lambda: None,
    weights: Sequence[float] | None = None,
) -> Predictions | None:
    """Predict each row by a model that has not learned it; None where that makes no sense.

    The kinds of columns are those of a fitted `model`, so that they do not depend on the fold.
    Rows without label are not predicted; if the model learns from them, they are in the training
    part of every fold.

    Parameters
    ----------
    model : classifier
        Fitted or not; copies of it learn the folds.
    rows, target
        A table, and the label of each row.
    seed : int
        Of the folds, and of the models.
    n_folds : int
        Number of folds.
    groups : sequence, optional
        The group of each row, such as a patient: all rows of a group are in one fold, and intervals
        take groups, not rows, for independent.
    least : int
        Return None for fewer labelled rows.
    quiet : bool
        Hide warnings of the copies: the model's own `fit` has said them.
    step : callable
        Called after each fold.
    weights : sequence, optional
        What `fit` is given as `sample_weight`; predictions and scores count every row once.
    """
    y, known, bare = _read_target(rows, target)
    labels = _sorted_labels([y[i] for i in known])
    if len(labels) < 2 or len(known) < least:
        return None
    codes = _codes([y[i] for i in known], labels)
    bare = bare if able(model, AnswersBatches) else bare[:0]
    own = None if groups is None else np.unique(np.asarray(groups), return_inverse=True)[1][known]
    fold = deal(codes, n_folds, seed) if own is None else deal_groups(codes, own, n_folds, seed)
    n_folds = int(fold.max()) + 1
    proba, models = np.zeros((len(codes), len(labels))), []
    for train, test in splits(fold, n_folds):
        learned = np.sort(np.concatenate([known[train], bare]))
        fresh = fresh_copy(model, rows, seed)
        with warnings.catch_warnings():
            if quiet:
                warnings.simplefilter("ignore", UserWarning)
            own_weights = {} if weights is None else {"sample_weight": np.asarray(weights)[learned]}
            fresh.fit(pick(rows, learned), _plain([y[i] for i in learned]), **own_weights)
        proba[test] = _predict(fresh, pick(rows, known[test]), labels)
        models.append(fresh)
        step()
    how = f"{n_folds}-fold cross-validation" + ("" if own is None else " by groups")
    return Predictions(labels, pick(rows, known), known, codes, proba, fold, models, how, own)


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


def fresh_copy(model: Any, rows: Any, seed: int) -> Any:
    """Return an unfitted copy that decides the kinds of columns as the model has."""
    fresh = clone(model)
    known = fresh.get_params()
    settings: dict[str, Any] = {"random_state": seed, "verbose": False}
    if is_frame(rows) and able(model, KnowsKinds):
        settings["columns"] = settings["generative__columns"] = dict(model.columns_)
    return fresh.set_params(**{name: value for name, value in settings.items() if name in known})


def _sorted_labels(y: Sequence[Any]) -> list[Any]:
    found = list(dict.fromkeys(y))
    try:
        return sorted(found)
    except TypeError:  # labels of several types
        return sorted(found, key=lambda label: (type(label).__name__, str(label)))


def _codes(y: Sequence[Any], labels: Sequence[Any]) -> np.ndarray:
    place = {label: j for j, label in enumerate(labels)}
    return np.array([place[label] for label in y], dtype=int)


def _plain(labels: list[Any]) -> Any:
    """Return labels as an array of their own type where they have one."""
    kinds = {type(label) for label in labels}
    if len(kinds) == 1 and kinds <= {bool, int, str}:
        return np.array(labels)
    out = np.empty(len(labels), dtype=object)
    out[:] = labels
    return out
