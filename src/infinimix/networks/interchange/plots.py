"""The picture of a fitted network: graph by role, edges sorted by role, co-class matrix."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from io import BytesIO
from typing import TYPE_CHECKING, Any

import numpy as np

from infinimix.networks.answers.state import NetworkState
from infinimix.networks.engine.blocks import UNDIRECTED
from infinimix.networks.interchange.layers import place_nodes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = ("#cfe3f3", "#fbe0c4", "#d3ecd0", "#f6d0d0", "#e3d8f0", "#eadfda", "#fadcf0", "#e6e6e6")
POSITIVE, NEGATIVE = "#1f5fa8", "#b2312d"  # effects, where they have signs
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
    draw_graph(graph, state, threshold)
    link = "--" if state.shape == UNDIRECTED else "->"
    draw_matrix(edges, state.edge_marginals, state.names, state.roles, f"P(row {link} column)")
    draw_matrix(classes, state.co_class_marginals, state.names, state.roles, "P(one role)")
    return figure


def plot_several(state: Any, threshold: float, ax: Sequence[Axes] | None = None) -> Figure:
    """Return a figure of networks that share roles: a graph for each, and all shared roles.

    Or draw the graphs alone on given axes.
    """
    states = [
        replace(model._fitted, roles=state.roles_of(g))
        for g, model in enumerate(state.networks.values())
    ]
    if ax is not None:
        given: list[Any] = np.array(ax, object).ravel().tolist()
        if len(given) != len(states):
            raise ValueError(f"ax must be {len(states)} axes, one for each table; got {len(given)}")
        for axes, table, one in zip(given, state.networks, states, strict=True):
            _draw_one(axes, table, one, threshold)
        return given[0].figure  # type: ignore[no-any-return]
    heights = [graph_height(one, threshold) for one in states]
    figure: Figure = _picture_class()(figsize=(14.0, sum(heights)), layout="constrained")
    grid = figure.add_gridspec(len(states), 2, height_ratios=heights, width_ratios=[8.0, 6.0])
    for g, (table, one) in enumerate(zip(state.networks, states, strict=True)):
        _draw_one(figure.add_subplot(grid[g, 0]), table, one, threshold)
    names = [
        f"{t}: {name}" for t, one in zip(state.networks, states, strict=True) for name in one.names
    ]
    shared = figure.add_subplot(grid[:, 1])
    draw_matrix(shared, state.co_class_marginals, names, state.roles, "P(one role)")
    return figure


def _draw_one(axes: Any, table: Any, state: NetworkState, threshold: float) -> None:
    """Draw the graph of one of several networks, with its name."""
    draw_graph(axes, state, threshold)
    axes.set_title(f"{table}: {axes.get_title()}")


def draw_matrix(
    axes: Any, matrix: np.ndarray, names: Sequence[str], roles: np.ndarray, title: str
) -> None:
    """Draw probabilities of pairs, sorted by role, with lines between roles."""
    short, order = np.array([_short(name) for name in names]), np.argsort(roles, kind="stable")
    axes.imshow(matrix[np.ix_(order, order)], vmin=0, vmax=1, cmap="Greys")
    axes.set_title(title)
    axes.set_xticks(range(len(short)), short[order], rotation=90, fontsize=7)
    axes.set_yticks(range(len(short)), short[order], fontsize=7)
    for cut in np.flatnonzero(np.diff(roles[order])):
        axes.axhline(cut + 0.5, color="tab:red", linewidth=0.8)
        axes.axvline(cut + 0.5, color="tab:red", linewidth=0.8)


def graph_height(state: NetworkState, threshold: float) -> float:
    """Return how many inches high a graph should be, so that its lines stand apart."""
    roles = np.unique(state.roles, return_inverse=True)[1]
    edges = (state.edge_marginals >= threshold) & ~np.eye(len(roles), dtype=bool)
    place, _ = place_nodes(edges, roles)
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
    kinds, roles = np.unique(state.roles, return_inverse=True)
    undirected = state.shape == UNDIRECTED
    edges = (np.triu if undirected else np.asarray)(state.edge_marginals >= threshold)
    place, blocks = place_nodes(edges & ~np.eye(len(roles), dtype=bool), roles)
    for role, (top, bottom) in zip(kinds.tolist(), blocks, strict=True):
        colour = COLOURS[role % len(COLOURS)]
        axes.axhspan(bottom - 0.45, top + 0.45, color=colour, alpha=0.35, linewidth=0)
        axes.text(-0.04, top + 0.42, f"role {role}", fontsize=7, va="top", color="grey")
    for i, j in np.argwhere(edges):
        look = {"arrowstyle": "-"} if undirected else _look(state, i, j)
        _draw_edge(axes, place, i, j, float(state.edge_marginals[i, j]), look)
    for name, role, (x, y) in zip(state.names, kinds[roles].tolist(), place, strict=True):
        box = {"boxstyle": "round", "facecolor": COLOURS[role % len(COLOURS)], "edgecolor": "grey"}
        size = 7 if len(roles) > 20 else 8
        axes.text(x, y, _short(name), ha="center", va="center", fontsize=size, zorder=4, bbox=box)
    axes.set_xlim(-0.05, 1.05)
    axes.set_ylim(place[:, 1].min() - 0.6, place[:, 1].max() + 0.6)
    signs = "; red: negative effects" if state.signed else ""
    axes.set_title(f"edges with P >= {threshold:g}, a block for each role{signs}")
    axes.set_axis_off()


def _look(state: NetworkState, i: int, j: int) -> dict[str, str]:
    """Return how a directed edge is drawn; a negative effect ends in a bar."""
    if not state.signed:
        return {"arrowstyle": "->"}
    if state.positive_share(i, j) < 0.5:
        return {"arrowstyle": "-[, widthB=0.5, lengthB=0.02", "color": NEGATIVE}
    return {"arrowstyle": "->", "color": POSITIVE}


def _draw_edge(
    axes: Any, place: np.ndarray, i: int, j: int, p: float, look: dict[str, str]
) -> None:
    """Draw an edge; one from a variable to itself is a mark beside its name."""
    if i == j:
        where = {"xytext": (0, 9), "textcoords": "offset points", "ha": "center"}
        axes.annotate("\u21bb", place[i], fontsize=9, alpha=p, **where)
        return
    bend = 0.08 if abs(place[i, 1] - place[j, 1]) > 0.5 else 0.35  # on one line: around others
    arrow = {
        "alpha": p, "shrinkA": 6, "shrinkB": 8, "connectionstyle": f"arc3,rad={bend}",
        "linewidth": 0.9, "color": "#333333", **look,
    }  # fmt: skip
    axes.annotate("", place[j], place[i], arrowprops=arrow)


def _short(name: str) -> str:
    return name if len(name) <= LONGEST else f"{name[: LONGEST - 1]}…"
