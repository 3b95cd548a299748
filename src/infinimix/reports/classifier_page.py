"""The page of a classifier: how well it does, what it has learned, where it fails and why."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import numpy as np

from infinimix.evaluation.abilities import (
    Clustering,
    Counting,
    Grouping,
    KnowsMissingness,
    KnowsRelevance,
    Prototyping,
    Sampling,
    able,
)
from infinimix.evaluation.importance import ColumnWorth, measure_importance
from infinimix.evaluation.predictions import Predictions, cross_validate, judge_held_out
from infinimix.reports import page, pieces
from infinimix.reports.about import show_about
from infinimix.reports.hardest import show_hardest
from infinimix.reports.holes import show_missing
from infinimix.reports.images import Image
from infinimix.reports.prototypes import groups_of, image_of, kinds_of, show_groups
from infinimix.reports.scores import key_scores, show_scores
from infinimix.reports.worth import show_importance, show_learned
from infinimix.tables.rows import is_frame, is_pandas, name_of

OWN_ROWS = 500  # drawn from the model where no rows were given
MOST_CLASSES = 30


def classifier_page(
    model: Any, rows: Any, target: Any, seed: int, held_out: bool, image: Any, names: pieces.Names,
    predictions: Predictions | None = None,
) -> str:  # fmt: skip
    """Return the page of a fitted classifier."""
    if predictions is None and rows is not None and target is not None:
        judge = judge_held_out if held_out else cross_validate
        predictions = judge(model, rows, target, **({} if held_out else {"seed": seed}))
    drawn = image_of(model, image) if able(model, Prototyping) else None
    sections = list(_sections(model, rows, predictions, drawn))
    column = names.target or name_of(target)
    of = f"{column}: a" if column else "A"
    name = names.title or f"{of} classifier of {pieces.plural(len(model.classes_), 'class')}"
    lead = _lead(model, rows, predictions, column, names.source)
    body = [
        page.header("infinimix report", name, lead),
        pieces.key_figures(_key(model, predictions)),
        pieces.contents((anchor, heading) for anchor, heading, _ in sections),
        *(page.section(heading, made, anchor) for anchor, heading, made in sections),
        *show_about(model),
    ]
    return page.build_page(f"{name}: infinimix report", body, ["report.css"])


def _lead(
    model: Any, rows: Any, predictions: Predictions | None, target: str | None, source: str | None
) -> str:
    kind = type(model).__name__ + (f" of {target}" if target else "")
    if rows is None:
        return (
            f"What a fitted {kind} has learned. No rows were given, so this page cannot say how "
            "well it does."
        )
    size = f"{len(rows):,} rows"
    if is_frame(rows):
        size += f" of {pieces.plural(rows.shape[1], 'column')}"
    if source:
        size += f", from {source}"
    if predictions is None:
        return f"What a fitted {kind} has learned, and {size} seen by it."
    held = "held-out rows" in predictions.how
    how = "evaluated on held-out rows" if held else "evaluated by cross-validation"
    return f"What a fitted {kind} has learned, {how}: {size}."


def _key(model: Any, predictions: Predictions | None) -> Iterator[tuple[str, str, str]]:
    if predictions is not None:
        yield from key_scores(predictions)
    rows = float(np.sum(model.class_count_)) if able(model, Counting) else None
    learned = "" if rows is None else f"{rows:,.0f} rows learned"
    yield "classes", f"{len(model.classes_):,}", learned
    if able(model, Grouping):
        yield "groups", f"{int(np.sum(model.n_groups_)):,}", "found, not set"
    elif able(model, Clustering):
        yield "clusters", f"{int(model.n_clusters_):,}", "found, not set"


def _sections(
    model: Any, rows: Any, predictions: Predictions | None, image: Image | None
) -> Iterator[tuple[str, str, Iterator[str]]]:
    if predictions is not None:
        yield "performance", "How well it does", show_scores(predictions)
    yield "learned", "What it has learned", _show_classes(model, image)
    if made := list(_show_columns(model, predictions, image)):
        yield "columns", "Which columns matter", iter(made)
    if predictions is not None:
        yield "hardest", "The hardest rows", show_hardest(predictions, image)
    if is_pandas(rows):
        marked = model.marked_ if able(model, KnowsMissingness) else ()
        yield "missing", "Missing cells", show_missing(rows, marked)


def _show_columns(
    model: Any, predictions: Predictions | None, image: Image | None
) -> Iterator[str]:
    if able(model, KnowsRelevance) and model.relevance == "learn":
        names = [str(name) for name in model.columns_]
        yield from show_learned(np.asarray(model.feature_relevance_).tolist(), names)
    found: list[ColumnWorth] = []
    source = "rows that were not learned"
    if predictions is not None:
        found = measure_importance(predictions)
    elif able(model, Sampling):
        found = measure_importance(_own_rows(model))
        source = f"{OWN_ROWS} rows drawn from the model itself"
    if found:
        yield from show_importance(found, source, image)


def _own_rows(model: Any) -> Predictions:
    """Return rows that the model draws, from a copy: a report must not move its random state."""
    import pandas as pd

    X, y = deepcopy(model).sample(OWN_ROWS)
    rows = X if is_frame(X) else pd.DataFrame(X, columns=list(model.columns_))
    labels = np.asarray(model.classes_).tolist()
    codes = np.array([labels.index(label) for label in np.asarray(y).tolist()])
    n = len(codes)
    if not is_frame(X):
        rows.columns = range(rows.shape[1])
    return Predictions(
        labels, rows, np.arange(n), codes, np.zeros((n, len(labels))), np.zeros(n, int), [model], ""
    )


def _show_classes(model: Any, image: Image | None) -> Iterator[str]:
    if able(model, Prototyping):
        yield from _show_mixtures(model, image)
    elif able(model, Clustering):
        from infinimix.reports.clusters import show_clusters

        yield from show_clusters(model)
    else:
        from infinimix.reports.online import show_online

        yield from show_online(model)


def _show_mixtures(model: Any, image: Image | None) -> Iterator[str]:
    shown = "each pixel as strong as it is in the group" if image else (
        "with the columns that set the group apart from all others, their typical values, and bars "
        "for how far apart"
    )  # fmt: skip
    yield page.paragraph(
        "A class is a mixture of groups that it found itself. Shown is its most probable grouping, "
        f"the largest group first, {shown}. Predictions average over all groupings that the model "
        "holds."
    )
    kinds = kinds_of(model)
    counts = dict(zip(model.classes_.tolist(), model.class_count_.tolist(), strict=True))
    for label in model.classes_.tolist()[:MOST_CLASSES]:
        groups = groups_of(model, label, model._state.labels.values.index(label))
        note = (
            f"{pieces.plural(len(groups), 'group')} of {pieces.plural(int(counts[label]), 'row')}"
        )
        cards = show_groups(groups, kinds, image, f"class {label}")
        yield page.group(pieces.as_name(label, 24), note, [cards])
    if len(counts) > MOST_CLASSES:
        yield page.paragraph(f"{len(counts) - MOST_CLASSES} more classes are not shown.", "note")
