"""The picture of a fitted network: graph by role, edges sorted by role, co-class matrix."""

from __future__ import annotations

from functools import cache
from io import BytesIO
from typing import TYPE_CHECKING, Any

import numpy as np

from infinimix.networks.answers.state import NetworkState
from infinimix.networks.interchange.layers import place_nodes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = ("#cfe3f3", "#fbe0c4", "#d3ecd0", "#f6d0d0", "#e3d8f0", "#eadfda", "#fadcf0", "#e6e6e6")
LONGEST = 14  # letters of a name in the graph
LINE = 0.75  # inches


def plot(state: NetworkState, threshold: float, ax: Axes | None = None) -> Figure:
    """Return a Matplotlib figure with three panels; or draw the graph alone on given axes."""
    if ax is not None:
        draw_graph(ax, state, threshold)
        return ax.figure  # type: ignore[return-value]
    high = graph_height(state, threshold)
    figure: Figure = _picture_class()(figsize=(8.0 + 2 * 0.75 * high, high), layout="constrained")
    graph, edges, classes = figure.subplots(1, 3, width_ratios=[8.0, 0.75 * high, 0.75 * high])
    names, roles = np.array([_short(name) for name in state.names]), state.roles
    order = np.argsort(roles, kind="stable")
    draw_graph(graph, state, threshold)
    for axes, matrix, title in (
        (edges, state.edge_marginals, "P(row -> column)"),
        (classes, state.co_class_marginals, "P(one role)"),
    ):
        axes.imshow(matrix[np.ix_(order, order)], vmin=0, vmax=1, cmap="Greys")
        axes.set_title(title)
        axes.set_xticks(range(len(names)), names[order], rotation=90, fontsize=7)
        axes.set_yticks(range(len(names)), names[order], fontsize=7)
        for cut in np.flatnonzero(np.diff(roles[order])):
            axes.axhline(cut + 0.5, color="tab:red", linewidth=0.8)
            axes.axvline(cut + 0.5, color="tab:red", linewidth=0.8)
    return figure


def graph_height(state: NetworkState, threshold: float) -> float:
    """Return how many inches high a graph should be, so that its lines stand apart."""
    place, _ = place_nodes(state.edge_marginals >= threshold, state.roles)
    return float(max(4.5, LINE * (1.5 - place[:, 1].min())))


@cache
def _picture_class() -> Any:
    """Return the class of figures that a notebook shows, also if nobody has imported pyplot."""
    from matplotlib.figure import Figure

    class Picture(Figure):
        """A figure that draws itself."""

        def _repr_png_(self) -> bytes:
            file = BytesIO()
            self.savefig(file, format="png", dpi=80)
            return file.getvalue()

    return Picture


def draw_graph(axes: Any, state: NetworkState, threshold: float) -> None:
    """Draw each role as a block of variables, those before others above them."""
    P, roles = state.edge_marginals, state.roles
    place, blocks = place_nodes(threshold <= P, roles)
    small = len(roles) > 20
    for role, (top, bottom) in enumerate(blocks):
        colour = COLOURS[role % len(COLOURS)]
        axes.axhspan(bottom - 0.45, top + 0.45, color=colour, alpha=0.35, linewidth=0)
        axes.text(-0.04, top + 0.42, f"role {role}", fontsize=7, va="top", color="grey")
    for i, j in np.argwhere(threshold <= P):
        bend = 0.08 if abs(place[i, 1] - place[j, 1]) > 0.5 else 0.35  # on one line: around others
        arrow = {
            "arrowstyle": "->", "alpha": float(P[i, j]), "shrinkA": 6, "shrinkB": 8,
            "connectionstyle": f"arc3,rad={bend}", "linewidth": 0.9, "color": "#333333",
        }  # fmt: skip
        axes.annotate("", place[j], place[i], arrowprops=arrow)
    for name, role, (x, y) in zip(state.names, roles.tolist(), place, strict=True):
        box = {"boxstyle": "round", "facecolor": COLOURS[role % len(COLOURS)], "edgecolor": "grey"}
        size = 7 if small else 8
        axes.text(x, y, _short(name), ha="center", va="center", fontsize=size, zorder=4, bbox=box)
    axes.set_xlim(-0.05, 1.05)
    axes.set_ylim(place[:, 1].min() - 0.6, place[:, 1].max() + 0.6)
    axes.set_title(f"edges with P >= {threshold:g}, a block for each role")
    axes.set_axis_off()


def _short(name: str) -> str:
    return name if len(name) <= LONGEST else f"{name[: LONGEST - 1]}…"
