"""Tables as matrices, for models that take nothing else.

Numbers are standardised, and each category is a column of 0 and 1. A missing cell stays missing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from infinimix.cli.errors import CommandError, quoted
from infinimix.scikit import BaseEstimator, ClassifierMixin, clone
from infinimix.tables.column import record_of

if TYPE_CHECKING:
    import pandas as pd

MOST_CATEGORIES = 100


class OnNumbers(ClassifierMixin, BaseEstimator):
    """A classifier of matrices that takes tables; the encoding is learned with the rows.

    Parameters
    ----------
    classifier : classifier
        What learns the matrix.
    kinds : mapping
        The kind of each column of the table.
    rare : {"refuse", "join"}
        What to do with the categories of a column beyond the 100 most frequent ones: refuse the
        table, or take them for missing.
    """

    def __init__(self, classifier: Any, kinds: Mapping[str, str], rare: str = "refuse") -> None:
        self.classifier = classifier
        self.kinds = kinds
        self.rare = rare

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.classifier.__sklearn_tags__().input_tags.allow_nan
        return tags

    def fit(self, X: pd.DataFrame, y: Any, sample_weight: Any = None) -> OnNumbers:
        """Learn a table and its labels."""
        self.encoding_ = learn_encoding(X, self.kinds, self.rare)
        model = clone(self.classifier)
        self.classifier_ = model.fit(
            apply_encoding(X, self.encoding_), y, **name_weights(model, sample_weight)
        )
        self.classes_ = self.classifier_.classes_
        return self

    def predict_proba(self, X: pd.DataFrame) -> np.ndarray:
        """Return the probability of each class for each row."""
        return np.asarray(self.classifier_.predict_proba(apply_encoding(X, self.encoding_)))

    def predict(self, X: pd.DataFrame) -> np.ndarray:
        """Return the class of each row."""
        return np.asarray(self.classifier_.predict(apply_encoding(X, self.encoding_)))


def name_weights(model: Any, weights: Any) -> dict[str, Any]:
    """Return the weights of rows by the name that `fit` has for them; of a pipeline, its end's."""
    from sklearn.pipeline import Pipeline

    if weights is None:
        return {}
    end = f"{model.steps[-1][0]}__" if isinstance(model, Pipeline) else ""
    return {f"{end}sample_weight": weights}


def learn_encoding(
    X: pd.DataFrame, kinds: Mapping[str, str], rare: str = "refuse"
) -> list[dict[str, Any]]:
    """Return how each column becomes numbers; plain values, to be saved.

    Dates become several columns first; an entry for each says how.
    """
    asked = {name: kind for name, kind in kinds.items() if kind.startswith("date")}
    if not asked:
        return [_learn(name, X[name], kinds[name], rare) for name in X.columns]
    from infinimix.tables import read_schema

    schema = read_schema(X[list(asked)], asked)
    dates = [{"name": d.name, "date": list(d[1:])} for d in schema.dates]
    wide = _spread(X, dates)
    kinds = {**schema.requests(), **kinds}
    return [*dates, *(_learn(name, wide[name], kinds[name], rare) for name in wide.columns)]


def _spread(X: pd.DataFrame, dates: list[dict[str, Any]]) -> pd.DataFrame:
    import pandas as pd  # loaded, as there is a frame

    from infinimix.tables.dates import DateColumn
    from infinimix.tables.spreading import spread_frame

    known = []
    for entry in dates:
        order, origin, parts, columns = entry["date"]
        known.append(DateColumn(entry["name"], order, origin, tuple(parts), tuple(columns)))
    return pd.DataFrame(spread_frame(X, known))


def _learn(name: str, column: Any, kind: str, rare: str) -> dict[str, Any]:
    if record_of(kind).has_categories:
        categories = list(dict.fromkeys(column.dropna().tolist()))
        if rare == "join":
            categories = column.value_counts().index[:MOST_CATEGORIES].tolist()
        if len(categories) > MOST_CATEGORIES:
            raise CommandError(
                f"column {name!r} has {len(categories)} categories, too many for this model, which "
                f"takes up to {MOST_CATEGORIES}; leave it out with {quoted([name])}."
            )
        return {"name": name, "categories": categories}
    cells = column.to_numpy(dtype=float, na_value=np.nan)
    some = cells[~np.isnan(cells)]
    scale = float(some.std()) if len(some) else 1.0
    return {"name": name, "mean": float(some.mean()) if len(some) else 0.0, "scale": scale or 1.0}


def apply_encoding(X: pd.DataFrame, encoding: list[dict[str, Any]]) -> pd.DataFrame:
    """Return the matrix of a table, its columns named as those of the table, or "colour=red"."""
    import pandas as pd  # loaded, as there is a frame

    columns: dict[str, np.ndarray] = {}
    dates = [entry for entry in encoding if "date" in entry]
    X = _spread(X, dates) if dates else X
    for entry in encoding:
        if "date" in entry:
            continue
        name, column = entry["name"], X[entry["name"]]
        if "categories" not in entry:
            cells = column.to_numpy(dtype=float, na_value=np.nan)
            columns[name] = (cells - entry["mean"]) / entry["scale"]
            continue
        known = column.isin(entry["categories"]).to_numpy()
        for category in entry["categories"]:
            hit = (column == category).to_numpy(dtype=float)
            columns[f"{name}={category}"] = np.where(known, hit, np.nan)
    return pd.DataFrame(columns)
