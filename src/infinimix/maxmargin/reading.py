"""From tables and labels of users to numbers: NaN for missing cells, codes for labels."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from infinimix.estimators.common.labels import Labels, check_lengths
from infinimix.scikit import _get_feature_names, check_array, validate_data

FORM: dict[str, Any] = {"dtype": np.float64, "ensure_all_finite": False, "order": "C"}


class LabelledTable(NamedTuple):
    """The first table of a model, with labels if it is a classifier."""

    X: np.ndarray
    names: np.ndarray | None  # of the columns
    codes: np.ndarray  # of the sorted labels; empty without labels
    labels: Labels


def read_table(model: Any, X: Any) -> LabelledTable:
    """Return a table without labels; the model is not changed."""
    names = _get_feature_names(X)
    X = check_array(X, input_name="X", estimator=model, **FORM)
    return LabelledTable(_check_finite(X), names, np.empty(0, np.int64), Labels())


def read_labelled(model: Any, X: Any, y: Any, classes: Any = None) -> LabelledTable:
    """Return a table and its labels; `classes` may declare more of these."""
    labels = Labels()
    codes, new = labels.read(y, classes)
    table = read_table(model, X)
    check_lengths(len(table.X), len(codes))
    labels.extend(new)
    return table._replace(codes=np.argsort(labels.order)[codes], labels=labels)


def read_more(model: Any, X: Any) -> np.ndarray:
    """Return later rows of a fitted model, if they have the columns of the first."""
    return _check_finite(validate_data(model, X, reset=False, **FORM))


def _check_finite(X: np.ndarray) -> np.ndarray:
    """Return the rows; name the first cell that is infinite."""
    bad = np.isinf(X)
    if bad.any():
        row, column = (int(k) for k in np.argwhere(bad)[0])
        raise ValueError(f"Input X contains infinity, first in row {row} of column {column}.")
    return X
