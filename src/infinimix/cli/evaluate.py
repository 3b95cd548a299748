"""`infinimix evaluate`: how well a model does on a table, by cross-validation or a test file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from infinimix.cli import options
from infinimix.cli.bundles import TableOptions
from infinimix.cli.places import check_file

MOST_CLASSES = 15  # in the confusion matrix on a terminal


def evaluate(
    file: options.Table,
    target: options.Target,
    test: Annotated[
        Path | None,
        typer.Option(
            "--test",
            help="Test on this table instead of folds.",
            metavar="FILE",
            callback=check_file,
        ),
    ] = None,
    folds: Annotated[int, typer.Option("--folds", help="Folds of cross-validation.", min=2)] = 5,
    model: options.ModelName = "aclass",
    text: options.Text = None,
    effort: options.Effort = "default",
    *,
    table: TableOptions,
    seed: options.Seed = 0,
    jobs: options.Jobs = None,
    as_json: options.Json = False,
) -> None:
    """Measure how well a model predicts, by cross-validation or on a test table."""
    from infinimix.cli.out import print_json, show
    from infinimix.cli.tasks import read_task

    settings = {"random_state": seed, "n_jobs": jobs, "effort": effort}
    task = read_task("evaluate", file, target, table, model, text, settings)
    from infinimix.cli.testing import cross_validate, test_on  # NumPy: slow to load

    found = (
        cross_validate(task, folds, seed) if test is None else test_on(task, test, table.reading)
    )
    how = f"{folds}-fold cross-validation" if test is None else f"tested on {test}"
    if as_json:
        print_json({"model": model, "how": how, **found})
    else:
        show(*_show(found, f"{file}: {model}, {how}"))


def _show(found: dict[str, Any], title: str) -> list[Any]:
    from infinimix.cli.out import grid, number, percent

    low, high = found["accuracy_interval"]
    numbers = [
        ("rows", f"{found['rows']:,}", ""),
        ("accuracy", percent(found["accuracy"]), f"95% interval {percent(low)} to {percent(high)}"),
        ("always the largest class", percent(found["majority"]), ""),
        ("log-loss", number(found["log_loss"]),
         f"plus or minus {number(1.96 * found['log_loss_error'])}"),
        ("calibration error", percent(found["calibration_error"]), "0 is best"),
    ]  # fmt: skip
    classes = [
        (
            c["label"],
            f"{c['rows']:,}",
            percent(c["precision"]),
            percent(c["recall"]),
            percent(c["f1"]),
        )
        for c in found["classes"]
    ]
    shown: list[Any] = [
        grid(title, ("", "", ""), numbers),
        grid("Each class", ("class", "rows", "precision", "recall", "F1"), classes),
    ]
    labels = [str(c["label"]) for c in found["classes"]]
    if len(labels) <= MOST_CLASSES:
        rows = [
            (label, *(n or "." for n in row))
            for label, row in zip(labels, found["confusion"], strict=True)
        ]
        shown.append(grid("Confusion: rows are true, columns predicted", ("", *labels), rows))
    return shown
