"""`infinimix fit`: from a table with a column to predict to a model in a file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from infinimix.cli import options
from infinimix.cli.bundles import LearnerOptions, ModelOptions, TableOptions
from infinimix.cli.partitions_in import (
    are_partitions,
    fit_files,
    refuse_options,
    show_model,
    tell_model,
)
from infinimix.cli.scheduler import enter_cluster
from infinimix.evaluation.abilities import HoldsOut, Regressing, able


def fit(
    context: typer.Context,
    train: options.TableOrFolder,
    target: options.Target,
    output: Annotated[Path, options.to_file("--output", "-o", text="Model to write.")],
    *,
    learner: LearnerOptions,
    table: TableOptions,
    tuning: ModelOptions,
    seed: options.Seed = 0,
    jobs: options.Jobs = None,
    cluster: options.Cluster = None,
    as_json: options.Json = False,
) -> None:
    """Learn to predict a column of a table, and save the model."""
    from infinimix.cli.out import print_json, show
    from infinimix.cli.tasks import Supervision, read_task

    enter_cluster(context, cluster)
    settings = learner.settings(tuning, seed, jobs)
    if are_partitions(train):
        given = {
            "--regression": learner.regression, "--bins": learner.bins, "--text": learner.text,
            "--weights": learner.weights, f"--model {learner.model}": learner.model != "aclass",
            "--class-weight": tuning.class_weight,
        }  # fmt: skip
        refuse_options(train, given)
        trained = fit_files(train, target, table, settings)
        trained.save(output)
        if as_json:
            print_json(tell_model(trained, output))
        else:
            show(*show_model(trained, output))
        return
    wanted = Supervision(target, goal=learner.goal, weights=learner.weights)
    task = read_task("fit", train, table, wanted, learner.model, learner.text, settings)
    if not as_json:
        from infinimix.cli.kinds import show_columns

        show(show_columns(task.infos, task.table))
    trained = task.recipe.fit(task.X, task.y, weights=task.weights)
    trained.save(output, **task.notes)
    if as_json:
        print_json({"model": str(output), **_tell(task, trained.model)})
    else:
        show(*_show(task, trained.model, output))


def _tell(task: Any, model: Any) -> dict[str, Any]:
    from infinimix.cli.describing import describe_classes
    from infinimix.cli.kinds import otherwise, tell_columns

    columns = tell_columns(task.infos)
    for name, kind in otherwise(task.infos, model).items():
        columns[name]["kind"] = kind
    told = {
        "kind": type(model).__name__,
        "rows": len(task.y),
        "columns": columns,
        "warnings": task.warnings,
    }
    if able(model, Regressing):
        from infinimix.cli.regression import tell_fit

        return told | tell_fit(model, task.y)
    return told | {
        "classes": describe_classes(model, task.y),
        "loo_log_loss": model.loo_log_loss_ if able(model, HoldsOut) else None,
    }


def _show(task: Any, model: Any, output: Path) -> list[Any]:
    from infinimix.cli.describing import describe_classes, show_classes
    from infinimix.cli.errors import shell_word
    from infinimix.cli.kinds import otherwise
    from infinimix.cli.out import count, number

    if able(model, Regressing):
        from infinimix.cli.regression import show_fit

        lines = show_fit(model, task.y, task.notes["target"])
    else:
        title = f"Classes of {task.notes['target']!r}"
        lines = [show_classes(describe_classes(model, task.y), title)]
    if able(model, HoldsOut) and model.loo_log_loss_ == model.loo_log_loss_:
        loss = number(model.loo_log_loss_)
        lines.append(f"Log-loss of training rows, held out while the others were learned: {loss}")
    for name, kind in otherwise(task.infos, model).items():
        lines.append(f"Learned as {kind}, which predicts left-out rows better: {name}")
    saved = f"Saved {output}: {type(model).__name__}, {count(len(task.y), 'row')}."
    return [*lines, saved, f"Next: infinimix predict {shell_word(str(output))} FILE"]
