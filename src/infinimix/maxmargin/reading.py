"""From tables and labels of users to numbers: NaN for missing cells, codes for labels.

Weights of rows that are counts are read as so many equal rows; `labels_` has an entry for each row
of the user all the same (`GivenRows`).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from infinimix import execution
from infinimix.estimators.common.fitted import list_names
from infinimix.estimators.common.labels import Labels, check_lengths
from infinimix.estimators.common.partitioned_rows import gather_numbers, gather_rows
from infinimix.estimators.common.weights import (
    are_counts,
    class_factors,
    count_out,
    count_rows_of,
    read_weights,
    take_rows,
    weigh_all,
)
from infinimix.scikit import _get_feature_names, check_array, validate_data
from infinimix.tables.errors import no_table
from infinimix.tables.forms import holds_no_rows
from infinimix.tables.packed import PackedTable
from infinimix.tables.partitioned import PartitionedTable, is_in_partitions
from infinimix.tables.readers import open_table

FORM: dict[str, Any] = {"dtype": np.float64, "ensure_all_finite": False, "order": "C"}


class LabelledTable(NamedTuple):
    """The first table of a model, with labels if it is a classifier."""

    X: np.ndarray
    names: np.ndarray | None  # of the columns
    codes: np.ndarray  # of the sorted labels; empty without labels
    labels: Labels
    weight: np.ndarray | None = None  # of the rows, if they do not count once each
    given: GivenRows | None = None  # of the user, if weights have left out or repeated some


class GivenRows(NamedTuple):
    """Rows of a user of which some are left out or repeated."""

    X: np.ndarray
    learned: np.ndarray  # which of them are, some maybe several times

    def spread(self, z: np.ndarray, nearest: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
        """Return the cluster of each row of the user; that of one left out is the nearest."""
        found = np.empty(len(self.X), np.int64)
        found[self.learned] = z  # equal rows are in one cluster
        absent = np.setdiff1d(np.arange(len(self.X)), self.learned)
        if absent.size:
            found[absent] = nearest(self.X[absent])
        return found

    def first(self, z: np.ndarray) -> np.ndarray:
        """Return the cluster of the first copy of each row of the user, -1 where there is none."""
        found = np.full(len(self.X), -1, np.int64)
        found[self.learned[::-1]] = z[::-1]
        return found


def read_table(model: Any, X: Any, sample_weight: Any = None) -> LabelledTable:
    """Return a table without labels; the model is not changed."""
    if is_in_partitions(X):
        X = gather_rows(X, None, _gather, sample_weight)[0]
    if isinstance(X, PackedTable):
        names = np.array(X.columns, object) if X.first.named else None
        X = gather_numbers(X)
    else:
        _check_table(X)
        names = _get_feature_names(X)
    X = _check_finite(_read(partial(check_array, input_name="X", estimator=model, **FORM), X))
    weight, given = find_given(X, read_weights(sample_weight, len(X)))
    X = X if given is None else X[given.learned]
    return LabelledTable(X, names, np.empty(0, np.int64), Labels(), weight, given)


def _gather(table: PartitionedTable) -> PackedTable:
    return table.gather(execution.map)


def find_given(
    X: np.ndarray, weight: np.ndarray | None
) -> tuple[np.ndarray | None, GivenRows | None]:
    """Return relative weights of the rows that are learned, and which these are, if not all."""
    if weight is None:
        return None, None
    if are_counts(weight):
        return None, GivenRows(X, count_out(weight))
    index = np.flatnonzero(weight)
    return weight[index], None if len(index) == len(X) else GivenRows(X, index)


def weigh_batch(
    X: np.ndarray, y: Any, sample_weight: Any
) -> tuple[np.ndarray, Any, np.ndarray | None, GivenRows | None]:
    """Return the rows of a mini-batch that are learned; weights count as they stand."""
    weight, given = find_given(X, read_weights(sample_weight, len(X), scale=False))
    if given is None:
        return X, y, weight, None
    check_lengths(len(X), count_rows_of(y))
    return X[given.learned], take_rows(y, given.learned), weight, given


def read_labelled(
    model: Any, X: Any, y: Any, classes: Any = None, sample_weight: Any = None
) -> LabelledTable:
    """Return a table, its labels, and weights of rows and classes; `classes` may declare more."""
    X, y = gather_rows(X, y, _gather, sample_weight)
    labels, table = Labels(), read_table(model, X, sample_weight)
    if table.given is not None:
        check_lengths(len(table.given.X), count_rows_of(y))
        y = take_rows(y, table.given.learned)
    codes, new = labels.read(y, classes)
    check_lengths(len(table.X), len(codes))
    labels.extend(new)
    weight = weigh_classes(model, labels, codes, table.weight)
    return table._replace(codes=np.argsort(labels.order)[codes], labels=labels, weight=weight)


def weigh_classes(
    model: Any, labels: Labels, codes: np.ndarray, weight: np.ndarray | None
) -> np.ndarray | None:
    """Return the weights of rows times those that `class_weight` gives their classes."""
    return weigh_all(codes, weight, class_factors(model.class_weight, labels, codes, weight))


def read_more(model: Any, X: Any) -> np.ndarray:
    """Return later rows of a fitted model, if they have the columns of the first."""
    _check_table(X)
    return _check_finite(_read(partial(validate_data, model, reset=False, **FORM), X))


def _check_table(X: Any) -> None:
    """Raise ValueError if a table has no rows in any order, or two columns of one name."""
    if hasattr(X, "columns"):
        list_names(X)
    elif holds_no_rows(X):
        raise no_table(X)


def _read(check: Callable[[Any], Any], X: Any) -> np.ndarray:
    """Return a table as checks of scikit-learn read it; name the first cell that is text."""
    try:
        return np.asarray(check(X))
    except ValueError:
        text = _find_text(X)
        if text is None:
            raise
    name, row, value = text
    raise ValueError(
        f"column {name!r} has the text {value[:40]!r} in row {row}, but this model takes numbers "
        "only. Encode the column, for example with OneHotEncoder of scikit-learn; AClassClassifier "
        "and CRPMixture take it as it is."
    )


def _find_text(X: Any) -> tuple[str, int, str] | None:
    """Return the column, row and value of the first string that is no number."""
    try:
        table = open_table(X)
    except (TypeError, ValueError):
        return None
    for j, name in enumerate(table.names):
        values = table.column(j).values
        if isinstance(values, list):
            for row, value in enumerate(values):
                if isinstance(value, str) and not _is_number(value):
                    return name, row, value
    return None


def _is_number(value: str) -> bool:
    try:
        float(value)
    except ValueError:
        return False
    return True


def _check_finite(X: np.ndarray) -> np.ndarray:
    """Return the rows; name the first cell that is infinite."""
    bad = np.isinf(X)
    if bad.any():
        row, column = (int(k) for k in np.argwhere(bad)[0])
        raise ValueError(f"Input X contains infinity, first in row {row} of column {column}.")
    return X
