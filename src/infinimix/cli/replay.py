"""`infinimix replay`: the log of a folder learned into another model, or into its own up to a row.

Without `--model` the model of the folder itself is restored; with one, the rows that are still in
the log are learned from the first. The folder is only read, and may be in use.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from infinimix.cli import options

MODELS = {
    "aclass": "AClassClassifier",
    "online-crp": "OnlineCRPClassifier",
    "mixture": "CRPMixture",
}


def replay(
    folder: Annotated[Path, typer.Argument(help="Folder of a DurableLearner or of stream.")],
    output: Annotated[Path, options.to_file("--output", "-o", text="Model to write.")],
    model: Annotated[
        str | None,
        typer.Option(
            "--model", "-m", metavar="MODEL",
            help="aclass, online-crp or mixture; the model of the folder by default.",
        ),
    ] = None,
    until: Annotated[
        int | None,
        typer.Option("--until", help="Stop after the record of this number.", min=1, metavar="N"),
    ] = None,
    seed: options.Seed = 0,
    jobs: options.Jobs = None,
    as_json: options.Json = False,
) -> None:  # fmt: skip
    """Learn the log of a folder into another model, or restore its own up to a record."""
    from infinimix.cli.errors import CommandError

    if not folder.is_dir():
        raise CommandError(f"there is no folder {str(folder)!r}; check the name.")
    if model is not None and model not in MODELS:
        raise CommandError(f"--model: {model!r} is none of {', '.join(MODELS)}.")
    import infinimix  # numba: slow to load
    from infinimix.cli.out import count, print_json, show
    from infinimix.streaming.folder import holds_model

    if not holds_model(folder):
        raise CommandError(f"{folder} holds no model; name the folder of a DurableLearner.")
    if model is None:
        made, found = _restore(folder, until)
    else:
        made, found = _learn(folder, model, until, {"random_state": seed, "n_jobs": jobs})
    infinimix.save(made, output)
    if as_json:
        print_json({"model": type(made).__name__, **found, "output": str(output)})
    else:
        show(f"Learned {count(found['rows'], 'row')} (record {found['last']} is the last).")
        show(f"Wrote {output}.")


def _restore(folder: Path, until: int | None) -> tuple[Any, dict[str, int]]:
    """Return the model of the folder itself, as it was after a record."""
    from infinimix.streaming.recovery import restore

    found = restore(folder, 1, until)
    assert found is not None  # it holds a model
    progress = found.progress
    return found.model, {"rows": progress.n_rows, "first": 1, "last": progress.sequence}


def _learn(
    folder: Path, name: str, until: int | None, settings: dict[str, Any]
) -> tuple[Any, dict[str, int]]:
    """Return a new model that has learned the log."""
    import infinimix
    from infinimix.cli.errors import CommandError
    from infinimix.cli.learning import make
    from infinimix.cli.out import warn
    from infinimix.streaming.recovery import newest_model
    from infinimix.streaming.relearning import fit_rows
    from infinimix.streaming.replaying import read_log
    from infinimix.tables.rows import count_rows

    columns = newest_model(folder).columns
    if columns == "text" and name != "online-crp":
        raise CommandError(f"--model: {name} does not read words; take --model online-crp.")
    made = make(getattr(infinimix, MODELS[name]), columns=columns, **settings)
    rows, first, last = 0, 0, 0
    for last, X, y in read_log(folder, until):
        first = first or last
        if y is None and name != "mixture":
            raise CommandError(f"record {last} has no labels; take --model mixture.")
        fit_rows(made, X, None if name == "mixture" else y)
        rows += count_rows(X)
    if not rows:
        raise CommandError(f"the log of {folder} has no rows; nothing was learned.")
    if first > 1:
        warn(
            "replay",
            f"the log begins with record {first}: those before it were removed when two snapshots "
            "covered them, and are not in the new model.",
        )
    return made, {"rows": rows, "first": first, "last": last}
