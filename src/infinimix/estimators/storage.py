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
from infinimix.estimators.base import TableEstimator, block_names, check_whole
from infinimix.estimators.calibration import Calibration
from infinimix.estimators.imputer import CRPImputer
from infinimix.estimators.labels import Labels, check_labels
from infinimix.estimators.mixture import CRPMixture
from infinimix.estimators.parameters import check_parameter, check_parameters
from infinimix.families.given import resolve_prior
from infinimix.families.priors import Layout
from infinimix.inference.storage import bank_from_tree, bank_to_tree
from infinimix.tables import Schema
from infinimix.tables.schema import KINDS

File = str | PathLike[str] | BinaryIO
TREE_VERSION = 2
CLASSES: dict[str, type[TableEstimator]] = {
    cls.__name__: cls for cls in (AClassClassifier, CRPImputer, CRPMixture)
}

WRONG = (
    ArithmeticError, AttributeError, LookupError, MemoryError, StopIteration, TypeError, ValueError,
)  # fmt: skip


def save(model: TableEstimator, path: File) -> None:
    """Write a fitted model to a file, whole or not at all.

    Parameters
    ----------
    model : CRPMixture, AClassClassifier or CRPImputer
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
    if name == "BlockmodelBayesNet":
        _save_network(model, path)
        return
    if name not in CLASSES or not isinstance(model, CLASSES[name]):
        raise TypeError(f"save takes one of {', '.join(CLASSES)}; got {name}.")
    if not model.__sklearn_is_fitted__():
        raise ValueError(f"This {name} has learned nothing yet; fit it before saving it.")
    check_whole(model._bank)
    check_parameters(model)
    tree = {
        "version": TREE_VERSION,
        "parameters": {k: _plain(v) for k, v in model.get_params(deep=False).items()},
        "schema": model._schema.to_json(),
        "bank": bank_to_tree(model._bank),
        "log_slopes": model._log_slopes,
        "labels": _labels_of(model),
        "rows": getattr(model, "labels_", None),
        "calibration": tuple(getattr(model, "_calibration", ())),
    }
    artifacts.write(path, name, tree, library_version=infinimix.__version__)


def load(path: File) -> Any:
    """Read a model that `save` wrote; it continues where it was.

    Raises
    ------
    infinimix.artifacts.ArtifactError
        If the file is damaged, is no model, or is from another version.
    """
    name, tree, _ = artifacts.read(path)
    if name == "BlockmodelBayesNet":
        return _load_network(tree)
    if name not in CLASSES:
        raise ArtifactError(f"The file holds a {name!r}, which this infinimix does not know.")
    try:
        if tree["version"] > TREE_VERSION:
            raise ArtifactError(f"This {name} is from a newer infinimix; upgrade it to read this.")
        if tree["version"] < TREE_VERSION:
            raise ArtifactError(
                f"This {name} was saved by an older infinimix, in a form that this one does not "
                "read; fit it anew."
            )
        return _rebuild(CLASSES[name], tree)
    except ArtifactError:
        raise
    except WRONG as error:
        raise ArtifactError(f"The file is no complete {name}: {error}") from error


def _save_network(model: Any, path: File) -> None:
    from infinimix.networks.storage import network_to_tree

    if not model.__sklearn_is_fitted__():
        raise ValueError("This BlockmodelBayesNet has learned nothing yet; fit it before saving.")
    tree = {
        "version": TREE_VERSION,
        "parameters": {k: _plain(v) for k, v in model.get_params(deep=False).items()},
        **network_to_tree(model),
    }
    artifacts.write(path, "BlockmodelBayesNet", tree, library_version=infinimix.__version__)


def _load_network(tree: dict[str, Any]) -> Any:
    from infinimix.networks.estimator import BlockmodelBayesNet
    from infinimix.networks.storage import network_from_tree

    try:
        if tree["version"] != TREE_VERSION:
            raise ArtifactError("This BlockmodelBayesNet is from another infinimix; fit it anew.")
        parameters = {k: _unplain(v) for k, v in tree["parameters"].items()}
        return network_from_tree(BlockmodelBayesNet(**parameters), tree)
    except ArtifactError:
        raise
    except WRONG as error:
        raise ArtifactError(f"The file is no complete BlockmodelBayesNet: {error}") from error


def _rebuild(cls: type[TableEstimator], tree: dict[str, Any]) -> TableEstimator:
    model = cls(**{k: _unplain(v) for k, v in tree["parameters"].items()})
    check_parameters(model)
    model._schema = schema = Schema.from_json(tree["schema"])
    _check_schema(schema)
    for name, value in tree["bank"]["settings"].items():
        check_parameter(model, name, value)
    resolve_prior(tree["bank"]["settings"]["prior"], schema.kinds(), schema.gaussian_blocks)
    model._bank = bank_from_tree(tree["bank"])
    _check_layout(schema, model._bank.layout)
    model._log_slopes = _check_log_slopes(schema, tree["log_slopes"])
    labels, rows = tree["labels"], tree["rows"]
    _check_labels(labels, model._bank.n_classes, cls is AClassClassifier)
    if labels is not None:
        model._labels = Labels()  # type: ignore[attr-defined]
        model._labels.extend(labels)  # type: ignore[attr-defined]
        model._calibration = _check_calibration(tree["calibration"])  # type: ignore[attr-defined]
    if rows is not None:
        model.labels_ = _check_rows(rows)  # type: ignore[attr-defined]
    model.n_features_in_ = schema.width
    if schema.named:
        model.feature_names_in_ = np.array(schema.names, dtype=object)
    return model


def _check_schema(schema: Schema) -> None:
    """Raise ValueError if the columns contradict each other."""
    categorical = [column for column in schema.columns if column.kind == "categorical"]
    sound = (
        schema.width > 0
        and all(column.kind in KINDS for column in schema.columns)
        and all(isinstance(name, str) for name in schema.names)
        and len(set(schema.names)) == len(schema.sources) == schema.width
        and all(c.transform is None or c.kind == "real" for c in schema.columns)
        and all(transform.sound() for _, transform in schema.transforms)
        and len(schema.categories) == len(categorical)
        and all(len(set(values)) == len(values) for values in schema.categories)
        and sorted(j for members in schema.joint for j in members)
        == [j for j, column in enumerate(schema.columns) if column.kind == "gaussian"]
    )
    if not sound:
        raise ValueError("its columns do not fit together")


def _check_log_slopes(schema: Schema, total: Any) -> float:
    if not isinstance(total, float) or not np.isfinite(total) or (total and not schema.transforms):
        raise ValueError("its densities are in no unit")
    return total


def _check_layout(schema: Schema, layout: Layout) -> None:
    """Raise ValueError unless every code that the columns have fits into the statistics."""
    sound = layout.names == block_names(schema) and np.array_equal(
        layout.category_counts, schema.category_counts
    )
    if not sound:
        raise ValueError("its columns are not those of its statistics")


def _check_labels(labels: Any, n_classes: int, classifies: bool) -> None:
    sound = n_classes == 1 and labels is None
    if classifies:
        sound = isinstance(labels, list) and len(set(check_labels(labels))) == n_classes > 0
    if not sound:
        raise ValueError("its labels do not fit its classes")


def _check_calibration(pair: Any) -> Calibration:
    calibration = Calibration(*pair)
    if not all(isinstance(x, float) for x in pair) or not 0.0 < calibration.power < np.inf:
        raise ValueError("its power of the likelihood is no positive number")
    return calibration


def _check_rows(rows: Any) -> np.ndarray:
    if not isinstance(rows, np.ndarray) or rows.ndim != 1 or rows.dtype != np.int64:
        raise ValueError("labels_ is no vector of whole numbers")
    return rows


def _labels_of(model: TableEstimator) -> list[Any] | None:
    labels = getattr(model, "_labels", None)
    return None if labels is None else labels.values


def _plain(value: Any) -> Any:
    """Return a parameter as plain values; a mapping as pairs, as its keys may be numbers."""
    if isinstance(value, Mapping):
        return {"pairs": [(_plain(k), _plain(v)) for k, v in value.items()]}
    if isinstance(value, list | tuple):
        return type(value)(map(_plain, value)) if type(value) in (list, tuple) else list(value)
    if isinstance(value, np.random.RandomState):
        raise TypeError("A model with a RandomState cannot be saved; use an int or a Generator.")
    return value


def _unplain(value: Any) -> Any:
    """Undo `_plain`."""
    if isinstance(value, dict):
        return {_unplain(k): _unplain(v) for k, v in value["pairs"]}
    if isinstance(value, list | tuple):
        return type(value)(map(_unplain, value))
    return value
