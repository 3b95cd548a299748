"""Pictures as inline SVG: they take their colours from the page, light, dark or printed.

A picture is a few paths, one for each shade, so that a page of a hundred stays small.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

import numpy as np
from numpy.typing import ArrayLike, NDArray

from infinimix.reports.markup import Markup, draw

SHADES = 20  # steps of 5% cannot be told apart by eye
HATCH = "M{x} {y}m0 .5l.5 -.5m-.5 1l1 -1m-.5 1l.5 -.5"  # three strokes that meet the neighbours'


def draw_grid(values: ArrayLike, label: str, kind: str = "") -> Markup:
    """Return a picture of a grid of values in [0, 1]; missing ones (NaN) are hatched.

    Parameters
    ----------
    values : array of shape (height, width)
        0 is drawn as paper, 1 as ink.
    label : str
        What the picture shows, for those who hear the page.
    kind : str
        "large", or "strip" for one that is stretched to its place.

    Examples
    --------
    >>> print(draw_grid([[0, 1, 1], [0, 0, float("nan")]], "a corner"))
    <svg class="grid" role="img" aria-label="a corner" viewBox="0 0 3 2">
    <path class="missing" d="M2 1h1v1h-1z"/>
    <path class="hatch" d="M2 1m0 .5l.5 -.5m-.5 1l1 -1m-.5 1l.5 -.5"/>
    <path class="ink" d="M1 0h2v1h-2z"/>
    </svg>
    """
    grid = np.asarray(values, dtype=np.float64)
    height, width = grid.shape
    missing = np.isnan(grid)
    cells = np.argwhere(missing).tolist()
    hatch = "".join(HATCH.format(x=x, y=y) for y, x in cells)
    return draw(
        "pictures.html", "grid", label, width, height, _outline(missing), hatch, shades(grid), kind
    )


def shades(grid: NDArray[np.float64]) -> Iterator[tuple[str, str]]:
    """Yield opacity and path of each shade of a grid of values in [0, 1], one unit a cell."""
    steps = np.rint(np.nan_to_num(grid) * SHADES).astype(int)
    for step in range(1, SHADES + 1):
        if (cells := steps == step).any():
            yield f"{step / SHADES:g}", _outline(cells)


def _outline(cells: NDArray[np.bool_]) -> str:
    """Return a path around the true cells: one rectangle for each run in a row."""
    path = []
    for y, row in enumerate(cells.tolist()):
        for true, run in groupby(enumerate(row), key=lambda cell: cell[1]):
            if true:
                xs = [x for x, _ in run]
                path.append(f"M{xs[0]} {y}h{len(xs)}v1h-{len(xs)}z")
    return "".join(path)
