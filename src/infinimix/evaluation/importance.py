"""What each column is worth to a model, measured on rows that were not learned.

Of a classifier in nats, averaged over rows with the true label y:

    shuffled  log P(y | all columns) - log P(y | the column's cell taken from another row)
    alone     log P(y | the column) - log P(y)
    beyond    log P(y | all columns) - log P(y | all but the column)

The first is permutation importance: the rise of the log-loss when the cells of the column are
permuted among the held-out rows of a fold. It can be asked of every classifier of tables. The
others hide columns, and are asked of models that answer with any cells missing, as those of this
library do. Alone is high for a column that tells much, beyond for one that no other replaces: two
copies of a good column are high and near zero. Alone estimates the mutual information of column
and label from below. A column's missingness indicator is shuffled and hidden with it.

Of a regressor only the first is measured, as the rise of the absolute error.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy.special import logsumexp
from sklearn.utils import get_tags

from infinimix.evaluation.abilities import HidesCells, LetsFeaturesEmerge, able
from infinimix.evaluation.intervals import Interval, mean_interval
from infinimix.evaluation.predictions import Predictions
from infinimix.evaluation.regression import PredictedNumbers
from infinimix.evaluation.scores import LEAST
from infinimix.tables.rows import is_frame, is_pandas, pick

MOST_PREDICTIONS = 40_000  # rows times columns: more rows are not asked
MOST_SHUFFLES = 5  # of a column; large tables have fewer, as they have many rows


class ColumnWorth(NamedTuple):
    """What one column is worth; None where columns cannot be hidden."""

    name: str
    shuffled: Interval
    alone: Interval | None
    beyond: Interval | None


def measure_importance(
    predictions: Predictions, *, hide: bool = True, most_shuffles: int = MOST_SHUFFLES
) -> list[ColumnWorth]:
    """Return what each column is worth, the most important first; nothing for other than frames.

    Parameters
    ----------
    predictions : Predictions
        Held-out rows, and the models that predicted them.
    hide : bool
        Measure `alone` and `beyond` too, if the models answer with cells missing.
    most_shuffles : int
        How many other rows a row takes the cell of a column from.
    """
    if not is_frame(predictions.rows):
        return []
    rows = _in_pandas(predictions.rows)
    names = [str(name) for name in rows.columns]
    asked, shuffles = _choose(len(predictions.y), len(names), most_shuffles)
    hide = hide and all(map(_can_hide, predictions.models))
    parts, owners = [], []
    for k, model in enumerate(predictions.models):
        own = asked[predictions.model_of[asked] == k]
        codes = _codes_in(model, predictions, own)
        if len(own := own[codes >= 0]):
            parts.append(_worth(model, pick(rows, own), codes[codes >= 0], shuffles, hide))
            owners.append(own)
    if not parts:
        return []
    groups = predictions.groups
    groups = None if groups is None else groups[np.concatenate(owners)]
    tables = [None if t[0] is None else np.concatenate(t) for t in zip(*parts, strict=True)]
    found = [
        ColumnWorth(name, *(None if t is None else mean_interval(t[:, j], groups) for t in tables))  # type: ignore[arg-type]
        for j, name in enumerate(names)
    ]
    return sorted(found, key=lambda one: -one.shuffled.value)


def measure_number_importance(
    predictions: PredictedNumbers, *, most_shuffles: int = MOST_SHUFFLES
) -> list[ColumnWorth]:
    """Return by how much the absolute error rises when a column is shuffled, the largest first."""
    if not is_frame(predictions.rows) or predictions.model_of is None:
        return []
    rows = _in_pandas(predictions.rows)
    asked, shuffles = _choose(len(predictions.y), rows.shape[1], most_shuffles)
    parts, owners = [], []
    for k, model in enumerate(predictions.models):
        own = asked[predictions.model_of[asked] == k]
        if len(own):
            error = partial(_absolute_errors, model, predictions.y[own])
            parts.append(_rises(error, pick(rows, own), shuffles))
            owners.append(own)
    groups, rises = predictions.groups, np.concatenate(parts)
    groups = None if groups is None else groups[np.concatenate(owners)]
    found = [
        ColumnWorth(str(name), mean_interval(rises[:, j], groups), None, None)
        for j, name in enumerate(rows.columns)
    ]
    return sorted(found, key=lambda one: -one.shuffled.value)


def _absolute_errors(model: Any, y: np.ndarray, rows: Any) -> np.ndarray:
    return np.abs(np.asarray(model.predict(rows)) - y)


def _choose(n_rows: int, width: int, most_shuffles: int) -> tuple[np.ndarray, int]:
    """Return which rows are asked, and how often each column is shuffled."""
    n = max(1, min(n_rows, MOST_PREDICTIONS // max(1, width)))
    shuffles = max(1, min(most_shuffles, MOST_PREDICTIONS // max(1, n * width)))
    return np.random.default_rng(0).permutation(n_rows)[:n], shuffles


def _in_pandas(rows: Any) -> Any:
    if is_pandas(rows):
        return rows
    import pandas as pd

    return pd.DataFrame({name: rows[name].to_list() for name in rows.columns})


def _worth(
    model: Any, rows: Any, codes: np.ndarray, shuffles: int, hide: bool
) -> tuple[np.ndarray, Any, Any]:
    """Return what each column is worth for each row: shuffled, alone and beyond."""
    alone, beyond = _gains(model, rows, codes) if hide else (None, None)
    return _rises(partial(_log_losses, model, codes), rows, shuffles), alone, beyond


def _rises(loss: Callable[[Any], np.ndarray], rows: Any, shuffles: int) -> np.ndarray:
    """Return by how much the loss of each row rises when each column is shuffled.

    In a random order of the rows, a row takes the cell of the next one, then of the one after that:
    each shuffle permutes the column, and no row is given its own cell.
    """
    n, width = rows.shape
    order = np.random.default_rng(0).permutation(n)
    full, out = loss(rows), np.zeros((n, width))
    shifts = range(1, min(shuffles, n - 1) + 1)
    for j in range(width):
        cells = rows.iloc[:, j].array
        for shift in shifts:
            source = np.empty(n, dtype=int)
            source[order] = np.roll(order, -shift)
            shuffled = rows.copy()
            shuffled.isetitem(j, cells.take(source))
            out[:, j] += (loss(shuffled) - full) / len(shifts)
    return out


def _log_losses(model: Any, codes: np.ndarray, rows: Any) -> np.ndarray:
    proba = np.asarray(model.predict_proba(rows))[np.arange(len(codes)), codes]
    return -np.log(np.maximum(proba, LEAST))


def _codes_in(model: Any, predictions: Predictions, own: np.ndarray) -> np.ndarray:
    """Return the true labels by their place in the model's classes, -1 where it has none."""
    place = {label: j for j, label in enumerate(np.asarray(model.classes_).tolist())}
    return np.array([place.get(predictions.labels[c], -1) for c in predictions.y[own]], dtype=int)


def _gains(model: Any, rows: Any, codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return alone and beyond for each row and column."""
    n, width = rows.shape
    ways = _by_blocks if able(model, HidesCells) else _by_frames
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
    if able(model, HidesCells):
        return True
    emerge = able(model, LetsFeaturesEmerge) and model.features_emerge  # text has no columns
    return bool(get_tags(model).input_tags.allow_nan) and not emerge
