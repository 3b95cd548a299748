"""Predict, then learn: the protocol of a run over a stream, for any model.

`model.forecast(X, y)` predicts each row and then learns it. Models that have such a method are
asked to do it themselves; for others it is done here, row by row or in batches, by the methods
of scikit-learn (`partial_fit`, `predict_proba` or `predict`) or of River (`learn_one`,
`predict_proba_one` or `predict_one`).
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from infinimix.estimators.online.forecast import NEW_CLASS, Forecast
from infinimix.evaluation.abilities import (
    AnswersRows,
    Classified,
    Classifying,
    Forecasting,
    LearnsRows,
    LearnsTables,
    NoticesNewClasses,
    able,
)
from infinimix.tables.rows import as_dicts, by_rows, cut, holds_dicts, list_labels


def forecast(model: Any, X: Any, y: Any, *, batch: int | None = None) -> Forecast:
    """Predict each row of a chunk, then learn it.

    Parameters
    ----------
    model : classifier
        With `forecast`, with `partial_fit`, or with `learn_one`.
    X : table
        The rows.
    y : sequence of labels
        Their labels.
    batch : int, optional
        Predict so many rows, then learn them, instead of row by row: faster, but a row knows
        nothing of the others in its batch. With None, a `forecast` of the model's own is used.

    Returns
    -------
    Forecast
        Arrays `predicted`, `proba_true`, `confidence` and `new` over the rows. The prediction
        is the most probable class; `predict` is asked where the model has no probabilities, or
        may answer `NEW_CLASS`.

    Examples
    --------
    >>> from infinimix import AClassClassifier
    >>> from infinimix.streaming import forecast
    >>> X, y = [[0.0], [5.0], [0.1], [5.1]], ["a", "b", "a", "b"]
    >>> forecast(AClassClassifier("real", random_state=0), X, y).predicted.tolist()
    [None, 'a', 'a', 'b']
    """
    if batch is None and able(model, Forecasting):
        found: Forecast = model.forecast(X, y)
        return found
    X, y = by_rows(X), list_labels(y)
    learner = as_learner(model, one_by_one=(batch or 1) == 1 and holds_dicts(X))
    parts = []
    for first in range(0, len(y), batch or 1):
        last = min(first + (batch or 1), len(y))
        rows, labels = cut(X, first, last), y[first:last]
        parts.append(learner.answer(rows, labels))
        learner.learn(rows, labels)
    return join(parts)


def join(parts: list[Forecast]) -> Forecast:
    """Return several forecasts as one."""
    return Forecast(*map(np.concatenate, zip(*parts, strict=True))) if parts else Forecast.empty(0)


class LearnerAdapter(Protocol):
    """Predicting and learning apart."""

    def answer(self, X: Any, y: list[Any]) -> Forecast:
        """Predict rows; their labels are only looked up in the answer."""
        ...

    def learn(self, X: Any, y: list[Any]) -> None:
        """Learn rows."""
        ...


def as_learner(model: Any, *, one_by_one: bool = False, classes: Any = None) -> LearnerAdapter:
    """Return the way to speak to a model.

    Parameters
    ----------
    model : classifier
        Of scikit-learn's or of River's kind.
    one_by_one : bool
        Whether to prefer single dicts where a model is of both kinds.
    classes : sequence of labels, optional
        For the first `partial_fit` of models that must know all labels in advance.
    """
    rows, tables = able(model, LearnsRows), able(model, LearnsTables)
    if not rows and not tables:
        raise TypeError(
            f"{type(model).__name__} cannot learn from a stream: it has none of the methods "
            "forecast, partial_fit and learn_one."
        )
    one_by_one = one_by_one and not able(model, NoticesNewClasses)  # which takes tables
    if rows and (one_by_one or not tables):
        return RowAdapter(model)
    return TableAdapter(model, classes)


class TableAdapter:
    """A model of scikit-learn's kind."""

    def __init__(self, model: Any, classes: Any = None) -> None:
        self.model = model
        self.classes = classes
        self._fitted = self._has_proba = self._notices_new = False  # found out when it is fitted

    def answer(self, X: Any, y: list[Any]) -> Forecast:
        """Predict rows; no answers while the model knows no classes."""
        found = Forecast.empty(len(y))
        if not self._is_fitted:
            return found
        if not self._has_proba:
            found.predicted[:] = list_labels(self.model.predict(X))
            return found
        proba, labels = np.asarray(self.model.predict_proba(X)), list_labels(self.model.classes_)
        best = proba.argmax(axis=1)
        found.predicted[:] = [labels[k] for k in best.tolist()]
        found.confidence[:] = proba[np.arange(len(y)), best]
        place = {label: k for k, label in enumerate(labels)}
        for i, label in enumerate(y):
            if label in place:
                found.proba_true[i] = proba[i, place[label]]
        if self._notices_new:
            self._answer_new(X, found)
        return found

    def _answer_new(self, X: Any, found: Forecast) -> None:
        found.new[:] = self.model.new_class_proba(X)
        for i, label in enumerate(list_labels(self.model.predict(X))):
            if label is NEW_CLASS:
                found.predicted[i], found.confidence[i] = label, found.new[i]

    def learn(self, X: Any, y: list[Any]) -> None:
        """Learn rows; the first time with all classes, if they are given."""
        if self.classes is not None and not self._is_fitted:
            self.model.partial_fit(X, y, classes=self.classes)
        else:
            self.model.partial_fit(X, y)

    @property
    def _is_fitted(self) -> bool:
        if not self._fitted and able(self.model, Classified) and self.model.classes_ is not None:
            self._fitted, self._has_proba = True, able(self.model, Classifying)
            self._notices_new = able(self.model, NoticesNewClasses)
        return self._fitted


class RowAdapter:
    """A model of River's kind."""

    def __init__(self, model: Any) -> None:
        self.model = model
        self._has_proba = able(model, AnswersRows)

    def answer(self, X: Any, y: list[Any]) -> Forecast:
        """Predict rows one after the other."""
        found = Forecast.empty(len(y))
        for i, (x, label) in enumerate(zip(as_dicts(X), y, strict=True)):
            proba = self._probabilities(x)
            if proba is None:
                found.predicted[i] = self.model.predict_one(x)
            elif proba:
                found.predicted[i] = best = max(proba, key=proba.__getitem__)
                found.confidence[i] = proba[best]
                found.proba_true[i] = proba.get(label, np.nan)
        return found

    def _probabilities(self, x: Any) -> dict[Any, float] | None:
        if not self._has_proba:
            return None
        try:
            proba: dict[Any, float] = self.model.predict_proba_one(x)
        except NotImplementedError:  # so River's classifiers say that they have none
            return None
        return proba

    def learn(self, X: Any, y: list[Any]) -> None:
        """Learn rows one after the other."""
        for x, label in zip(as_dicts(X), y, strict=True):
            self.model.learn_one(x, label)
