"""From a file to what a model learns from: the way that `fit`, `evaluate` and others share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from infinimix.cli.bundles import ColumnOptions
from infinimix.cli.dates import find_dates, find_orders, tell_dates
from infinimix.cli.errors import CommandError
from infinimix.cli.files import read_source
from infinimix.cli.goals import REGRESSOR, Bins, Goal, settle, take_numbers
from infinimix.cli.ids import find_ids, holds_texts, word_ids
from infinimix.cli.kinds import Asked, ColumnInfo, ask_kinds, describe_columns, warn_of_columns
from infinimix.cli.learning import (
    Recipe,
    Trained,
    check_effort,
    check_model,
    check_tuning,
)
from infinimix.cli.out import count, warn
from infinimix.cli.reading import Reading
from infinimix.cli.spellings import tell_spellings
from infinimix.cli.tables_in import (
    InputTable,
    check_ambiguous,
    need_columns,
    take_labels,
    tell_styles,
    understand,
)
from infinimix.cli.weights import check_weighted, read_class_weight, read_weights

if TYPE_CHECKING:
    import pandas as pd

CLASSES = Goal(regression=False)
WORDS = ("fit", "evaluate")  # have --text


@dataclass(frozen=True)
class TaskTable:
    """A table ready for a model; `y` are its labels, if it has some."""

    table: InputTable
    X: pd.DataFrame
    y: list[Any]
    columns: Any
    infos: list[ColumnInfo]
    warnings: list[str]
    asked: Asked
    missing: Sequence[str] | None
    numbers: bool = False  # the target is one, and no class
    bins: Bins | None = None  # by which numbers have become classes
    places: Sequence[int] | None = None  # of the rows in the file; None: all as they stand
    weights: Sequence[float] | None = None  # of the rows, if they are relative

    @property
    def notes(self) -> dict[str, Any]:
        """How the table was read, to be kept with a model."""
        types = {name: self.table.types[name] for name in self.X.columns}
        dates = find_orders({info.name: info.kind for info in self.infos})
        return {
            "columns": list(self.X.columns),
            "drop": self.asked.drop,
            "types": types | dict.fromkeys(dates, "date"),
            "missing": None if self.missing is None else list(self.missing),
            "trimmed": True,
            "decimals": self.table.decimals(self.X.columns),
        }

    def save(self, model: Any, path: Path) -> None:
        """Save a model of these rows."""
        Trained(model, self.notes).save(path)


@dataclass(frozen=True)
class Supervision:
    """What is to be predicted: a column, what its values are, and columns about rows."""

    target: str
    groups: str | None = None
    goal: Goal = CLASSES
    weights: str | None = None


@dataclass(frozen=True)
class Task:
    """A table with labels, and how to learn it."""

    table: InputTable
    X: pd.DataFrame
    y: list[Any]
    recipe: Recipe
    infos: list[ColumnInfo]
    warnings: list[str]
    notes: dict[str, Any]
    groups: list[Any] | None = None  # of each row, such as a patient
    numbers: bool = False  # the target is one, and no class
    weights: list[float] | None = None  # of the rows, if they are relative
    bins: Bins | None = None  # by which numbers have become classes

    @property
    def dates(self) -> dict[str, str]:
        """The columns of dates, and in which order they are read."""
        return find_orders({info.name: info.kind for info in self.infos})

    @property
    def left_out(self) -> list[str]:
        """The columns of the file that are neither learned nor the target."""
        used = {*self.X.columns, self.notes["target"]}
        return [name for name in self.table.source.names if name not in used]


def read_rows(
    command: str,
    path: Path,
    options: ColumnOptions,
    target: str | None = None,
    spikes: bool = False,
    groups: str | None = None,
    goal: Goal = CLASSES,
    weights: str | None = None,
) -> TaskTable:
    """Read a table, leave columns out, find kinds, and say what looks odd.

    What can be refused is refused before pandas and numba are loaded, which takes a second.
    """
    reading = options.reading
    source = read_source(path, reading)
    if target is not None:
        need_columns(source, [target], "--target")
    if groups is not None:
        need_columns(source, [groups], "--groups")
    if weights is not None:
        need_columns(source, [weights], "--weights")
    numbers, bins = False, None
    if target is not None:
        source, numbers, bins = settle(command, source, target, reading, goal)
    table = understand(source, reading, labels=None if numbers else target)
    asked = ask_kinds(table, options.kinds, options.columns, options.drop, options.keep)
    out = [name for name in (*asked.drop, groups, weights, target) if name is not None]
    if not set(table.source.names) - set(out):
        raise CommandError(f"{path} has no column to learn from besides {', '.join(out)}.")
    y: list[Any] = []
    if target is not None:
        y = take_numbers(table, target) if numbers else take_labels(table, target)
    free = {
        name: cells
        for name, cells in table.columns.items()
        if name not in (*out, *asked.named) and table.types[name] in ("text", "other")
    }
    asked = replace(asked, columns=asked.columns | find_dates(free, reading.date_order))
    ids = _leave_out_ids(table, asked, out)
    used = [name for name in table.source.names if name not in (*out, *ids)]
    check_ambiguous(table, [name for name in used if name not in asked.named])
    texts = [name for name in ids if command in WORDS and not numbers]
    texts = [name for name in texts if holds_texts(table.columns[name])]
    said = [*word_ids(ids, texts), *tell_styles(table, [*used, *([target] if target else [])])]
    known = [name for name in used if not asked.columns.get(name, "").startswith("date")]
    said += tell_spellings(table, [*known, *([target] if target else [])])
    for text in said:
        warn(command, text)
    places, shares = None, None
    if weights is not None:
        places, shares = read_weights(command, table, weights)
    asked = replace(asked, drop=[*asked.drop, *ids, *([weights] if weights else [])])
    X = table.frame[used]
    if places is not None:
        X, y = X.iloc[places].reset_index(drop=True), [y[i] for i in places] if y else y
    columns = asked.within(used)
    infos = describe_columns(X, columns, table, spikes, codes=command == "network")
    for text in (dates := tell_dates({info.name: info.kind for info in infos})):
        warn(command, text)
    said += [*dates, *warn_of_columns(command, infos)]
    missing = reading.missing
    return TaskTable(
        table, X, y, columns, infos, said, asked, missing, numbers, bins, places, shares
    )


def _leave_out_ids(table: InputTable, asked: Asked, out: Sequence[str]) -> dict[str, str]:
    """Return the columns that name rows, unless the user wants them or nothing else is left."""
    kept = {*asked.keep, *asked.named}
    names = [name for name in table.source.names if name not in out]
    ids = find_ids(table, [name for name in names if name not in kept])
    return ids if len(ids) < len(names) else {}


def read_task(
    command: str, path: Path, options: ColumnOptions, wanted: Supervision, model: str,
    text: str | None, settings: dict[str, Any],
) -> Task:  # fmt: skip
    """Read a table with labels for a model; the column of groups is not learned.

    A target that is a number is for a regressor.
    """
    target, groups, weights = wanted.target, wanted.groups, wanted.weights
    if groups == target:
        raise CommandError(f"--groups: {groups!r} is the target; name another column.")
    if weights is not None and weights in (target, groups, text):
        raise CommandError(f"--weights: {weights!r} is used already; name another column.")
    if weights is not None and text is not None:
        raise CommandError("--weights is for tables; with --text leave it out.")
    check_model(model)
    goal = wanted.goal.decide(command, model)
    check_effort(settings["effort"])
    check_tuning(model, settings)
    if text is not None and model != "online-crp":
        raise CommandError(f"--text: {model} does not read words; add --model online-crp.")
    if text is None:
        spikes = model in ("aclass", "hybrid", REGRESSOR)  # which look for values that are common
        rows = read_rows(command, path, options, target, spikes, groups, goal, weights)
    else:
        rows = _read_words(command, path, options.reading, text, target, goal)
    if rows.numbers:
        model = REGRESSOR
        check_tuning(model, settings)  # once more: no user has named this model
    if rows.weights is not None:
        check_weighted(model, rows.weights)
    settings = {**settings, "class_weight": read_class_weight(settings.get("class_weight"), rows.y)}
    recipe = Recipe(model, rows.infos, rows.columns, text, settings)
    if settings.get("set"):
        recipe.estimator()  # refuses parameters that the model does not have
    kept = _drop_unlabelled(command, rows.y, target, recipe)
    X, y = rows.X.iloc[kept].reset_index(drop=True), [rows.y[i] for i in kept]
    grouped = None
    if groups is not None:
        need_columns(rows.table.source, [groups], "--groups")
        cells = list(rows.table.columns[groups])
        grouped = [cells[i if rows.places is None else rows.places[i]] for i in kept]
    decimals = rows.table.decimals([*rows.X.columns, target])
    notes = {**rows.notes, "target": target, "decimals": decimals, "weights": weights}
    notes["bins"] = None if rows.bins is None else list(rows.bins)
    own = None if rows.weights is None else [rows.weights[i] for i in kept]
    return Task(
        rows.table, X, y, recipe, rows.infos, rows.warnings, notes, grouped, rows.numbers, own,
        rows.bins,
    )  # fmt: skip


def _read_words(
    command: str, path: Path, reading: Reading, text: str, target: str, goal: Goal
) -> TaskTable:
    source = read_source(path, reading)
    need_columns(source, [target], "--target")
    source, _, bins = settle(command, source, target, reading, goal)  # words are for classes
    need_columns(source, [text], "--text")
    others = [name for name in source.names if name not in (text, target)]
    table = understand(source, replace(reading, drop=tuple(others)), labels=target, text=[text])
    y = take_labels(table, target)
    some = table.frame[text].dropna()
    info = ColumnInfo(text, "text", int(some.nunique()), int(table.n_rows - len(some)), "", "")
    X = table.frame[[text]]
    asked, missing = Asked({}, others), reading.missing
    return TaskTable(table, X, y, "text", [info], [], asked, missing, bins=bins)


def _drop_unlabelled(command: str, y: list[Any], target: str, recipe: Recipe) -> list[int]:
    """Return the rows to keep: those with a label, and the others if the model learns from them."""
    holes = sum(label is None for label in y)
    if not holes:
        return list(range(len(y)))
    if recipe.takes_unlabelled:
        warn(command, _tell_unlabelled(holes, target, recipe.options.get("unlabelled_share")))
        return list(range(len(y)))
    warn(command, f"{count(holes, 'row')} without {target!r} left out.")
    return [i for i, label in enumerate(y) if label is not None]


def _tell_unlabelled(holes: int, target: str, share: float | None) -> str:
    """Say what becomes of rows without label; with a share, models leave the others out."""
    rows = f"{count(holes, 'row')} without {target!r}"
    if share == 0:
        return f"{rows} left out, as --unlabelled-share is 0."
    part = "" if share is None or share == 1 else f": a share of {share:g}"
    return f"{rows}{part} learned without label."
