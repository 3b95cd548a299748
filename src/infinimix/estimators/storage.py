"""`save` and `load`: models as archives of arrays and JSON that cannot execute code.

A model is its parameters, its schema, its labels and its bank; the bank is plain arrays and
generators, so that a loaded model continues bit for bit. What a class writes is listed
here, in one place, by name.
"""

from __future__ import annotations

from importlib import import_module
from os import PathLike
from typing import Any, BinaryIO

import numpy as np

import infinimix
from infinimix import artifacts
from infinimix.artifacts import ArtifactError
from infinimix.estimators.aclass import AClassClassifier
from infinimix.estimators.base import TableEstimator, check_whole
from infinimix.estimators.calibration import Calibration
from infinimix.estimators.finite_mixture import FiniteMixtureClassifier
from infinimix.estimators.finite_storage import (
    check_blocks,
    check_codes,
    finite_from_tree,
    finite_to_tree,
)
from infinimix.estimators.imputer import CRPImputer
from infinimix.estimators.label_batches import Training
from infinimix.estimators.labels import Labels, check_labels
from infinimix.estimators.mixture import CRPMixture
from infinimix.estimators.online_crp import OnlineCRPClassifier
from infinimix.estimators.online_storage import online_from_tree, online_to_tree
from infinimix.estimators.parameters import check_parameter, check_parameters
from infinimix.estimators.plain_parameters import plain, unplain
from infinimix.estimators.relevance import Relevance
from infinimix.estimators.schema_checks import check_layout, check_schema
from infinimix.families.given import resolve_prior
from infinimix.inference.storage import bank_from_tree, bank_to_tree
from infinimix.tables import Schema

File = str | PathLike[str] | BinaryIO
TREE_VERSION = 2
CLASSES: dict[str, type[Any]] = {
    cls.__name__: cls
    for cls in (
        AClassClassifier, CRPImputer, CRPMixture, FiniteMixtureClassifier, OnlineCRPClassifier,
    )
}  # fmt: skip

# Classes of neighbouring rooms, with the module that knows their trees (`to_tree`, `from_tree`):
# named, not imported, as those rooms use this one.
ELSEWHERE = dict.fromkeys(
    ["BlockmodelBayesNet", "BlockmodelDynamicNet", "BlockmodelMarkovNet", "NetworkFranchise"],
    "infinimix.networks.storage",
) | dict.fromkeys(
    ["DPMeans", "DPMeansSVC", "GibbsInfiniteSVC", "MaxMarginDPMeans", "MaxMarginDPMeansCV"],
    "infinimix.maxmargin.storage",
)

WRONG = (
    ArithmeticError, AttributeError, LookupError, MemoryError, StopIteration, TypeError, ValueError,
)  # fmt: skip


def save(
    model: TableEstimator | OnlineCRPClassifier, path: File, *, notes: dict[str, Any] | None = None
) -> None:
    """Write a fitted model to a file, whole or not at all.

    Parameters
    ----------
    model : an estimator of infinimix
        A fitted model.
    path : str, path or binary file
        Where to write.
    notes : dict, optional
        Plain values to keep beside the model, such as where its table came from; `read_notes`
        returns them, and `load` does not look at them.

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
    if name == "HybridClassifier":
        raise TypeError(
            "A HybridClassifier holds scikit-learn classifiers, which have no form but pickle: "
            "save its generative_, or use joblib."
        )
    known = ELSEWHERE.keys() | CLASSES.keys()
    if name not in known or not type(model).__module__.startswith("infinimix."):
        raise TypeError(f"save takes one of {', '.join(sorted(known))}; got {name}.")
    if not model.__sklearn_is_fitted__():
        raise ValueError(f"This {name} has learned nothing yet; fit it before saving it.")
    if name in ELSEWHERE:
        tree = {"version": TREE_VERSION, **import_module(ELSEWHERE[name]).to_tree(model)}
    else:
        tree = _tree_of(model)
    if notes is not None:
        tree["notes"] = notes
    artifacts.write(path, name, tree, library_version=infinimix.__version__)


def _tree_of(model: Any) -> dict[str, Any]:
    check_parameters(model)
    return {
        "version": TREE_VERSION,
        "parameters": {k: plain(v) for k, v in model.get_params(deep=False).items()},
        **_to_tree(model),
    }


def _to_tree(model: Any) -> dict[str, Any]:
    if isinstance(model, OnlineCRPClassifier):
        return online_to_tree(model)
    if isinstance(model, FiniteMixtureClassifier):
        return finite_to_tree(model)
    return _bank_tree(model)


def _bank_tree(model: TableEstimator) -> dict[str, Any]:
    check_whole(model._bank)
    return {
        "schema": model._schema.to_json(),
        "bank": bank_to_tree(model._bank),
        "log_slopes": model._log_slopes,
        "labels": _labels_of(model),
        "rows": getattr(model, "labels_", None),
        "calibration": tuple(getattr(model, "_calibration", ())),
        "training": _training_to_tree(model),
        "relevance": tuple(getattr(model, "_relevance", None) or ()),
        "unlabelled_gain": float(getattr(model, "_gain", np.nan)),
    }


def load(path: File) -> Any:
    """Read a model that `save` wrote; it continues where it was.

    Raises
    ------
    infinimix.artifacts.ArtifactError
        If the file is damaged, is no model, or is from another version.
    """
    name, tree, _ = artifacts.read(path)
    if name not in CLASSES and name not in ELSEWHERE:
        raise ArtifactError(f"The file holds a {name!r}, which this infinimix does not know.")
    try:
        if tree["version"] > TREE_VERSION:
            raise ArtifactError(f"This {name} is from a newer infinimix; upgrade it to read this.")
        if tree["version"] < TREE_VERSION:
            raise ArtifactError(
                f"This {name} was saved by an older infinimix, in a form that this one does not "
                "read; fit it anew."
            )
        if name in ELSEWHERE:
            return import_module(ELSEWHERE[name]).from_tree(name, tree)
        return _rebuild(CLASSES[name], tree)
    except ArtifactError:
        raise
    except WRONG as error:
        raise ArtifactError(f"The file is no complete {name}: {error}") from error


def read_notes(path: File) -> dict[str, Any]:
    """Return the notes that a model was saved with, {} without any.

    Examples
    --------
    >>> import io
    >>> from infinimix import CRPMixture, save
    >>> from infinimix.estimators.storage import read_notes
    >>> file = io.BytesIO()
    >>> save(CRPMixture(random_state=0).fit([[0.1], [5.0]]), file, notes={"from": "a.csv"})
    >>> read_notes(io.BytesIO(file.getvalue()))
    {'from': 'a.csv'}
    """
    _, tree, _ = artifacts.read(path)
    notes = tree.get("notes") if isinstance(tree, dict) else None
    return notes if isinstance(notes, dict) else {}


def _rebuild(cls: type[Any], tree: dict[str, Any]) -> Any:
    model = cls(**{k: unplain(v) for k, v in tree["parameters"].items()})
    check_parameters(model)
    if isinstance(model, OnlineCRPClassifier):
        return online_from_tree(model, tree)
    if isinstance(model, FiniteMixtureClassifier):
        return finite_from_tree(model, tree)
    model._schema = schema = Schema.from_json(tree["schema"])
    check_schema(schema)
    for name, value in tree["bank"]["settings"].items():
        check_parameter(model, name, value)
    resolve_prior(tree["bank"]["settings"]["prior"], schema.kinds(True), schema.gaussian_blocks)
    model._bank = bank_from_tree(tree["bank"])
    check_layout(schema, model._bank.layout)
    model._log_slopes = _check_log_slopes(schema, tree["log_slopes"])
    labels, rows = tree["labels"], tree["rows"]
    _check_labels(labels, model._bank.n_classes, cls is AClassClassifier)
    if labels is not None:
        model._labels = Labels()
        model._labels.extend(labels)
        model._calibration = _check_calibration(tree["calibration"])
        model._training = _check_training(schema, tree.get("training"), len(labels))
        model._relevance = _check_relevance(schema, tree.get("relevance", ()))
        model._gain = float(tree.get("unlabelled_gain", np.nan))
    if rows is not None:
        model.labels_ = _check_rows(rows)
    model.n_features_in_ = schema.width
    if schema.named:
        model.feature_names_in_ = np.array(schema.names, dtype=object)
    return model


def _check_log_slopes(schema: Schema, total: Any) -> float:
    if not isinstance(total, float) or not np.isfinite(total) or (total and not schema.transforms):
        raise ValueError("its densities are in no unit")
    return total


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


def _training_to_tree(model: TableEstimator) -> dict[str, Any] | None:
    training = getattr(model, "_training", None)
    return training and {"blocks": list(training.blocks), "codes": training.codes}


def _check_training(schema: Schema, saved: Any, n_classes: int) -> Training | None:
    if saved is None:
        return None
    codes = check_codes(saved["codes"], n_classes)
    return Training(check_blocks(schema, saved["blocks"], len(codes)), codes)


def _check_relevance(schema: Schema, saved: Any) -> Relevance | None:
    if not saved:
        return None
    found = Relevance(*saved)
    p = np.asarray(found.inclusion)
    sound = (
        p.shape == (schema.width,) and p.dtype == np.float64 and bool(((p >= 0) & (p <= 1)).all())
    )
    if not sound or not isinstance(found.log_shared, float) or not np.isfinite(found.log_shared):
        raise ValueError("the relevance of its columns is no probability")
    return found


def _check_rows(rows: Any) -> np.ndarray:
    if not isinstance(rows, np.ndarray) or rows.ndim != 1 or rows.dtype != np.int64:
        raise ValueError("labels_ is no vector of whole numbers")
    return rows


def _labels_of(model: TableEstimator) -> list[Any] | None:
    labels = getattr(model, "_labels", None)
    return None if labels is None else labels.values
