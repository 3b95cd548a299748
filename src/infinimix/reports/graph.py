"""The picture of a network: variables in bands by role, edges as thick as they are probable."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

import numpy as np

from infinimix.reports.layout import NODE_HEIGHT, NODE_WIDTH, WIDTH, Layout
from infinimix.reports.pieces import short
from infinimix.reports.pictures import draw_shades

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
    parts += [_edge(layout, names, edge, threshold) for edge in edges]
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


def _edge(
    layout: Layout, names: Sequence[str], edge: tuple[int, int, float], threshold: float
) -> str:
    i, j, p = edge
    hidden = " hidden" if p < threshold else ""
    return (
        f'<g class="edge{hidden}" data-p="{p:.4f}" data-from="{i}" data-to="{j}">'
        f"<title>{escape(names[i])} to {escape(names[j])}: {p:.0%}</title>"
        f'<path d="{_curve(layout.place[i], layout.place[j])}" '
        f'style="stroke-width:{0.6 + 3.4 * p:.2f};stroke-opacity:{0.3 + 0.7 * p:.2f}" '
        'marker-end="url(#arrow)"/></g>'
    )


def _curve(start: np.ndarray, end: np.ndarray) -> str:
    """Return a bent line between the borders of two nodes."""
    step = end - start
    length = max(float(np.hypot(*step)), 1.0)
    side = np.array([-step[1], step[0]]) / length
    bend = (start + end) / 2 + side * min(0.12 * length, 40.0)
    if abs(step[1]) < NODE_HEIGHT:  # of one line: an arc above the nodes between
        bend = (start + end) / 2 - np.array([0.0, 24.0 + 0.12 * length])
    a, b = _border(start, bend), _border(end, bend)
    return f"M{a[0]:.1f} {a[1]:.1f}Q{bend[0]:.1f} {bend[1]:.1f} {b[0]:.1f} {b[1]:.1f}"


def _border(middle: np.ndarray, towards: np.ndarray) -> np.ndarray:
    """Return where the line from the middle of a node leaves it."""
    step = towards - middle
    half = np.array([NODE_WIDTH / 2 + 2, NODE_HEIGHT / 2 + 2])
    share = np.max(np.abs(step) / half)
    return middle + step / max(share, 1e-9)


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
    parts = [
        f'<svg class="heat" role="img" tabindex="0" data-matrix="{name}" data-margin="{margin:g}" '
        f'data-cell="{CELL}" aria-label="{escape(label)}" viewBox="0 0 {size:g} {size:g}" '
        f'style="max-width:{max(size, 240):g}px">',
        f'<g transform="translate({margin:g} {margin:g}) scale({CELL})">'
        f'<path class="paper" d="M0 0h{n}v{n}h-{n}z"/>',
        *draw_shades(values),
        "</g>",
    ]
    for cut in cuts:
        at = margin + cut * CELL
        parts.append(f'<path class="cut" d="M{margin:g} {at:g}H{size - 1:g}M{at:g} {margin:g}V{size - 1:g}"/>')
    if margin:
        parts += _names(names, margin)
    parts.append(f'<rect class="cursor" width="{CELL}" height="{CELL}" visibility="hidden"/>')
    return "\n".join([*parts, "</svg>"])


def _names(names: Sequence[str], margin: float) -> Iterator[str]:
    for k, name in enumerate(names):
        at, text = margin + (k + 0.5) * CELL + 4, escape(short(name, MOST_NAME))
        yield f'<text class="end" x="{margin - 5:g}" y="{at:g}">{text}</text>'
        yield f'<text transform="translate({at:g} {margin - 5:g}) rotate(-90)">{text}</text>'
