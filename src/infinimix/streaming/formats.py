"""Formats of text files: CSV, JSON lines and svmlight, as rows and labels.

Each takes numbered lines and yields (row, label); a record that cannot be used is given to `bad`
with its line number and the reason, and the next one follows. Blank lines are counted.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from infinimix.streaming.bad import StreamError
from infinimix.streaming.cells import TypedColumns
from infinimix.streaming.lines import number_lines
from infinimix.streaming.records import parse_object, read_records, tell_apart
from infinimix.tables.missing import is_missing

if TYPE_CHECKING:
    from infinimix.streaming.readers import StreamReader

Row = tuple[Any, Any]


def read_csv(reader: StreamReader, lines: Any) -> Iterator[Row]:
    """Yield the rows of a CSV file as dicts, typed by column."""
    options, bad = reader.options, reader.bad
    text = (line for _, line in number_lines(lines, bad))
    records = read_records(text, options.delimiter, bad.add)
    names = options.names or _read_header(reader, records)
    if names is None:
        return
    names = tell_apart(names)
    columns = _check_names(names, reader)
    waiting: list[tuple[int, list[str]]] = []

    def rows() -> Iterator[Row]:
        ready = list(waiting)
        waiting.clear()
        columns.decide([record for _, record in ready])
        for line, record in ready:
            try:
                row = columns.read(record)
                label = take_label(row, reader)
            except ValueError as error:
                bad.add(line, str(error))
            else:
                yield row, label

    try:
        for line, record in records:
            if not record:
                reader.n_blank += 1
                continue
            if len(record) != len(names):
                bad.add(line, f"it has {len(record)} cells, but there are {len(names)} columns")
                continue
            waiting.append((line, record))
            if len(waiting) == reader.chunk:
                yield from rows()
    except StreamError:
        yield from rows()  # those before the error come before it
        raise
    yield from rows()


def _read_header(
    reader: StreamReader, records: Iterator[tuple[int, list[str]]]
) -> list[str] | None:
    """Return the first record that is not blank, if there is one."""
    for _, record in records:
        if record:
            return record
        reader.n_blank += 1
    return None


def _check_names(names: Sequence[str], reader: StreamReader) -> TypedColumns:
    for name in (reader.target, *reader.options.drop):
        if name not in names:
            raise StreamError(
                f"there is no column {name!r}; the columns are {', '.join(map(repr, names))}"
            )
    options = reader.options
    types = {name: "text" for name in names if not options.uses(name, reader.target)}
    types |= options.types
    return TypedColumns(
        names, types, options.missing, reader.target, options.decimal, options.dashes
    )


def read_json_lines(reader: StreamReader, lines: Any) -> Iterator[Row]:
    """Yield the rows of a file with a JSON object on each line."""
    for line, text in number_lines(lines, reader.bad):
        if not text.strip():
            reader.n_blank += 1
            continue
        try:
            row = parse_object(text)
            if not isinstance(row, dict):
                raise ValueError(f"it is not a JSON object, but a {type(row).__name__}")
            for name, value in row.items():
                if reader.options.uses(name, reader.target):
                    _check_value(name, value)
            label = take_label(row, reader)
        except (ValueError, RecursionError) as error:
            reader.bad.add(line, str(error))
        else:
            yield row, label


def _check_value(name: str, value: Any) -> None:
    if isinstance(value, list | dict):
        what = f"{name!r} is a {type(value).__name__}, and not one value"
        raise ValueError(f"{what}; leave it out with drop=[{name!r}] (--drop)")
    if isinstance(value, float) and math.isinf(value):
        raise ValueError(f"{name!r} is infinite")


def take_label(row: dict[str, Any], reader: StreamReader) -> Any:
    """Take the label out of a row; ValueError if there is none and there has to be one."""
    label = row.pop(reader.target, None)
    if not is_missing(label):
        return label
    if reader.options.unlabelled:
        return None
    raise ValueError(f"it has no label {reader.target!r}")


def read_svmlight(reader: StreamReader, lines: Any) -> Iterator[Row]:
    """Yield the rows of an svmlight file as (columns, values), with their labels."""
    for line, text in number_lines(lines, reader.bad):
        words = text.partition("#")[0].split()
        if not words:
            reader.n_blank += 1
            continue
        try:
            row = _read_entries(words[1:], reader)
            label = _read_whole(words[0])
        except ValueError as error:
            reader.bad.add(line, str(error))
        else:
            yield row, label


def _read_entries(words: list[str], reader: StreamReader) -> tuple[list[int], list[float]]:
    columns, values, base = [], [], 0 if reader.options.zero_based else 1
    for word in words:
        index, colon, value = word.partition(":")
        if index == "qid":
            continue
        try:
            columns.append(int(index) - base)
            values.append(float(value))
        except ValueError:
            raise ValueError(f"{word!r} is not column:value") from None
        if not colon or columns[-1] < 0 or math.isinf(values[-1]):
            raise ValueError(f"{word!r} is not column:value with columns from {base} on")
    if len(set(columns)) < len(columns):
        raise ValueError("it names a column twice")
    if columns and reader.n_features is not None and max(columns) >= reader.n_features:
        raise ValueError(
            f"it has column {max(columns) + base}, but there are {reader.n_features}; say how "
            "many with n_features="
        )
    return columns, values


def _read_whole(word: str) -> int:
    value = float(word) if word.isascii() else math.nan
    if not value.is_integer():
        raise ValueError(f"its label {word!r} is not a whole number")
    return int(value)
