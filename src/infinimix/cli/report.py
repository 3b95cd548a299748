"""`infinimix report`: a model as a page to look at, one HTML file that needs nothing else."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from infinimix.cli import options
from infinimix.cli.bundles import FileOptions
from infinimix.cli.places import check_file


def report(
    model: options.Model,
    data: Annotated[
        Path | None,
        typer.Argument(
            help="Table to judge the model on, by cross-validation.", callback=check_file
        ),
    ] = None,
    target: Annotated[
        str | None,
        typer.Option(
            "--target", "-t", help="Column that holds the class; the model's, if not given."
        ),
    ] = None,
    output: Annotated[Path, options.to_file("--output", "-o", text="Page to write.")] = Path(
        "infinimix-report.html"
    ),
    held_out: Annotated[
        bool,
        typer.Option("--held-out", help="The table is new to the model: judge it as it is."),
    ] = False,
    title: Annotated[
        str | None, typer.Option("--title", help="What the page is called.", metavar="TEXT")
    ] = None,
    open_browser: Annotated[
        bool, typer.Option("--open", help="Open the page in a browser when it is done.")
    ] = False,
    *,
    reads: FileOptions,
    seed: options.Seed = 0,
    as_json: options.Json = False,
) -> None:
    """Write a page about a model: what it learned, and how well it does."""
    from infinimix.cli.files import read_source
    from infinimix.cli.learning import load_trained
    from infinimix.cli.out import print_json, show

    source = None if data is None else read_source(data, reads.reading)
    trained = load_trained(model)  # after the table: it is slow to load
    rows, labels = None, None
    if source is not None:
        rows, labels = _read(trained, source, reads.reading, target)
    from infinimix.reports.model_page import write_report  # scikit-learn: slow to load

    write_report(
        trained.model, output, rows=rows, target=labels, seed=seed, held_out=held_out, title=title
    )
    if as_json:
        print_json({"output": str(output), "rows": None if rows is None else len(rows)})
    else:
        show(f"Wrote {output}.")
    if open_browser:
        import webbrowser

        webbrowser.open(output.resolve().as_uri())


def _read(trained: Any, source: Any, reading: Any, target: str | None) -> tuple[Any, Any]:
    """Return the rows for the page, and their labels where the file has them."""
    from infinimix.cli.errors import CommandError
    from infinimix.cli.learning import read_for
    from infinimix.cli.out import count, warn
    from infinimix.cli.tables_in import need_columns, read_labels
    from infinimix.evaluation.abilities import Classified, able

    table, X = read_for(trained, source, reading, target)
    rows = trained.rows(X)
    name = target if target is not None else trained.notes.get("target")
    if target is not None:
        need_columns(table.source, [target], "--target")
    if name is None or name not in table.types or not able(trained.model, Classified):
        return rows, None
    labels = read_labels(table, name)
    kept = [i for i, label in enumerate(labels) if label is not None]
    if not kept:
        raise CommandError(f"{source.name} has no labels in {name!r}; name another --target.")
    if len(kept) < len(labels):
        warn("report", f"{count(len(labels) - len(kept), 'row')} without {name!r} left out.")
    rows = [rows[i] for i in kept] if isinstance(rows, list) else rows.iloc[kept]
    import pandas as pd  # loaded, as there is a frame

    return rows, pd.Series([labels[i] for i in kept], name=name, dtype=object)
