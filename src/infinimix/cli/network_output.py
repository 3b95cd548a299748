"""What `infinimix network` and `inspect` say of fitted networks: roles, edges, gaps."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

MOST_EDGES = 40


def describe_network(model: Any, threshold: float = 0.5) -> dict[str, Any]:
    """Return roles, edges by probability, and how far the chains are apart."""
    from infinimix.evaluation.abilities import LinkingBothWays, SharingRoles, SigningEffects, able

    several = able(model, SharingRoles)
    parts = model.networks_ if several else {None: model}
    edges = [
        ({"table": str(table)} if several else {}) | edge
        for table, one in parts.items()
        for edge in _edges(one, threshold, able(one, LinkingBothWays))
    ]
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
        "edges": sorted(edges, key=lambda edge: -edge["probability"]),
        "directed": not able(model, LinkingBothWays),
        "threshold": threshold,
        "largest_gap_between_chains": max(
            float(one.edge_gap_.max(initial=0.0)) for one in parts.values()
        ),
    }


def _edges(model: Any, threshold: float, undirected: bool) -> Iterator[dict[str, Any]]:
    """Yield edges; from a variable to itself in networks of sequences, where it persists."""
    from infinimix.evaluation.abilities import FollowingTime, SigningEffects, able

    names, P = [str(name) for name in model.columns_], model.edge_marginals_
    loops = able(model, FollowingTime)
    negative = model.negative_marginals_ if able(model, SigningEffects) else None
    for i in range(len(names)):
        for j in range(i + 1 if undirected else 0, len(names)):
            if (i != j or loops) and P[i, j] >= threshold:
                edge = {"from": names[i], "to": names[j], "probability": float(P[i, j])}
                if negative is not None:
                    edge["positive"] = float(1.0 - negative[i, j] / P[i, j]) if P[i, j] else 0.5
                yield edge


def edges_csv(model: Any) -> str:
    """Return all edges as CSV."""
    from infinimix.cli.writing import to_csv

    edges = describe_network(model, 0.0)["edges"]
    columns = ("table", "from", "to", "probability", "positive")
    names = [name for name in columns if name in edges[0]]
    return to_csv({name: [edge[name] for edge in edges] for name in names})


def show_network(found: dict[str, Any], title: str) -> list[Any]:
    """Return tables of roles and edges."""
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
    edges, link = found["edges"], "->" if found["directed"] else "--"
    several = bool(edges) and "table" in edges[0]
    signed = ("positive",) if shares is not None else ()
    head = (*(("table",) if several else ()), "from", "", "to", "probability", *signed)
    rows = [
        (
            *((e["table"],) if several else ()), e["from"],
            "-|" if e.get("positive", 1.0) < 0.5 else link, e["to"], f"{e['probability']:.2f}",
            *(f"{e[name]:.2f}" for name in signed),
        )
        for e in edges[:MOST_EDGES]
    ]  # fmt: skip
    hidden, gap = len(edges) - MOST_EDGES, found["largest_gap_between_chains"]
    return [
        grid(
            f"Roles in {title}",
            ("role", "columns", *(["positive effects"] if signed else [])),
            roles,
        ),
        grid(
            f"Edges with a probability of {found['threshold']:g} or more",
            head,
            rows,
            caption=f".. {hidden} more, see --edges" if hidden > 0 else None,
        ),
        f"Largest gap between chains: {gap:.2f}",
    ]
