"""The page of a clustering: groups, how many there are, columns that go together, strange rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from infinimix.evaluation.abilities import FindsAnomalies, Grouping, Prototyping, Relating, able
from infinimix.reports import page, pieces
from infinimix.reports.about import show_about
from infinimix.reports.clusters import show_clusters
from infinimix.reports.holes import show_missing
from infinimix.reports.prototypes import groups_of, image_of, kinds_of, show_groups
from infinimix.tables.rows import is_pandas

MOST_TOGETHER = 12  # columns of the matrix
MOST_PAIRS = 10
MOST_STRANGE = 6
MOST_CELLS = 3


def mixture_page(model: Any, rows: Any, image: Any, title: str | None) -> str:
    """Return the page of a fitted mixture or of other clusters."""
    sections = list(_sections(model, rows, image))
    n = int(model.n_groups_ if able(model, Grouping) else model.n_clusters_)
    name = title or f"A table in {pieces.plural(n, 'group')}"
    lead = f"What a fitted {type(model).__name__} has found; nobody set the number of groups."
    if rows is not None:
        lead += f" The table has {pieces.plural(len(rows), 'row')}."
    body = [
        page.header("infinimix report", name, lead),
        pieces.contents((anchor, heading) for anchor, heading, _ in sections),
        *(page.section(heading, made, anchor) for anchor, heading, made in sections),
        *show_about(model),
    ]
    return page.build_page(f"{name}: infinimix report", body, ["report.css"])


def _sections(model: Any, rows: Any, image: Any) -> Iterator[tuple[str, str, Iterator[str]]]:
    yield "groups", "The groups", _show_groups(model, image)
    if able(model, Relating) and len(model.columns_) > 1:
        yield "together", "Columns that go together", _show_dependence(model)
    if is_pandas(rows) and able(model, FindsAnomalies):
        yield "strange", "The strangest rows", _show_strange(model, rows)
    if is_pandas(rows):
        yield "missing", "Missing cells", show_missing(rows)


def _show_groups(model: Any, image: Any) -> Iterator[str]:
    if not able(model, Prototyping):
        yield from show_clusters(model)
        return
    yield page.paragraph(
        "The most probable grouping, the largest group first, with the columns that set a group "
        "apart and their typical values; the longer the bar, the farther apart."
    )
    yield show_groups(groups_of(model), kinds_of(model), image_of(model, image), "the table")
    chances = np.asarray(model.n_groups_posterior_)
    likely = [k for k in np.argsort(-chances, kind="stable")[:6] if chances[k] >= 0.005]
    yield pieces.plain_table(
        "How many groups there are: the most probable numbers",
        ["groups", "probability"],
        ((f"{k:,}", page.percent(float(chances[k]))) for k in sorted(likely)),
        "plain narrow",
    )


def _show_dependence(model: Any) -> Iterator[str]:
    table = model.dependence()
    names, r = [str(name) for name in table.index], table.to_numpy()
    yield page.paragraph(
        "How much each pair of columns says of each other under the model: 0 is nothing, 1 is "
        "everything. Small values come out as up to 0.1 by chance."
    )
    if len(names) <= MOST_TOGETHER:
        rows = (
            (
                pieces.short(name, 20),
                [("·" if i == j else f"{r[i, j]:.2f}", r[i, j] * (i != j)) for j in range(len(r))],
            )
            for i, name in enumerate(names)
        )
        heads = [pieces.short(name, 14) for name in names]
        yield pieces.matrix("Information correlation", heads, rows)
        return
    upper = np.argwhere(np.triu(np.ones_like(r, dtype=bool), 1))
    order = np.argsort(-r[upper[:, 0], upper[:, 1]], kind="stable")[:MOST_PAIRS]
    yield pieces.plain_table(
        f"The closest pairs of {len(upper):,}",
        ["column", "and", "correlation"],
        ((names[i], names[j], f"{r[i, j]:.2f}") for i, j in upper[order]),
    )


def _show_strange(model: Any, rows: Any) -> Iterator[str]:
    scores = np.asarray(model.anomaly_score(rows))
    order = np.argsort(-scores, kind="stable")[:MOST_STRANGE]
    some = rows.iloc[order]
    cells = model.cell_anomaly_score(some)
    share = model.anomaly_score(some, calibrated=True)
    yield page.paragraph(
        "The rows of the least density, counted from 1. Stranger than: the share of rows drawn "
        "from the model, with the same cells missing, that are less strange. The cells are those "
        "that surprise most beside the rest of their row."
    )

    def lines() -> Iterator[tuple[str, ...]]:
        for i, place in enumerate(order.tolist()):
            worst = cells.iloc[i].sort_values(ascending=False).head(MOST_CELLS)
            told = (_cell(some.iloc[i], str(name)) for name in worst.index)
            yield f"{place + 1:,}", page.percent(float(share[i])), ", ".join(told)

    head = ["row", "stranger than", "its strangest cells"]
    yield pieces.plain_table("The strangest first", head, lines(), "plain words")


def _cell(row: Any, name: str) -> str:
    """Return a cell with its column; of a part of a date, such as its month, the whole date."""
    if name in row.index:
        return f"{name} {pieces.short(row[name], 16)}"
    date = max((c for c in map(str, row.index) if name.startswith(f"{c} ")), key=len)
    return f"{name} of {pieces.short(row[date], 16)}"
