"""`infinimix evaluate`: how well a model does on a table, by cross-validation or a test file."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from infinimix.cli import options
from infinimix.cli.bundles import LearnerOptions, ModelOptions, TableOptions
from infinimix.cli.places import check_file
from infinimix.cli.scheduler import enter_cluster

MOST_CLASSES = 15  # in the confusion matrix on a terminal
MOST_COLUMNS = 20  # in the table of importance


def evaluate(
    context: typer.Context,
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
    groups: options.Groups = None,
    baseline: Annotated[
        bool,
        typer.Option("--baseline", help="Compare with logistic regression and a random forest."),
    ] = False,
    cost: options.Cost = None,
    positive: Annotated[
        str | None,
        typer.Option(
            "--positive",
            help="The class that fn of --cost is about; the smaller of two if not given.",
            metavar="CLASS",
        ),
    ] = None,
    *,
    learner: LearnerOptions,
    table: TableOptions,
    tuning: ModelOptions,
    seed: options.Seed = 0,
    jobs: options.Jobs = None,
    cluster: options.Cluster = None,
    as_json: options.Json = False,
) -> None:
    """Measure how well a model predicts, by cross-validation or on a test table."""
    from infinimix.cli.costs import check_costs
    from infinimix.cli.goals import refuse_for_numbers
    from infinimix.cli.out import print_json, show
    from infinimix.cli.tasks import Supervision, read_task

    _check_options(test, groups, cost, positive)
    enter_cluster(context, cluster)
    settings = learner.settings(tuning, seed, jobs)
    wanted, model = Supervision(target, groups, learner.goal, learner.weights), learner.model
    task = read_task("evaluate", file, table, wanted, model, learner.text, settings)
    if task.numbers:
        refuse_for_numbers(target, {"--baseline": baseline, "--cost": cost})
        _evaluate_numbers(task, file, test, folds, seed, table.reading, as_json)
        return
    if cost is not None:
        check_costs(task.y, cost, positive)
    from infinimix.cli.costs import show_costs, weigh
    from infinimix.cli.testing import by_folds, by_table  # NumPy: slow to load
    from infinimix.evaluation.importance import measure_importance
    from infinimix.evaluation.summary import score, verdict, warn_of_unknown

    if test is None:
        judge = by_folds("evaluate", task, folds, seed)
    else:
        judge = by_table("evaluate", task, test, table.reading)
    if not as_json:
        show_kinds(task)
    found = judge(task, task.recipe.estimator())
    how = found.how if test is None else f"tested on {test}"
    scores, worth = score(found), measure_importance(found, hide=False)
    peers = _judge_baselines(judge, task, seed) if baseline else {}
    costs = None if cost is None else weigh(found, cost, positive)
    if as_json:
        told = {"model": model, "how": how, "target": target, **tell_kinds(task), **scores}
        told |= {"verdict": verdict(found), "importance": tell_importance(worth)}
        told |= {"baseline": tell_beside({model: found, **peers})} if baseline else {}
        print_json(told if costs is None else {**told, "cost": costs})
        return
    show(*show_scores(scores, f"{file}: {model}, {how}"), verdict(found))
    if (unknown := warn_of_unknown(found)) is not None:
        show(f"Note: {unknown}")
    if peers:
        show(*show_beside({model: found, **peers}))
    if costs is not None:
        show(*show_costs(costs))
    show(*show_importance(worth), *show_classes(scores))


def _check_options(
    test: Path | None, groups: str | None, cost: str | None, positive: str | None
) -> None:
    """Refuse what can be refused before a table is read."""
    from infinimix.cli.costs import read_costs
    from infinimix.cli.errors import CommandError

    if test is not None and groups is not None:
        raise CommandError("--groups is for folds; with --test leave it out.")
    if positive is not None and cost is None:
        raise CommandError('--positive is for costs; add --cost "fn=5,fp=1", or leave it out.')
    if cost is not None:
        read_costs(cost)


def _evaluate_numbers(
    task: Any, file: Path, test: Path | None, folds: int, seed: int, reading: Any, as_json: bool
) -> None:
    from infinimix.cli.out import print_json, show
    from infinimix.cli.regression import (  # NumPy: slow to load
        evaluate_numbers,
        figure,
        plan_numbers,
        show_number_scores,
    )

    judge, how = plan_numbers(task, test, folds, seed, reading)
    if not as_json:
        show_kinds(task)
    found, worth = evaluate_numbers(judge)
    if as_json:
        told = {"model": task.recipe.name, "how": how, "target": task.notes["target"]}
        print_json({**told, **tell_kinds(task), **found, "importance": tell_importance(worth)})
    else:
        show(*show_number_scores(found, f"{file}: {task.recipe.name}, {how}"))
        loss = (f"mean absolute error of {task.notes['target']!r}", "")
        show(*show_importance(worth, loss, figure))


def _judge_baselines(judge: Any, task: Any, seed: int) -> dict[str, Any]:
    from infinimix.cli.baselines import NAMES, make_baseline

    return {name: judge(task, make_baseline(name, task, seed)) for name in NAMES}


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


def tell_beside(found: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the scores of several models on the same rows, each compared with the first."""
    from infinimix.evaluation.summary import extra_loss, score

    first, names = next(iter(found.values())), ("accuracy", "balanced_accuracy", "roc_auc")
    told = []
    for name, one in found.items():
        scores, extra = score(one), extra_loss(one, first)
        own = {key: scores[key] for key in (*names, "accuracy_interval", "log_loss")}
        more = {"extra_log_loss": extra.value, "extra_log_loss_interval": extra[1:]}
        told.append({"model": name, **own, **(more if one is not first else {})})
    return told


def show_beside(found: Mapping[str, Any]) -> list[Any]:
    """Return the table of several models on the same rows."""
    from infinimix.cli.out import grid, number, percent

    rows = []
    for one in tell_beside(found):
        extra = ""
        if "extra_log_loss" in one:
            low, high = one["extra_log_loss_interval"]
            extra = f"{one['extra_log_loss']:+.4f} ({low:+.4f} to {high:+.4f})"
        low, high = one["accuracy_interval"]
        accuracy = f"{percent(one['accuracy'])} ({percent(low)} to {percent(high)})"
        rows.append((
            one["model"], accuracy, percent(one["balanced_accuracy"]), number(one["roc_auc"]),
            number(one["log_loss"]), extra,
        ))  # fmt: skip
    first = next(iter(found))
    head = ("model", "accuracy", "balanced", "ROC AUC", "log-loss", f"log-loss beyond {first}")
    caption = "All on the same held-out rows; ranges are 95% intervals, of differences row by row."
    return [grid("Models side by side", head, rows, caption=caption)]


def show_importance(
    worth: Sequence[Any],
    loss: tuple[str, str] = ("log-loss", ", in nats"),
    form: Callable[[float], str] | None = None,
) -> list[Any]:
    """Return the table of what columns are worth: how much a loss (name and unit) rises."""
    from infinimix.cli.out import grid, number

    if not worth:
        return []
    form = form or number
    rows = [(one.name, *map(form, one.shuffled)) for one in worth[:MOST_COLUMNS]]
    name, unit = loss
    caption = f"Rise of the {name} when the column is shuffled among held-out rows{unit}."
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
