"""What models of all rooms share: one fitted state, names of columns, tags for scikit-learn."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from operator import attrgetter
from typing import Any

import numpy as np

from infinimix.scikit import _check_feature_names, _get_feature_names, check_is_fitted
from infinimix.tables.errors import duplicate_names, listed, other_names, whose
from infinimix.tables.forms import holds_no_rows, may_lack
from infinimix.tables.schema import Schema


def check_fitted(model: Any) -> None:
    """Raise scikit-learn's NotFittedError if a model has learned nothing.

    Its own check reads all tags of the model before it looks, which takes longer than a row.
    """
    if not model.__sklearn_is_fitted__():
        check_is_fitted(model)


def of_state(path: str, text: str) -> Any:
    """Return a fitted attribute: what the state has under a name, or under names with dots."""
    read = attrgetter(path)
    return property(lambda model: read(model._fitted()), doc=text)


def feature_names(names: Sequence[str] | np.ndarray | None) -> np.ndarray:
    """Return `feature_names_in_`; raise AttributeError, as scikit-learn does, without names."""
    if names is None:
        raise AttributeError("'feature_names_in_' is there if the table has names.")
    return np.array(names, dtype=object)


def check_names(model: Any, X: Any, schema: Schema, learn: bool = False) -> None:
    """Check names as scikit-learn does; those of frames that it cannot read are matched.

    Names that are no strings are checked here, and no two may be the same. A table for answers may
    lack columns, up to half of them; a warning names them. Dates may come as the columns that they
    have become.
    """
    named = schema.named
    if isinstance(X, list) or (type(X) is np.ndarray and not named):
        return
    if hasattr(X, "columns"):
        names = list_names(X)
        strings = {isinstance(name, str) for name in _names_of(X)}
        if len(strings) == 1 and not (named and strings == {True}):
            _check_labels(names, list(schema.inputs), type(model).__name__)
        if named and not learn and _may_be_part(set(names), schema):
            return
    elif holds_no_rows(X) or len(getattr(X, "shape", (0, 0))) != 2:
        return  # it will be refused, which says more than a warning
    readable = not hasattr(X, "columns") or _get_feature_names(X) is not None
    if readable or not named:
        _check_feature_names(model, X, reset=False)


def _may_be_part(names: set[str], schema: Schema) -> bool:
    """Return whether names are parts of dates, or enough of the columns; warn of the others."""
    if names & {column for date in schema.dates for column in date.columns}:
        return True
    absent = [name for name in schema.inputs if name not in names]
    if not absent or not names <= {*schema.inputs} or not may_lack(absent, schema.inputs, True):
        return False
    warnings.warn(
        f"X lacks the column{'s' * (len(absent) > 1)} {listed(absent)}; "
        f"{whose(absent)} cells count as missing.",
        stacklevel=5,
    )
    return True


def list_names(X: Any) -> list[str]:
    """Return the names of the columns of a frame as strings; ValueError if two are the same."""
    names = [str(name) for name in _names_of(X)]
    if len(set(names)) < len(names):
        raise duplicate_names(names)
    return names


def _check_labels(names: list[str], known: list[str], who: str) -> None:
    """Raise ValueError if columns are others than those known, where some names are no strings.

    Those of arrays, and 0, 1, ... in order, say no more than where a column is: they go with any
    others, unless some of these are among them.
    """
    if names == known:
        return
    n_positional = _is_positional(names) + _is_positional(known)
    if n_positional == 2 or (n_positional and set(names).isdisjoint(known)):
        return
    raise other_names(names, known, who)


def _is_positional(names: list[str]) -> bool:
    return names in ([f"{start}{j}" for j in range(len(names))] for start in ("", "x"))


def _names_of(X: Any) -> Any:
    """Return the names of the columns of a frame; PyArrow has the columns themselves there."""
    return X.column_names if hasattr(X, "column_names") else X.columns


def accept_tables(tags: Any, missing: bool) -> Any:
    """Return the tags of a model that takes tables of any form, with missing cells or without."""
    tags.input_tags.allow_nan = missing
    tags.input_tags.sparse = True
    tags.input_tags.string = True
    tags.input_tags.categorical = True
    return tags
