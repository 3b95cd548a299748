"""`infinimix compare`: several models on the same folds of one table."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from infinimix.cli import options
from infinimix.cli.bundles import TableOptions
from infinimix.cli.scheduler import enter_cluster

DEFAULT = "aclass,online-crp,finite-mixture,logistic-regression,random-forest"
DEFAULT_WEIGHTED = DEFAULT.replace("online-crp,", "")  # which has no weights of classes


def compare(
    context: typer.Context,
    file: options.Table,
    target: options.Target,
    models: Annotated[
        str,
        typer.Option(
            "--models",
            help="Names of fit --model, logistic-regression or random-forest.",
            metavar="A,B",
        ),
    ] = DEFAULT,
    folds: Annotated[int, typer.Option("--folds", help="Folds of cross-validation.", min=2)] = 5,
    groups: options.Groups = None,
    weights: options.Weights = None,
    class_weight: options.ClassWeight = None,
    effort: options.Effort = "default",
    *,
    table: TableOptions,
    seed: options.Seed = 0,
    jobs: options.Jobs = None,
    cluster: options.Cluster = None,
    as_json: options.Json = False,
) -> None:
    """Compare models on the same folds of a table, with intervals."""
    from infinimix.cli.evaluate import show_beside, tell_beside
    from infinimix.cli.out import print_json, show
    from infinimix.cli.tasks import Supervision, read_task

    names = _read_names(models, class_weight)
    enter_cluster(context, cluster)
    settings = {
        "random_state": seed, "n_jobs": jobs, "effort": effort, "class_weight": class_weight
    }  # fmt: skip

    def read(name: str) -> Any:
        wanted = Supervision(target, groups, weights=weights)
        return read_task("compare", file, table, wanted, name, None, settings)

    tasks = {name: read(_own(name)) for name in names}
    from infinimix.cli.baselines import NAMES, make_baseline
    from infinimix.cli.testing import by_folds  # NumPy: slow to load

    judge = by_folds("compare", tasks[names[0]], folds, seed)
    found = {
        name: judge(
            task, make_baseline(name, task, seed) if name in NAMES else task.recipe.estimator()
        )
        for name, task in tasks.items()
    }
    order = sorted(found, key=lambda name: float(found[name].losses.mean()))
    found = {name: found[name] for name in order}
    best = found[order[0]]
    if as_json:
        told = {"target": target, "rows": len(best.y), "how": best.how}
        print_json({**told, "models": tell_beside(found)})
    else:
        show(f"{file}: {len(best.y):,} rows, {best.how}; the lowest log-loss first.")
        show(*show_beside(found), _conclude(found))


def _read_names(text: str, class_weight: str | None) -> list[str]:
    """Return the names of models; one that there is not is refused."""
    from infinimix.cli.baselines import NAMES
    from infinimix.cli.errors import CommandError, hint
    from infinimix.cli.goals import REGRESSOR
    from infinimix.cli.learning import available

    if text == DEFAULT and class_weight is not None:
        text = DEFAULT_WEIGHTED
    names = list(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))
    if REGRESSOR in names:
        raise CommandError(
            f"--models: {REGRESSOR} predicts numbers, the others classes; leave it out, and "
            "measure it with infinimix evaluate --regression."
        )
    known = [*(name for name in available() if name != REGRESSOR), *NAMES]
    for name in names:
        if name not in known:
            raise CommandError(f"--models: there is no {name!r}; {hint(name, known)}")
    if len(names) < 2:
        raise CommandError(f"--models: name two or more of {', '.join(known)}.")
    return names


def _own(name: str) -> str:
    """Return the model whose reading of the table a baseline shares."""
    from infinimix.cli.baselines import NAMES

    return "aclass" if name in NAMES else name


def _conclude(found: dict[str, Any]) -> str:
    """Return which models are worse than the best by more than chance."""
    from infinimix.cli.errors import listed
    from infinimix.evaluation.summary import extra_loss

    best, *others = found
    worse = [name for name in others if extra_loss(found[name], found[best]).low > 0.0]
    same = [name for name in others if name not in worse]
    text = f"{best!r} has the lowest log-loss"
    if not same:
        return f"{text}, and all others are worse by more than chance (95% intervals)."
    return f"{text}; {listed(same)} cannot be told from it on these rows (95% intervals)."
