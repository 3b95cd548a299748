"""Which columns a classifier lives on, measured by hiding them.

The models of this library answer with any cells missing, so a column is judged by what its
absence does, on rows that were not learned. In nats, averaged over rows with the true label y:

    alone   log P(y | the column) - log P(y)
    beyond  log P(y | all columns) - log P(y | all but the column)

The first is high for a column that tells much, the second for one that no other replaces:
two copies of a good column are high and near zero. The first estimates the mutual information of
column and label from below. A column's missingness indicator is hidden with it.

A model that was asked to learn the relevance of its columns is believed instead.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from scipy.special import logsumexp
from sklearn.utils import get_tags

from infinimix.estimators.aclass.classifier import AClassClassifier
from infinimix.estimators.online.classifier import OnlineCRPClassifier
from infinimix.evaluation.intervals import Interval, mean_interval
from infinimix.evaluation.predictions import Predictions
from infinimix.evaluation.scores import LEAST
from infinimix.tables.rows import is_frame, pick

MOST_PREDICTIONS = 40_000  # rows times columns: more rows are not asked


class ColumnWorth(NamedTuple):
    """What one column is worth."""

    name: str
    alone: Interval
    beyond: Interval


def measure_relevance(predictions: Predictions) -> list[ColumnWorth]:
    """Return what each column is worth, the best alone first; nothing for tables without names."""
    rows = predictions.rows
    if not is_frame(rows) or not all(map(_can_hide, predictions.models)):
        return []
    names = [str(name) for name in rows.columns]
    n = max(1, min(len(predictions.y), MOST_PREDICTIONS // max(1, len(names))))
    asked = np.random.default_rng(0).permutation(len(predictions.y))[:n]
    parts = []
    for k, model in enumerate(predictions.models):
        own = asked[predictions.model_of[asked] == k]
        codes = _codes_in(model, predictions, own)
        if len(own := own[codes >= 0]):
            parts.append(_gains(model, pick(rows, own), codes[codes >= 0]))
    if not parts:
        return []
    alone, beyond = (np.concatenate(tables) for tables in zip(*parts, strict=True))
    found = [
        ColumnWorth(name, mean_interval(alone[:, j]), mean_interval(beyond[:, j]))
        for j, name in enumerate(names)
    ]
    return sorted(found, key=lambda one: -one.alone.value)


def _codes_in(model: Any, predictions: Predictions, own: np.ndarray) -> np.ndarray:
    """Return the true labels by their place in the model's classes, -1 where it has none."""
    place = {label: j for j, label in enumerate(np.asarray(model.classes_).tolist())}
    return np.array([place.get(predictions.labels[c], -1) for c in predictions.y[own]], dtype=int)


def _gains(model: Any, rows: Any, codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return alone and beyond for each row and column."""
    n, width = rows.shape
    ways = _by_blocks if isinstance(model, AClassClassifier) else _by_frames
    hidden = ways(model, rows)
    at = np.arange(n)
    floor = np.log(LEAST)
    full, none, *others = (np.maximum(log_p[at, codes], floor) for log_p in hidden)
    alone = np.column_stack(others[0::2]) - none[:, None]
    beyond = full[:, None] - np.column_stack(others[1::2])
    assert alone.shape == beyond.shape == (n, width)
    return alone, beyond


def _masks(width: int) -> Iterator[np.ndarray]:
    """Yield which columns to show: all, none, and then each alone and all but it."""
    yield np.ones(width, dtype=bool)
    yield np.zeros(width, dtype=bool)
    for column in np.eye(width, dtype=bool):
        yield column
        yield ~column


def _by_blocks(model: Any, rows: Any) -> Iterator[np.ndarray]:
    """Yield log probabilities of the classes under each mask, which hides indicators as well."""
    table = model._rows(rows)
    schema = table.schema
    order: list[Any] = list(schema.positions_of.values())
    if schema.named:
        alone = {name: (j,) for j, name in enumerate(schema.names)}
        order = [(schema.positions_of | alone)[name] for name in rows.columns]
    for mask in _masks(len(order)):
        shown = np.zeros(schema.width, dtype=bool)
        shown[[j for places, keep in zip(order, mask, strict=True) if keep for j in places]] = True
        joint = model._log_corrected(table.show(shown))
        yield joint - logsumexp(joint, axis=1, keepdims=True)


def _by_frames(model: Any, rows: Any) -> Iterator[np.ndarray]:
    """Yield the same for models without indicators: hidden columns are columns of holes."""
    for mask in _masks(rows.shape[1]):
        frame = rows.copy()
        for name in rows.columns[~mask]:
            frame[name] = np.nan
        with np.errstate(divide="ignore"):
            yield np.log(model.predict_proba(frame))


def _can_hide(model: Any) -> bool:
    if isinstance(model, AClassClassifier):
        return True
    reads_text = isinstance(model, OnlineCRPClassifier) and model.columns == "text"
    return bool(get_tags(model).input_tags.allow_nan) and not reads_text
