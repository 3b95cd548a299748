"""What `infinimix network` and `inspect` say of fitted networks: roles, edges, gaps."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

MOST_EDGES = 40


def describe_network(
    model: Any, threshold: float = 0.5, constant: Mapping[Any, Collection[str]] | None = None
) -> dict[str, Any]:
    """Return roles, edges by probability, and how far the chains are apart.

    `constant` names columns with a single value, by table (None of a single one). Their edges have
    the probability of the prior, so they are no result and are left out.
    """
    from infinimix.evaluation.abilities import LinkingBothWays, SharingRoles, SigningEffects, able

    several, constant = able(model, SharingRoles), constant or {}
    parts = model.networks_ if several else {None: model}
    edges, undecided = (
        [
            ({"table": str(table)} if several else {}) | edge
            for table, one in parts.items()
            for edge in find(one, threshold)
            if not {edge["from"], edge["to"]} & {*constant.get(table, ())}
        ]
        for find in (_edges, _undecided)
    )
    if several:
        names = [f"{table}: {column}" for table, column in model.variables_]
    else:
        names = [str(name) for name in model.columns_]
    signs = {}
    if able(model, SigningEffects):
        signs["positive_effects_of_roles"] = model.role_signs_["mean"].tolist()
    return {
        "roles": {name: int(role) for name, role in zip(names, model.roles_, strict=True)},
        **signs,
        "edges": _sorted(edges),
        "undecided": _sorted(undecided),
        "directed": not able(model, LinkingBothWays),
        "threshold": threshold,
        "largest_gap_between_chains": _largest_gap(model, parts.values()),
    }


def _sorted(edges: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(edges, key=lambda edge: -edge["probability"])


def _largest_gap(model: Any, parts: Iterable[Any]) -> float | None:
    """Return how far chains are apart; None of one chain, as 0 would read as agreement."""
    if model.n_chains == 1:
        return None
    return max(float(one.edge_gap_.max(initial=0.0)) for one in parts)


def _edges(model: Any, threshold: float) -> Iterator[dict[str, Any]]:
    """Yield edges; from a variable to itself in networks of sequences, where it persists."""
    from infinimix.evaluation.abilities import FollowingTime, LinkingBothWays, SigningEffects, able

    names, P = [str(name) for name in model.columns_], model.edge_marginals_
    loops, undirected = able(model, FollowingTime), able(model, LinkingBothWays)
    negative = model.negative_marginals_ if able(model, SigningEffects) else None
    for i in range(len(names)):
        for j in range(i + 1 if undirected else 0, len(names)):
            if (i != j or loops) and P[i, j] >= threshold:
                edge = {"from": names[i], "to": names[j], "probability": float(P[i, j])}
                if negative is not None:
                    edge["positive"] = float(1.0 - negative[i, j] / P[i, j]) if P[i, j] else 0.5
                yield edge


def _undecided(model: Any, threshold: float) -> Iterator[dict[str, Any]]:
    """Yield pairs that are linked while the direction is open: none where it is time, or none is.

    Each has the probability of either edge, and of each direction.
    """
    from infinimix.evaluation.abilities import FollowingTime, LinkingBothWays, SigningEffects, able
    from infinimix.evaluation.links import undecided_links

    if able(model, FollowingTime) or able(model, LinkingBothWays):
        return
    names, P = [str(name) for name in model.columns_], model.edge_marginals_
    negative = model.negative_marginals_ if able(model, SigningEffects) else None
    for i, j, p in undecided_links(P, threshold):
        pair = {"from": names[i], "to": names[j], "probability": p}
        pair |= {"forward": float(P[i, j]), "backward": float(P[j, i])}
        if negative is not None:
            pair["positive"] = float(1.0 - (negative[i, j] + negative[j, i]) / p)
        yield pair


def edges_csv(model: Any) -> str:
    """Return all edges as CSV."""
    from infinimix.cli.writing import to_csv

    edges = describe_network(model, 0.0)["edges"]
    columns = ("table", "from", "to", "probability", "positive")
    names = [name for name in columns if name in edges[0]]
    return to_csv({name: [edge[name] for edge in edges] for name in names})


def show_network(found: dict[str, Any], title: str) -> list[Any]:
    """Return tables of roles and edges."""
    return [_show_roles(found, title), _show_edges(found), _word_gap(found)]


def _show_roles(found: dict[str, Any], title: str) -> Any:
    from infinimix.cli.out import grid

    members: dict[int, list[str]] = {}
    for name, role in found["roles"].items():
        members.setdefault(role, []).append(name)
    shares = found.get("positive_effects_of_roles")
    signs = [() if shares is None else (f"{shares[role]:.2f}",) for role in sorted(members)]
    roles = [
        (role, ", ".join(names), *sign)
        for (role, names), sign in zip(sorted(members.items()), signs, strict=True)
    ]
    head = ("role", "columns", *(["positive effects"] if shares is not None else []))
    return grid(f"Roles in {title}", head, roles)


def _show_edges(found: dict[str, Any]) -> Any:
    """Return the table of edges; pairs of unknown direction stand among them by probability."""
    from infinimix.cli.out import grid

    edges = _sorted([*found["edges"], *found["undecided"]])
    several = bool(edges) and "table" in edges[0]
    signed = ("positive",) if "positive_effects_of_roles" in found else ()
    each_way = ("each way",) if any("forward" in edge for edge in edges[:MOST_EDGES]) else ()
    table = ("table",) if several else ()
    rows = [
        (
            *(edge[name] for name in table), edge["from"], _mark(edge, found["directed"]),
            edge["to"], f"{edge['probability']:.2f}", *(_both(edge) for _ in each_way),
            *(f"{edge[name]:.2f}" for name in signed),
        )
        for edge in edges[:MOST_EDGES]
    ]  # fmt: skip
    return grid(
        f"Edges with a probability of {found['threshold']:g} or more",
        (*table, "from", "", "to", "probability", *each_way, *signed),
        rows,
        caption=_explain_edges(bool(each_way), len(edges) - MOST_EDGES),
    )


def _mark(edge: Mapping[str, Any], directed: bool) -> str:
    if "forward" in edge or not directed:
        return "--"
    return "-|" if edge.get("positive", 1.0) < 0.5 else "->"


def _both(edge: Mapping[str, Any]) -> str:
    return f"-> {edge['forward']:.2f}, <- {edge['backward']:.2f}" if "forward" in edge else ""


def _explain_edges(open_ones: bool, hidden: int) -> str | None:
    parts: Sequence[str] = (
        "-- : linked, but the direction is not decided." if open_ones else "",
        f".. {hidden} more, see --edges" if hidden > 0 else "",
    )
    return " ".join(filter(None, parts)) or None


def _word_gap(found: dict[str, Any]) -> str:
    gap = found["largest_gap_between_chains"]
    if gap is None:
        return "One chain: there is no other to compare it with, so convergence is not known."
    return f"Largest gap between chains: {gap:.2f}"
