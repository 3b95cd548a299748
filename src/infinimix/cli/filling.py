"""Filled cells written into a file: rows without holes stay as they are, to the letter."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from infinimix.cli.files import Source
from infinimix.cli.places import write_bytes, write_text
from infinimix.cli.tables_in import InputTable
from infinimix.streaming.cells import WHOLE
from infinimix.streaming.parquet import write_columns

if TYPE_CHECKING:
    import pandas as pd

Filled = dict[int, dict[int, Any]]  # row -> column -> what goes there


def fill(table: InputTable, X: pd.DataFrame, done: pd.DataFrame) -> tuple[Filled, dict[str, int]]:
    """Return what goes where, and how many cells of each column were filled."""
    source = table.source
    filled: Filled = {}
    counts: dict[str, int] = {}
    for name in X.columns:
        j = source.names.index(name)
        holes = X[name].isna() & done[name].notna()
        write = _writer(source, j, X[name].dropna().tolist())
        for i in holes.to_numpy().nonzero()[0].tolist():
            filled.setdefault(i, {})[j] = write(done[name].iloc[i])
            counts[name] = counts.get(name, 0) + 1
    return filled, counts


def _writer(source: Source, j: int, some: list[Any]) -> Any:
    """Return how a column writes a value: whole numbers whole, others with as many digits."""
    if any(isinstance(value, str | bool) for value in some):
        return _plain
    if all(float(value).is_integer() for value in some):
        return lambda value: str(round(float(value))) if source.is_text else round(float(value))
    if not source.is_text:
        return float
    digits = max(_digits(cell) for cell in source.cells[j])
    return lambda value: f"{float(value):.{digits}f}"


def _digits(cell: str) -> int:
    """Return how many digits a number has behind its point."""
    mantissa, _, exponent = cell.strip().lower().partition("e")
    behind = len(mantissa.partition(".")[2])
    power = int(exponent) if WHOLE.fullmatch(exponent) else 0
    return min(max(behind - power, 0), 12)


def _plain(value: Any) -> Any:
    return value.item() if hasattr(value, "item") else value


def write_filled(source: Source, filled: Filled, path: Path | None) -> None:
    """Write the file again, with its holes filled, in its own format."""
    if source.is_text:
        write_text(_csv_text(source, filled), path)
    elif source.format == "jsonl":
        write_text(_json_text(source, filled), path)
    else:
        write_bytes_or_refuse(_parquet_bytes(source, filled), path)


def _csv_text(source: Source, filled: Filled) -> str:
    parts, i = [source.raw[0]], 0
    for raw in source.raw[1:]:
        if not raw.strip("\r\n"):
            parts.append(raw)  # a blank line
            continue
        parts.append(_csv_row(source, i, filled[i], raw) if i in filled else raw)
        i += 1
    return "".join(parts)


def _csv_row(source: Source, i: int, cells: dict[int, Any], raw: str) -> str:
    row = [column[i] for column in source.cells]
    for j, value in cells.items():
        row[j] = value
    end = raw[len(raw.rstrip("\r\n")) :]
    file = io.StringIO()
    csv.writer(file, delimiter=source.delimiter, lineterminator=end).writerow(row)
    return file.getvalue()


def _json_text(source: Source, filled: Filled) -> str:
    lines = []
    for i, raw in enumerate(source.raw):
        if i not in filled:
            lines.append(raw)
            continue
        row = json.loads(raw)
        row |= {source.names[j]: value for j, value in filled[i].items()}
        lines.append(json.dumps(row, ensure_ascii=False) + ("\n" if raw.endswith("\n") else ""))
    return "".join(lines)


def _parquet_bytes(source: Source, filled: Filled) -> bytes:
    columns = dict(zip(source.names, (list(cells) for cells in source.cells), strict=True))
    for i, row in filled.items():
        for j, value in row.items():
            columns[source.names[j]][i] = value
    file = io.BytesIO()
    write_columns(columns, file)
    return file.getvalue()


def write_bytes_or_refuse(data: bytes, path: Path | None) -> None:
    """Write a binary file; a terminal is no place for it."""
    from infinimix.cli.errors import CommandError

    if path is None or str(path) == "-":
        raise CommandError("a Parquet file is not written to standard output; add --output FILE.")
    write_bytes(data, path)
