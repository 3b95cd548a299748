"""A fitted network in a notebook: its graph by role, its roles and its most probable edges."""

from __future__ import annotations

from base64 import b64encode
from io import BytesIO

import numpy as np

from infinimix.estimators.answers.displays import html_table
from infinimix.networks.answers.state import NetworkState
from infinimix.networks.interchange.plots import draw_graph, graph_height

MOST_EDGES = 15
MOST_DRAWN = 60  # variables: more are no picture


def network_html(state: NetworkState, link: str = "->", threshold: float = 0.5) -> str:
    """Return a picture of the graph, and tables of roles and edges."""
    names, P = state.names, np.asarray(state.edge_marginals)
    roles = [
        (role, ", ".join(str(names[i]) for i in np.flatnonzero(state.roles == role)))
        for role in range(int(state.roles.max()) + 1)
    ]
    likely = [(i, j) for i, j in np.argwhere(threshold <= P) if link == "->" or i < j]
    likely = sorted(likely, key=lambda edge: -P[tuple(edge)])
    edges = [
        (f"{names[i]} {_arrow(state, i, j, link)} {names[j]}", float(P[i, j]))
        for i, j in likely[:MOST_EDGES]
    ]
    have = "1 edge has" if len(likely) == 1 else f"{len(likely)} edges have"
    caption = f"{have} a probability of {threshold:g} or more"
    if len(likely) > MOST_EDGES:
        caption += f"; the most probable {MOST_EDGES}"
    tables = html_table(["role", "variables"], roles) + html_table(
        ["edge", "probability"], edges, bar=1, caption=caption
    )
    return (_picture(state, threshold) if len(names) <= MOST_DRAWN else "") + tables


def _arrow(state: NetworkState, i: int, j: int, link: str) -> str:
    """Return what stands between the ends of an edge; a negative effect ends in a bar."""
    return "-|" if state.signed and state.positive_share(i, j) < 0.5 else link


def _picture(state: NetworkState, threshold: float) -> str:
    """Return the graph as an image of its own, so that names in it meet no others on the page."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, graph_height(state, threshold)), layout="constrained")
    draw_graph(figure.subplots(), state, threshold)
    file = BytesIO()
    figure.savefig(file, format="svg", metadata={"Date": None})
    data = b64encode(file.getvalue()).decode("ascii")
    alt = f"The graph of {len(state.names)} variables, a block for each role"
    style = "max-width:100%;background:white"
    return f"<img alt='{alt}' style='{style}' src='data:image/svg+xml;base64,{data}'>"
