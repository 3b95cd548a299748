"""Rows whose features appear later than the first row, as River's streams have them.

A table has its columns from the first row on, and the first value of a stream says little about
its column. So kinds follow the type of the first value (bool is binary, other numbers are real, all
else is categorical; `columns` of the model goes first), and the first rows are kept: when one of
them brings a feature that is new, all of them are learned again with it. A feature that no row has
had is a column of missing cells, so nothing else changes.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from numbers import Integral, Number
from typing import Any

import numpy as np

from infinimix.evaluation.abilities import LearnsLabels, LetsFeaturesEmerge, able
from infinimix.scikit import clone
from infinimix.tables.missing import is_missing

Row = dict[Any, Any]
Labelled = tuple[Row, Any]  # the label is None where the model takes none


class EmergingRows:
    """What learns such rows by a copy of `model`; `learned` is the copy, once there is a row."""

    def __init__(self, model: Any, settle: int = 100) -> None:
        self.model = model
        self.settle = settle
        self.learned: Any = None
        self.n_ignored = 0
        self._kinds: dict[Any, str] = {}
        self._kept: list[Labelled] | None = []

    @property
    def _features_emerge(self) -> bool:
        return able(self.model, LetsFeaturesEmerge) and bool(self.model.features_emerge)

    @property
    def _labelled(self) -> bool:
        return able(self.model, LearnsLabels)

    def _learn(self, rows: Sequence[Labelled]) -> None:
        """Learn rows in their order: the first one by one, as each may have a feature that is new.

        Cells of features that came too late are counted, with one warning.
        """
        rows = [(observed(x), y) for x, y in rows]
        at = 0
        while at < len(rows) and self._kept is not None and not self._features_emerge:
            self._settle(*rows[at])
            at += 1
        rest = rows[at:]
        if not rest:
            return
        late = [n for x, _ in rest for n in x if n not in self._kinds]
        self._pass_on([(self._known(x), y) for x, y in rest])
        if late and not self._features_emerge:
            self._ignore(late)

    def _settle(self, x: Row, y: Any) -> None:
        """Learn a row; with those that are kept, if it has a feature that is new."""
        new = {name: kind_of(value) for name, value in x.items() if name not in self._kinds}
        if self.learned is None and not (new or self._declared() or self._labelled):
            return  # a row without features, before any is known, says nothing
        if self.learned is None or new:
            self._learn_anew({**self._declared(), **self._kinds, **new}, x, y)
        else:
            self._pass_on([(x, y)])
        if self._kept is not None:
            self._kept.append((x, y))
            if len(self._kept) >= self.settle:
                self._kept = None

    def _pass_on(self, rows: list[Labelled]) -> None:
        """Let the model learn rows whose features it knows."""
        learned = clone(self.model) if self.learned is None else self.learned
        if self._labelled and len(rows) == 1:
            learned.learn_one(*rows[0])  # a shorter way to the same
        else:
            self._learn_rows(learned, rows)
        self.learned = learned

    def _known(self, x: Mapping[Any, Any]) -> Row:
        if self._features_emerge:
            return dict(x)
        return {name: value for name, value in x.items() if name in self._kinds}

    def _declared(self) -> dict[Any, str]:
        """Return the features that `columns` of the model names, with their kinds."""
        columns = self.model.columns
        kinds: dict[Any, str] = {}
        for key, kind in columns.items() if isinstance(columns, Mapping) else ():
            kinds.update(dict.fromkeys(key if isinstance(key, tuple) else (key,), kind))
        return kinds

    def _learn_anew(self, kinds: dict[Any, str], x: Row, y: Any) -> None:
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
        self._learn_rows(learned, [({**every, **row}, label) for row, label in rows])
        self.learned, self._kinds = learned, kinds

    def _learn_rows(self, model: Any, rows: list[Labelled]) -> None:
        X = [x for x, _ in rows]
        if self._labelled:
            model.partial_fit(X, [y for _, y in rows])
        else:
            model.partial_fit(X)

    def _ignore(self, names: list[Any]) -> None:
        if self.n_ignored == 0:
            warnings.warn(
                f"the feature {names[0]!r} came after {self.settle} rows, when the features were "
                "settled, and is left out; name it in columns= of the model, or raise settle=",
                stacklevel=4,
            )
        self.n_ignored += len(names)


def observed(x: Mapping[Any, Any]) -> Row:
    """Return the cells of a row that are not missing."""
    return {name: value for name, value in x.items() if not is_missing(value)}


def copies(rows: Sequence[Labelled], w: Any) -> list[Labelled]:
    """Return each row as often as its weight says: one number for all, or one for each.

    >>> copies([({"a": 1}, "x")], 2)
    [({'a': 1}, 'x'), ({'a': 1}, 'x')]
    """
    weights = [w] * len(rows) if np.ndim(w) == 0 else list(w)
    if len(weights) != len(rows):
        raise ValueError(f"w has {len(weights)} weights, but there are {len(rows)} rows.")
    return [row for row, n in zip(rows, weights, strict=True) for _ in range(_count(n))]


def _count(w: Any) -> int:
    if isinstance(w, Integral) and int(w) >= 0:
        return int(w)
    if isinstance(w, float | np.floating) and w >= 0 and float(w).is_integer():
        return int(w)
    raise ValueError(
        f"w must be a whole number from 0 on; got {w!r}. A row is learned so many times: groups "
        "have whole numbers of rows, and a fraction of a row has no meaning here."
    )


def kind_of(value: Any) -> str:
    """Return the kind of a feature, by the type of its first value."""
    if isinstance(value, bool | np.bool_):
        return "binary"
    return "real" if isinstance(value, Number) else "categorical"
