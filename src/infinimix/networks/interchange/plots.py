"""The picture of a fitted network: graph by role, edges sorted by role, co-class matrix."""

from __future__ import annotations

from typing import Any

import numpy as np

from infinimix.networks.answers.state import NetworkState

MOST_IN_LINE = 6  # variables of a role; more are drawn on two lines
COLOURS = ("#cfe3f3", "#fbe0c4", "#d3ecd0", "#f6d0d0", "#e3d8f0", "#eadfda", "#fadcf0", "#e6e6e6")


def plot(state: NetworkState, threshold: float) -> Any:
    """Return a Matplotlib figure with three panels."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(15, 5), layout="constrained")
    graph, edges, classes = figure.subplots(1, 3)
    names, roles = np.array(state.names), state.roles
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


def draw_graph(axes: Any, state: NetworkState, threshold: float) -> None:
    """Draw each role as a row of variables."""
    names, roles = state.names, state.roles
    place = np.zeros((len(names), 2))
    for role in range(int(roles.max()) + 1):
        members = np.flatnonzero(roles == role)
        place[members, 0] = (np.arange(len(members)) + 0.5) / len(members)
        place[members, 1] = -float(role)
        if len(members) > MOST_IN_LINE:
            place[members, 1] += np.where(np.arange(len(members)) % 2 == 0, 0.15, -0.15)
    for i, j in np.argwhere(state.edge_marginals >= threshold):
        p = float(state.edge_marginals[i, j])
        arrow = {"arrowstyle": "->", "alpha": p, "connectionstyle": "arc3,rad=0.1", "shrinkB": 10}
        axes.annotate("", place[j], place[i], arrowprops=arrow)
    for name, role, (x, y) in zip(names, roles.tolist(), place, strict=True):
        box = {"boxstyle": "round", "facecolor": COLOURS[role % len(COLOURS)], "edgecolor": "grey"}
        axes.text(x, y, name, ha="center", va="center", fontsize=8, zorder=4, bbox=box)
    axes.set_xlim(-0.05, 1.05)
    axes.set_ylim(place[:, 1].min() - 0.4, place[:, 1].max() + 0.4)
    axes.set_title(f"edges with P >= {threshold:g}, a row for each role")
    axes.set_axis_off()
