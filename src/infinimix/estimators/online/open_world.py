"""Classes without a name: rows that look new and have no label gather until somebody names them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from infinimix.estimators.common.labels import check_labels
from infinimix.inference.online_crp import model as at
from infinimix.inference.online_crp.learner import Answers
from infinimix.scikit import check_is_fitted

EXAMPLES = 5  # rows of a provisional class that are kept to be looked at


class ProvisionalClass(NamedTuple):
    """A class that nobody has named.

    Attributes
    ----------
    number : int
        By which it is named, merged or forgotten.
    size : float
        Rows in it; faded ones with `half_life`.
    top : dict
        Its most typical words and their shares, or a typical value of each column.
    examples : list of dict
        Some of its first rows.
    """

    number: int
    size: float
    top: dict[str, Any]
    examples: list[dict[str, Any]]


class OpenWorld:
    """What `OnlineCRPClassifier` can do with classes, named or not."""

    max_classes: int | None
    _learner: Any
    _input: Any
    _roster: Any

    def _gather(self, read: Any, row: int) -> Answers:
        """Let one row without label join a provisional class if it looks new."""
        part = read.part(row, row + 1)
        untold = np.full(1, at.UNTOLD)
        answers: Answers = self._input.run(self._learner, part, untold)
        if answers.predicted[0] >= 0 or not self._learner.n_classes:
            return answers
        roster, learner = self._roster, self._learner
        numbers = roster.nameless
        candidates = np.array(list(numbers.values()), np.int64)
        best = int(np.argmax(learner.affinity(part.X, candidates)))
        if best < len(candidates):
            c = int(candidates[best])
            member = roster.members[c]
        else:
            while self.max_classes and len(roster.nameless) >= self.max_classes:
                self._forget_oldest(roster.nameless.values())
            member, c = roster.open_nameless(), len(roster.members) - 1
            learner.open(c + 1)
            learner.model.classes[at.NAMED, c] = 0.0
        if len(member.examples) < EXAMPLES:
            member.examples.append(self._input.example(read, row))
        learner.seat(part.X, 1, c)
        return answers

    def provisional_classes(self) -> list[ProvisionalClass]:
        """Return the classes without a name, the largest first.

        Examples
        --------
        >>> from infinimix import OnlineCRPClassifier
        >>> model = OnlineCRPClassifier(open_world=True)
        >>> rows = ["red apple", "green apple", "red pear", "fast car", "slow car"] * 4
        >>> model = model.partial_fit(rows, (["fruit"] * 3 + ["car"] * 2) * 4)
        >>> model = model.partial_fit(["oboe solo", "oboe and harp"], [None, None])
        >>> [(c.number, c.size) for c in model.provisional_classes()]
        [(1, 2.0)]
        >>> model.name_class(1, "music")
        >>> model.predict(["harp solo"]).tolist()
        ['music']
        """
        check_is_fitted(self)
        held = self._learner.model.classes[at.HELD]
        found = [
            ProvisionalClass(
                number, float(held[c]), self._input.describe(self._learner, c),
                list(self._roster.members[c].examples),
            )
            for number, c in self._roster.nameless.items()
        ]  # fmt: skip
        return sorted(found, key=lambda one: (-one.size, one.number))

    def name_class(self, number: int, label: Any) -> None:
        """Give a provisional class a label; if there is such a class already, it joins that."""
        c = self._nameless(number)
        if np.ndim(label):
            raise TypeError(f"A label is text or a whole number, not a {type(label).__name__}.")
        label = check_labels([label], "label")[0]
        self._roster.read([label], None, False)  # raises if it is text among numbers
        if label in self._roster.codes:
            self._learner.join(c, self._roster.codes[label])
            self._remove(c)
        else:
            while self.max_classes and len(self._roster.codes) >= self.max_classes:
                self._forget_oldest(self._roster.codes.values())
            c = self._nameless(number)  # it may have moved
            self._roster.name(c, label)
            self._learner.model.classes[at.NAMED, c] = 1.0

    def merge_provisional(self, number: int, into: int) -> None:
        """Add one provisional class to another."""
        source, target = self._nameless(number), self._nameless(into)
        if source == target:
            raise ValueError(f"A class cannot be merged with itself, {number}.")
        members = self._roster.members
        kept = members[target].examples + members[source].examples
        members[target].examples = kept[:EXAMPLES]
        self._learner.join(source, target)
        self._remove(source)

    def forget_provisional(self, number: int) -> None:
        """Forget a provisional class; its rows stay among all rows."""
        self._remove(self._nameless(number))

    def forget_class(self, label: Any) -> None:
        """Forget a class and all that was learned of it; its rows stay among all rows."""
        check_is_fitted(self)
        if label not in self._roster.codes:
            raise ValueError(f"{label!r} is none of the classes {list(self._roster.codes)!r}.")
        if len(self._roster.codes) == 1:
            raise ValueError(f"{label!r} is the only class; fit the model anew instead.")
        self._remove(self._roster.codes[label])

    def _forget_oldest(self, among: Any) -> None:
        """Forget the class that has had no row for longest."""
        last = self._learner.model.classes[at.LAST]
        self._remove(min(among, key=lambda c: (last[c], c)))

    def _remove(self, c: int) -> None:
        self._learner.forget(c)
        self._roster.remove(c)

    def _nameless(self, number: int) -> int:
        check_is_fitted(self)
        numbers = self._roster.nameless
        if number not in numbers:
            there = ", ".join(map(str, numbers)) or "none"
            raise ValueError(f"There is no provisional class {number!r}; there are: {there}.")
        return int(numbers[number])
