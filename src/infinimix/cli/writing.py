"""Tables that commands write: the name of the file decides the format, before the work begins."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import typer

from infinimix.cli.errors import CommandError, refuse
from infinimix.cli.files import PLAIN, bare_suffix
from infinimix.cli.places import check_place, write_bytes, write_text
from infinimix.cli.sheets import check_library as check_excel
from infinimix.cli.sheets import write_sheet
from infinimix.streaming.compression import check_library as check_compression
from infinimix.streaming.compression import suffix_of, zipped
from infinimix.streaming.parquet import ParquetTypes, write_columns
from infinimix.tables.parquet_files import find_library

ENDS = {
    ".csv": "csv", ".tsv": "tsv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".parquet": "parquet",
    ".pq": "parquet", ".xlsx": "xlsx", **dict.fromkeys(PLAIN, "csv"),
}  # fmt: skip
BINARY = ("parquet", "xlsx")


def check_table(
    context: typer.Context, option: typer.CallbackParam, path: Path | None
) -> Path | None:
    """Say before the work that a table cannot be written to this file."""
    path = check_place(context, option, path)
    try:
        format = format_of_output(path)
        if format == "parquet":
            find_library()
        elif format == "xlsx":
            check_excel()
        check_compression(str(path))
    except (CommandError, ImportError) as error:
        refuse(str(context.info_name), f"{option.opts[0]}: {error}")
    return path


def format_of_output(path: Path | None, default: str = "csv") -> str:
    """Return the format that a name asks for; the default if it asks for none."""
    if path is None or str(path) == "-":
        return default
    end = bare_suffix(path)
    if end and end not in ENDS:
        known = ", ".join(one for one in ENDS if one not in PLAIN)
        raise CommandError(
            f"{path.name!r} ends in {end}, which is no format of tables; name a file that ends in "
            f"one of {known}."
        )
    return ENDS.get(end, default)


def write_table(
    columns: dict[str, list[Any]],
    path: Path | None,
    default: str = "csv",
    header: bool = True,
    types: ParquetTypes | None = None,
) -> None:
    """Write columns of plain values in the format that the name asks for.

    Without a header a CSV file goes on where another ended. A Parquet file keeps known types.
    """
    format = format_of_output(path, default)
    if format != "jsonl":
        columns = {name: [_flat(value) for value in cells] for name, cells in columns.items()}
    if format == "parquet":
        file = io.BytesIO()
        write_columns(columns, file, types)
        write_binary(file.getvalue(), path)
    elif format == "xlsx":
        write_binary(write_sheet(columns), path)
    elif format == "jsonl":
        write_text(_to_json_lines(columns), path)
    else:
        text = to_csv(columns, "\t" if format == "tsv" else ",")
        write_text(text if header else text.partition("\n")[2], path)


def _flat(value: Any) -> Any:
    """Return a value as one cell: a list or object of JSON as its text."""
    return json.dumps(value, ensure_ascii=False) if isinstance(value, list | dict) else value


def write_binary(data: bytes, path: Path | None) -> None:
    """Write a binary file; a terminal is no place for it."""
    if path is None or str(path) == "-":
        raise CommandError("binary formats are not written to standard output; add --output FILE.")
    write_bytes(zipped(data, path.name) if suffix_of(path.name) else data, path)


def is_typed(path: Path | None, default: str = "csv") -> bool:
    """Whether the format keeps numbers apart from text."""
    return format_of_output(path, default) not in ("csv", "tsv")


def to_csv(columns: dict[str, list[Any]], delimiter: str = ",") -> str:
    """Return columns as the text of a CSV file; probabilities have six digits."""
    file = io.StringIO()
    writer = csv.writer(file, delimiter=delimiter, lineterminator="\n")
    writer.writerow(columns)
    for row in zip(*columns.values(), strict=True):
        writer.writerow([f"{v:.6f}" if isinstance(v, float) and 0 <= v <= 1 else v for v in row])
    return file.getvalue()


def _to_json_lines(columns: dict[str, list[Any]]) -> str:
    rows = zip(*columns.values(), strict=True)
    lines = (dict(zip(columns, row, strict=True)) for row in rows)
    return "".join(json.dumps(line, ensure_ascii=False, default=str) + "\n" for line in lines)
