"""The page of several networks that share roles: the roles, then each network with its edges."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from infinimix.networks.learning.summary import APART
from infinimix.reports import page, pieces
from infinimix.reports.about import show_about
from infinimix.reports.graph import draw_network, sure
from infinimix.reports.layout import lay_out
from infinimix.reports.network_page import FEW, LEAST, THRESHOLD, show_template, strongest
from infinimix.reports.undecided import show_undecided


def franchise_page(model: Any, title: str | None) -> str:
    """Return the page of a fitted `NetworkFranchise`."""
    tables = list(model.networks_)
    name = title or f"{pieces.plural(len(tables), 'network')} that share roles"
    sections = [("roles", "Roles", _show_roles(model))]
    for g, table in enumerate(tables):
        sections.append((f"network-{g}", f"The network of {table}", _show_network(model, g, table)))
    lead = (
        "Each table has a network of its own. The roles of the variables, and the probabilities of "
        "edges between roles, are common to all of them."
    )
    body = [
        page.header("infinimix report", name, lead),
        pieces.key_figures(_key(model)),
        pieces.contents((anchor, heading) for anchor, heading, _ in sections),
        *(page.section(heading, made, anchor) for anchor, heading, made in sections),
        *show_about(model),
    ]
    return page.build_page(f"{name}: infinimix report", body, ["report.css"])


def _key(model: Any) -> Iterator[tuple[str, str, str]]:
    yield "networks", f"{len(model.networks_):,}", ""
    roles = pieces.plural(int(model.roles_.max()) + 1, "role")
    yield "variables", f"{len(model.roles_):,}", f"in {roles}"
    gap = max(float(np.asarray(gaps).max(initial=0.0)) for gaps in model.edge_gap_.values())
    if model.n_chains > 1:
        verdict = "they agree" if gap <= APART else "they disagree: run it longer"
        yield "largest gap between chains", f"{gap:.0%}", verdict


def _show_roles(model: Any) -> Iterator[str]:
    roles, together = np.asarray(model.roles_), np.asarray(model.co_class_marginals_)

    def lines() -> Iterator[tuple[str, ...]]:
        for i in np.argsort(roles, kind="stable").tolist():
            table, column = model.variables_[i]
            mates = [j for j in np.flatnonzero(roles == roles[i]).tolist() if j != i]
            share = f"{together[i, mates].mean():.0%}" if mates else "alone"
            yield str(column), str(table), f"{roles[i] + 1}", share

    yield pieces.plain_table(
        "The role of each variable, and how probably it shares it with the others there",
        ["variable", "table", "role", "with the others"],
        lines(),
        "plain narrow",
    )
    yield show_template(model.template_, list(range(int(roles.max()) + 1)))


def _show_network(model: Any, g: int, table: Any) -> Iterator[str]:
    one = model.networks_[table]
    names, edges = [str(name) for name in one.columns_], np.asarray(one.edge_marginals_)
    own = np.array([owner == table for owner, _ in model.variables_])
    roles, gap, found = np.asarray(model.roles_)[own], np.asarray(one.edge_gap_), strongest(edges)
    label = f"Network of {len(names)} variables; the table of edges has the figures"
    likely = [edge for edge in found if edge[2] >= THRESHOLD]
    graph = draw_network(lay_out(edges, roles), names, likely, THRESHOLD, label, f"graph-{g}")
    yield page.paragraph(
        f"Edges with a probability of {THRESHOLD:.0%} or more, in bands by shared role."
    )
    yield pieces.scroll(graph, f"The network of {table}")
    rows = [
        (f"{names[i]} \u2192 {names[j]}", sure(p), sure(edges[j, i]), f"{gap[i, j]:.1%}")
        for i, j, p in found
    ]
    head = ["edge", "probability", "the other way", "gap between chains"]
    lines = pieces.plain_table(f"Edges of {LEAST:.0%} and more", head, rows)
    yield pieces.folded("Table of the edges", lines, opened=len(found) <= FEW)
    yield from show_undecided(names, edges, THRESHOLD)
