"""Where the cells of a table are missing: a map of the table, column by column, with figures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from infinimix.reports import page, pieces
from infinimix.reports.pictures import draw_grid

MOST_BANDS = 200  # of a strip; more rows share one
MOST_LISTED = 40


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
            "Columns with a missingness indicator, as whether their cells are missing says "
            "something of the class: " + ", ".join(marked) + "."
        )
    order = [j for j in np.argsort(-share, kind="stable") if share[j] > 0]
    lines = (
        page.row(
            pieces.short(names[j]),
            (
                page.cell(f"{holes[:, j].sum():,} ({share[j]:.1%})", float(share[j])),
                page.cell_of(_strip(holes[:, j], names[j])),
            ),
        )
        for j in order[:MOST_LISTED]
    )
    caption = (
        "Columns with missing cells. The strip runs from the first row of the file to the last, "
        "filled where cells are missing: cells that are missing together stand below each other."
        + (
            f" The {MOST_LISTED} columns with the most, of {len(order):,}."
            * (len(order) > MOST_LISTED)
        )
    )
    yield page.table(caption, ["column", "missing", "where"], lines, "holes")


def _strip(holes: np.ndarray, name: str) -> str:
    """Return a strip of the column, in bands of rows, dark where cells are missing."""
    size = -(-len(holes) // MOST_BANDS)
    bands = [holes[i : i + size] for i in range(0, len(holes), size)]
    label = f"Where cells of {pieces.short(name)} are missing, from the first row to the last"
    return draw_grid([[float(band.mean()) for band in bands]], label, "strip")
