"""Labels of classes: text or whole numbers, numbered in order of appearance.

A stream may bring a new label at any moment; scikit-learn wants `classes_` sorted. So the
bank numbers classes as they come, and `order` leads from the sorted ones to those numbers.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from infinimix.scikit import column_or_1d
from infinimix.tables.missing import is_missing
from infinimix.tables.sparsity import loaded_type

#: Types of labels that are found by their value; what equals a known label is that label.
PLAIN = frozenset([str, int, float, bool, np.str_, np.int64, np.int32, np.bool_])

FEW = 32  # labels: fewer are looked up one by one

_INT64 = np.dtype(np.int64)


class Labels:
    """The labels seen so far."""

    def __init__(self) -> None:
        self.values: list[Any] = []
        self.codes: dict[Any, int] = {}
        self._arrange()

    def _arrange(self) -> None:
        self.array = as_array(self.values)
        self.order = np.argsort(self.array, kind="stable")
        self.classes = self.array[self.order]

    def find(self, y: Any, unlabelled: Any = None) -> np.ndarray | None:
        """Return the code of each label if all are known; None if any takes a closer look.

        That is the common case, and the rows of a stream come one by one.
        """
        if unlabelled is not None and not self._is_no_class(unlabelled):
            return None
        many = type(y) is np.ndarray and y.size > FEW and y.ndim == 1
        if many and y.dtype == _INT64 == self.array.dtype:
            return self._find_numbers(y)
        values = plain_values(y)
        if values is None:
            return None
        try:
            return np.fromiter(map(self.codes.__getitem__, values), _INT64, len(values))
        except KeyError:
            return None

    def find_one(self, y: Any, unlabelled: Any = None) -> int | None:
        """Return the code of a single label; None if there are more, or if it takes a closer look.

        The same as `find`, without arrays.
        """
        if type(y) is np.ndarray:
            value = y.item() if y.shape == (1,) else None
        else:
            value = y[0] if type(y) is list and len(y) == 1 else None
        if type(value) not in PLAIN or not (unlabelled is None or self._is_no_class(unlabelled)):
            return None
        return self.codes.get(value)

    def _is_no_class(self, unlabelled: Any) -> bool:
        """Is what stands for "no label" surely different from all labels?"""
        return type(unlabelled) in PLAIN and unlabelled not in self.codes

    def _find_numbers(self, y: np.ndarray) -> np.ndarray | None:
        """Do the same for many whole numbers at once."""
        place = np.minimum(self.classes.searchsorted(y), len(self.classes) - 1)
        return self.order[place] if (self.classes[place] == y).all() else None

    def read(self, y: Any, declared: Any = None) -> tuple[np.ndarray, list[Any]]:
        """Return the code of each label, and the labels not known before, in order."""
        found = self.find(y) if declared is None else None
        if found is not None:
            return found, []
        plain = type(y) is np.ndarray and y.ndim == 1 and y.dtype.kind in "biuU"
        values = y.tolist() if plain else check_labels(y)
        declared = [] if declared is None else check_labels(declared, "classes")
        try:
            if all(v in self.codes for v in declared):
                return np.array([self.codes[v] for v in values], np.int64), []
        except KeyError:
            pass
        table = dict(self.codes)
        for v in declared:
            table.setdefault(v, len(table))
        codes = [table.setdefault(v, len(table)) for v in values]
        self._check_alike(table)
        return np.array(codes, np.int64), list(table)[len(self.codes) :]

    @staticmethod
    def _check_alike(values: Any) -> None:
        words = {isinstance(value, str) for value in values}
        if len(words) > 1:
            raise ValueError(
                "The labels of y must be all text or all numbers, so that classes_ can be "
                f"sorted; got {list(values)[:4]!r}."
            )

    def code_of(self, label: Any, name: str) -> int:
        """Return the code of a known label; `name` is what the user calls it."""
        if label not in self.values:
            known = self.classes.tolist()
            raise ValueError(f"{name} is {label!r}, which is none of the classes {known!r}.")
        return self.values.index(label)

    def known_codes(self, y: Any, n_rows: int) -> np.ndarray:
        """Return the code of each label; raise ValueError if one is new, or some are missing."""
        codes, new = self.read(y)
        if new:
            self.code_of(new[0], "a label of y")
        if len(codes) != n_rows:
            raise ValueError(f"X has {n_rows} rows, but y has {len(codes)} labels.")
        return codes

    def extend(self, new: list[Any]) -> None:
        """Add new labels."""
        for value in new:
            self.codes[value] = len(self.codes)
            self.values.append(value)
        if new:
            self._arrange()


def plain_values(y: Any) -> list[Any] | None:
    """Return the labels of a list or vector as they are if all are of plain types, else None."""
    if type(y) is np.ndarray:
        kind = y.dtype.kind
        if kind in "biufU":
            return y.tolist() if y.ndim == 1 else None
        y = y.tolist() if kind == "O" and y.ndim == 1 else None
    return y if type(y) is list and PLAIN.issuperset(map(type, y)) else None


def as_array(values: list[Any]) -> np.ndarray:
    """Return labels as an array that holds each of them exactly."""
    if values and all(type(value) is int for value in values):
        low, high = min(values), max(values)
        if low < -(2**63) or high >= (2**63 if low < 0 else 2**64):
            return np.array(values, dtype=object)
        return np.array(values, dtype=np.int64 if high < 2**63 else np.uint64)
    array = np.array(values)
    return array if array.tolist() == values else np.array(values, dtype=object)


def check_labels(y: Any, name: str = "y") -> list[Any]:
    """Return labels as a list of plain values; raise if they are not labels of classes."""
    if y is None:
        raise ValueError(
            "This estimator requires y to be passed, but the target y is None. "
            "Give one label for each row."
        )
    return [_check_label(value, name, row) for row, value in enumerate(_listed(y))]


def _listed(y: Any) -> list[Any]:
    """Return the values one by one: an array of a list would turn 1 beside "a" into "1"."""
    if isinstance(y, list | tuple) and not any(isinstance(v, list | tuple | np.ndarray) for v in y):
        return list(y)
    if hasattr(y, "columns") and not hasattr(y, "column_names") and len(y.columns) == 1:
        column_or_1d(y, warn=True)  # whose numbers would be floats if some are missing
        return _listed(y[y.columns[0]])
    for read in ("to_list", "to_pylist"):  # a series of pandas or polars, an array of PyArrow
        if hasattr(y, read) and not hasattr(y, "columns"):
            return list(getattr(y, read)())
    if isinstance(y, extension_arrays()):  # of whose whole numbers floats would be made
        return list(y.tolist())
    array = column_or_1d(y, warn=True)
    if array.dtype.kind not in "biufUO":
        raise TypeError(f"Labels are text or whole numbers, not of dtype {array.dtype}.")
    return list(array.tolist())


def extension_arrays() -> Any:
    """Return the type of arrays of pandas with types that NumPy does not have."""
    return loaded_type("pandas.api.extensions", "ExtensionArray")


def _check_label(value: Any, name: str, row: int) -> Any:
    value = value.item() if isinstance(value, np.generic) else value
    if is_missing(value) or value in (np.inf, -np.inf):
        raise ValueError(
            f"Input {name} contains NaN, None or infinity, first in row {row}; "
            "every row needs a label."
        )
    if not isinstance(value, str | int | float):
        raise TypeError(
            f"Labels are text or whole numbers; {name} has a {type(value).__name__} in row {row}."
        )
    if isinstance(value, float) and not value.is_integer():
        raise ValueError(
            f"Unknown label type: continuous. Labels are text or whole numbers; {name} has "
            f"{value!r} in row {row}."
        )
    return value


def read_some_labels(
    labels: Labels, y: Any, unlabelled: Any = None, declared: Any = None, some: bool = True
) -> tuple[np.ndarray, list[Any]]:
    """Return the code of each label, -1 where there is none, and the labels not known before.

    None and NaN are no labels, and neither is what equals `unlabelled`, unless that is None. With
    `some`, raise ValueError if no row has one.
    """
    found = labels.find(y, unlabelled) if declared is None else None
    if found is not None:
        return found, []
    if y is None:
        check_labels(y)
    if unlabelled is None and type(y) is np.ndarray and y.ndim == 1 and y.dtype.kind in "biuU":
        return labels.read(y, declared)  # none can be missing
    values = [value.item() if isinstance(value, np.generic) else value for value in _listed(y)]
    known = [row for row, value in enumerate(values) if not _is_no_label(value, unlabelled)]
    plain = [_check_label(values[row], "y", row) for row in known]
    if some and values and not plain:
        raise ValueError("y has no label at all: some rows need one.")
    codes = np.full(len(values), -1, np.int64)
    codes[known], new = labels.read(plain, declared)
    return codes, new


def read_stream_labels(
    labels: Labels, y: Any, unlabelled: Any, declared: Any, n_rows: int
) -> tuple[np.ndarray, list[Any], int | None]:
    """Return the codes of the rows of a stream, the labels not known before, and how many were.

    How many were known, from earlier tables or declared, matters to rows without label: it is None
    if there is no such row.
    """
    codes = labels.find(y, unlabelled) if declared is None else None
    if codes is not None:
        check_lengths(n_rows, len(codes))
        return codes, [], None
    codes, new = read_some_labels(labels, y, unlabelled, declared, some=False)
    known = {*labels.codes, *(() if declared is None else check_labels(declared, "classes"))}
    check_lengths(n_rows, len(codes))
    _check_first(codes, len(known))
    return codes, new, len(known) if (codes < 0).any() else None


def _check_first(codes: np.ndarray, n_known: int) -> None:
    """Raise ValueError if the first row of a stream has no label while no class is known."""
    if n_known == 0 and len(codes) and codes[0] < 0:
        raise ValueError(
            "Row 0 has no label, and no class is known yet. Begin with rows that have labels, or "
            "name the classes: partial_fit(X, y, classes=[...])."
        )


def _is_no_label(value: Any, unlabelled: Any) -> bool:
    if is_missing(value):
        return True
    same_kind = isinstance(value, str) == isinstance(unlabelled, str)
    return unlabelled is not None and same_kind and bool(value == unlabelled)


def check_lengths(rows: int, labels: int) -> None:
    """Raise ValueError unless there are as many labels as rows."""
    if rows != labels:
        raise ValueError(
            f"Found input variables with inconsistent numbers of samples: X has {rows} rows, "
            f"y has {labels} labels."
        )
