"""How the rows of a stream are learned: in parts, between which classes change.

A call is cut where a class must be forgotten for another, and at rows without label.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from infinimix import execution
from infinimix.estimators.common.labels import check_lengths
from infinimix.estimators.common.parameters import check_parameters, seed_sequence
from infinimix.estimators.online.forecast import NEW_CLASS
from infinimix.estimators.online.open_world import gather
from infinimix.estimators.online.parameters import check_together, new_source, read_settings
from infinimix.estimators.online.roster import Roster
from infinimix.estimators.online.rows import Read
from infinimix.estimators.online.state import OnlineState
from infinimix.families.words import WordRows
from infinimix.inference.online_crp import model as at
from infinimix.inference.online_crp.learner import OnlineAnswers
from infinimix.inference.online_crp.sharding import learn_shards
from infinimix.tables.missing import is_missing

Parts = Iterator[tuple[int, int]]


class Begun(NamedTuple):
    """The first rows of a stream, and a state that has learned nothing."""

    state: OnlineState
    read: Read
    labels: list[Any]
    new: list[Any]
    made: list[Any] | None  # predictions


def learn_parts(
    state: OnlineState,
    read: Read,
    labels: list[Any],
    new: list[Any],
    made: list[Any] | None,
    max_classes: int | None,
) -> Iterator[OnlineAnswers]:
    """Predict and learn rows, part by part; yield what was said of each part.

    `new` are the labels that are not known yet, `made` predictions that were made earlier.
    """
    for first, last in _cut(state, labels, new, max_classes):
        if labels[first] is None:
            yield gather(state, read, first, max_classes)
            continue
        part, codes = read.part(first, last), state.roster.codes
        told = np.array([codes[label] for label in labels[first:last]], np.int64)
        said = None
        if made is not None:
            said = np.array([_code_of(value, codes) for value in made[first:last]], np.int64)
        yield state.source.run(state.learner, part, told, said)


def _cut(state: OnlineState, labels: list[Any], new: list[Any], bound: int | None) -> Parts:
    """Yield the parts of a call between which classes change, opening those of the next."""
    roster, first = state.roster, 0
    if bound is None and None not in labels:
        state.open_classes(new)
        yield 0, len(labels)
        return
    declared, known = [v for v in new if v not in labels], len(roster.codes)
    state.open_classes(declared if bound is None else declared[: max(bound - known, 0)])
    for row, label in enumerate(labels):
        if label is not None and label in roster.codes:
            continue
        if row > first:
            yield first, row
        if label is not None:
            state.open_classes([label])
        yield row, row + 1
        first = row + 1
        while bound is not None and len(roster.codes) > bound:  # not before it is seen
            state.forget_oldest(roster.codes.values())
    if first < len(labels):
        yield first, len(labels)


def begin(model: Any, X: Any, y: Any, classes: Any = None, predicted: Any = None) -> Begun:
    """Read the first rows of a stream, and return them with a state that has learned nothing."""
    check_parameters(model)
    check_together(model)
    source: Any = new_source(model.columns, model.max_features)
    roster = Roster()
    read = source.read(X, type(model).__name__)
    labels, new = roster.read(y, classes, bool(model.open_world))
    check_lengths(read.n_rows, len(labels))
    made = read_predictions(predicted, labels)
    seed = seed_sequence(model.random_state)
    learner = source.new_learner(read_settings(model), model, seed, read)
    return Begun(OnlineState(source, roster, learner), read, labels, new, made)


def learn_in_shards(model: Any, X: Any, y: Any) -> OnlineState:
    """Return the state after rows of text that are learned in shards, which are merged in turn."""
    state, read, labels, new, _ = begin(model, X, y)
    if None in labels:
        raise ValueError(
            f"Row {labels.index(None)} has no label; rows without label are learned by "
            "partial_fit, or with n_shards=1."
        )
    state.source.prepare(state.learner, read)
    state.open_classes(new)
    codes = state.roster.codes
    told = np.array([codes[label] for label in labels], np.int64)
    size, per_round = int(model.shard_rows), int(model.n_shards) * int(model.shard_rows)
    for first in range(0, len(told), per_round):
        ends = range(first, min(first + per_round, len(told)), size)
        parts = [(own_rows(read.X, at, at + size), told[at : at + size]) for at in ends]
        learn_shards(state.learner, parts, execution.map)
    state.commit(X, read)
    return state


def own_rows(X: WordRows, first: int, last: int) -> WordRows:
    """Return some rows with their own words only: these may be sent to a worker."""
    start = X.start[first : last + 1]
    here = slice(int(start[0]), int(start[-1]))
    return WordRows(start - start[0], X.word[here].copy(), X.weight[here].copy())


def read_predictions(predicted: Any, labels: list[Any]) -> list[Any] | None:
    """Return predictions that were made earlier, one for each label; None if there are none."""
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
