"""`fit` of a table in partitions that a cluster reads: rows go to their classes, models come back.

The calling process has the schema, counts, statistics, filters, and the rows that may be held out,
at most 20,000. What needs all rows at once (dates, rows without label, shared columns or
directions, class weights) is learned as in memory, by one worker.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from infinimix import execution
from infinimix.estimators.aclass.learning import asks_for_kinds, correct_learned
from infinimix.estimators.aclass.missingness import choose_counted, count_missing
from infinimix.estimators.aclass.state import AClassState
from infinimix.estimators.common.doubtful_kinds import (
    Counts,
    choose_kind,
    count_cells,
    doubtful_columns,
    merge_counts,
)
from infinimix.estimators.common.features import is_number
from infinimix.estimators.common.joint_numbers import learn_joint
from infinimix.estimators.common.labels import Labels
from infinimix.estimators.common.mixture_estimator import Learned
from infinimix.estimators.common.parameters import check_parameters
from infinimix.estimators.common.parted_fits import fit_at_one, learn_parts
from infinimix.estimators.common.parted_rows import (
    PartEncoding,
    PlacedPartitions,
    as_table,
    encode_parts,
    find_labels,
    find_schema,
    read_there,
)
from infinimix.estimators.common.partitioned_rows import labels_of
from infinimix.estimators.common.table_estimator import given_in_numbers
from infinimix.inference.ensemble.bank import Bank
from infinimix.inference.ensemble.parts import Parts
from infinimix.tables import EncodedTable, Schema
from infinimix.tables.partition_sources import open_partitions
from infinimix.tables.partitioned import is_in_partitions


class PartedRows(NamedTuple):
    """The rows of `fit`, with workers."""

    schema: Schema
    labels: Labels
    parts: Parts


def fit_there(model: Any, X: Any, y: Any) -> AClassState:
    """Return what workers learn of a table in partitions."""
    check_parameters(model)
    if is_in_partitions(y):
        y = labels_of(model._gather(open_partitions(y)).pick(0))
    with execution.placing() as place:
        reading = model._run_reading(partial(read_there, open_partitions(X), y), place)
        try:
            rows = None if _needs_all_rows(model) else _read_rows(model, reading, y, place)
        except (TypeError, ValueError):  # of a part; that of the whole table names its row
            rows = None
        if rows is None:
            return fit_at_one(model, reading, y, _forget_rows)
        del reading  # the packed partitions
        return _learn(model, rows, place)


def _forget_rows(state: AClassState) -> None:
    state.training = None


def _needs_all_rows(model: Any) -> bool:
    return bool(
        model.relevance == "learn" or model.shared_directions or model.class_weight is not None
    )


def _read_rows(model: Any, reading: PlacedPartitions, y: Any, place: Any) -> PartedRows | None:
    """Return the encoded rows with their indicators; None if all rows are needed at once."""
    schema = find_schema(reading, model, model.spikes == "auto", place)
    labels, codes, all_known = find_labels(reading, y, model.unlabelled)
    if schema is None or not all_known:
        return None
    how = PartEncoding(schema, type(model).__name__, labels, reading.target, model.unlabelled)
    placed, n_classes = encode_parts(reading, codes, how, place), len(labels.values)
    chosen = _choose_kinds(model, placed, schema, n_classes) if asks_for_kinds(model) else {}
    if chosen:
        schema = find_schema(reading, model, model.spikes == "auto", place, chosen)
        assert schema is not None  # there are no dates
        how = how._replace(schema=schema)
        placed = encode_parts(reading, codes, how, place)
    found = model._execute(_count, [(part, schema, n_classes) for part in placed])
    counts = np.stack([rows for rows, _ in found])
    missing = np.sum([holes for _, holes in found], axis=0)
    empty = EncodedTable(schema, ())
    indicated = choose_counted(model.holes, empty, missing, counts.sum(axis=0)[:, None])
    if indicated:
        how = how._replace(schema=replace(schema, indicated=indicated))
        placed = encode_parts(reading, codes, how, place)
    return PartedRows(how.schema, labels, Parts(placed, counts))


def _choose_kinds(model: Any, placed: list[Any], schema: Schema, n_classes: int) -> dict[str, str]:
    """Return the kinds of columns in doubt that the rows of all parts choose against the rule."""
    asked = doubtful_columns(schema, given_in_numbers(model.prior))
    tasks = [(part, schema, n_classes, asked) for part in placed]
    parts = model._execute(_count_cells, tasks) if asked else []
    found = {}
    for k, j in enumerate(asked):
        column, counts = schema.columns[j], merge_counts([part[k] for part in parts])
        kind = choose_kind(column, counts, float(model.gamma))
        if kind is not None:
            found[column.name] = kind
    return found


def _count_cells(task: tuple[Any, Schema, int, list[int]]) -> list[Counts | None]:
    part, schema, n_classes, asked = task
    table, codes = as_table(schema, part.value), part.value[-1]
    return [count_cells(table, codes, n_classes, j) for j in asked]


def _count(task: tuple[Any, Schema, int]) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows of each class, and the missing cells of each column in each."""
    part, schema, n_classes = task
    codes = part.value[-1]
    missing = count_missing(as_table(schema, part.value), codes, n_classes)
    return np.bincount(codes, minlength=n_classes), missing


def _learn(model: Any, rows: PartedRows, place: Any) -> AClassState:
    """Learn a mixture for each class where its rows are, and correct it by the sample."""
    schema, parts = rows.schema, rows.parts
    bank, checked, slopes = learn_parts(model, schema, parts, place, check=bool(model.calibrate))
    sample: Any = parts.sample
    table = EncodedTable(schema, sample.X)
    held_out, log_density = checked
    is_sample = len(sample.rows) < parts.n_rows
    learned = Learned(table, sample.codes, bank, held_out, log_density, is_sample)
    second = partial(_learn_joint, rows, bank, model._execute)
    correction = correct_learned(model, learned, None, bank.seed, second)
    return AClassState(schema, bank, slopes, rows.labels, correction)


def _learn_joint(rows: PartedRows, bank: Bank, execute: Any, pilot: bool = False) -> Any:
    """Let one worker learn the block of numbers that go together; rows are those of the sample."""
    schema, parts = rows.schema, rows.parts
    if sum(is_number(schema, j) for j in range(schema.width)) < 2 or schema.joint:
        return None
    like = SimpleNamespace(settings=bank.settings, n_classes=bank.n_classes)
    found = execute(_learn_joint_there, [(tuple(parts.placed), schema, like, bank.seed, pilot)])[0]
    if found is None:
        return None
    joint, held, log_density = found
    sample: Any = parts.sample
    at = np.minimum(np.searchsorted(sample.rows, held), len(sample.rows) - 1)
    mine = sample.rows[at] == held
    return joint, at[mine], log_density[mine]


def _learn_joint_there(task: Any) -> Any:
    placed, schema, like, seed, pilot = task
    *blocks, codes = (np.concatenate(some) for some in zip(*(p.value for p in placed), strict=True))
    table, nothing = EncodedTable(schema, tuple(blocks)), np.empty(0)
    learned = Learned(table, codes.astype(np.int64), like, nothing, nothing)
    return learn_joint(learned, seed, lambda learn, *data: learn(*data, execution.map), pilot)
