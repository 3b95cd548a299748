"""`infinimix network`: which columns depend on which, and what roles they play."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Annotated, Any

import typer

from infinimix.cli import options
from infinimix.cli.bundles import ColumnOptions

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
        str,
        typer.Option(
            "--prior",
            help="blockmodel, ordered, sparse or uniform.",
            autocompletion=lambda: ["blockmodel", "ordered", "sparse", "uniform"],
        ),
    ] = "blockmodel",
    bdeu: Annotated[
        bool,
        typer.Option("--bdeu", help="BDeu scores, for columns with very many categories."),
    ] = False,
    threshold: Annotated[
        float,
        typer.Option("--threshold", help="Show edges from this probability on.", min=0.0, max=1.0),
    ] = 0.5,
    *,
    table: ColumnOptions,
    seed: options.Seed = 0,
    jobs: options.Jobs = None,
    as_json: options.Json = False,
) -> None:
    """Find which columns depend on which, and the roles they play."""
    from infinimix.cli.out import is_watched, print_json, show, warn
    from infinimix.cli.places import write_text
    from infinimix.cli.tasks import read_rows

    rows = read_rows("network", file, table)
    if bif is not None:
        _check_bif(rows.infos)
    from infinimix import BlockmodelBayesNet  # numba: slow to load, so after the table is read
    from infinimix.networks.learning.summary import APART

    model = BlockmodelBayesNet(
        prior=prior, bdeu=bdeu, n_chains=chains, n_iter=sweeps, columns=rows.columns, n_jobs=jobs,
        random_state=seed, verbose=is_watched(),
    )  # fmt: skip
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Chains disagree")  # told below, in words of the command
        model = model.fit(rows.X) if seconds is None else model.fit_for(rows.X, seconds)
    model.set_params(verbose=False)
    found = describe_network(model, threshold)
    if found["largest_gap_between_chains"] > APART:
        warn("network", "the chains still disagree; give them more --seconds or --sweeps.")
    if output is not None:
        rows.save(model, output)
    if bif is not None:
        write_text(model.to_bif(), bif)
    if edges is not None:
        write_text(_edges_csv(model), edges)
    if as_json:
        print_json({"rows": rows.table.n_rows, **found})
    else:
        show(*show_network(found, f"{file}: {rows.table.n_rows:,} rows"))
        for path in (output, bif, edges):
            if path is not None:
                show(f"Wrote {path}.")


def _check_bif(infos: Any) -> None:
    """Say before the work that a network of numbers has no tables."""
    from infinimix.cli.errors import CommandError
    from infinimix.tables.column import record_of

    kinds = [info.kind for info in infos if not info.kind.startswith("date:")]
    if len(kinds) == len(infos) and not any(record_of(kind).discrete for kind in kinds):
        raise CommandError(
            "--bif: the format has tables of categories only, and all columns are numbers; leave "
            "it out, or make categories of them first."
        )


def _edges_csv(model: Any) -> str:
    from infinimix.cli.writing import to_csv

    edges = describe_network(model, 0.0)["edges"]
    names = ("from", "to", "probability")
    return to_csv({name: [edge[name] for edge in edges] for name in names})


def describe_network(model: Any, threshold: float = 0.5) -> dict[str, Any]:
    """Return roles, edges by probability, and how far the chains are apart."""
    names = [str(name) for name in model.columns_]
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
        grid(f"Roles in {title}", ("role", "columns"), roles),
        grid(
            f"Edges with a probability of {found['threshold']:g} or more",
            ("from", "", "to", "probability"),
            rows,
            caption=f".. {hidden} more, see --edges" if hidden > 0 else None,
        ),
        f"Largest gap between chains: {gap:.2f}",
    ]
