"""The inner loop of a run: chunks in, answers out, whatever the model and the order of events.

A **piece** (one row, or a batch) is predicted, and learned when `delay` more rows have been
predicted. What is refused can be set aside: the chunk is then tried again row by row.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from infinimix.estimators.online.forecast import Forecast
from infinimix.evaluation.abilities import Forecasting, LearnsRows, LearnsTables, able
from infinimix.streaming.bad import BadRecords
from infinimix.streaming.forecasting import as_learner, forecast, join
from infinimix.streaming.journal import DurabilityError
from infinimix.tables.missing import is_missing
from infinimix.tables.rows import cut, holds_dicts

REFUSALS = (ValueError, TypeError)


class AnsweredRows(NamedTuple):
    """What came of a chunk: the rows that were answered."""

    found: Forecast
    y: list[Any]
    known: np.ndarray


class Run:
    """A model on its way through a stream."""

    def __init__(
        self, model: Any, batch: int | None, delay: int, classes: Any, bad: BadRecords
    ) -> None:
        self.model = model
        self.batch = batch
        self.delay = delay
        self.classes = classes
        self.bad = bad
        self.seen: set[Any] = set()  # labels that have been learned
        self.n_read = 0
        self.seconds = 0.0  # in the model
        self._waiting: deque[tuple[Any, list[Any]]] = deque()
        self._n_waiting = 0
        self._alone = batch is None and delay == 0 and able(model, Forecasting)
        self._learner: Any = None

    def learn(self, X: Any, y: list[Any]) -> None:
        """Learn rows without predicting them."""
        for labels in self._parts(X, y, self._just_learn):
            self._see(labels)
        self.n_read += len(y)

    def _just_learn(self, X: Any, y: list[Any]) -> list[Any]:
        if able(self.model, LearnsTables) or able(self.model, LearnsRows):
            self._speaker(X).learn(X, y)
        else:
            self.model.forecast(X, y)
        return y

    def forecast(self, X: Any, y: list[Any]) -> AnsweredRows:
        """Predict the rows of a chunk, and learn them in their time."""
        step = self._by_itself if self._alone else self._piece
        size = len(y) if self._alone else (self.batch or 1)
        parts: list[AnsweredRows] = []
        for first in range(0, len(y), size):
            last = min(first + size, len(y))
            parts += self._parts(cut(X, first, last), y[first:last], step)
            self.n_read += last - first
        known = np.concatenate([np.empty(0, bool), *(part.known for part in parts)])
        labels = [label for part in parts for label in part.y]
        return AnsweredRows(join([part.found for part in parts]), labels, known)

    def finish(self) -> None:
        """Learn what still waits for its labels."""
        self._learn_due(0)

    def _parts(self, X: Any, y: list[Any], step: Any) -> Iterator[Any]:
        """Yield what `step` makes of some rows; if they are refused, of those that are not."""
        try:
            done = self._timed(step, X, y)
        except REFUSALS as error:
            if self.bad.fatal or isinstance(error, DurabilityError):  # the row is not to blame
                raise
            if len(y) == 1:
                self.bad.add(self.n_read, str(error))
                return
        else:
            yield done
            return
        start = self.n_read
        for i in range(len(y)):
            self.n_read = start + i
            yield from self._parts(cut(X, i, i + 1), y[i : i + 1], step)
        self.n_read = start

    def _timed(self, step: Any, X: Any, y: list[Any]) -> Any:
        start = time.perf_counter()
        try:
            return step(X, y)
        finally:
            self.seconds += time.perf_counter() - start

    def _by_itself(self, X: Any, y: list[Any]) -> AnsweredRows:
        """Let the model predict and learn, row by row."""
        found = forecast(self.model, X, y)
        known = np.empty(len(y), bool)
        for i, label in enumerate(y):
            known[i] = label in self.seen
            self._see([label])
        return AnsweredRows(found, y, known)

    def _piece(self, X: Any, y: list[Any]) -> AnsweredRows:
        """Predict a piece, then learn what is due."""
        found = self._speaker(X).answer(X, y)
        known = np.array([label in self.seen for label in y], bool)
        if self.delay == 0:
            self._speaker(X).learn(X, y)
            self._see(y)
        else:
            self._waiting.append((X, y))
            self._n_waiting += len(y)
            self._learn_due(self.delay)
        return AnsweredRows(found, y, known)

    def _learn_due(self, delay: int) -> None:
        """Learn the waiting pieces that have `delay` predicted rows behind them."""
        while self._waiting and self._n_waiting - len(self._waiting[0][1]) >= delay:
            X, y = self._waiting.popleft()
            self._n_waiting -= len(y)
            try:
                self._speaker(X).learn(X, y)
            except REFUSALS as error:
                if self.bad.fatal or isinstance(error, DurabilityError):
                    raise
                self.bad.add(self.n_read, f"predicted, but not learned: {error}")
            else:
                self._see(y)

    def _see(self, labels: list[Any]) -> None:
        """Remember labels that have been learned; a row may have none."""
        self.seen.update(label for label in labels if not is_missing(label))

    def _speaker(self, X: Any) -> Any:
        if self._learner is None:
            alone = (self.batch or 1) == 1 and holds_dicts(X)
            self._learner = as_learner(self.model, one_by_one=alone, classes=self.classes)
        return self._learner
