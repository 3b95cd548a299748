"""What models of all rooms share: one fitted state, names of columns, tags for scikit-learn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from infinimix.scikit import _check_feature_names, _get_feature_names, check_is_fitted


def check_fitted(model: Any) -> None:
    """Raise scikit-learn's NotFittedError if a model has learned nothing.

    Its own check reads all tags of the model before it looks, which takes longer than a row.
    """
    if not model.__sklearn_is_fitted__():
        check_is_fitted(model)


def feature_names(names: Sequence[str] | np.ndarray | None) -> np.ndarray:
    """Return `feature_names_in_`; raise AttributeError, as scikit-learn does, without names."""
    if names is None:
        raise AttributeError("'feature_names_in_' is there if the table has names.")
    return np.array(names, dtype=object)


def check_names(model: Any, X: Any, named: bool) -> None:
    """Check names as scikit-learn does; those of frames that it cannot read are matched."""
    if isinstance(X, list) or (type(X) is np.ndarray and not named):
        return
    readable = not hasattr(X, "columns") or _get_feature_names(X) is not None
    if readable or not named:
        _check_feature_names(model, X, reset=False)


def accept_tables(tags: Any, missing: bool) -> Any:
    """Return the tags of a model that takes tables of any form, with missing cells or without."""
    tags.input_tags.allow_nan = missing
    tags.input_tags.sparse = True
    tags.input_tags.string = True
    tags.input_tags.categorical = True
    return tags
