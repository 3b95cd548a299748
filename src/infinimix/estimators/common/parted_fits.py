"""Learning rows that lie with workers: their mixtures, or a whole `fit` by one of the workers.

`learn_parts` learns a bank of mixtures where the encoded partitions are. What cannot be split is
left to one worker (`fit_at_one`): it gathers the packed partitions, and fits the model as it would
be in memory; its warnings are given here. In both ways the caller gets a model without rows.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from copy import copy
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from infinimix import execution
from infinimix.estimators.common.mixture_estimator import add_log_slopes
from infinimix.estimators.common.parameters import check_parameters
from infinimix.estimators.common.parted_rows import (
    PartEncoding,
    PlacedPartitions,
    as_table,
    encode_parts,
    find_schema,
    read_there,
)
from infinimix.estimators.common.partitioned_rows import labels_of
from infinimix.estimators.common.state import MixtureState, layout_of
from infinimix.inference.ensemble.bank import Bank
from infinimix.inference.ensemble.parts import Parts
from infinimix.tables import Schema
from infinimix.tables.packed import PackedTable
from infinimix.tables.partition_sources import open_partitions
from infinimix.tables.partitioned import is_in_partitions


def learn_parts(
    model: Any, schema: Schema, parts: Parts, place: Callable[..., Any], **options: Any
) -> tuple[Bank, tuple[np.ndarray, np.ndarray], float]:
    """Return a bank that has learned all parts, held-out rows of their sample, and log slopes."""
    seed = model._new_seed(schema, streams=False)
    bank, slopes = Bank(model._settings(schema, streams=False), layout_of(schema), seed), 0.0
    checked = model._run(lambda execute: bank.fit_parts(parts, execute, place, **options))
    if schema.transforms:
        slopes = parts.fold(_add_slopes, 0.0, schema, model._execute, place)
    return bank, checked, slopes


class OneClass(NamedTuple):
    """What workers have learned of rows that are all of one class."""

    schema: Schema
    bank: Bank
    log_slopes: float
    more: Any  # what else was asked of the rows


def learn_one_class(
    model: Any, X: Any, also: Callable[..., Any] | None = None, **options: Any
) -> OneClass | MixtureState:
    """Let islands learn a table in partitions, all rows of one class.

    `also` is then asked with the schema, the bank and the parts. One worker returns the state
    after `fit`, if all rows are needed at once.
    """
    check_parameters(model)
    with execution.placing() as place:
        reading = model._run_reading(partial(read_there, open_partitions(X), None), place)
        schema = find_schema(reading, model, False, place)
        if schema is None:
            return fit_at_one(model, reading)  # type: ignore[no-any-return]
        how, nothing = PartEncoding(schema, type(model).__name__), [None] * len(reading.packed)
        parts = Parts(encode_parts(reading, nothing, how, place), np.array(reading.sizes)[:, None])
        bank, _, slopes = learn_parts(model, schema, parts, place, **options)
        more = also and also(schema, bank, parts)
    return OneClass(schema, bank, slopes, more)


def _add_slopes(task: tuple[Any, Any, Schema]) -> float:
    total, part, schema = task
    return add_log_slopes(total.value, as_table(schema, part.value))


def fit_by_one(model: Any, X: Any, y: Any = None) -> Any:
    """Return the state after `fit` of a table in partitions, which one worker gathers."""
    if is_in_partitions(y):
        y = labels_of(open_partitions(y).gather(execution.map).pick(0))
    with execution.placing() as place:
        return fit_at_one(model, read_there(open_partitions(X), y, execution.map, place), y)


def fit_at_one(
    model: Any,
    reading: PlacedPartitions,
    y: Any = None,
    forget: Callable[[Any], None] | None = None,
) -> Any:
    """Return the state after `fit` of the whole table; `forget` leaves its rows with the worker."""
    task = (model, tuple(reading.packed), reading.target, y, forget)
    fitted, told = execution.map(_fit_whole, [task])[0]
    for message, category in told:
        warnings.warn(message, category, stacklevel=4)
    if isinstance(model.random_state, np.random.Generator):
        model.random_state.bit_generator.state = fitted.random_state.bit_generator.state
    return fitted._state


def _fit_whole(task: tuple[Any, tuple[Any, ...], str | None, Any, Any]) -> tuple[Any, list[Any]]:
    model, packed, target, y, forget = task
    rows: Any = PackedTable([frame for part in packed for frame in part.value])
    if target is not None:
        rows, cells = rows.without(target)
        y = labels_of(cells)
    model = copy(model)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        with execution.all_threads():
            model.fit(rows, y)
    if forget is not None:
        forget(model._state)
    return model, [(str(one.message), one.category) for one in told]
