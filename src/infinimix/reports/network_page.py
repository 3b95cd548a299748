"""The page of a network: graph by role with a slider, edges, roles, and how sure all that is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from infinimix.evaluation.abilities import FollowingTime, LinkingBothWays, SigningEffects, able
from infinimix.networks.learning.summary import APART
from infinimix.reports import page, pieces
from infinimix.reports.about import show_about
from infinimix.reports.graph import draw_matrix, draw_network, sure
from infinimix.reports.layout import BandLayout, lay_out
from infinimix.reports.markup import draw, join
from infinimix.reports.undecided import show_undecided

LEAST = 0.05  # edges below are left out
MOST_EDGES = 1000
THRESHOLD = 0.5
FEW = 12  # edges whose table is open from the start


def network_page(model: Any, title: str | None) -> str:
    """Return the page of a fitted network of one table."""
    shape = find_shape(model)
    names = [str(name) for name in model.columns_]
    edges = np.asarray(model.edge_marginals_)
    roles = np.asarray(model.roles_)
    layout = lay_out(edges, roles, model.prior == "ordered" or not shape.directed)
    numbered = _numbered(layout, roles)
    layout = layout._replace(bands=[band._replace(role=k) for k, band in enumerate(layout.bands)])
    found = strongest(edges, shape.directed)
    order = [i for band in layout.bands for i in band.members]
    name = title or f"A network of {pieces.plural(len(names), 'variable')}"
    sections = [
        ("graph", "The network", _show_graph(names, layout, found, shape)),
        ("edges", "Edges", _show_edges(model, names, found, shape)),
        (
            "matrices",
            "Edges and roles as matrices",
            _show_matrices(model, names, layout, order, shape),
        ),
        ("roles", "Roles", _show_roles(model, names, layout, numbered)),
    ]
    body = [
        page.header("infinimix report", name, _lead(layout)),
        pieces.key_figures(_key(model, edges, layout, shape)),
        pieces.contents((anchor, heading) for anchor, heading, _ in sections),
        *(page.section(heading, made, anchor) for anchor, heading, made in sections),
        *show_about(model),
        _data(names, order, edges, np.asarray(model.co_class_marginals_), shape),
    ]
    return page.build_page(f"{name}: infinimix report", body, ["report.css"], "network.js")


class Shape(NamedTuple):
    """Words that depend on what an edge is."""

    directed: bool
    places: str  # of the variables in the graph
    unsure: str  # of edges
    cell: str  # of the matrix of edges


DIRECTED = Shape(
    True, "sources above", "Where both ways are probable, the data do not tell the direction.",
    "From the row to the column.",
)  # fmt: skip
DYNAMIC = Shape(
    True, "sources above",
    "An edge leads from what a variable was one row before to what another is; one from a variable "
    "to itself means that it persists.",
    "From the row, one step before, to the column.",
)  # fmt: skip
UNDIRECTED = Shape(
    False, "in the order of their numbers",
    "Edges have no direction. As every row is used once for each variable (pseudo-likelihood), "
    "probabilities are closer to 0 and 1 than those of a likelihood would be.",
    "Row and column are neighbours.",
)  # fmt: skip


def find_shape(model: Any) -> Shape:
    """Return the words for a model."""
    if able(model, LinkingBothWays):
        return UNDIRECTED
    return DYNAMIC if able(model, FollowingTime) else DIRECTED


def strongest(edges: np.ndarray, directed: bool = True) -> list[tuple[int, int, float]]:
    """Return the edges worth a line, the most probable first."""
    places = np.argwhere((edges if directed else np.triu(edges)) >= LEAST)
    found = [(int(i), int(j), float(edges[i, j])) for i, j in places]
    return sorted(found, key=lambda edge: (-edge[2], edge[0], edge[1]))[:MOST_EDGES]


def _numbered(layout: BandLayout, roles: np.ndarray) -> np.ndarray:
    """Return the role of each variable, numbered from the top of the page on."""
    place = {band.role: k for k, band in enumerate(layout.bands)}
    return np.array([place[role] for role in roles.tolist()])


def _lead(layout: BandLayout) -> str:
    return (
        f"The variables fall into {pieces.plural(len(layout.bands), 'role')}. There is not one "
        "network but many, weighed by how probable they are: every edge below has a probability, "
        "and so has every pair of variables of sharing a role."
    )


def _key(
    model: Any, edges: np.ndarray, layout: BandLayout, shape: Shape
) -> Iterator[tuple[str, str, str]]:
    yield "variables", f"{len(edges):,}", f"in {pieces.plural(len(layout.bands), 'role')}"
    likely = (edges if shape.directed else np.triu(edges)) >= THRESHOLD
    yield "edges", f"{int(likely.sum()):,}", "with a probability of 50% or more"
    gap = float(np.asarray(model.edge_gap_).max(initial=0.0))
    if model.n_chains > 1:
        verdict = "they agree" if gap <= APART else "they disagree: run it longer"
        yield "largest gap between chains", f"{gap:.0%}", verdict


def _show_graph(
    names: Sequence[str], layout: BandLayout, found: Sequence[tuple[int, int, float]], shape: Shape
) -> Iterator[str]:
    shown = sum(p >= THRESHOLD for *_, p in found)
    yield page.paragraph(
        f"A band for each role, {shape.places}. The thicker an edge, the more probable. Hover over "
        "an edge for its probability; choose a variable to see its edges alone."
    )
    yield draw("network.html", "slider", LEAST, THRESHOLD, shown, len(found))
    label = f"Network of {len(names)} variables; the table of edges has the figures"
    graph = draw_network(layout, names, found, THRESHOLD, label, directed=shape.directed)
    yield pieces.scroll(graph, "The network")
    yield draw("network.html", "status", "told", "")


def _show_edges(
    model: Any, names: Sequence[str], found: Sequence[tuple[int, int, float]], shape: Shape
) -> Iterator[str]:
    gap, edges = np.asarray(model.edge_gap_), np.asarray(model.edge_marginals_)
    yield page.paragraph(
        f"Edges of {LEAST:.0%} and more; the slider above hides those below it. {shape.unsure}"
    )
    rows = [
        (names[i], names[j], p, sure(p), sure(edges[j, i]) if i != j else "", f"{gap[i, j]:.1%}")
        for i, j, p in found
    ]
    table = pieces.scroll(
        draw("network.html", "edge_table", rows, THRESHOLD, shape.directed), "Edges"
    )
    yield pieces.folded("Table of the edges", table, opened=len(found) <= FEW)
    if shape is DIRECTED:
        yield from show_undecided(names, edges, THRESHOLD)
    if able(model, SigningEffects):
        signs = pieces.plain_table(
            "How probable it is that an effect is positive, if there is one",
            ["from", "to", "positive"],
            [(names[i], names[j], sure(1.0 - model.negative_marginals_[i, j] / p))
             for i, j, p in found],
            "plain narrow",
        )  # fmt: skip
        yield pieces.folded("Signs of effects", signs, opened=len(found) <= FEW)


def _show_matrices(
    model: Any, names: Sequence[str], layout: BandLayout, order: list[int], shape: Shape
) -> Iterator[str]:
    cuts = np.cumsum([len(band.members) for band in layout.bands])[:-1].tolist()
    sorted_names = [names[i] for i in order]
    yield page.paragraph(
        "Variables in the order of their roles, with lines between roles. The stronger the shade, "
        "the more probable. Point at a cell, or move there by the arrow keys, to read it."
    )
    at = np.ix_(order, order)
    charts = []
    for key, values, title, note in (
        ("edges", model.edge_marginals_, "Edges", shape.cell),
        ("together", model.co_class_marginals_, "Shared roles", "Row and column have one role."),
    ):
        label = f"{title}: matrix of {len(names)} by {len(names)} probabilities"
        picture = draw_matrix(np.asarray(values)[at], sorted_names, cuts, label, key)
        cell = draw("network.html", "status", f"read-{key}", "\N{NO-BREAK SPACE}")
        charts.append(pieces.chart(title, join(picture, cell), note))
    yield pieces.side_by_side(charts)


def _show_roles(
    model: Any, names: Sequence[str], layout: BandLayout, numbered: np.ndarray
) -> Iterator[str]:
    together = np.asarray(model.co_class_marginals_)

    def lines() -> Iterator[tuple[str, ...]]:
        for band in layout.bands:
            for i in band.members:
                mates = [j for j in band.members if j != i]
                sure = f"{together[i, mates].mean():.0%}" if mates else "alone"
                yield names[i], f"{numbered[i] + 1}", sure

    yield pieces.plain_table(
        "The role of each variable, and how probably it shares it with the others there",
        ["variable", "role", "with the others"],
        lines(),
        "plain narrow",
    )
    yield _template(model, layout, numbered)
    if able(model, SigningEffects):
        mean, low, high = (model.role_signs_[key] for key in ("mean", "low", "high"))
        own = _own_roles(model, layout, numbered)
        yield pieces.plain_table(
            "The share of positive effects of each role, with 90% intervals",
            ["role", "positive effects"],
            [(f"{k + 1}", f"{mean[a]:.0%} ({low[a]:.0%} to {high[a]:.0%})")
             for k, a in enumerate(own)],
            "plain narrow",
        )  # fmt: skip


def _template(model: Any, layout: BandLayout, numbered: np.ndarray) -> str:
    return show_template(model.template_, _own_roles(model, layout, numbered))


def _own_roles(model: Any, layout: BandLayout, numbered: np.ndarray) -> list[int]:
    """Return the roles as the model numbers them, in the order of the page."""
    return [int(model.roles_[np.flatnonzero(numbered == k)[0]]) for k in range(len(layout.bands))]


def show_template(template: Any, own: list[int]) -> str:
    """Return the probabilities of edges between roles, which are shown in the order of `own`."""
    mean, low, high = (np.asarray(template[key]) for key in ("mean", "low", "high"))
    n = len(own)

    def cells(a: int) -> Iterator[tuple[str, float]]:
        for b in range(n):
            at = own[a], own[b]
            yield f"{mean[at]:.0%} ({low[at]:.0%} to {high[at]:.0%})", float(mean[at])

    return pieces.matrix(
        "Probability of an edge from role to role, with 90% intervals",
        [f"to role {b + 1}" for b in range(n)],
        ((f"from role {a + 1}", cells(a)) for a in range(n)),
    )


def _data(
    names: Sequence[str], order: list[int], edges: np.ndarray, together: np.ndarray, shape: Shape
) -> str:
    """Return the figures for the script."""
    figures = {
        "directed": shape.directed,
        "names": list(names),
        "order": order,
        "edges": edges.round(3).tolist(),
        "together": together.round(3).tolist(),
    }
    return draw("network.html", "data", figures)
