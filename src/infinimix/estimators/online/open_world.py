"""Classes without a name: rows that look new and have no label gather until somebody names them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from infinimix.estimators.common.labels import check_labels
from infinimix.estimators.online.rows import Read
from infinimix.estimators.online.state import OnlineState
from infinimix.inference.online_crp import model as at
from infinimix.inference.online_crp.learner import OnlineAnswers

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


def gather(state: OnlineState, read: Read, row: int, max_classes: int | None) -> OnlineAnswers:
    """Let one row without label join a provisional class if it looks new."""
    part, roster, learner = read.part(row, row + 1), state.roster, state.learner
    answers: OnlineAnswers = state.source.run(learner, part, np.full(1, at.UNTOLD))
    if answers.predicted[0] >= 0 or not learner.n_classes:
        return answers
    candidates = np.array(list(roster.nameless.values()), np.int64)
    best = int(np.argmax(learner.affinity(part.X, candidates)))
    if best < len(candidates):
        c = int(candidates[best])
        member = roster.members[c]
    else:
        while max_classes and len(roster.nameless) >= max_classes:
            state.forget_oldest(roster.nameless.values())
        member, c = roster.open_nameless(), len(roster.members) - 1
        learner.open(c + 1)
        learner.model.classes[at.NAMED, c] = 0.0
    if len(member.examples) < EXAMPLES:
        member.examples.append(state.source.example(read, row))
    learner.seat(part.X, 1, c)
    return answers


def list_provisional(state: OnlineState) -> list[ProvisionalClass]:
    """Return the classes without a name, the largest first."""
    held = state.learner.model.classes[at.HELD]
    found = [
        ProvisionalClass(
            number, float(held[c]), state.source.describe(state.learner, c),
            list(state.roster.members[c].examples),
        )
        for number, c in state.roster.nameless.items()
    ]  # fmt: skip
    return sorted(found, key=lambda one: (-one.size, one.number))


def name_provisional(state: OnlineState, number: int, label: Any, max_classes: int | None) -> None:
    """Give a provisional class a label; if there is such a class already, it joins that."""
    roster, learner = state.roster, state.learner
    c = find_provisional(state, number)
    if np.ndim(label):
        raise TypeError(f"A label is text or a whole number, not a {type(label).__name__}.")
    label = check_labels([label], "label")[0]
    roster.read([label], None, False)  # raises if it is text among numbers
    if label in roster.codes:
        learner.join(c, roster.codes[label])
        state.remove(c)
        return
    while max_classes and len(roster.codes) >= max_classes:
        state.forget_oldest(roster.codes.values())
    c = find_provisional(state, number)  # it may have moved
    roster.name(c, label)
    learner.model.classes[at.NAMED, c] = 1.0


def merge_classes(state: OnlineState, number: int, into: int) -> None:
    """Add one provisional class to another."""
    source, target = find_provisional(state, number), find_provisional(state, into)
    if source == target:
        raise ValueError(f"A class cannot be merged with itself, {number}.")
    members = state.roster.members
    kept = members[target].examples + members[source].examples
    members[target].examples = kept[:EXAMPLES]
    state.learner.join(source, target)
    state.remove(source)


def find_provisional(state: OnlineState, number: int) -> int:
    """Return the class of a provisional number; raise ValueError if there is none."""
    numbers = state.roster.nameless
    if number not in numbers:
        there = ", ".join(map(str, numbers)) or "none"
        raise ValueError(f"There is no provisional class {number!r}; there are: {there}.")
    return int(numbers[number])
