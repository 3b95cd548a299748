"""What a model says, as JSON: predictions of rows, its classes, and itself."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from infinimix.estimators.online.forecast import NEW_CLASS
from infinimix.evaluation.abilities import (
    Classified,
    Classifying,
    CollectsNewClasses,
    Counting,
    FindsAnomalies,
    KnowsKinds,
    NoticesNewClasses,
    Parametrised,
    Prototyping,
    able,
)
from infinimix.reports.online import describe_class
from infinimix.service.problems import HttpProblem
from infinimix.streaming.journal import DurabilityError
from infinimix.tables.rows import list_labels

TOP = 10  # probabilities of a prediction
MOST_GROUPS = 20  # prototypes of a class
MOST_NAMED = 8  # classes in a message
ALL = "all"  # the class of a mixture, which has none


class Predicted:
    """Predictions of some rows.

    Attributes
    ----------
    labels : list
        The classes of the model; empty if it has none.
    best : list
        The predicted class of each row; None without one, and `NEW_CLASS` may be among them.
    proba : array of shape (n_rows, n_classes)
        Their probabilities.
    new : array or None
        The probability that a row is of a new class.
    """

    def __init__(self, model: Any, X: list[Any]) -> None:
        self.labels: list[Any] = []
        self.best: list[Any] = [None] * len(X)
        self.proba = np.empty((len(X), 0))
        self.new: np.ndarray | None = None
        self.anomaly: np.ndarray | None = None
        self.density: np.ndarray | None = None
        if not model.__sklearn_is_fitted__():
            return
        if able(model, Classifying):
            self._classify(model, X)
        elif able(model, FindsAnomalies):
            self.density = np.asarray(model.score_samples(X))
            self.anomaly = np.asarray(model.anomaly_score(X))
            self.best = list_labels(model.predict(X))

    def _classify(self, model: Any, X: list[Any]) -> None:
        self.labels = list_labels(model.classes_)
        if not self.labels:
            return
        self.proba = np.asarray(model.predict_proba(X))
        self.best = [self.labels[k] for k in self.proba.argmax(axis=1).tolist()]
        if is_open_world(model):
            self.new = np.asarray(model.new_class_proba(X))
            self.best = list_labels(model.predict(X))

    def to_json(self) -> list[dict[str, Any]]:
        """Return one object for each row."""
        return [self._row(i) for i in range(len(self.best))]

    def _row(self, i: int) -> dict[str, Any]:
        if self.density is not None and self.anomaly is not None:
            score, log = float(self.anomaly[i]), float(self.density[i])
            return {"group": self.best[i], "anomaly_score": score, "log_density": log}
        if not self.labels:
            return {"class": None, "probability": None, "probabilities": []}
        order = np.argsort(-self.proba[i], kind="stable")[:TOP].tolist()
        row = self.proba[i]
        is_new = self.best[i] is NEW_CLASS
        found = {
            "class": None if is_new else self.best[i],
            "probability": float(row[order[0]]),
            "probabilities": [
                {"class": self.labels[k], "probability": float(row[k])} for k in order
            ],
        }
        if self.new is not None:
            found |= {"new_class": is_new, "new_class_probability": float(self.new[i])}
        return found


def is_open_world(model: Any) -> bool:
    """Whether a model looks for classes that have no name."""
    return able(model, NoticesNewClasses) and bool(model.get_params().get("open_world"))


def describe_model(model: Any) -> dict[str, Any]:
    """Return what a model is, and which classes it has."""
    fitted = bool(model.__sklearn_is_fitted__())
    parameters = model.get_params() if able(model, Parametrised) else {}
    found: dict[str, Any] = {
        "model": type(model).__name__,
        "parameters": {name: plain(value) for name, value in parameters.items()},
        "fitted": fitted,
        "classes": list_classes(model),
        "open_world": is_open_world(model),
    }
    if fitted and able(model, KnowsKinds):
        found["columns"] = {str(name): str(kind) for name, kind in model.columns_.items()}
    return found


def list_classes(model: Any) -> list[dict[str, Any]]:
    """Return the classes and their rows, the largest first."""
    if not model.__sklearn_is_fitted__():
        return []
    if not able(model, Classified):
        return [{"name": ALL, "rows": None}]
    labels = list_labels(model.classes_)
    counts = model.class_count_ if able(model, Counting) else [None] * len(labels)
    found = [{"name": name, "rows": plain(n)} for name, n in zip(labels, counts, strict=True)]
    return sorted(found, key=lambda one: -(one["rows"] or 0))


def find_label(model: Any, name: str) -> Any:
    """Return the label that is written like this; raise HttpProblem if there is none."""
    known = [one["name"] for one in list_classes(model)]
    for label in known:
        if str(label) == name:
            return label
    raise HttpProblem(404, f"there is no class {name[:100]!r}; {_word_classes(known)}", "name")


def _word_classes(known: list[Any]) -> str:
    """Return which classes there are, the first of many."""
    if not known:
        return "the model knows none yet"
    more = f" and {len(known) - MOST_NAMED:,} more" if len(known) > MOST_NAMED else ""
    names = ", ".join(repr(str(label)[:100]) for label in known[:MOST_NAMED])
    return f"the only one is {names}" if len(known) == 1 else f"there are {names}{more}"


def describe_one(model: Any, name: str) -> dict[str, Any]:
    """Return what is typical of a class: words or values, and prototypes."""
    label = find_label(model, name)
    rows = next(one["rows"] for one in list_classes(model) if one["name"] == label)
    found: dict[str, Any] = {"name": label, "rows": rows}
    if able(model, Prototyping):
        table = model.prototypes(label) if able(model, Classified) else model.prototypes()
        table = table.sort_values("weight", ascending=False, kind="stable").head(MOST_GROUPS)
        found["prototypes"] = [_group(one) for one in table.to_dict("records")]
    else:
        found["typical"] = plain(describe_class(model, label))
    return found


def _group(record: dict[Any, Any]) -> dict[str, Any]:
    values = {str(k): plain(v) for k, v in record.items() if k not in ("weight", "rows")}
    return {"weight": plain(record["weight"]), "rows": plain(record["rows"]), "typical": values}


def list_waiting(model: Any) -> list[dict[str, Any]]:
    """Return the provisional classes, the largest first."""
    if not model.__sklearn_is_fitted__() or not able(model, CollectsNewClasses):
        return []
    return [
        {"id": one.number, "rows": plain(one.size), "typical": plain(one.top)}
        for one in model.provisional_classes()
    ]


def plain(value: Any) -> Any:
    """Return a value as JSON has it."""
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set):
        return [plain(item) for item in value]
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if isinstance(value, bool | int | float | str | None) else str(value)


def name_waiting(learner: Any, number: str, label: Any) -> dict[str, Any]:
    """Give a provisional class a name, which is a record of the log."""
    waiting = {str(one["id"]): one["id"] for one in list_waiting(learner.model)}
    if number not in waiting:
        raise HttpProblem(404, f"there is no provisional class {number[:100]!r}", "id")
    try:
        receipt = learner.name_class(waiting[number], label)
    except DurabilityError:
        raise  # the disk refuses, not the name
    except (ValueError, TypeError) as error:
        raise HttpProblem(422, str(error), "name") from None
    return {"sequence": receipt.sequence, "name": label}
