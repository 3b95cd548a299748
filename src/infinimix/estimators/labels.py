"""Labels of classes: any hashable values, numbered in order of appearance.

A stream may bring a new label at any moment; scikit-learn wants `classes_` sorted. So the
bank numbers classes as they come, and `order` leads from the sorted ones to those numbers.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d


class Labels:
    """The labels seen so far."""

    def __init__(self) -> None:
        self.values: list[Any] = []
        self.codes: dict[Any, int] = {}
        self._arrange()

    def _arrange(self) -> None:
        self.classes = np.array(self.values)
        self.order = np.argsort(self.classes, kind="stable")
        self.classes = self.classes[self.order]

    def read(self, y: Any, declared: Any = None) -> tuple[np.ndarray, list[Any]]:
        """Return the code of each label, and the labels not known before, in order."""
        plain = type(y) is np.ndarray and y.ndim == 1 and y.dtype.kind in "biuUS"
        values = y.tolist() if plain else check_labels(y)
        declared = [] if declared is None else check_labels(declared)
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
        words = {isinstance(value, str | bytes) for value in values}
        if len(words) > 1:
            raise ValueError(
                "Labels must be all text or all numbers, so that classes_ can be sorted; "
                f"got {list(values)[:4]!r}."
            )

    def extend(self, new: list[Any]) -> None:
        """Take in new labels."""
        for value in new:
            self.codes[value] = len(self.codes)
            self.values.append(value)
        if new:
            self._arrange()


def check_labels(y: Any) -> list[Any]:
    """Return labels as a list of plain values; raise if they are not labels of classes."""
    if y is None:
        raise ValueError(
            "This estimator requires y to be passed, but the target y is None. "
            "Give one label for each row."
        )
    array = column_or_1d(y, warn=True)
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        row = int(np.flatnonzero(~np.isfinite(array))[0])
        raise ValueError(
            f"Input y contains NaN or infinity, first in row {row}; every row needs a label."
        )
    if array.dtype.kind == "O":
        for row, value in enumerate(array):
            if value is None or value != value:
                raise ValueError(f"Input y contains NaN or None in row {row}; give it a label.")
    check_classification_targets(array)
    return array.tolist()
