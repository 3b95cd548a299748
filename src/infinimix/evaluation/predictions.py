"""How well a classifier does on rows it has not learned, with the uncertainty of every figure.

Rows are either held out already, or each is predicted by a model of the same parameters that has
learned the other folds. Intervals are of 95%: Wilson's for shares, plus and minus 1.96
standard errors for means. They take rows for independent, and say how far the figure may be
off for these models, not how it would vary with other training rows.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.utils import _safe_indexing

from infinimix.tables.missing import is_missing

FOLDS = 5
MOST_ROWS = 4000  # of a cross-validation; more are a sample
LEAST_ROWS = 10
LEAST_PROBABILITY = 1e-15  # what a true label counts as that was given less
Z = 1.959964


class Interval(NamedTuple):
    """A figure, and where it may truly lie."""

    value: float
    low: float
    high: float


class Bin(NamedTuple):
    """Predictions of about one confidence."""

    rows: int
    confidence: float
    right: Interval


@dataclass(frozen=True)
class Predictions:
    """What models said of rows they had not learned."""

    labels: list[Any]  # of the columns of proba
    rows: Any
    places: np.ndarray  # where the rows were in the table
    y: np.ndarray  # codes of the true labels
    proba: np.ndarray
    model_of: np.ndarray  # which of the models predicted the row
    models: list[Any]
    how: str

    @property
    def predicted(self) -> np.ndarray:
        """The most probable code of each row."""
        return self.proba.argmax(axis=1)

    @property
    def right(self) -> np.ndarray:
        """Whether it is the true one."""
        return self.predicted == self.y

    @property
    def p_true(self) -> np.ndarray:
        """The probability of the true label."""
        return self.proba[np.arange(len(self.y)), self.y]

    @property
    def losses(self) -> np.ndarray:
        """Minus the log of that."""
        return -np.log(np.maximum(self.p_true, LEAST_PROBABILITY))


def labelled_rows(rows: Any, target: Any) -> tuple[Any, list[Any], np.ndarray]:
    """Return the rows that have a label, the labels, and where the rows were."""
    labels = np.asarray(target, dtype=object).tolist()
    n = rows.shape[0] if hasattr(rows, "shape") else len(rows)
    if len(labels) != n:
        raise ValueError(f"rows has {n} rows, but target has {len(labels)} labels.")
    places = np.array([i for i, label in enumerate(labels) if not is_missing(label)], dtype=int)
    return take(rows, places), [labels[i] for i in places], places


def take(rows: Any, places: np.ndarray) -> Any:
    """Return some rows of a table, in the form it has."""
    return _safe_indexing(rows, places)


def cross_validate(model: Any, rows: Any, target: Any, seed: int = 0) -> Predictions | None:
    """Predict each row by a model that has not learned it; None where that makes no sense."""
    rows, y, places = labelled_rows(rows, target)
    rng = np.random.default_rng(seed)
    labels = _sorted_labels(y)
    codes = _codes(y, labels)
    if len(labels) < 2 or len(codes) < LEAST_ROWS:
        return None
    if len(codes) > MOST_ROWS:
        some = np.sort(rng.permutation(len(codes))[:MOST_ROWS])
        rows, codes, places = take(rows, some), codes[some], places[some]
    folds = deal_folds(codes, FOLDS, rng)
    proba, models = np.zeros((len(codes), len(labels))), []
    truth = np.empty(len(labels), dtype=object)
    truth[:] = labels
    for k in range(FOLDS):
        inner, outer = np.flatnonzero(folds != k), np.flatnonzero(folds == k)
        fresh = _fresh(model, seed)
        with warnings.catch_warnings():  # what there is to say, the model's own fit has said
            warnings.simplefilter("ignore", UserWarning)
            fresh.fit(take(rows, inner), _plain(truth[codes[inner]]))
        proba[outer] = align(fresh, take(rows, outer), labels)
        models.append(fresh)
    how = f"{FOLDS}-fold cross-validation"
    return Predictions(labels, rows, places, codes, proba, folds, models, how)


def judge_held_out(model: Any, rows: Any, target: Any) -> Predictions | None:
    """Let a model predict rows that it has never seen."""
    rows, y, places = labelled_rows(rows, target)
    known = np.asarray(model.classes_).tolist()
    if not y:
        return None
    if not set(y) & set(known):
        raise ValueError(
            f"target has none of the classes that the model knows: {known[:5]!r}; "
            f"its first label is {y[0]!r}."
        )
    labels = _sorted_labels([*known, *y])
    proba, models = align(model, rows, labels), [model]
    whose = np.zeros(len(y), dtype=int)
    return Predictions(
        labels, rows, places, _codes(y, labels), proba, whose, models, "held-out rows"
    )


def align(model: Any, rows: Any, labels: Sequence[Any]) -> np.ndarray:
    """Return the probabilities of these labels; those the model does not know have none."""
    place = {label: j for j, label in enumerate(labels)}
    out = np.zeros((rows.shape[0] if hasattr(rows, "shape") else len(rows), len(labels)))
    known = [place[label] for label in np.asarray(model.classes_).tolist()]
    out[:, known] = model.predict_proba(rows)
    return out


def deal_folds(codes: np.ndarray, n_folds: int, rng: np.random.Generator) -> np.ndarray:
    """Return a fold for each row: every class is dealt out evenly, in random order.

    scikit-learn's stratified folds warn of classes with fewer rows than folds; here such a class
    is dealt out as far as it goes.
    """
    order = rng.permutation(len(codes))
    order = order[np.argsort(codes[order], kind="stable")]
    folds = np.empty(len(codes), dtype=int)
    folds[order] = np.arange(len(codes)) % n_folds
    return folds


def wilson(successes: float, n: int) -> Interval:
    """Return a share and its 95% interval.

    >>> [round(x, 3) for x in wilson(8, 10)]
    [0.8, 0.49, 0.943]
    """
    if n == 0:
        return Interval(float("nan"), 0.0, 1.0)
    share = successes / n
    middle = (share + Z * Z / (2 * n)) / (1 + Z * Z / n)
    half = Z / (1 + Z * Z / n) * np.sqrt(share * (1 - share) / n + Z * Z / (4 * n * n))
    return Interval(share, max(0.0, float(middle - half)), min(1.0, float(middle + half)))


def mean_interval(values: np.ndarray) -> Interval:
    """Return a mean and its 95% interval."""
    mean = float(values.mean())
    half = Z * float(values.std(ddof=1)) / np.sqrt(len(values)) if len(values) > 1 else np.inf
    return Interval(mean, mean - half, mean + half)


def calibration_bins(confidence: np.ndarray, right: np.ndarray, most: int = 10) -> list[Bin]:
    """Return bins of equally many rows, at least 10 each, from the least confidence on."""
    order = np.argsort(confidence, kind="stable")
    n_bins = max(1, min(most, len(order) // 10))
    return [
        Bin(len(part), float(confidence[part].mean()), wilson(int(right[part].sum()), len(part)))
        for part in np.array_split(order, n_bins)
    ]


def calibration_error(bins: Sequence[Bin]) -> float:
    """Return the mean distance between confidence and share of right answers."""
    n = sum(b.rows for b in bins)
    return sum(b.rows * abs(b.confidence - b.right.value) for b in bins) / max(n, 1)


def confusion(predictions: Predictions) -> np.ndarray:
    """Return rows by true label and predicted label."""
    table = np.zeros((len(predictions.labels),) * 2, dtype=int)
    np.add.at(table, (predictions.y, predictions.predicted), 1)
    return table


def _fresh(model: Any, seed: int) -> Any:
    fresh = clone(model)
    known = fresh.get_params()
    quiet = {"random_state": seed, "verbose": False}
    return fresh.set_params(**{name: value for name, value in quiet.items() if name in known})


def _sorted_labels(y: Sequence[Any]) -> list[Any]:
    found = list(dict.fromkeys(y))
    try:
        return sorted(found)
    except TypeError:  # labels of several types
        return sorted(found, key=lambda label: (type(label).__name__, str(label)))


def _codes(y: Sequence[Any], labels: Sequence[Any]) -> np.ndarray:
    place = {label: j for j, label in enumerate(labels)}
    return np.array([place[label] for label in y], dtype=int)


def _plain(labels: np.ndarray) -> Any:
    """Return labels as an array of their own type where they have one."""
    kinds = {type(label) for label in labels.tolist()}
    return np.array(labels.tolist()) if len(kinds) == 1 and kinds <= {bool, int, str} else labels
