"""From a file to what a model learns from: the way that `fit`, `evaluate` and others share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from infinimix.cli.errors import CommandError
from infinimix.cli.kinds import Asked, Info, ask_kinds, describe_columns, warn_of_columns
from infinimix.cli.learning import Recipe, Trained, check_effort, find_class
from infinimix.cli.out import count, warn
from infinimix.cli.tables_in import Reading, Table, need_columns, read_table, split_target

Flags = Mapping[str, Sequence[str] | None]


@dataclass(frozen=True)
class Rows:
    """A table without labels, ready for a model."""

    table: Table
    X: pd.DataFrame
    columns: Any
    infos: list[Info]
    warnings: list[str]
    asked: Asked
    missing: Sequence[str] | None

    @property
    def notes(self) -> dict[str, Any]:
        """How the table was read, to be kept with a model."""
        return {
            "columns": list(self.X.columns),
            "drop": self.asked.drop,
            "types": {name: self.table.types[name] for name in self.X.columns},
            "missing": None if self.missing is None else list(self.missing),
        }

    def save(self, model: Any, path: Path) -> None:
        """Save a model of these rows."""
        Trained(model, self.notes).save(path)


@dataclass(frozen=True)
class Task:
    """A table with labels, and how to learn it."""

    table: Table
    X: pd.DataFrame
    y: list[Any]
    recipe: Recipe
    infos: list[Info]
    warnings: list[str]
    notes: dict[str, Any]


def read_rows(
    command: str, path: Path, reading: Reading, flags: Flags, toml: Path | None,
    drop: Sequence[str] | None, target: str | None = None, spikes: bool = False,
) -> Rows:  # fmt: skip
    """Read a table, leave columns out, find kinds, and say what looks odd."""
    table = read_table(path, reading, labels=target)
    if target is not None:
        need_columns(table, [target], "--target")
    asked = ask_kinds(table, flags, toml, drop)
    out = [name for name in (*asked.drop, target) if name is not None]
    X = table.frame.drop(columns=list(dict.fromkeys(out)))
    if not X.shape[1]:
        raise CommandError(f"{path} has no column to learn from besides {', '.join(out)}.")
    columns = asked.within(list(X.columns))
    infos = describe_columns(X, columns, table, spikes)
    return Rows(table, X, columns, infos, warn_of_columns(command, infos), asked, reading.missing)


def read_task(
    command: str, path: Path, target: str, reading: Reading, flags: Flags, toml: Path | None,
    drop: Sequence[str] | None, model: str, text: str | None, options: dict[str, Any],
) -> Task:  # fmt: skip
    """Read a table with labels for a model."""
    find_class(model)
    check_effort(options["effort"])
    if text is not None and model != "online-crp":
        raise CommandError(f"--text: {model} does not read words; add --model online-crp.")
    if text is None:
        spikes = model == "aclass"  # the one that looks for values that are common
        rows = read_rows(command, path, reading, flags, toml, drop, target, spikes)
    else:
        rows = _read_words(path, reading, text, target)
    columns = rows.columns
    _, y = split_target(rows.table, target)
    recipe = Recipe(model, rows.infos, columns, text, options)
    X, y = _settle_unlabelled(command, rows.X, y, target, recipe)
    notes = {**rows.notes, "target": target}
    return Task(rows.table, X, y, recipe, rows.infos, rows.warnings, notes)


def _read_words(path: Path, reading: Reading, text: str, target: str) -> Rows:
    table = read_table(path, reading, labels=target, text=[text])
    need_columns(table, [text], "--text")
    others = [name for name in table.source.names if name not in (text, target)]
    some = table.frame[text].dropna()
    info = Info(text, "text", int(some.nunique()), int(table.n_rows - len(some)), "", "")
    return Rows(table, table.frame[[text]], "text", [info], [], Asked({}, others), reading.missing)


def _settle_unlabelled(
    command: str, X: pd.DataFrame, y: list[Any], target: str, recipe: Recipe
) -> tuple[pd.DataFrame, list[Any]]:
    """Let rows without label go, unless the model learns from them too."""
    holes = sum(label is None for label in y)
    if not holes:
        return X, y
    if recipe.takes_unlabelled:
        warn(command, f"{count(holes, 'row')} without {target!r} learned without label.")
        return X, y
    warn(command, f"{count(holes, 'row')} without {target!r} left out.")
    kept = [label is not None for label in y]
    return X[kept].reset_index(drop=True), [label for label in y if label is not None]
