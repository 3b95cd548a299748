"""The picture of a network: variables in bands by role, edges as thick as they are probable."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

import numpy as np

from infinimix.reports.layout import NODE_HEIGHT, NODE_WIDTH, WIDTH, Layout
from infinimix.reports.pictures import draw_shades
from infinimix.reports.pieces import short

MOST_NAME = 14
CELL = 18
MOST_NAMED = 40  # variables whose names stand beside a matrix


def draw_network(
    layout: Layout, names: Sequence[str], edges: Sequence[tuple[int, int, float]],
    threshold: float, label: str,
) -> str:  # fmt: skip
    """Return the graph; edges below the threshold are there, but hidden."""
    head = (
        f'<svg class="network" id="network" role="group" aria-label="{escape(label)}" '
        f'viewBox="0 0 {WIDTH:.0f} {layout.height:.0f}">'
    )
    parts = [head, ARROW, *_bands(layout)]
    paths = _paths(layout, edges)
    parts += [_edge(names, e, path, threshold) for e, path in zip(edges, paths, strict=True)]
    return "\n".join([*parts, *_nodes(layout, names), "</svg>"])


ARROW = (
    '<defs><marker id="arrow" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="9" '
    'markerHeight="9" markerUnits="userSpaceOnUse" orient="auto">'
    '<path class="head" d="M0 0L10 5L0 10z"/></marker></defs>'
)


def _bands(layout: Layout) -> Iterator[str]:
    for band in layout.bands:
        yield (
            f'<rect class="band" x="1" y="{band.top:.0f}" width="{WIDTH - 2:.0f}" '
            f'height="{band.height:.0f}" rx="10"/>'
            f'<text class="role" x="14" y="{band.top + 19:.0f}">role {band.role + 1}</text>'
        )


def _edge(names: Sequence[str], edge: tuple[int, int, float], path: str, threshold: float) -> str:
    i, j, p = edge
    hidden = " hidden" if p < threshold else ""
    return (
        f'<g class="edge{hidden}" data-p="{p:.4f}" data-from="{i}" data-to="{j}">'
        f"<title>{escape(names[i])} to {escape(names[j])}: {sure(p)}</title>"
        f'<path d="{path}" '
        f'style="stroke-width:{0.5 + 2.2 * p:.2f};stroke-opacity:{0.3 + 0.6 * p:.2f}" '
        'marker-end="url(#arrow)"/></g>'
    )


def sure(p: float) -> str:
    """Return a probability in percent that never claims certainty.

    >>> sure(0.5), sure(1.0), sure(0.0)
    ('50.0%', '> 99.9%', '< 0.1%')
    """
    if p > 0.9994:
        return "> 99.9%"
    return "< 0.1%" if p < 0.0006 else f"{p:.1%}"


def _paths(layout: Layout, edges: Sequence[tuple[int, int, float]]) -> list[str]:
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


def _side(layout: Layout, i: int, j: int) -> int:
    """Return 1 if j stands below i, -1 if above, 0 if beside."""
    step = layout.place[j, 1] - layout.place[i, 1]
    return 0 if abs(step) < 1.0 else int(np.sign(step))


def _ports(layout: Layout, edges: Sequence[tuple[int, int, float]]) -> np.ndarray:
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


def _nodes(layout: Layout, names: Sequence[str]) -> Iterator[str]:
    for i, (x, y) in enumerate(layout.place.tolist()):
        yield (
            f'<g class="node" tabindex="0" role="img" data-node="{i}" '
            f'aria-label="variable {escape(names[i])}"><title>{escape(names[i])}</title>'
            f'<rect x="{x - NODE_WIDTH / 2:.1f}" y="{y - NODE_HEIGHT / 2:.1f}" '
            f'width="{NODE_WIDTH:.0f}" height="{NODE_HEIGHT:.0f}" rx="8"/>'
            f'<text class="mid" x="{x:.1f}" y="{y + 4.5:.1f}">{escape(short(names[i], MOST_NAME))}'
            "</text></g>"
        )


def draw_matrix(
    values: np.ndarray, names: Sequence[str], cuts: Sequence[int], label: str, name: str
) -> str:
    """Return a matrix in shades, with lines where roles end; the script reads cells out."""
    n = len(names)
    margin = 0.0 if n > MOST_NAMED else 12.0 + 6.6 * max(min(len(x), MOST_NAME) for x in names)
    size = n * CELL + margin + 1
    head = (
        f'<svg class="heat" role="img" tabindex="0" data-matrix="{name}" data-margin="{margin:g}" '
        f'data-cell="{CELL}" aria-label="{escape(label)}" viewBox="0 0 {size:g} {size:g}" '
        f'style="max-width:{max(size, 240):g}px">'
    )
    inner = f'<g transform="translate({margin:g} {margin:g}) scale({CELL})">'
    paper = f'<path class="paper" d="M0 0h{n}v{n}h-{n}z"/>'
    parts = [head, inner, paper, *draw_shades(values), "</g>"]
    for cut in cuts:
        at = margin + cut * CELL
        lines = f"M{margin:g} {at:g}H{size - 1:g}M{at:g} {margin:g}V{size - 1:g}"
        parts.append(f'<path class="cut" d="{lines}"/>')
    if margin:
        parts += _names(names, margin)
    parts.append(f'<rect class="cursor" width="{CELL}" height="{CELL}" visibility="hidden"/>')
    return "\n".join([*parts, "</svg>"])


def _names(names: Sequence[str], margin: float) -> Iterator[str]:
    for k, name in enumerate(names):
        at, text = margin + (k + 0.5) * CELL + 4, escape(short(name, MOST_NAME))
        yield f'<text class="end" x="{margin - 5:g}" y="{at:g}">{text}</text>'
        yield f'<text transform="translate({at:g} {margin - 5:g}) rotate(-90)">{text}</text>'
