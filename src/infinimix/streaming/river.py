"""`RiverClassifier`: a model of infinimix as a classifier of River.

Importing this file needs River; `infinimix.streaming` imports it when the class is asked for.

What River's streams may do, and a table may not: features appear later than the first row, and the
first value says little about its column. So kinds follow the type of the first value (bool is
binary, other numbers are real, all else is categorical; `columns` of the model goes first), and the
first rows are kept: when one of them brings a feature that is new, all of them are learned again
with it. A feature that no row has had is a column of missing cells, so nothing else changes.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from numbers import Number
from typing import Any

import numpy as np

from infinimix.evaluation.abilities import LetsFeaturesEmerge, able
from infinimix.scikit import clone

try:
    from river import base
except ImportError as error:
    raise ImportError("RiverClassifier needs River: pip install 'infinimix[river]'") from error

from infinimix.tables.missing import is_missing


class RiverClassifier(base.Classifier):
    """A classifier of River that learns by a model of infinimix.

    Parameters
    ----------
    model : AClassClassifier or OnlineCRPClassifier
        The model; a copy of it learns, so that `clone` starts again. Its `columns` may name
        features that come later.
    settle : int
        Rows for which new features are taken in. Later ones are left out, with one warning, and
        counted in `n_ignored`. Models whose features may emerge at any time need no settling.

    Attributes
    ----------
    learned : estimator or None
        The model that has learned so far.
    n_ignored : int
        Cells of features that came too late.

    Examples
    --------
    >>> from infinimix import AClassClassifier
    >>> from infinimix.streaming import RiverClassifier
    >>> from river import compose, preprocessing
    >>> model = compose.Pipeline(
    ...     preprocessing.StandardScaler(), RiverClassifier(AClassClassifier(random_state=0))
    ... )
    >>> for size, y in [(3.1, "ant"), (8.2, "bee"), (3.3, "ant"), (8.0, "bee")]:
    ...     model.learn_one({"size": size}, y)
    >>> model.predict_one({"size": 8.5})
    'bee'
    """

    def __init__(self, model: Any, settle: int = 100) -> None:
        self.model = model
        self.settle = settle
        self.learned: Any = None
        self.n_ignored = 0
        self._kinds: dict[Any, str] = {}
        self._kept: list[tuple[dict[Any, Any], Any]] | None = []

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        from infinimix import AClassClassifier, OnlineCRPClassifier

        yield {"model": AClassClassifier(n_particles=2, n_islands=1, random_state=0)}
        yield {"model": OnlineCRPClassifier("auto", random_state=0)}

    @property
    def _multiclass(self) -> bool:
        return True

    @property
    def _features_emerge(self) -> bool:
        return able(self.model, LetsFeaturesEmerge) and bool(self.model.features_emerge)

    def learn_one(self, x: Mapping[Any, Any], y: Any) -> None:
        """Learn one row; features that are new are taken in while the model settles."""
        x = {name: value for name, value in x.items() if not is_missing(value)}
        if self._features_emerge:
            learned = clone(self.model) if self.learned is None else self.learned
            learned.learn_one(x, y)
            self.learned = learned
            return
        new = {name: kind_of(value) for name, value in x.items() if name not in self._kinds}
        if self.learned is None or (new and self._kept is not None):
            self._learn_anew({**self._declared(), **self._kinds, **new}, x, y)
            return
        self.learned.learn_one(self._known(x), y)
        if self._kept is not None:
            self._keep(x, y)
        elif new:
            self._ignore(list(new))

    def predict_proba_one(self, x: Mapping[Any, Any]) -> dict[Any, float]:
        """Return the probability of each class; {} while nothing is learned."""
        if self.learned is None:
            return {}
        found: dict[Any, float] = self.learned.predict_proba_one(self._known(x))
        return found

    def _known(self, x: Mapping[Any, Any]) -> Mapping[Any, Any]:
        if self._features_emerge:
            return x
        return {name: value for name, value in x.items() if name in self._kinds}

    def _declared(self) -> dict[Any, str]:
        """Return the features that `columns` of the model names, with their kinds."""
        columns = self.model.columns
        kinds: dict[Any, str] = {}
        for key, kind in columns.items() if isinstance(columns, Mapping) else ():
            kinds.update(dict.fromkeys(key if isinstance(key, tuple) else (key,), kind))
        return kinds

    def _learn_anew(self, kinds: dict[Any, str], x: dict[Any, Any], y: Any) -> None:
        """Learn all kept rows and this one, with these features."""
        if not kinds:
            raise ValueError("The first row has no features.")
        rows = [*(self._kept or []), (x, y)]
        learned = clone(self.model)
        if not isinstance(learned.columns, str) or learned.columns == "auto":
            given = learned.columns if isinstance(learned.columns, Mapping) else {}
            rest = {name: kind for name, kind in kinds.items() if name not in self._declared()}
            learned.set_params(columns={**given, **rest})
        every = dict.fromkeys(sorted(kinds, key=str))  # the order of features in a row says nothing
        learned.partial_fit([{**every, **row} for row, _ in rows], [label for _, label in rows])
        self.learned, self._kinds = learned, kinds
        self._keep(x, y)

    def _keep(self, x: dict[Any, Any], y: Any) -> None:
        if self._kept is not None:
            self._kept.append((x, y))
            if len(self._kept) >= self.settle:
                self._kept = None

    def _ignore(self, names: list[Any]) -> None:
        if self.n_ignored == 0:
            warnings.warn(
                f"the feature {names[0]!r} came after {self.settle} rows, when the features were "
                "settled, and is left out; name it in columns= of the model, or raise settle=",
                stacklevel=3,
            )
        self.n_ignored += len(names)


def kind_of(value: Any) -> str:
    """Return the kind of a feature, by the type of its first value."""
    if isinstance(value, bool | np.bool_):
        return "binary"
    return "real" if isinstance(value, Number) else "categorical"
