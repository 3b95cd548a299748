"""Files of tables as columns of cells, with all that is needed to write them again unchanged.

Cells of CSV and TSV files are text as it stands in the file; those of JSON lines, Parquet and Excel
files have types of their own. What the columns mean is decided in `tables_in`.
"""

from __future__ import annotations

import io
import re
import sys
import warnings
from collections.abc import Iterator
from itertools import chain, islice
from pathlib import Path
from typing import Any

from infinimix.cli.errors import CommandError
from infinimix.cli.layout import HEAD as HEAD_LINES
from infinimix.cli.layout import count_title_lines, leave_out_totals, stands_alone, tell_titles
from infinimix.cli.places import wrong_with_file
from infinimix.cli.reading import Reading, Source
from infinimix.cli.sheets import read_sheet
from infinimix.streaming.bad import BadRecords, StreamError
from infinimix.streaming.compression import BROKEN, bare_name, unzipped
from infinimix.streaming.encodings import WESTERN, Encoding, UnknownEncoding, find_encoding, named
from infinimix.streaming.lines import number_lines
from infinimix.streaming.parquet import check_magic, read_columns
from infinimix.streaming.records import format_of, parse_object, read_records, tell_apart

FORMATS = ("csv", "tsv", "jsonl", "parquet", "xlsx")
HEAD, CHUNK = 1 << 20, 1 << 12  # bytes of a stream that are looked at, and those read at once
DELIMITERS = (",", ";", "\t", "|")
QUOTED = re.compile(r'"[^"]*"')
PLAIN = (".txt", ".data", ".dat")
OLD = (".xls", ".xlsb", ".ods", ".numbers")  # workbooks that nothing here reads


def read_source(path: Path, reading: Reading | None = None) -> Source:
    """Read a file without its totals; `CommandError` says what is wrong with it."""
    reading = reading or Reading()
    format = find_format(path, reading.format)
    wrong = wrong_with_file(path)
    if wrong:
        raise CommandError(wrong)
    if reading.sheet is not None and format != "xlsx":
        raise CommandError(f"--sheet: {path} is no Excel file, and has no sheets.")
    data = _read_bytes(path)
    if format == "parquet":
        source = _read_parquet(path, data)
    elif format == "xlsx":
        names, cells, lines = read_sheet(data, str(path), reading.sheet)
        source = Source(str(path), format, names, cells, lines)
    else:
        source = _read_text(path, format, data, reading)
    if not source.n_rows:
        raise CommandError(f"{path} has no rows; give a file with a header and rows below it.")
    source.names = tell_apart(source.names, f"{path}: ")
    return leave_out_totals(source)


def _read_bytes(path: Path) -> bytes:
    """Return what is in a file, unzipped."""
    try:
        if str(path) != "-":
            with open(path, "rb") as file:
                return bytes(unzipped(file, path.name).read())
        given: Any = getattr(sys.stdin, "buffer", None)
        return bytes(given.read()) if given is not None else sys.stdin.read().encode("utf-8")
    except BROKEN as error:
        raise _damaged(path, error) from error


def _damaged(path: Path, error: Exception) -> CommandError:
    return CommandError(
        f"{path}: the compressed file is damaged or ends early ({error}); compress the table again."
    )


def _read_text(path: Path, format: str, data: bytes, reading: Reading) -> Source:
    encoding = choose_encoding(path, data, reading.encoding)
    try:
        lines = io.StringIO(encoding.decode(data), newline="")
        read = _read_json if format == "jsonl" else _read_csv
        source = read(str(path), format, lines, reading.delimiter)
    except UnknownEncoding as error:
        raise _undecodable(path, error) from error
    except ValueError as error:
        raise CommandError(f"{path}: {error}.") from error
    source.encoding = encoding
    return source


def choose_encoding(path: Path, data: bytes, name: str | None) -> Encoding:
    """Return the encoding that the user names, or the one that the bytes show, and say so."""
    if name is not None:
        try:
            return named(name, data)
        except LookupError as error:
            raise CommandError(
                f"--encoding: there is no {name!r}; some are utf-8, utf-16, cp1252, latin-1, "
                "cp1251 and shift_jis."
            ) from error
    try:
        found = find_encoding(data)
    except UnknownEncoding as error:
        raise _undecodable(path, error) from error
    if found.name == WESTERN:
        warnings.warn(
            f"{path} is not UTF-8; it was read as Windows-1252. If letters look wrong, name its "
            "encoding with --encoding.", stacklevel=2,
        )  # fmt: skip
    return found


def look_at(path: Path, format: str, reading: Reading) -> tuple[str, str | None]:
    """Return encoding and delimiter of a text file that is read as a stream, by its beginning."""
    head = b""
    with open(path, "rb") as file:
        plain = unzipped(file, path.name)
        try:
            while len(head) < HEAD and (part := plain.read(CHUNK)):
                head += part
        except BROKEN as error:
            if not head:  # else the reader says on which line
                raise _damaged(path, error) from error
    whole = head if len(head) < HEAD else head[: head.rfind(b"\n") + 1] or head
    encoding = choose_encoding(path, whole, reading.encoding)
    delimiter = reading.delimiter
    if delimiter is None and format == "csv":
        first = whole[: whole.find(b"\n") + 2 or None]
        delimiter = _find_delimiter(first.decode(encoding.name, "ignore"))
    return encoding.name, delimiter


def _undecodable(path: Path, error: UnknownEncoding) -> CommandError:
    return CommandError(
        f"{path} {error}. If it is a text file, name its encoding with --encoding, such as utf-8, "
        "utf-16, cp1252 or cp1251; if it is none, give a CSV file."
    )


def find_format(path: Path, format: str | None) -> str:
    """Return what a file holds, by its name unless told."""
    if format is None:
        format = "csv" if str(path) == "-" else format_of(str(path))
    if format is None and bare_suffix(path) in PLAIN:
        format = "csv"
    if format is None and bare_suffix(path) in OLD:
        raise CommandError(f"{path}: save it as .xlsx or .csv first; this format cannot be read.")
    if format not in FORMATS:
        told = "the name does not say what it holds" if format is None else f"not {format!r}"
        raise CommandError(f"{path}: {told}; give --format, one of {', '.join(FORMATS)}.")
    return format


def bare_suffix(path: Path) -> str:
    """Return how a name ends, before the end that says how it is compressed."""
    return Path(bare_name(path.name)).suffix.lower()


def _read_csv(name: str, format: str, lines: Any, delimiter: str | None) -> Source:
    text = (line for _, line in number_lines(lines, BadRecords("raise")))
    head = list(islice(text, HEAD_LINES))
    delimiter = delimiter or ("\t" if format == "tsv" else _find_delimiter(head[0] if head else ""))
    if len(delimiter) != 1:
        raise CommandError(f"--delimiter must be one character; got {delimiter!r}.")
    common = delimiter if format == "tsv" else _find_delimiter("".join(head))
    titles = count_title_lines(head, common) if stands_alone(head, delimiter) else 0
    if titles:
        delimiter = delimiter if delimiter in head[titles] else common
        head[:titles] = ["\n"] * titles
        tell_titles(name, titles)
    held: list[str] = []  # the lines of the record that is being read

    def keep() -> Iterator[str]:
        for line in chain(head, text):
            held.append(line)
            yield line

    def refuse(_: int, reason: str) -> None:
        raise CommandError(f"{name}: {reason}.")

    records = read_records(keep(), delimiter, refuse)
    header = next((record for _, record in records if record or not titles), [])
    names = [cell or f"column {j + 1}" for j, cell in enumerate(header)]
    if not names:
        raise CommandError(f"{name} is empty; give a file with a header and rows below it.")
    raw, at, cells = ["".join(held).lstrip("\n")], [], []
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
    """Return the usual delimiter that the header has most of, outside quotes; or a comma."""
    bare = QUOTED.sub("", header)
    return max(DELIMITERS, key=bare.count)


def _read_json(name: str, format: str, lines: Any, delimiter: str | None) -> Source:
    rows, at, raw = [], [], []
    nested: dict[str, int] = {}
    for line, text in number_lines(lines, BadRecords("raise")):
        if not text.strip():
            continue
        try:
            row = parse_object(text)
        except (ValueError, RecursionError) as error:
            raise CommandError(f"{name}: line {line} is no JSON object: {error}.") from error
        if not isinstance(row, dict):
            raise CommandError(f"{name}: line {line} is no JSON object; each line is one.")
        for key in (key for key, value in row.items() if isinstance(value, dict | list)):
            nested.setdefault(key, line)
        rows.append(row)
        at.append(line)
        raw.append(text)
    names = list(dict.fromkeys(key for row in rows for key in row))
    cells = [[row.get(key) for row in rows] for key in names]
    return Source(name, format, names, cells, at, raw=raw, nested=nested)


def _read_parquet(path: Path, data: bytes) -> Source:
    try:
        check_magic(data[:8], data[-8:], path)
    except StreamError as error:
        raise CommandError(str(error)) from error
    try:
        columns, types = read_columns(io.BytesIO(data))
    except (ImportError, OSError):
        raise
    except Exception as error:  # PyArrow's and polars' errors have no common root
        raise CommandError(f"{path} cannot be read as Parquet: {error}") from error
    names = list(columns)
    n_rows = len(columns[names[0]]) if names else 0
    cells, lines = list(columns.values()), list(range(1, n_rows + 1))
    return Source(str(path), "parquet", names, cells, lines, types=types)
