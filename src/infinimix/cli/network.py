"""`infinimix network`: which columns depend on which, and what roles they play."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Annotated

import typer

from infinimix.cli import options
from infinimix.cli.bundles import ColumnOptions
from infinimix.cli.places import check_files


def network(
    files: Annotated[
        list[Path],
        typer.Argument(
            help="Table to learn from; several have a network each, and share roles.",
            callback=check_files,
            metavar="FILE...",
        ),
    ],
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
    report: Annotated[
        Path | None,
        options.to_page("--report", text="Write a page about the network."),
    ] = None,
    impute: Annotated[
        Path | None,
        options.to_file("--impute", text="Write the table with its missing cells filled."),
    ] = None,
    kind: Annotated[
        str,
        typer.Option(
            "--kind",
            help="directed, undirected or dynamic (rows in the order of time).",
            autocompletion=lambda: ["directed", "undirected", "dynamic"],
        ),
    ] = "directed",
    groups: Annotated[
        str | None,
        typer.Option(
            "--groups", help="Of a dynamic network: column of the sequence.", metavar="COLUMN"
        ),
    ] = None,
    require: Annotated[
        list[str] | None,
        typer.Option("--require", help="Edge that must be there, 'a -> b'.", metavar="EDGE"),
    ] = None,
    forbid: Annotated[
        list[str] | None,
        typer.Option("--forbid", help="Edge that must not be there, 'a -> b'.", metavar="EDGE"),
    ] = None,
    role: Annotated[
        list[str] | None,
        typer.Option("--role", help="Known role of a column, 'a=cause'.", metavar="COLUMN=ROLE"),
    ] = None,
    interventions: Annotated[
        list[str] | None,
        typer.Option(
            "--interventions",
            help="Table with 1 where a cell was set from outside.",
            metavar="FILE",
        ),
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
    likelihood: Annotated[
        str,
        typer.Option(
            "--likelihood",
            help="auto, discrete, gaussian or mixed (numbers beside categories stay numbers).",
            autocompletion=lambda: ["auto", "discrete", "gaussian", "mixed"],
        ),
    ] = "auto",
    effects: Annotated[
        str,
        typer.Option(
            "--effects",
            help="any, or signed (positive or negative; columns of 0 and 1, numbers in two bins).",
            autocompletion=lambda: ["any", "signed"],
        ),
    ] = "any",
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
    from infinimix.cli.network_learning import Learner, Wanted, check_bif
    from infinimix.cli.network_output import describe_network, edges_csv, show_network
    from infinimix.cli.out import is_watched, print_json, show, waiting, warn
    from infinimix.cli.places import write_text

    wanted = Wanted(
        kind, prior, bdeu, groups, tuple(interventions or ()), bif is not None, bool(role),
        likelihood, effects, impute is not None,
    )  # fmt: skip
    wanted.check(len(files))
    learner = Learner(wanted, files, table)
    learner.know(require, forbid, role)
    if bif is not None:
        check_bif(learner.first.infos, likelihood)
    given = learner.given()
    model = learner.model({
        "n_chains": chains, "n_iter": sweeps, "n_jobs": jobs, "random_state": seed,
        "verbose": is_watched(),
    })  # fmt: skip
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "[Cc]hains d")  # told below, in words of the command
        if any(learner.constant().values()):  # the note on the table has told that
            warnings.filterwarnings("ignore", r"(table .*: )?constant: [^;]*\. Nothing is learned")
        model = learner.fit(model, seconds, given)
    model.set_params(verbose=False)
    found = describe_network(model, threshold, learner.constant())
    from infinimix.networks.learning.summary import APART

    if (found["largest_gap_between_chains"] or 0.0) > APART:
        warn("network", "the chains still disagree; give them more --seconds or --sweeps.")
    if output is not None:
        learner.save(model, output)
    if bif is not None:
        with waiting("searching for the most probable network"):
            text = model.to_bif()
        write_text(text, bif)
    if edges is not None:
        write_text(edges_csv(model), edges)
    if impute is not None:
        with waiting("filling missing cells"):
            learner.impute(model, impute, given)
    if report is not None:
        from infinimix.reports.model_page import write_report  # scikit-learn: slow to load

        write_report(model, report)
    n_rows = [one.table.n_rows for one in learner.tables.values()]
    if as_json:
        print_json({"rows": n_rows[0] if len(n_rows) == 1 else n_rows, **found})
    else:
        each = (f"{path}: {n:,} rows" for path, n in zip(files, n_rows, strict=True))
        show(*show_network(found, "; ".join(each)))
        for path in (output, bif, edges, impute, report):
            if path is not None:
                show(f"Wrote {path}.")
