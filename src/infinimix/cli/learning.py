"""Models by name, and how they learn from a frame and answer for one.

What a saved model says of later tables is in `model_files`.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import infinimix
from infinimix.cli.errors import CommandError, hint
from infinimix.cli.kinds import ColumnInfo
from infinimix.cli.out import is_watched
from infinimix.cli.weights import CLASS_WEIGHTED, arguments
from infinimix.evaluation.abilities import (
    AnswersBatches,
    Classifying,
    KnowsNames,
    Predicting,
    Verbose,
    able,
)

if TYPE_CHECKING:
    import pandas as pd

MODELS = {
    "aclass": "AClassClassifier",
    "online-crp": "OnlineCRPClassifier",
    "finite-mixture": "FiniteMixtureClassifier",
    "m2dpm": "MaxMarginDPMeans",
    "m2dpm-cv": "MaxMarginDPMeansCV",
    "dpmeans-svc": "DPMeansSVC",
    "gibbs-svc": "GibbsInfiniteSVC",
    "hybrid": "HybridClassifier",
    "regressor": "CRPRegressor",
}
HYBRID = "hybrid"  # holds a model that reads the columns
TAKES = {  # options of some models only
    "unlabelled_share": ("aclass",),
    "relevance": ("aclass",),
    "class_weight": CLASS_WEIGHTED,
}
EFFORTS = ("fast", "default", "thorough")


def available() -> list[str]:
    """Return the models that this infinimix has."""
    return [name for name, cls in MODELS.items() if cls in infinimix.__all__]


def check_model(name: str) -> None:
    """Refuse a model that there is not; without importing those that there are, which is slow."""
    if name not in MODELS:
        raise CommandError(
            f"--model: there is no {name!r}; choose one of {', '.join(available())}."
        )
    if MODELS[name] not in infinimix.__all__:
        raise CommandError(
            f"--model: infinimix {infinimix.__version__} has no {name} yet; choose one of "
            f"{', '.join(available())}, or upgrade infinimix."
        )


def find_class(name: str) -> type[Any]:
    """Return the class of a model by its name on the command line."""
    check_model(name)
    found: type[Any] = getattr(infinimix, MODELS[name])
    return found


def check_effort(effort: str) -> None:
    """Refuse an effort that there is not."""
    if effort not in EFFORTS:
        raise CommandError(f"--effort: {effort!r} is none of {', '.join(EFFORTS)}.")


def check_tuning(name: str, settings: Mapping[str, Any]) -> None:
    """Refuse options that a model does not have."""
    for option, own in TAKES.items():
        if settings.get(option) is not None and name not in own:
            flag = "--" + option.replace("_", "-")
            raise CommandError(f"{flag} is for --model {_either(own)}; {name} has no such option.")


def _either(names: Sequence[str]) -> str:
    *others, last = names
    return f"{', '.join(others)} or {last}" if others else last


def read_assignments(given: Sequence[str] | None) -> dict[str, Any]:
    """Return the parameters of options such as `--set c=2`; values are JSON, or else text."""
    found = {}
    for text in given or ():
        name, equals, value = text.partition("=")
        if not equals or not name.strip():
            raise CommandError(f"--set: {text!r} is no parameter with a value, such as c=2.")
        try:
            found[name.strip()] = json.loads(value)
        except ValueError:
            found[name.strip()] = value.strip()
    return found


def make_named(name: str, columns: Any, verbose: bool, options: dict[str, Any]) -> Any:
    """Return a model by its name, with those of the options that it has."""
    cls, more = find_class(name), dict(options.get("set") or {})
    if name == HYBRID:
        generative = make(infinimix.AClassClassifier, columns=columns, **options)
        model = make(cls, generative=generative, **options)
    else:
        model = make(cls, columns=columns, verbose=verbose, **options)
    unknown = [key for key in more if key not in model.get_params()]
    if unknown:
        known = sorted(key for key in model.get_params() if key not in ("columns", "verbose"))
        raise CommandError(f"--set: {name} has no {unknown[0]!r}; {hint(unknown[0], known)}")
    return model.set_params(**more)


def reads_tables(name: str) -> bool:
    """Whether a model takes columns of all kinds, not matrices only."""
    return name == HYBRID or "columns" in inspect.signature(find_class(name)).parameters


def make(cls: type[Any], **options: Any) -> Any:
    """Return a model with those of the options that it has."""
    check_effort(options.get("effort", "default"))
    known = inspect.signature(cls).parameters
    return cls(**{k: v for k, v in options.items() if k in known and v is not None})


@dataclass(frozen=True)
class Recipe:
    """All that is needed to learn a classifier from a frame and labels."""

    name: str
    infos: Sequence[ColumnInfo]
    columns: Any  # as the estimators take it
    text: str | None = None
    options: dict[str, Any] = field(default_factory=dict)

    def fit(
        self,
        X: pd.DataFrame,
        y: Sequence[Any],
        verbose: bool | None = None,
        weights: Sequence[float] | None = None,
    ) -> Trained:
        """Learn; rows without label too, if the model can."""
        columns = "text" if self.text is not None else self.columns
        watched = is_watched() if verbose is None else verbose
        model = make_named(self.name, columns, watched, self.options)
        encoding = None
        if not reads_tables(self.name):
            from infinimix.cli.numbers import learn_encoding  # NumPy: slow to load

            encoding = learn_encoding(X, {info.name: info.kind for info in self.infos})
        notes = {"text": self.text, "encoding": encoding, "columns": list(X.columns)}
        trained = Trained(model, notes)
        model.fit(trained.rows(X), list(y), **arguments(weights))
        if able(model, Verbose):
            model.set_params(verbose=False)  # a saved model is the same wherever it was made
        return trained

    def estimator(self) -> Any:
        """Return an unfitted classifier of the rows of `of`, with the kinds of the whole table."""
        columns = "text" if self.text is not None else self.with_kinds().columns
        model = make_named(self.name, columns, False, self.options)
        if reads_tables(self.name):
            return model
        from infinimix.cli.numbers import OnNumbers  # scikit-learn: slow to load

        return OnNumbers(model, {info.name: info.kind for info in self.infos})

    def of(self, X: pd.DataFrame) -> Any:
        """Return a frame as `estimator` takes it."""
        return X if self.text is None else texts_of(X)

    def with_kinds(self) -> Recipe:
        """Return the recipe with the kinds of the whole table, for parts of it."""
        if not isinstance(self.columns, dict | str) or self.columns == "text":
            return self
        asked = self.columns if isinstance(self.columns, dict) else {}
        blocks = {key: kind for key, kind in asked.items() if isinstance(key, tuple)}
        inside = {name for key in blocks for name in key}
        found = {info.name: info.kind for info in self.infos if info.name not in inside}
        return replace(self, columns=found | blocks)

    @property
    def takes_unlabelled(self) -> bool:
        """Whether rows without label teach the model something."""
        return able(find_class(self.name), AnswersBatches)


@dataclass(frozen=True)
class Trained:
    """A model that takes frames."""

    model: Any
    notes: dict[str, Any]

    def rows(self, X: pd.DataFrame) -> Any:
        """Return a frame as the model takes it."""
        if self.notes.get("text") is not None:
            return texts_of(X)
        if self.notes.get("encoding") is not None:
            from infinimix.cli.numbers import apply_encoding  # NumPy: slow to load

            return apply_encoding(X, self.notes["encoding"])
        return X if able(self.model, KnowsNames) or not self.is_fitted else X.to_numpy()

    def estimator(self, seed: int) -> Any:
        """Return what can be cross-validated on the rows of `of`, as `Recipe.estimator` is."""
        encoding = self.notes.get("encoding")
        if encoding is None:
            return self.model
        from infinimix.cli.numbers import OnNumbers  # scikit-learn: slow to load
        from infinimix.scikit import clone

        dates = [entry for entry in encoding if "date" in entry]
        made = {column for entry in dates for column in entry["date"][-1]}
        kinds = {
            entry["name"]: "categorical" if "categories" in entry else "real"
            for entry in encoding
            if entry["name"] not in made
        } | {entry["name"]: "date" for entry in dates}
        return OnNumbers(clone(self.model).set_params(random_state=seed), kinds)

    def of(self, X: pd.DataFrame) -> Any:
        """Return a frame as `estimator` takes it."""
        return X if self.notes.get("encoding") is not None else self.rows(X)

    @property
    def is_fitted(self) -> bool:
        """Whether the model has learned."""
        return bool(self.model.__sklearn_is_fitted__())

    def predict(self, X: pd.DataFrame, batch: bool = False) -> list[Any]:
        """Return the class of each row; with `batch` the rows are classified together."""
        from infinimix.tables.rows import list_labels  # NumPy: slow to load

        if batch:
            self._check(AnswersBatches, "predict_batch")
            return list_labels(self.model.predict_batch(self.rows(X)))
        self._check(Predicting, "predict")
        return list_labels(self.model.predict(self.rows(X)))

    def predict_proba(self, X: pd.DataFrame, batch: bool = False) -> Any:
        """Return the probabilities of the classes."""
        if batch:
            self._check(AnswersBatches, "predict_proba_batch")
            return self.model.predict_proba_batch(self.rows(X))
        self._check(Classifying, "predict_proba")
        return self.model.predict_proba(self.rows(X))

    def _check(self, ability: type, method: str) -> None:
        if not able(self.model, ability):
            raise CommandError(_no_answer(type(self.model).__name__, method))

    @property
    def needed(self) -> list[str]:
        """The columns that the model takes."""
        own = self.model.feature_names_in_ if able(self.model, KnowsNames) else ()
        return [str(name) for name in self.notes.get("columns") or own]

    def save(self, path: Path, **more: Any) -> None:
        """Write the model and its notes, whole or not at all."""
        infinimix.save(self.model, path, notes={**self.notes, **more})


def texts_of(X: pd.DataFrame) -> list[str]:
    """Return the texts of a frame of one column; a missing one is empty."""
    return ["" if text is None or text != text else str(text) for text in X.iloc[:, 0]]


def _no_answer(name: str, method: str) -> str:
    if "batch" in method:
        those = [n for n in available() if able(find_class(n), AnswersBatches)]
        others = f" (those that do: {', '.join(those)})" if those else ""
        return f"--batch: {name} classifies rows one by one only{others}; leave --batch out."
    return f"the model is a {name}, which has no {method}; fit a classifier with infinimix fit."
