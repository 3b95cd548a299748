"""Where the cells of a table are missing: a map of the whole table, and figures by column."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from infinimix.reports import page, pieces
from infinimix.reports.pictures import draw_grid

MOST_BANDS = 60  # lines of the map; more rows share one
MOST_COLUMNS = 80
MOST_LISTED = 30


def show_missing(rows: Any, marked: Sequence[str] = ()) -> Iterator[str]:
    """Yield the section on missing cells of a frame."""
    holes = rows.isna().to_numpy()
    share = holes.mean(axis=0) if len(holes) else np.zeros(rows.shape[1])
    names = [str(name) for name in rows.columns]
    if not holes.any():
        yield page.paragraph("No cell is missing.")
        return
    complete = int((~holes.any(axis=1)).sum())
    yield page.paragraph(
        f"{holes.mean():.1%} of the cells are missing; {pieces.plural(complete, 'row')} of "
        f"{len(holes):,} {'has' if complete == 1 else 'have'} all of them. Missing cells are left "
        "out of the model, not filled in."
    )
    if marked:
        yield page.paragraph(
            "That a cell is missing says something of the class in: " + ", ".join(marked) + "."
        )
    yield _map(holes, share, names)
    order = [j for j in np.argsort(-share, kind="stable") if share[j] > 0]
    yield pieces.plain_table(
        "Columns with missing cells" + _cut(len(order), MOST_LISTED),
        ["column", "missing", "share"],
        ((pieces.short(names[j]), f"{holes[:, j].sum():,}", f"{share[j]:.1%}")
         for j in order[:MOST_LISTED]),
    )  # fmt: skip


def _map(holes: np.ndarray, share: np.ndarray, names: Sequence[str]) -> str:
    """Return a picture: columns side by side, rows from top to bottom, dark where missing."""
    shown = np.sort(np.argsort(-share, kind="stable")[:MOST_COLUMNS])
    parts = np.array_split(holes[:, shown], min(len(holes), MOST_BANDS))
    grid = np.array([part.mean(axis=0) for part in parts])
    label = (
        f"Map of missing cells: {len(shown)} columns by {len(holes)} rows in {len(grid)} bands; "
        f"the table below has the figures"
    )
    picture = draw_grid(grid, label).replace('class="grid"', 'class="grid map"', 1)
    ends = f"from {pieces.short(names[shown[0]])} (left) to {pieces.short(names[shown[-1]])} (right)"
    note = (
        f"Columns {ends}{_cut(len(names), MOST_COLUMNS)}, rows from the first (top) to the last; the "
        "darker, the more are missing."
    )
    return pieces.chart("Map", picture, note)


def _cut(n: int, most: int) -> str:
    return f" (the {most} with the most of {n:,})" if n > most else ""
