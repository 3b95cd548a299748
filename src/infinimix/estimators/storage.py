"""`save` and `load`: models as archives of arrays and JSON that cannot execute code.

A model is its parameters, its schema, its labels and its bank; the bank is plain arrays and
generators, so that a loaded model continues bit for bit. What a class writes is listed
here, in one place, by name.
"""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from typing import Any, BinaryIO

import numpy as np

import infinimix
from infinimix import artifacts
from infinimix.artifacts import ArtifactError
from infinimix.estimators.aclass import AClassClassifier
from infinimix.estimators.base import TableEstimator
from infinimix.estimators.labels import Labels
from infinimix.estimators.mixture import CRPMixture
from infinimix.inference.storage import bank_from_tree, bank_to_tree
from infinimix.tables import Schema

File = str | PathLike[str] | BinaryIO
TREE_VERSION = 1
CLASSES: dict[str, type[TableEstimator]] = {
    cls.__name__: cls for cls in (AClassClassifier, CRPMixture)
}


def save(model: TableEstimator, path: File) -> None:
    """Write a fitted model to a file, whole or not at all.

    Parameters
    ----------
    model : CRPMixture or AClassClassifier
        A fitted model.
    path : str, path or binary file
        Where to write.

    Examples
    --------
    >>> import io
    >>> from infinimix import CRPMixture, load, save
    >>> model = CRPMixture(random_state=0).fit([[0.1], [0.2], [5.0]])
    >>> file = io.BytesIO()
    >>> save(model, file)
    >>> again = load(io.BytesIO(file.getvalue()))
    >>> bool((again.score_samples([[1.0]]) == model.score_samples([[1.0]])).all())
    True
    """
    name = type(model).__name__
    if name not in CLASSES or not isinstance(model, CLASSES[name]):
        raise TypeError(f"save takes one of {', '.join(CLASSES)}; got {name}.")
    if not model.__sklearn_is_fitted__():
        raise ValueError(f"This {name} has learned nothing yet; fit it before saving it.")
    tree = {
        "version": TREE_VERSION,
        "parameters": {k: _plain(v) for k, v in model.get_params(deep=False).items()},
        "schema": model._schema.to_json(),
        "bank": bank_to_tree(model._bank),
        "labels": _labels_of(model),
        "rows": getattr(model, "labels_", None),
    }
    artifacts.write(path, name, tree, library_version=infinimix.__version__)


def load(path: File) -> Any:
    """Read a model that `save` wrote; it continues where it was.

    Raises
    ------
    infinimix.artifacts.ArtifactError
        If the file is damaged, is no model, or is from a newer version.
    """
    name, tree, _ = artifacts.read(path)
    if name not in CLASSES:
        raise ArtifactError(f"The file holds a {name!r}, which this infinimix does not know.")
    if isinstance(tree, dict) and tree.get("version", 0) > TREE_VERSION:
        raise ArtifactError(f"This {name} is from a newer infinimix; upgrade infinimix to read it.")
    try:
        return _rebuild(CLASSES[name], tree)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        raise ArtifactError(f"The file is no complete {name}: {error}") from error


def _rebuild(cls: type[TableEstimator], tree: dict[str, Any]) -> TableEstimator:
    model = cls(**tree["parameters"])
    model._schema = Schema.from_json(tree["schema"])
    model._bank = bank_from_tree(tree["bank"])
    if tree["labels"] is not None:
        labels = Labels()
        labels.extend(tree["labels"])
        model._labels = labels  # type: ignore[attr-defined]
    if tree["rows"] is not None:
        model.labels_ = tree["rows"]  # type: ignore[attr-defined]
    model.n_features_in_ = model._schema.width
    if model._schema.named:
        model.feature_names_in_ = np.array(model._schema.names, dtype=object)
    return model


def _labels_of(model: TableEstimator) -> list[Any] | None:
    labels = getattr(model, "_labels", None)
    return None if labels is None else labels.values


def _plain(value: Any) -> Any:
    """Return a parameter as plain values; mappings and sequences may be of any class."""
    if isinstance(value, Mapping):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(v) for v in value]
    if isinstance(value, np.random.RandomState):
        raise TypeError("A model with a RandomState cannot be saved; use an int or a Generator.")
    return value
