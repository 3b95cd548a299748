"""Files of tables as columns of cells, with all that is needed to write them again unchanged.

Cells of CSV and TSV files are text as it stands in the file; those of JSON lines and Parquet have
types of their own. What the columns mean is decided in `tables_in`.
"""

from __future__ import annotations

import gzip
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

from infinimix.cli.errors import CommandError
from infinimix.cli.places import wrong_with_file
from infinimix.streaming.bad import BadRecords
from infinimix.streaming.lines import number_lines, open_lines
from infinimix.streaming.parquet import read_columns
from infinimix.streaming.records import format_of, named_twice, parse_object, read_records

FORMATS = ("csv", "tsv", "jsonl", "parquet")
DELIMITERS = (",", ";", "\t", "|")


@dataclass
class Source:
    """A table as it was read.

    Attributes
    ----------
    name : str
        The path, for messages.
    format : str
        One of `FORMATS`.
    names : list of str
        The columns.
    cells : list of lists
        Column by column; None where a row of JSON lacks a key.
    lines : list of int
        Where each row begins, from 1 on.
    raw : list of str
        Text files: each row as it stands there, with its line end; of CSV files also the header
        and blank lines.
    """

    name: str
    format: str
    names: list[str]
    cells: list[list[Any]]
    lines: list[int]
    delimiter: str = ","
    raw: list[str] = field(default_factory=list)

    @property
    def is_text(self) -> bool:
        """Whether cells are text that has to be understood first."""
        return self.format in ("csv", "tsv")

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.lines)

    def where(self, i: int) -> str:
        """Return the place of a row, for messages."""
        return f"row {i + 1}" if self.format == "parquet" else f"line {self.lines[i]}"


def read_source(path: Path, format: str | None = None, delimiter: str | None = None) -> Source:
    """Read a file; `CommandError` says what is wrong with it."""
    format = find_format(path, format)
    wrong = wrong_with_file(path)
    if wrong:
        raise CommandError(wrong)
    if format == "parquet":
        source = _read_parquet(path)
    else:
        with open_lines(str(path)) as lines:
            try:
                read = _read_json if format == "jsonl" else _read_csv
                source = read(str(path), format, lines, delimiter)
            except ValueError as error:
                raise CommandError(f"{path}: {error}.") from error
    if not source.n_rows:
        raise CommandError(f"{path} has no rows; give a file with a header and rows below it.")
    return source


def find_format(path: Path, format: str | None) -> str:
    """Return what a file holds, by its name unless told."""
    if format is None:
        format = "csv" if str(path) == "-" else format_of(str(path))
    if format is None and path.suffix in (".txt", ".data", ".dat"):
        format = "csv"
    if format not in FORMATS:
        told = "the name does not say what it holds" if format is None else f"not {format!r}"
        raise CommandError(f"{path}: {told}; give --format, one of {', '.join(FORMATS)}.")
    return format


def _read_csv(name: str, format: str, lines: Any, delimiter: str | None) -> Source:
    text = (line for _, line in number_lines(lines, BadRecords("raise")))
    first = next(text, "")
    delimiter = delimiter or ("\t" if format == "tsv" else _find_delimiter(first))
    if len(delimiter) != 1:
        raise CommandError(f"--delimiter must be one character; got {delimiter!r}.")
    held: list[str] = []  # the lines of the record that is being read

    def keep() -> Iterator[str]:
        for line in chain([first] if first else [], text):
            held.append(line)
            yield line

    def refuse(_: int, reason: str) -> None:
        raise CommandError(f"{name}: {reason}.")

    records = read_records(keep(), delimiter, refuse)
    names = [cell or f"column {j + 1}" for j, cell in enumerate(next(records, (0, []))[1])]
    if not names:
        raise CommandError(f"{name} is empty; give a file with a header and rows below it.")
    check_names(names, name)
    raw, at, cells = ["".join(held)], [], []
    held.clear()
    for line, record in records:
        raw.append("".join(held))
        held.clear()
        if len(record) == len(names):
            cells.append(record)
            at.append(line)
        elif record:
            more = "a delimiter too many, or a comma without quotes?"
            raise CommandError(
                f"{name}: line {line} has {len(record)} cells, but there are {len(names)} "
                f"columns; {more if len(record) > len(names) else 'complete or remove it.'}"
            )
    columns = [list(column) for column in zip(*cells, strict=True)] or [[] for _ in names]
    return Source(name, format, names, columns, at, delimiter, raw)


def _find_delimiter(header: str) -> str:
    """Return a comma, unless the header has none and has another usual delimiter."""
    counts = [header.count(one) for one in DELIMITERS]
    return "," if counts[0] else DELIMITERS[counts.index(max(counts))]


def check_names(names: Sequence[str], name: str) -> None:
    """Refuse columns that have the same name."""
    if double := named_twice(names):
        raise CommandError(f"{name}: two columns have the name {double!r}; rename one of them.")


def _read_json(name: str, format: str, lines: Any, delimiter: str | None) -> Source:
    rows, at, raw = [], [], []
    for line, text in number_lines(lines, BadRecords("raise")):
        if not text.strip():
            continue
        try:
            row = parse_object(text)
        except (ValueError, RecursionError) as error:
            raise CommandError(f"{name}: line {line} is no JSON object: {error}.") from error
        nested = isinstance(row, dict) and [k for k, v in row.items() if isinstance(v, dict | list)]
        if not isinstance(row, dict) or nested:
            what = f"has a list or object in {nested[0]!r}" if nested else "is no JSON object"
            raise CommandError(f"{name}: line {line} {what}; each line is one flat object.")
        rows.append(row)
        at.append(line)
        raw.append(text)
    names = list(dict.fromkeys(key for row in rows for key in row))
    cells = [[row.get(key) for row in rows] for key in names]
    return Source(name, format, names, cells, at, raw=raw)


def _read_parquet(path: Path) -> Source:
    if str(path) == "-":
        raise CommandError("Parquet cannot be read from standard input; name a file.")
    file: Any = str(path)
    if path.suffix == ".gz":
        with gzip.open(path) as zipped:
            file = io.BytesIO(zipped.read())
    try:
        columns = read_columns(file)
    except (ImportError, OSError):
        raise
    except Exception as error:  # PyArrow's and polars' errors have no common root
        raise CommandError(f"{path} cannot be read as Parquet: {error}") from error
    names = list(columns)
    n_rows = len(columns[names[0]]) if names else 0
    return Source(str(path), "parquet", names, list(columns.values()), list(range(1, n_rows + 1)))
