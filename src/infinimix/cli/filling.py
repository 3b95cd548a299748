"""Filled cells written into a file: rows without holes stay as they are, to the letter."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from infinimix.cli.places import write_text
from infinimix.cli.reading import Source
from infinimix.cli.tables_in import InputTable
from infinimix.cli.writing import BINARY, format_of_output, write_table
from infinimix.streaming.cells import NUMBER, WHOLE

if TYPE_CHECKING:
    import pandas as pd

Filled = dict[int, dict[int, Any]]  # row -> column -> the value that goes there


def fill(table: InputTable, X: pd.DataFrame, done: pd.DataFrame) -> tuple[Filled, dict[str, int]]:
    """Return what goes where, and how many cells of each column were filled.

    Numbers of a column of whole numbers are whole.
    """
    filled: Filled = {}
    counts: dict[str, int] = {}
    for name in X.columns:
        j = table.source.names.index(name)
        holes = X[name].isna() & done[name].notna()
        value = _rounding(X[name].dropna().tolist())
        for i in holes.to_numpy().nonzero()[0].tolist():
            filled.setdefault(i, {})[j] = value(done[name].iloc[i])
            counts[name] = counts.get(name, 0) + 1
    return filled, counts


def _rounding(some: list[Any]) -> Callable[[Any], Any]:
    """Return how a filled cell becomes a value of its column; dates are never filled."""
    if any(isinstance(value, bool) or not isinstance(value, int | float) for value in some):
        return lambda value: value.item() if hasattr(value, "item") else value
    if all(float(value).is_integer() for value in some):
        return lambda value: round(float(value))
    return float


def write_filled(table: InputTable, filled: Filled, path: Path | None) -> None:
    """Write the file again with its holes filled: as it was, or in the format of another name.

    In its own format it has the rows that were left out, such as totals, as they stand.
    """
    source = table.source
    format = format_of_output(path, source.format)
    if format != source.format:
        write_table(_columns(table, filled), path, format)
        return
    if source.whole is not None:
        places = source.places
        filled = {places[i]: row for i, row in filled.items()}
        source = source.whole
        table = replace(table, source=source)
    if format in BINARY:
        write_table(_columns(table, filled), path, format, types=source.types)
    elif source.is_text:
        write_text(_csv_text(table, filled), path, source.encoding)
    else:
        write_text(_json_text(source, filled), path, source.encoding)


def _columns(table: InputTable, filled: Filled) -> dict[str, list[Any]]:
    """Return all columns with their holes filled; those of text files as what they mean."""
    source = table.source
    cells = (list(column) for column in source.cells)
    columns = (
        table.plain_columns() if source.is_text else dict(zip(source.names, cells, strict=True))
    )
    floats = _floats({j: columns[name] for j, name in enumerate(source.names)})
    for i, row in filled.items():
        for j, value in row.items():
            columns[source.names[j]][i] = (
                float(value) if j in floats and type(value) is int else value
            )
    return columns


def _floats(columns: Mapping[int, Sequence[Any]]) -> set[int]:
    """Return which columns of values write whole numbers as 2.0: a filled cell does so too."""
    return {j for j, cells in columns.items() if any(isinstance(cell, float) for cell in cells)}


def _csv_text(table: InputTable, filled: Filled) -> str:
    source = table.source
    used = {j for row in filled.values() for j in row}
    writers = {j: _writer(table, j) for j in used}
    parts, i = [source.raw[0]], 0
    for raw in source.raw[1:]:
        if not raw.strip("\r\n"):
            parts.append(raw)  # a blank line
            continue
        texts = {j: writers[j](value) for j, value in filled.get(i, {}).items()}
        parts.append(_csv_row(source, i, texts, raw) if texts else raw)
        i += 1
    return "".join(parts)


def _writer(table: InputTable, j: int) -> Callable[[Any], str]:
    """Return how a column writes a value: with as many digits as its other cells have."""
    name, cells = table.source.names[j], table.source.cells[j]
    style = table.styles.get(name)

    def write(value: Any) -> str:
        if isinstance(value, str | bool):
            return str(value)
        if style is not None:
            return style.write(value, digits)
        return f"{value:.{digits}f}"

    digits = max(style.digits(cell.strip()) if style else _digits(cell) for cell in cells)
    return write


def _digits(cell: str) -> int:
    """Return how many digits a number has behind its point; of a missing cell, such as n.a., 0."""
    if not NUMBER.fullmatch(cell.strip()):
        return 0
    mantissa, _, exponent = cell.strip().lower().partition("e")
    behind = len(mantissa.partition(".")[2])
    power = int(exponent) if WHOLE.fullmatch(exponent) else 0
    return min(max(behind - power, 0), 12)


def _csv_row(source: Source, i: int, cells: dict[int, Any], raw: str) -> str:
    row = [column[i] for column in source.cells]
    for j, value in cells.items():
        row[j] = value
    end = raw[len(raw.rstrip("\r\n")) :]
    file = io.StringIO()
    csv.writer(file, delimiter=source.delimiter, lineterminator=end).writerow(row)
    return file.getvalue()


def _json_text(source: Source, filled: Filled) -> str:
    lines, floats = [], _floats(dict(enumerate(source.cells)))
    for i, raw in enumerate(source.raw):
        if i not in filled:
            lines.append(raw)
            continue
        row = json.loads(raw)
        row |= {
            source.names[j]: float(value) if j in floats and type(value) is int else value
            for j, value in filled[i].items()
        }
        lines.append(json.dumps(row, ensure_ascii=False) + ("\n" if raw.endswith("\n") else ""))
    return "".join(lines)
