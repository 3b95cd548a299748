"""Who the classes of a stream are: labels, and groups that have no name yet.

The learner numbers its classes; when one is forgotten, the last one takes its number. Here is
kept who has which number, and the sorted labels that scikit-learn wants.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from infinimix.estimators.common.labels import as_array, check_labels, plain_values
from infinimix.scikit import column_or_1d
from infinimix.tables.missing import is_missing


class Nameless:
    """A provisional class: a number for the user, and some of its rows to look at."""

    def __init__(self, number: int, examples: list[dict[str, Any]] | None = None) -> None:
        self.number, self.examples = number, examples or []


class Roster:
    """The classes in the learner's order."""

    def __init__(self, members: list[Any] | None = None, next_number: int = 1) -> None:
        self.members: list[Any] = list(members or [])
        self.next_number = next_number
        self._arrange()

    def _arrange(self) -> None:
        self.codes = {m: c for c, m in enumerate(self.members) if not isinstance(m, Nameless)}
        labels = as_array(list(self.codes))
        order = np.argsort(labels, kind="stable")
        self.classes = labels[order]
        self.order = np.array(list(self.codes.values()), np.int64)[order]
        self.place = np.zeros(len(self.members), np.int64)  # where each class is in `classes`
        self.place[self.order] = np.arange(len(self.order))

    @property
    def nameless(self) -> dict[int, int]:
        """The class of each provisional number."""
        pairs = enumerate(self.members)
        return {m.number: c for c, m in pairs if isinstance(m, Nameless)}

    def read(self, y: Any, declared: Any, may_lack: bool) -> tuple[list[Any], list[Any]]:
        """Return the labels (None where one is missing), and those not known yet, in order."""
        values = plain_values(y) if declared is None else None
        if values is not None and self.codes.keys() >= {*values}:  # nothing new, nothing missing
            return values, []
        if type(y) is np.ndarray and y.ndim == 1 and y.dtype.kind in "biuU":
            first = np.unique(y, return_index=True)[1]
            labels, told = y.tolist(), y[np.sort(first)].tolist()
        elif may_lack and y is not None:
            y = [None if is_missing(v) else v for v in _plain(y)]
            told = check_labels([v for v in y if v is not None])
            each = iter(told)
            labels = [None if v is None else next(each) for v in y]
        else:
            labels = told = check_labels(y)
        declared = [] if declared is None else check_labels(declared, "classes")
        new = [v for v in dict.fromkeys([*declared, *told]) if v not in self.codes]
        words = {isinstance(v, str) for v in [*self.codes, *new]}
        if len(words) > 1:
            raise ValueError(
                "The labels of y must be all text or all numbers, so that classes_ can be "
                f"sorted; got {[*self.codes, *new][:4]!r}."
            )
        return labels, new

    def extend(self, new: list[Any]) -> None:
        """Take in new labels, or a nameless class."""
        self.members.extend(new)
        if new:
            self._arrange()

    def open_nameless(self) -> Nameless:
        """Return a new provisional class, the last of all."""
        member = Nameless(self.next_number)
        self.next_number += 1
        self.extend([member])
        return member

    def remove(self, c: int) -> None:
        """Let the last class take the number of class c."""
        last = self.members.pop()
        if c < len(self.members):
            self.members[c] = last
        self._arrange()

    def name(self, c: int, label: Any) -> None:
        """Give class c a label."""
        self.members[c] = label
        self._arrange()


def _plain(y: Any) -> list[Any]:
    if hasattr(y, "to_list"):
        return list(y.to_list())
    return list(column_or_1d(np.asarray(y, dtype=object), warn=True))
