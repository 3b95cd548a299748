"""Kinds of columns: what the user asked for, what was found, and what looks odd."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from infinimix.cli.errors import CommandError, listed, quoted
from infinimix.cli.out import count, grid, warn
from infinimix.cli.stray import explain_text
from infinimix.cli.tables_in import InputTable, need_columns, split_names
from infinimix.evaluation.abilities import KnowsKinds, able

if TYPE_CHECKING:
    import pandas as pd

KINDS = (
    "auto", "real", "real:log", "real:rank", "spiked", "spiked:log", "spiked:rank", "categorical",
    "binary", "count", "gaussian", "date", "date:ymd", "date:dmy", "date:mdy",
)  # fmt: skip
SHORT = {"category": "categorical", "log": "real:log", "rank": "real:rank", "number": "real"}
FLAGS = {
    "--real": "real", "--log": "real:log", "--category": "categorical", "--binary": "binary",
    "--count": "count",
}  # fmt: skip
TOGETHER = "gaussian"  # the kind whose columns are given as blocks
TELL_NOTHING = ("has no values", "is constant")
FEWEST = 20  # rows from which on a column of different values is told from chance
MOST_SHOWN = 40  # columns


@dataclass(frozen=True)
class Asked:
    """What the user said of columns: kinds by name or block, names to leave out and to keep."""

    columns: dict[Any, str]
    drop: list[str]
    keep: list[str] = field(default_factory=list)

    @property
    def named(self) -> set[str]:
        """The columns whose kinds the user has said."""
        return {name for key in self.columns for name in _members(key)}

    def within(self, names: Sequence[str]) -> dict[Any, str] | str:
        """Return the kinds for `columns=` of a model, "auto" where nothing was said."""
        kept = {k: v for k, v in self.columns.items() if set(_members(k)) <= set(names)}
        return kept or "auto"


@dataclass(frozen=True)
class ColumnInfo:
    """What is known of one column."""

    name: str
    kind: str
    distinct: int
    missing: int
    example: str
    odd: str  # "", or why it deserves a look


def ask_kinds(
    table: InputTable, flags: Mapping[str, Sequence[str] | None], path: Path | None,
    drop: Sequence[str] | None, keep: Sequence[str] | None = None,
) -> Asked:  # fmt: skip
    """Return what options and the file of `--columns` say; options have the last word."""
    columns, left_out = _read_toml(table, path) if path is not None else ({}, [])
    for flag, kind in FLAGS.items():
        names = split_names(flags.get(flag), table)
        need_columns(table.source, names, flag)
        columns |= dict.fromkeys(names, kind)
    for text in flags.get("--gaussian") or ():
        block = split_names([text], table)
        need_columns(table.source, block, "--gaussian")
        columns = {k: v for k, v in columns.items() if k not in block}
        columns[tuple(block)] = TOGETHER
    names = split_names(drop, table)
    need_columns(table.source, names, "--drop")
    kept = split_names(keep, table)
    need_columns(table.source, kept, "--keep")
    return Asked(columns, [*left_out, *names], kept)


def _read_toml(table: InputTable, path: Path) -> tuple[dict[Any, str], list[str]]:
    def split(key: str) -> list[str]:
        names = split_names([key], table)
        need_columns(table.source, names, f"--columns {path}")
        return names

    return sort_kinds(load_toml(path), str(path), split)


def load_toml(path: Path) -> dict[str, Any]:
    """Return what a file of kinds says."""
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise CommandError(f"--columns: {path} is no TOML: {error}.") from error


def sort_kinds(
    data: Mapping[str, Any], source: str, split: Callable[[str], list[str]]
) -> tuple[dict[Any, str], list[str]]:
    """Return kinds by name or block, and the names to leave out; `split` reads a key's names."""
    columns: dict[Any, str] = {}
    drop = []
    for key, value in data.items():
        kind = SHORT.get(value, value) if isinstance(value, str) else value
        names = split(key)
        if kind == "drop":
            drop += names
        elif kind not in KINDS and not str(kind).startswith("date:"):
            raise CommandError(
                f"--columns: {source}: {key!r} has the kind {value!r}; there are "
                f"{', '.join((*KINDS, 'drop'))}."
            )
        elif kind == TOGETHER:
            columns[tuple(names)] = kind
        else:
            columns |= dict.fromkeys(names, str(kind))
    return columns, drop


def _members(key: Any) -> tuple[Any, ...]:
    return key if isinstance(key, tuple) else (key,)


def describe_columns(
    X: pd.DataFrame,
    columns: dict[Any, str] | str,
    table: InputTable,
    spikes: bool = False,
    codes: bool = False,
) -> list[ColumnInfo]:
    """Return what is known of each column of a frame; cells that do not fit are refused."""
    from infinimix.tables import encode, read_schema  # numba: slow to load

    schema = read_schema(X, columns, spikes=spikes, codes=codes)
    encode(schema, X, learn=True)
    found = schema.requests_by_input()
    free = found.keys() - (columns.keys() if isinstance(columns, dict) else ())
    return [_describe(name, str(found[name]), X[name], table, name in free) for name in found]


def _describe(name: str, kind: str, column: Any, table: InputTable, free: bool) -> ColumnInfo:
    some = column.dropna()
    distinct = int(some.nunique())
    odd = _odd(some, distinct, table if free and table.types.get(name) == "text" else None)
    return ColumnInfo(name, kind, distinct, int(len(column) - len(some)), _example(some, kind), odd)


def _example(some: Any, kind: str) -> str:
    if not len(some):
        return ""
    if kind.startswith("date:"):
        return _first_and_last(some, kind.split(":")[1])
    from infinimix.tables.column import record_of  # numba: slow to load

    if not record_of(kind).discrete:
        return f"{some.min():.6g} to {some.max():.6g}"
    first = [_word(value) for value in list(dict.fromkeys(some.tolist()))[:3]]
    text = ", ".join(word if len(word) <= 14 else word[:12] + ".." for word in first)
    return text + (", .." if some.nunique() > 3 else "")


def _word(value: Any) -> str:
    """Return a category; whole numbers are floats in columns with missing cells."""
    return f"{value:.0f}" if isinstance(value, float) and value.is_integer() else str(value)


def _first_and_last(some: Any, order: str) -> str:
    """Return the first and the last date, as they stand in the file."""
    from infinimix.tables.dates import read_moment

    places = {}
    for value in dict.fromkeys(some.tolist()):
        moment = read_moment(value, order)
        places[value] = [x or 0.0 for x in moment] if moment is not None else []
    ends = [pick(places, key=places.__getitem__) for pick in (min, max)]
    return " to ".join(str(end).removesuffix(" 00:00:00") for end in ends)


def _odd(some: Any, distinct: int, text: InputTable | None) -> str:
    """Return why a column deserves a look, or ""; `text` is the table of a column of text."""
    if distinct <= 1:
        return TELL_NOTHING[distinct]
    if len(some) < FEWEST or text is None:
        return ""
    return explain_text(some.tolist(), text.markers)


def warn_of_columns(command: str, infos: Sequence[ColumnInfo]) -> list[str]:
    """Say which columns look odd, and return that."""
    said = []
    for info in infos:
        if info.odd and info.odd not in TELL_NOTHING:
            said.append(f"column {info.name!r} {info.odd}.")
    for odd in TELL_NOTHING:
        names = [info.name for info in infos if info.odd == odd]
        if names:
            subject = f"column {names[0]!r} {odd}" if len(names) == 1 else _many(names, odd)
            said.append(f"{subject}{_advise(command, odd, names)}.")
    for text in said[:MOST_SHOWN]:
        warn(command, text)
    return said


def _advise(command: str, odd: str, names: list[str]) -> str:
    """Return what becomes of columns that tell nothing, and what to do."""
    it, its = ("it", "its") if len(names) == 1 else ("them", "their")
    learned = ""
    if command == "network":
        if odd == "has no values":
            return "; left out"
        learned = f": nothing can be learned about {it}, and {its} edges keep the prior probability"
    return f"{learned}; to leave {it} out, add {quoted(names)}"


def _many(names: list[str], odd: str) -> str:
    verb = {"is": "are", "has": "have"}
    first, _, rest = odd.partition(" ")
    return f"{len(names)} columns {verb[first]} {rest} ({listed(names, 5)})"


def show_columns(infos: Sequence[ColumnInfo], table: InputTable) -> Any:
    """Return a table of columns and their kinds."""
    rows = [
        (
            i.name,
            _short(i.kind),
            i.example,
            f"{i.distinct:,}",
            f"{i.missing:,}" if i.missing else "-",
        )
        for i in infos
    ]
    hidden = len(rows) - MOST_SHOWN
    if hidden > 0:
        rows = [*rows[:MOST_SHOWN], (f".. {count(hidden, 'column')} more", "", "", "", "")]
    markers = {marker: n for marker, n in table.markers.items() if n}
    spelled = ", ".join(
        f"{repr(marker) if marker else 'empty'} in {count(n, 'cell')}"
        for marker, n in markers.items()
    )
    return grid(
        f"{table.source.name}: {count(table.n_rows, 'row')}",
        ("column", "kind", "values", "distinct", "missing"),
        rows,
        caption=f"missing: {spelled}" if spelled else None,
    )


def _short(kind: str) -> str:
    if not kind.startswith("date:"):
        return kind
    return {"time": "time", "span": "duration"}.get(kind.split(":")[1], "date")


def otherwise(infos: Sequence[ColumnInfo], model: Any) -> dict[str, str]:
    """Return columns that a model takes for categories and not for numbers, or the reverse."""
    known, code = model.columns_ if able(model, KnowsKinds) else {}, "categorical"
    known = {i.name: (known[i.name], i.kind) for i in infos if i.name in known}
    return {name: kind for name, (kind, said) in known.items() if (kind == code) != (said == code)}


def tell_columns(infos: Sequence[ColumnInfo]) -> dict[str, Any]:
    """Return columns and their kinds for JSON."""
    return {i.name: {"kind": i.kind, "distinct": i.distinct, "missing": i.missing} for i in infos}
