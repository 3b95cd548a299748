"""How `OnlineCRPClassifier` learns: rows are read and checked, then learned in parts.

Nothing is changed before everything is checked. A call is cut where classes change: where one
must be forgotten for another, and at rows without label.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from infinimix.estimators.common.parameters import check_parameters, seed_sequence
from infinimix.estimators.common.table_estimator import check_fitted
from infinimix.estimators.online.forecast import NEW_CLASS, Forecast
from infinimix.estimators.online.open_world import OpenWorld
from infinimix.estimators.online.parameters import check_together, is_text, read_settings
from infinimix.estimators.online.roster import Nameless, Roster
from infinimix.estimators.online.rows import Read, TableInput, TextInput
from infinimix.inference.online_crp import model as at
from infinimix.inference.online_crp.learner import Answers, Learner
from infinimix.scikit import _check_feature_names
from infinimix.tables.missing import is_missing
from infinimix.tables.text import Text


class OnlineLearning(OpenWorld):
    """Reading, learning and answering; the public class names the results."""

    columns: Any
    max_classes: int | None
    max_features: int | None
    open_world: bool
    random_state: Any
    n_features_in_: int
    feature_names_in_: np.ndarray
    _torn: bool

    def _learn(
        self, X: Any, y: Any, classes: Any, predicted: Any, answer: bool = False
    ) -> list[Forecast]:
        """Learn rows; return forecasts of their parts if they are asked for."""
        first = not hasattr(self, "_learner")
        source, read, roster = self._read(X)
        labels, new = roster.read(y, classes, bool(self.open_world))
        if len(labels) != read.n_rows:
            raise ValueError(
                f"Found input variables with inconsistent numbers of samples: X has {read.n_rows} "
                f"rows, y has {len(labels)} labels."
            )
        given = _read_predictions(predicted, labels)
        learner = self._new_learner(source, read) if first else self._learner
        self._torn = True  # until all is learned; an interrupt cannot be undone
        source.prepare(learner, read)
        self._learner, self._input, self._roster = learner, source, roster
        parts = []
        for start, end in self._cuts(labels, new):
            answers = self._learn_part(read, labels, given, start, end)
            if answer:
                parts.append(self._forecast_of(answers))
        source.take(learner, read)
        self._name_features(X, read)
        self._torn = False
        return parts

    def _read(self, X: Any, answers: bool = False) -> tuple[Any, Read, Roster]:
        """Read rows, to learn them or for answers, without changing anything."""
        if not hasattr(self, "_learner"):
            check_parameters(self)
            check_together(self)
            return *self._open(X), Roster()
        check_not_torn(self)
        self._check_features(X)
        read = self._input.read(X, type(self).__name__)
        self._check_width(X, read, answers)
        return self._input, read, self._roster

    def _open(self, X: Any) -> tuple[Any, Read]:
        if is_text(self.columns):
            text = self.columns if isinstance(self.columns, Text) else Text()
            source: Any = TextInput(text, self.max_features and int(self.max_features))
        else:
            source = TableInput(self.columns)
        return source, source.read(X, type(self).__name__)

    def _new_learner(self, source: Any, read: Read) -> Learner:
        seed = seed_sequence(self.random_state)
        return source.new_learner(read_settings(self), self, seed, read)

    def _check_features(self, X: Any) -> None:
        if hasattr(X, "columns") and hasattr(self, "feature_names_in_"):
            _check_feature_names(self, X, reset=False)

    def _check_width(self, X: Any, read: Read, answers: bool) -> None:
        """Raise ValueError if a matrix has other columns than there were; more may be learned."""
        width, expected = self._input.features(X, read)[0], getattr(self, "n_features_in_", None)
        if width is None or expected is None:
            return
        if width < expected or (answers and width > expected):
            raise ValueError(
                f"X has {width} features, but {type(self).__name__} is expecting {expected} "
                "features as input."
            )

    def _name_features(self, X: Any, read: Read) -> None:
        width, names = self._input.features(X, read)
        if width is not None:
            self.n_features_in_ = max(width, getattr(self, "n_features_in_", 0))
            if names is not None and not hasattr(self, "feature_names_in_"):
                self.feature_names_in_ = np.array(names, dtype=object)

    def _cuts(self, labels: list[Any], new: list[Any]) -> Any:
        """Yield the parts of a call between which classes change, opening those of the next."""
        bound, first = self.max_classes, 0
        if bound is None and None not in labels:
            self._open_classes(new)
            yield 0, len(labels)
            return
        declared, known = [v for v in new if v not in labels], len(self._roster.codes)
        self._open_classes(declared if bound is None else declared[: max(bound - known, 0)])
        for row, label in enumerate(labels):
            if label is not None and label in self._roster.codes:
                continue
            if row > first:
                yield first, row
            if label is not None:
                self._open_classes([label])
            yield row, row + 1
            first = row + 1
            while bound is not None and len(self._roster.codes) > bound:  # not before it is seen
                self._forget_oldest(self._roster.codes.values())
        if first < len(labels):
            yield first, len(labels)

    def _open_classes(self, new: list[Any]) -> None:
        self._roster.extend(new)
        self._learner.open(len(self._roster.members))

    def _learn_part(
        self, read: Read, labels: list[Any], given: list[Any] | None, first: int, last: int
    ) -> Answers:
        if labels[first] is None:
            return self._gather(read, first)
        part, codes = read.part(first, last), self._roster.codes
        told = np.array([codes[label] for label in labels[first:last]], np.int64)
        made = None
        if given is not None:
            said = [_code_of(value, codes) for value in given[first:last]]
            made = np.array(said, np.int64)
        return self._input.run(self._learner, part, told, made)

    def _forecast_of(self, answers: Answers) -> Forecast:
        empty = np.isnan(answers.confidence) | ((answers.predicted < 0) & (answers.new >= 1.0))
        predicted = self._labels_of(answers.predicted, objects=True)
        predicted[empty] = None
        return Forecast(predicted, answers.proba_told, answers.confidence, answers.new)

    def _labels_of(self, codes: np.ndarray, objects: bool = False) -> np.ndarray:
        """Return the labels of classes; NEW_CLASS where there is none."""
        if not objects and (codes >= 0).all():
            place = np.empty(len(self._roster.members), np.int64)
            place[self._roster.order] = np.arange(len(self._roster.order))
            return self._roster.classes[place[codes]]
        members = np.empty(len(self._roster.members) + 1, dtype=object)
        for c, member in enumerate(self._roster.members):
            members[c] = NEW_CLASS if isinstance(member, Nameless) else member
        members[-1] = NEW_CLASS
        return members[codes]

    def _answer(self, X: Any, proba: bool = False) -> Answers:
        check_fitted(self)
        source, read, _ = self._read(X, answers=True)
        read = source.blur(read)
        source.prepare(self._learner, read)
        return source.run(self._learner, read, proba=proba)


def check_not_torn(model: Any) -> None:
    """Raise RuntimeError if an interrupt has left rows half learned."""
    if model._torn:
        raise RuntimeError(
            "A call of partial_fit was interrupted while it was learning. Fit the model anew, "
            "or load it from where it was saved."
        )


def _read_predictions(predicted: Any, labels: list[Any]) -> list[Any] | None:
    if predicted is None:
        return None
    values = predicted.tolist() if isinstance(predicted, np.ndarray) else list(predicted)
    if len(values) != len(labels):
        raise ValueError(f"predicted has {len(values)} labels, but y has {len(labels)}.")
    return [_check_prediction(value, row) for row, value in enumerate(values)]


def _check_prediction(value: Any, row: int) -> Any:
    if value is NEW_CLASS or is_missing(value):
        return value if value is NEW_CLASS else None
    value = value.item() if isinstance(value, np.generic) else value
    if not isinstance(value, str | int | float):
        raise TypeError(
            f"predicted has a {type(value).__name__} in row {row}; labels are text or whole "
            "numbers, NEW_CLASS, or None."
        )
    return value


def _code_of(label: Any, codes: dict[Any, int]) -> int:
    """Return the class of a prediction made earlier; it may have been forgotten since."""
    if label is None:
        return at.UNTOLD
    return at.NEW if label is NEW_CLASS else codes.get(label, at.NEW)
