"""`infinimix evaluate`: how well a model does on a table, by cross-validation or a test file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from infinimix.cli import options
from infinimix.cli.bundles import TableOptions
from infinimix.cli.places import check_file

MOST_CLASSES = 15  # in the confusion matrix on a terminal
MOST_COLUMNS = 20  # in the table of importance


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
    from infinimix.evaluation.importance import measure_importance
    from infinimix.evaluation.summary import score, verdict

    found = (
        cross_validate(task, folds, seed) if test is None else test_on(task, test, table.reading)
    )
    how = found.how if test is None else f"tested on {test}"
    scores, worth = score(found), measure_importance(found, hide=False)
    if as_json:
        told = {"model": model, "how": how, "target": target, **tell_kinds(task), **scores}
        print_json({**told, "verdict": verdict(found), "importance": tell_importance(worth)})
    else:
        show_kinds(task)
        show(*show_scores(scores, f"{file}: {model}, {how}"), verdict(found))
        show(*show_importance(worth), *show_classes(scores))


def show_kinds(task: Any) -> None:
    """Print the kinds of columns that were decided, and what was left out."""
    from infinimix.cli.errors import listed
    from infinimix.cli.kinds import show_columns
    from infinimix.cli.out import show

    show(show_columns(task.infos, task.table))
    if task.left_out:
        show(f"Left out: {listed(task.left_out, 20)}.")


def tell_kinds(task: Any) -> dict[str, Any]:
    """Return the kinds of columns, and what was left out, for JSON."""
    from infinimix.cli.kinds import tell_columns

    return {
        "columns": tell_columns(task.infos),
        "left_out": task.left_out,
        "warnings": task.warnings,
    }


def show_scores(found: dict[str, Any], title: str) -> list[Any]:
    """Return the table of the scores."""
    from infinimix.cli.out import grid, number, percent

    def interval(name: str, form: Callable[[float], str]) -> str:
        low, high = found[f"{name}_interval"]
        return "" if low != low else f"95% interval {form(low)} to {form(high)}"

    numbers = [
        ("rows", f"{found['rows']:,}", ""),
        ("accuracy", percent(found["accuracy"]), interval("accuracy", percent)),
        ("always the largest class", percent(found["majority"]), repr(found["largest_class"])),
        ("balanced accuracy", percent(found["balanced_accuracy"]),
         interval("balanced_accuracy", percent)),
        ("ROC AUC", number(found["roc_auc"]), interval("roc_auc", number)),
        ("log-loss", number(found["log_loss"]),
         f"plus or minus {number(1.96 * found['log_loss_error'])}"),
        ("calibration error", percent(found["calibration_error"]), "0 is best"),
    ]  # fmt: skip
    return [grid(title, ("", "", ""), numbers)]


def show_importance(worth: Sequence[Any]) -> list[Any]:
    """Return the table of what columns are worth."""
    from infinimix.cli.out import grid, number

    if not worth:
        return []
    rows = [
        (one.name, number(one.shuffled.value), number(one.shuffled.low), number(one.shuffled.high))
        for one in worth[:MOST_COLUMNS]
    ]
    caption = "Rise of the log-loss when the column is shuffled among held-out rows, in nats."
    if len(worth) > MOST_COLUMNS:
        caption += f" {len(worth) - MOST_COLUMNS} less important columns are not shown."
    head = ("column", "importance", "95% interval from", "to")
    return [grid("Importance of columns", head, rows, caption=caption)]


def tell_importance(worth: Sequence[Any]) -> list[dict[str, Any]]:
    """Return what columns are worth, for JSON."""
    return [
        {"column": one.name, "importance": one.shuffled.value, "interval": one.shuffled[1:]}
        for one in worth
    ]


def show_classes(found: dict[str, Any]) -> list[Any]:
    """Return the tables of the classes and of confusions."""
    from infinimix.cli.out import grid, percent

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
    shown = [grid("Each class", ("class", "rows", "precision", "recall", "F1"), classes)]
    labels = [str(c["label"]) for c in found["classes"]]
    if len(labels) <= MOST_CLASSES:
        rows = [
            (label, *(n or "." for n in row))
            for label, row in zip(labels, found["confusion"], strict=True)
        ]
        shown.append(grid("Confusion: rows are true, columns predicted", ("", *labels), rows))
    return shown
