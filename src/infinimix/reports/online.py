"""What a classifier of streams has learned: its classes, and what is typical of each."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from infinimix.estimators.online.classifier import OnlineCRPClassifier
from infinimix.evaluation.abilities import CollectsNewClasses, Counting, able
from infinimix.reports import pieces

MOST_CLASSES = 40
MOST_TYPICAL = 8


def show_online(model: Any) -> Iterator[str]:
    """Yield a table of the classes; words or values where the model tells what is typical."""
    labels = np.asarray(model.classes_).tolist()
    counts = model.class_count_ if able(model, Counting) else None
    typical = _typical(model, labels)
    head = ["class"] + ["rows"] * (counts is not None) + ["typical"] * bool(typical)

    def lines() -> Iterator[tuple[str, ...]]:
        order = range(len(labels)) if counts is None else np.argsort(-np.asarray(counts))
        for c in list(order)[:MOST_CLASSES]:
            cells = [pieces.as_name(labels[c])]
            cells += [] if counts is None else [f"{float(counts[c]):,.0f}"]
            yield (*cells, *([typical[labels[c]]] if typical else []))

    caption = "The classes" if counts is None else "The classes, the largest first"
    if len(labels) > MOST_CLASSES:
        caption += f" ({MOST_CLASSES} of {len(labels):,})"
    yield pieces.plain_table(caption, head, lines(), "plain words")
    waiting = model.provisional_classes() if able(model, CollectsNewClasses) else []
    if waiting:
        yield pieces.plain_table(
            "Provisional classes: rows without a label that look new",
            ["number", "rows", "typical"],
            ((str(one.number), f"{one.size:,.0f}", _words(one.top)) for one in waiting),
            "plain words",
        )


def _typical(model: Any, labels: list[Any]) -> dict[Any, str]:
    """Return what is typical of each class, where the model can say it."""
    if not isinstance(model, OnlineCRPClassifier):
        return {}
    return {label: _words(describe_class(model, label)) for label in labels}


def describe_class(model: OnlineCRPClassifier, label: Any) -> dict[str, Any]:
    """Return the words that are typical of a class and their shares, or values of columns."""
    state = model._fitted()
    found: dict[str, Any] = state.source.describe(state.learner, state.roster.codes[label])
    return found


def _words(top: dict[str, Any]) -> str:
    """Return words, or columns with their typical values."""
    shares = all(isinstance(v, float) and 0 <= v <= 1 for v in top.values())
    some = list(top.items())[:MOST_TYPICAL]
    if shares:
        return ", ".join(str(word) for word, _ in some)
    return ", ".join(f"{name} {pieces.short(value, 12)}" for name, value in some)
