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
            help="Table to evaluate the model on, by cross-validation.", callback=check_file
        ),
    ] = None,
    target: Annotated[
        str | None,
        typer.Option(
            "--target",
            "-t",
            help="Column of the class or number; the model's, if not given.",
        ),
    ] = None,
    output: Annotated[Path, options.to_page("--output", "-o", text="Page to write.")] = Path(
        "infinimix-report.html"
    ),
    held_out: Annotated[
        bool,
        typer.Option("--held-out", help="The table is new to the model: evaluate it as it is."),
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
    from infinimix.cli.model_files import load_trained
    from infinimix.cli.out import print_json, show

    source = None if data is None else read_source(data, reads.reading)
    trained = load_trained(model)  # after the table: it is slow to load
    rows = labels = found = None
    named = target if target is not None else trained.notes.get("target")
    if source is not None:
        rows, labels, found = _read(trained, source, reads.reading, target, seed, held_out)
    from infinimix.reports.model_page import write_report  # scikit-learn: slow to load

    write_report(
        trained.model, output, rows=rows, target=labels, seed=seed, held_out=held_out, title=title,
        target_name=named, source=None if data is None else data.name, predictions=found,
    )  # fmt: skip
    if as_json:
        print_json({"output": str(output), "rows": None if rows is None else len(rows)})
    else:
        show(f"Wrote {output}.")
    if open_browser:
        import webbrowser

        webbrowser.open(output.resolve().as_uri())


def _read(
    trained: Any, source: Any, reading: Any, target: str | None, seed: int, held_out: bool
) -> tuple[Any, Any, Any]:
    """Return the rows for the page, their labels where the file has them, and predictions."""
    from infinimix.cli.errors import CommandError
    from infinimix.cli.goals import Bins, bin_target, read_numbers
    from infinimix.cli.model_files import read_for, reading_of
    from infinimix.cli.out import count, warn
    from infinimix.cli.tables_in import need_columns, read_labels
    from infinimix.cli.weights import read_weights
    from infinimix.evaluation.abilities import AnswersBatches, Classified, Regressing, able

    numbers = able(trained.model, Regressing)
    name = target if target is not None else trained.notes.get("target")
    if trained.notes.get("bins") and target is None:
        source = bin_target(source, str(name), reading, Bins(*trained.notes["bins"]))
    table, X = read_for(trained, source, reading, target)
    counted, weights = trained.notes.get("weights"), None
    places = list(range(len(X)))
    if counted in table.types:
        places, weights = read_weights("report", table, counted)
        X = X.iloc[places].reset_index(drop=True)
    rows = trained.rows(X)
    if target is not None:
        need_columns(table.source, [target], "--target")
    if name is None or name not in table.types or not (numbers or able(trained.model, Classified)):
        return rows, None, None
    if numbers:
        labels = read_numbers(source, name, reading_of(trained, reading))
    else:
        labels = read_labels(table, name)
    labels = [labels[i] for i in places]
    bare = sum(label is None for label in labels)
    if bare == len(labels):
        raise CommandError(f"{source.name} has no labels in {name!r}; name another --target.")
    if bare:
        learned = able(trained.model, AnswersBatches) and not held_out
        what = "learned without label" if learned else "left out"
        warn("report", f"{count(bare, 'row')} without {name!r} {what}.")
    import pandas as pd  # loaded, as there is a frame

    if numbers:
        return rows, pd.Series(labels, name=name, dtype=float), None
    from infinimix.evaluation.predictions import cross_validate, judge_held_out

    if held_out:
        found = judge_held_out(trained.model, rows, labels)
    else:  # as `evaluate` does, so that both say the same
        found = cross_validate(
            trained.estimator(seed), trained.of(X), labels, seed, weights=weights
        )
    return rows, pd.Series(labels, name=name, dtype=object), found
