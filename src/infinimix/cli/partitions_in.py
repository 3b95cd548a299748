"""Folders and patterns of files, for `fit` and `predict`: read partition by partition.

They are read as `infinimix.read_partitions` does, which says what a column holds by its cells
alone; what the command finds out about a single file (number styles, titles, identifiers) it does
not ask of many.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from infinimix.cli.errors import CommandError, listed, shell_word
from infinimix.cli.reading import Reading, Source

PATTERN = frozenset("*?[")
MODEL = "aclass"


def are_partitions(path: Path) -> bool:
    """Whether a path is a folder, or a pattern of files."""
    return path.is_dir() or (not path.exists() and bool(PATTERN & {*str(path)}))


def open_files(path: Path, reading: Reading, **options: Any) -> Any:
    """Open the files; errors are the user's."""
    from infinimix import read_partitions  # NumPy: slow to load

    more = {} if _is_parquet(path) else _csv_options(reading)
    try:
        return read_partitions(path, **options, **more)
    except (OSError, ValueError, ImportError) as error:
        raise CommandError(f"{error}.") from error


def _is_parquet(path: Path) -> bool:
    from infinimix.tables.partition_sources import find_files

    try:
        return all(name.lower().endswith((".parquet", ".pq")) for name in find_files(path))
    except OSError as error:
        raise CommandError(f"{error}.") from error


def _csv_options(reading: Reading) -> dict[str, Any]:
    """Return how pandas reads the files: missing cells are those of the command."""
    from infinimix.streaming.cells import MISSING

    missing = MISSING if reading.missing is None else reading.missing
    given = {"sep": reading.delimiter, "decimal": reading.decimal, "encoding": reading.encoding}
    options = {key: value for key, value in given.items() if value is not None}
    return {**options, "keep_default_na": False, "na_values": [*missing]}


def refuse_options(path: Path, given: dict[str, Any]) -> None:
    """Refuse options that are for single files."""
    for flag, value in given.items():
        if value:
            raise CommandError(f"{flag} is for single files; {path} is a folder or a pattern.")


def fit_files(path: Path, target: str, table: Any, settings: dict[str, Any]) -> Any:
    """Return a model of all files, with its notes, and how many partitions there were."""
    from infinimix.cli.kinds import ask_kinds
    from infinimix.cli.learning import Trained, check_effort, check_tuning, make_named
    from infinimix.cli.out import is_watched
    from infinimix.cli.tables_in import InputTable, need_columns

    check_effort(settings["effort"])
    check_tuning(MODEL, settings)
    reading = table.reading
    names = open_files(path, reading).columns
    source = Source(str(path), "csv", names, [], [])
    need_columns(source, [target], "--target")
    empty = InputTable({}, {}, Counter(), source)
    asked = ask_kinds(empty, table.kinds, table.columns, table.drop, table.keep)
    rows = open_files(path, reading, drop=asked.drop)
    used = [name for name in rows.columns if name != target]
    if not used:
        raise CommandError(f"{path} has no column to learn from besides {target}.")
    model = make_named(MODEL, asked.within(used), is_watched(), settings)
    try:
        model.fit(rows, target)
    except ValueError as error:
        raise CommandError(f"{path}: {error}") from error
    model.set_params(verbose=False)
    notes = {"columns": used, "target": target, "drop": asked.drop, "missing": reading.missing}
    return Trained(model, {**notes, "partitions": len(rows.parts)})


def tell_model(trained: Any, output: Path) -> dict[str, Any]:
    """Return what was learned, for JSON."""
    from infinimix.cli.describing import describe_classes

    model = trained.model
    return {
        "model": str(output),
        "kind": type(model).__name__,
        "rows": int(model.class_count_.sum()),
        "partitions": trained.notes["partitions"],
        "columns": {name: {"kind": kind} for name, kind in model.columns_.items()},
        "classes": describe_classes(model),
        "loo_log_loss": model.loo_log_loss_,
    }


def show_model(trained: Any, output: Path) -> list[Any]:
    """Return what was learned, to print."""
    from infinimix.cli.describing import describe_classes, show_classes
    from infinimix.cli.out import count

    model, notes = trained.model, trained.notes
    rows = count(int(model.class_count_.sum()), "row")
    return [
        show_classes(describe_classes(model), f"Classes of {notes['target']!r}"),
        f"Saved {output}: {type(model).__name__}, {rows} in {notes['partitions']:,} partitions.",
        f"Next: infinimix predict {shell_word(str(output))} FILE",
    ]


def predict_files(
    trained: Any, path: Path, output: Path | None, proba: bool, reading: Reading
) -> dict[str, Any]:
    """Write a file of predictions for each partition into a folder, or all to standard output."""
    from infinimix.cli.writing import write_table

    columns = open_files(path, reading).columns
    needed = [name for name in trained.needed if name in columns]
    if not needed:
        raise CommandError(
            f"{path} lacks {listed(trained.needed)}, which the model was trained on."
        )
    end = "parquet" if _is_parquet(path) else "csv"
    if output is not None:
        _make_folder(output)
    n_rows = n_files = 0
    for n_files, answers in enumerate(
        _answers(trained, open_files(path, reading, columns=needed), proba), 1
    ):
        place = None if output is None else output / f"part-{n_files - 1:05d}.{end}"
        write_table(answers, place, header=place is not None or n_files == 1)
        n_rows += len(answers["prediction"])
    return {"rows": n_rows, "files": n_files, "output": None if output is None else str(output)}


def _make_folder(path: Path) -> None:
    if path.exists() and not path.is_dir():
        raise CommandError(f"--output: {path} is a file; predictions of many files need a folder.")
    if path.is_dir() and any(path.iterdir()):
        raise CommandError(f"--output: the folder {path} is not empty; name a new one.")
    path.mkdir(exist_ok=True)


def _answers(trained: Any, rows: Any, proba: bool) -> Iterator[dict[str, list[Any]]]:
    from infinimix.tables.rows import list_labels

    classes = trained.model.classes_
    for chances in trained.model.predict_proba(rows):
        answers = {"prediction": list_labels(classes[chances.argmax(axis=1)])}
        if proba:
            answers |= {f"p({c})": chances[:, k].tolist() for k, c in enumerate(classes)}
        yield answers
