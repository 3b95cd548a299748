"""The picture of a network: variables in bands by role, edges as thick as they are probable."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from infinimix.reports.layout import NODE_HEIGHT, NODE_WIDTH, WIDTH, BandLayout
from infinimix.reports.markup import Markup, draw
from infinimix.reports.pictures import shades
from infinimix.reports.pieces import short

MOST_NAME = 14
CELL = 18
MOST_NAMED = 40  # variables whose names stand beside a matrix


def draw_network(
    layout: BandLayout, names: Sequence[str], edges: Sequence[tuple[int, int, float]],
    threshold: float, label: str, name: str = "network", directed: bool = True,
) -> Markup:  # fmt: skip
    """Return the graph; edges below the threshold are there, but hidden.

    `name` is its id on the page.
    """
    lines = [
        {
            "start": i,
            "end": j,
            "p": p,
            "path": path,
            "title": f"{names[i]} {'to' if directed else 'and'} {names[j]}: {sure(p)}",
        }
        for (i, j, p), path in zip(edges, _paths(layout, edges), strict=True)
    ]
    nodes = list(_nodes(layout, names))
    size = WIDTH, layout.height
    return draw(
        "network.html", "graph", label, *size, layout.bands, lines, nodes, threshold, name, directed
    )


def sure(p: float) -> str:
    """Return a probability in percent that never claims certainty.

    >>> sure(0.5), sure(1.0), sure(0.0)
    ('50.0%', '> 99.9%', '< 0.1%')
    """
    if p > 0.9994:
        return "> 99.9%"
    return "< 0.1%" if p < 0.0006 else f"{p:.1%}"


def _paths(layout: BandLayout, edges: Sequence[tuple[int, int, float]]) -> list[str]:
    """Return the line of each edge, from a port of one node to a port of the other."""
    ports = _ports(layout, edges)
    half = NODE_HEIGHT / 2
    paths = []
    for k, (i, j, _) in enumerate(edges):
        start, end = layout.place[i], layout.place[j]
        x1, x2 = start[0] + ports[k, 0], end[0] + ports[k, 1]
        below = _side(layout, i, j)
        y1, y2 = start[1] + below * half, end[1] - below * (half + 2)
        if below == 0:  # of one line: an arc above
            y1, y2 = start[1] - half, end[1] - half - 2
            lift = y1 - 18 - 0.06 * abs(x2 - x1)
            bend = f"C{x1:.1f} {lift:.1f} {x2:.1f} {lift:.1f}"
        else:
            reach = 0.55 * (y2 - y1)
            bend = f"C{x1:.1f} {y1 + reach:.1f} {x2:.1f} {y2 - reach:.1f}"
        paths.append(f"M{x1:.1f} {y1:.1f}{bend} {x2:.1f} {y2:.1f}")
    return paths


def _side(layout: BandLayout, i: int, j: int) -> int:
    """Return 1 if j stands below i, -1 if above, 0 if beside."""
    step = layout.place[j, 1] - layout.place[i, 1]
    return 0 if abs(step) < 1.0 else int(np.sign(step))


def _ports(layout: BandLayout, edges: Sequence[tuple[int, int, float]]) -> np.ndarray:
    """Return where edges leave and enter, from the middle of a node; spread so that few cross."""
    ends: dict[tuple[int, int], list[tuple[float, int, int]]] = {}
    for k, (i, j, _) in enumerate(edges):
        below = _side(layout, i, j)
        ends.setdefault((i, below or -1), []).append((layout.place[j, 0], k, 0))
        ends.setdefault((j, -below or -1), []).append((layout.place[i, 0], k, 1))
    ports = np.zeros((len(edges), 2))
    for held in ends.values():
        width = min(0.8 * NODE_WIDTH, 16.0 * (len(held) - 1))
        places = np.linspace(-width / 2, width / 2, len(held)) if len(held) > 1 else [0.0]
        for place, (_, k, which) in zip(places, sorted(held), strict=True):
            ports[k, which] = place
    return ports


def _nodes(layout: BandLayout, names: Sequence[str]) -> Iterator[dict[str, Any]]:
    for name, (x, y) in zip(names, layout.place.tolist(), strict=True):
        yield {
            "name": name, "text": short(name, MOST_NAME), "x": x, "y": y,
            "left": x - NODE_WIDTH / 2, "top": y - NODE_HEIGHT / 2,
            "width": NODE_WIDTH, "height": NODE_HEIGHT,
        }  # fmt: skip


def draw_matrix(
    values: np.ndarray, names: Sequence[str], cuts: Sequence[int], label: str, name: str
) -> Markup:
    """Return a matrix in shades, with lines where roles end; the script reads cells out."""
    n = len(names)
    margin = 0.0 if n > MOST_NAMED else 12.0 + 6.6 * max(min(len(x), MOST_NAME) for x in names)
    size = n * CELL + margin + 1
    lines = [margin + cut * CELL for cut in cuts]
    shown = enumerate(names) if margin else ()
    texts = [(margin + (k + 0.5) * CELL + 4, short(name, MOST_NAME)) for k, name in shown]
    return draw(
        "network.html", "heat", label, name, n, CELL, margin, size, shades(values), lines, texts
    )
