"""The groups of a model as cards: how many rows, and the columns that set the group apart."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from infinimix.evaluation.abilities import Classified, able
from infinimix.reports import page, pieces
from infinimix.reports.defining import evidence_of_groups
from infinimix.reports.images import Image, find_image
from infinimix.reports.markup import draw, join
from infinimix.tables.column import record_of
from infinimix.tables.missing import is_missing

MOST_CARDS = 8  # of a class; pictures may be more
MOST_PICTURES = 24
MOST_COLUMNS = 5  # of a card
LEAST_EVIDENCE = 0.05  # nats


class Group(NamedTuple):
    """One group to be shown."""

    weight: float
    rows: int
    values: dict[str, Any]  # typical, by column
    evidence: dict[str, float]  # what sets it apart


def kinds_of(model: Any) -> dict[str, str]:
    """Return the kind of each column of a table model."""
    return {str(name): str(kind) for name, kind in model.columns_.items()}


def image_of(model: Any, asked: Any) -> Image | None:
    """Return how to draw the columns of a model with `prototypes`, if they are pixels."""
    kinds = kinds_of(model)
    tables = [_values(table) for table in _tables(model)]
    numbers = [t.select_dtypes("number").to_numpy(dtype=float).ravel() for t in tables]
    return find_image(kinds, np.concatenate(numbers) if numbers else np.zeros(1), asked)


def groups_of(model: Any, label: Any = None, c: int = 0) -> list[Group]:
    """Return the groups of a class (or of a mixture), the largest first."""
    table = model.prototypes() if label is None else model.prototypes(label)
    table = table.sort_values("weight", ascending=False, kind="stable")
    values, names = _values(table), list(kinds_of(model))
    evidence = evidence_of_groups(model, c, MOST_CARDS)
    groups = []
    for i in range(len(table)):
        own = evidence[i] if i < len(evidence) else np.zeros(len(names))
        groups.append(
            Group(
                float(table["weight"].iloc[i]), int(table["rows"].iloc[i]),
                dict(zip(names, values.iloc[i].tolist(), strict=True)),
                dict(zip(names, own.tolist(), strict=True)),
            )
        )  # fmt: skip
    return groups


def show_groups(groups: list[Group], kinds: Mapping[str, str], image: Image | None, of: str) -> str:
    """Return the cards of the groups; `of` is what they are groups of, for those who listen."""
    if image is not None:
        figures = page.row_of_figures(_pictures(groups, image, of))
        return join(figures, _rest(groups, MOST_PICTURES))
    largest = max((v for g in groups for v in g.evidence.values()), default=1.0)
    cards = [_card(g, kinds, largest) for g in groups[:MOST_CARDS]]
    return join(draw("pieces.html", "prototypes", cards), _rest(groups, MOST_CARDS))


def _tables(model: Any) -> Iterator[Any]:
    if able(model, Classified):
        for label in model.classes_:
            yield model.prototypes(label)
    else:
        yield model.prototypes()


def _values(table: Any) -> Any:
    """Return the columns of the table after weight and rows."""
    return table.iloc[:, 2:]


def _pictures(groups: list[Group], image: Image, of: str) -> Iterator[str]:
    for i, group in enumerate(groups[:MOST_PICTURES]):
        share = page.percent(group.weight)
        alt = f"Group {i + 1} of {len(groups)} of {of}, {share} of its rows"
        picture = image.draw(group.values, alt)
        yield page.figure(picture, share, pieces.plural(group.rows, "row"))


def _card(
    group: Group, kinds: Mapping[str, str], largest: float
) -> tuple[str, str, list[tuple[str, str, float]]]:
    """Return share, rows, and the columns with their typical value and how far it is apart."""
    best = sorted(group.evidence, key=lambda name: -group.evidence[name])[:MOST_COLUMNS]
    columns = [
        (
            pieces.short(name),
            show_value(group.values[name], kinds.get(name, "")),
            group.evidence[name] / max(largest, 1e-9),
        )
        for name in best
        if group.evidence[name] >= LEAST_EVIDENCE
    ]
    share = "All" if group.weight >= 1.0 else page.percent(group.weight)
    return share, pieces.plural(group.rows, "row"), columns


def show_value(value: Any, kind: str) -> str:
    """Return a typical value as text: of a binary column it is a probability.

    A model of plain numbers has no kinds; `kind` is empty then.

    >>> show_value(0.93, "binary"), show_value(4.25, "real"), show_value("red", "categorical")
    ('yes 93%', '4.25', 'red')
    >>> show_value(2024, "categorical"), show_value(2024, "count")
    ('2024', '2,024')
    """
    if kind and record_of(kind).two_valued and not is_missing(value):
        p = float(value)
        return f"yes {page.percent(p)}" if p >= 0.5 else f"no {page.percent(1 - p)}"
    return show_cell(value, kind)


def show_cell(value: Any, kind: str, length: int = pieces.LONG) -> str:
    """Return a cell as text: a number that is a category, such as a year, has no commas."""
    named = bool(kind) and record_of(kind).has_categories
    return pieces.as_name(value, length) if named else pieces.short(value, length)


def _rest(groups: list[Group], shown: int) -> str:
    if len(groups) <= shown:
        return ""
    rest = groups[shown:]
    share = page.percent(sum(g.weight for g in rest))
    return page.paragraph(
        f"{pieces.plural(len(rest), 'smaller group')} with {share} of the rows "
        f"{'is' if len(rest) == 1 else 'are'} not shown.",
        "note",
    )
