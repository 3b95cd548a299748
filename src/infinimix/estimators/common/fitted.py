"""What models of all rooms share: one fitted state, names of columns, tags for scikit-learn."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from operator import attrgetter
from typing import Any

import numpy as np

from infinimix.scikit import _check_feature_names, _get_feature_names, check_is_fitted
from infinimix.tables.errors import listed, whose
from infinimix.tables.forms import may_lack
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

    A table for answers may lack columns, up to half of them; a warning names them. Dates may come
    as the columns that they have become.
    """
    named = schema.named
    if isinstance(X, list) or (type(X) is np.ndarray and not named):
        return
    if named and hasattr(X, "columns") and not learn:
        listing = [str(name) for name in _names_of(X)]
        names = set(listing)
        if names & {column for date in schema.dates for column in date.columns}:
            return
        absent = [name for name in schema.inputs if name not in names]
        plain = len(names) == len(listing) and names <= {*schema.inputs}
        if absent and plain and may_lack(absent, schema.inputs, True):
            warnings.warn(
                f"X lacks the column{'s' * (len(absent) > 1)} {listed(absent)}; "
                f"{whose(absent)} cells count as missing.",
                stacklevel=4,
            )
            return
    readable = not hasattr(X, "columns") or _get_feature_names(X) is not None
    if readable or not named:
        _check_feature_names(model, X, reset=False)


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
