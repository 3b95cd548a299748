"""`infinimix network`: which columns depend on which, and what roles they play."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from infinimix.cli import options

MOST_EDGES = 40


def network(
    file: options.Table,
    output: Annotated[
        Path | None,
        options.to_file("--output", "-o", text="Model to write."),
    ] = None,
    bif: Annotated[
        Path | None,
        options.to_file("--bif", text="Write the network as a BIF file."),
    ] = None,
    edges: Annotated[
        Path | None,
        options.to_file("--edges", text="Write all edges as CSV."),
    ] = None,
    seconds: Annotated[
        float | None, typer.Option("--seconds", help="Stop after about so many seconds.", min=0.1)
    ] = None,
    sweeps: Annotated[int, typer.Option("--sweeps", help="Sweeps of each chain.", min=1)] = 2000,
    chains: Annotated[int, typer.Option("--chains", help="Independent chains.", min=1)] = 4,
    prior: Annotated[
        str, typer.Option("--prior", help="blockmodel, ordered, sparse or uniform.")
    ] = "blockmodel",
    threshold: Annotated[
        float,
        typer.Option("--threshold", help="Show edges from this probability on.", min=0.0, max=1.0),
    ] = 0.5,
    real: options.Real = None,
    log: options.Log = None,
    category: options.Category = None,
    binary: options.Binary = None,
    count: options.Count = None,
    columns: options.Columns = None,
    drop: options.Drop = None,
    missing: options.Missing = None,
    format: options.Format = None,
    delimiter: options.Delimiter = None,
    seed: options.Seed = 0,
    jobs: options.Jobs = None,
    as_json: options.Json = False,
) -> None:
    """Find which columns depend on which, and the roles they play."""
    from infinimix import BlockmodelBayesNet
    from infinimix.cli.learning import Trained
    from infinimix.cli.out import is_watched, print_json, show
    from infinimix.cli.places import write_text
    from infinimix.cli.predict import to_csv
    from infinimix.cli.tables_in import Reading
    from infinimix.cli.tasks import read_rows

    flags = {
        "--real": real, "--log": log, "--category": category, "--binary": binary, "--count": count,
    }  # fmt: skip
    rows = read_rows(
        "network", file, Reading(format, delimiter, missing), flags, columns, drop
    )  # fmt: skip
    model = BlockmodelBayesNet(
        prior=prior, n_chains=chains, n_iter=sweeps, columns=rows.columns, n_jobs=jobs,
        random_state=seed, verbose=is_watched(),
    )  # fmt: skip
    model = model.fit(rows.X) if seconds is None else model.fit_for(rows.X, seconds)
    text = model.to_bif() if bif is not None else ""
    found = describe_network(model, threshold)
    if output is not None:
        types = {name: rows.table.types[name] for name in rows.X.columns}
        notes = {"columns": list(rows.X.columns), "drop": rows.asked.drop, "types": types}
        Trained(model, notes).save(output, missing=missing)
    if bif is not None:
        write_text(text, bif)
    if edges is not None:
        every = describe_network(model, 0.0)["edges"]
        names = ("from", "to", "probability")
        write_text(to_csv({name: [edge[name] for edge in every] for name in names}), edges)
    if as_json:
        print_json({"rows": rows.table.n_rows, **found})
    else:
        show(*show_network(found, f"{file}: {rows.table.n_rows:,} rows"))
        for path in (output, bif, edges):
            if path is not None:
                show(f"Wrote {path}.")


def describe_network(model: Any, threshold: float = 0.5) -> dict[str, Any]:
    """Return roles, edges by probability, and how far the chains are apart."""
    names = [str(name) for name in model._columns.schema.names]
    P = model.edge_marginals_
    pairs = [
        {"from": names[i], "to": names[j], "probability": float(P[i, j])}
        for i in range(len(names))
        for j in range(len(names))
        if i != j and P[i, j] >= threshold
    ]
    return {
        "roles": {name: int(role) for name, role in zip(names, model.roles_, strict=True)},
        "edges": sorted(pairs, key=lambda edge: -edge["probability"]),
        "threshold": threshold,
        "largest_gap_between_chains": float(model.edge_gap_.max(initial=0.0)),
    }


def show_network(found: dict[str, Any], title: str) -> list[Any]:
    """Return tables of roles and edges."""
    from infinimix.cli.out import grid

    members: dict[int, list[str]] = {}
    for name, role in found["roles"].items():
        members.setdefault(role, []).append(name)
    roles = [(role, ", ".join(names)) for role, names in sorted(members.items())]
    edges = found["edges"]
    rows = [(e["from"], "->", e["to"], f"{e['probability']:.2f}") for e in edges[:MOST_EDGES]]
    hidden, gap = len(edges) - MOST_EDGES, found["largest_gap_between_chains"]
    return [
        grid(f"Roles in {title}", ("role", "columns"), roles, left=2),
        grid(
            f"Edges with a probability of {found['threshold']:g} or more",
            ("from", "", "to", "probability"),
            rows,
            left=3,
            caption=f".. {hidden} more, see --edges" if hidden > 0 else None,
        ),
        f"Largest gap between chains: {gap:.2f} (more than 0.2: let it run longer)",
    ]
