"""Tables for models: what a cell means, what is missing, and which cells are numbers.

A column of a text file whose cells are all numbers is a column of numbers; any other is text. A
model remembers which were which, so that later files are read as the first one was.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from infinimix.cli.columns_in import ColumnReader
from infinimix.cli.errors import CommandError, hint, listed, quoted
from infinimix.cli.files import read_source
from infinimix.cli.reading import Reading, Source
from infinimix.streaming.number_styles import Ambiguous, NumberStyle, has_point, may_be_thousands
from infinimix.tables.missing import is_missing

if TYPE_CHECKING:
    import pandas as pd


@dataclass
class InputTable:
    """A table that has been understood.

    Attributes
    ----------
    columns : dict
        Numbers and text by column, None or NaN where a cell is missing.
    types : dict
        "number", "text" or "flag" for each column.
    markers : Counter
        How missing cells were spelled, and how often.
    source : Source
        The file as it was.
    styles : dict
        How numbers are written, for columns whose cells are no plain numbers.
    ambiguous : dict
        Columns that are text because their cells are numbers in two ways.
    trimmed : dict
        Columns of text, and their values that stood there with spaces around them as well.
    """

    columns: dict[str, Any]
    types: dict[str, str]
    markers: Counter[str]
    source: Source
    styles: dict[str, NumberStyle] = field(default_factory=dict)
    ambiguous: dict[str, Ambiguous] = field(default_factory=dict)
    trimmed: dict[str, list[str]] = field(default_factory=dict)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.source.n_rows

    def plain_columns(self) -> dict[str, list[Any]]:
        """Return the columns as lists of plain values, None where a cell is missing."""
        lists = {n: c if isinstance(c, list) else c.tolist() for n, c in self.columns.items()}
        return {n: [None if is_missing(v) else v for v in cells] for n, cells in lists.items()}

    def decimals(self, names: Iterable[str]) -> dict[str, str]:
        """Return the decimal marks of those of the columns whose cells decide it."""
        found = {name: self.styles[name] for name in names if name in self.styles}
        return {name: style.decimal for name, style in found.items() if style.decided}

    @cached_property
    def frame(self) -> pd.DataFrame:
        """The columns as a data frame."""
        import numpy as np  # slow to load, and a file that is refused needs no frame
        import pandas as pd

        return pd.DataFrame(
            {n: c if isinstance(c, list) else np.asarray(c) for n, c in self.columns.items()}
        )


def read_table(
    path: Path,
    reading: Reading | None = None,
    *,
    types: Mapping[str, str] | None = None,
    labels: str | None = None,
    text: Iterable[str] = (),
) -> InputTable:
    """Read a file.

    Parameters
    ----------
    path : Path
        The file.
    reading : Reading
        How.
    types : mapping, optional
        Types that are already known, by a model; the cells must fit. That of dates is "date".
    labels : str, optional
        The column of labels, of which only whole numbers are numbers.
    text : iterable of str
        Columns that are text, whatever their cells look like.
    """
    reading = reading or Reading()
    source = read_source(path, reading)
    return understand(source, reading, types=types, labels=labels, text=text)


def understand(
    source: Source,
    reading: Reading,
    *,
    types: Mapping[str, str] | None = None,
    labels: str | None = None,
    text: Iterable[str] = (),
) -> InputTable:
    """Return what the cells of a file mean; see `read_table`."""
    check_decimal(reading.decimal)
    _check_flat(source, reading)
    given = dict(types or {}) | dict.fromkeys(text, "text")
    table = InputTable({}, {}, Counter(), source)
    readers = []
    for name, cells in zip(source.names, source.cells, strict=True):
        mark = reading.decimal or reading.decimals.get(name)
        column = ColumnReader(
            source, name, name == labels, given.get(name), reading.missing, mark, reading.trim
        )
        column.understand(cells)
        column.put_into(table)
        readers.append((column, cells))
    mark = _only_mark(table)
    for column, cells in readers if mark is not None else ():
        if column.ambiguous is not None or (mark == "," and _may_be_thousands(column, cells)):
            column.decide(str(mark))  # a file writes its numbers in one way
            column.understand(cells)
            column.put_into(table)
    for column, _ in readers:
        table.markers.update(column.markers)
        if column.ambiguous is not None and column.known == "number":
            check_ambiguous(table, [column.name])
    table.markers = +table.markers
    return table


def _may_be_thousands(column: ColumnReader, cells: list[Any]) -> bool:
    """Whether the points of a column of plain numbers may stand between thousands."""
    plain = column.found == "number" and column.style is None and column.mark is None
    return plain and holds_thousands(cells)


def holds_thousands(cells: list[Any]) -> bool:
    """Whether cells are text whose points may stand between thousands; see `may_be_thousands`."""
    some = [cell for cell in cells if not is_missing(cell)]
    texts = [cell.strip() for cell in some if isinstance(cell, str)]
    return len(texts) == len(some) and may_be_thousands(t for t in texts if t[-1:].isdigit())


def _check_flat(source: Source, reading: Reading) -> None:
    """Refuse lists and objects in columns that are not left out."""
    for name, line in source.nested.items():
        if name in source.names and name not in reading.drop:
            raise CommandError(
                f"{source.name}: line {line} has a list or object in {name!r}; each line is one "
                f"flat object, so write its values as keys of their own, or leave it out with "
                f"{quoted([name])}."
            )


def check_decimal(decimal: str | None) -> None:
    """Refuse a decimal mark that is neither point nor comma."""
    if decimal not in (None, ".", ","):
        raise CommandError(f"--decimal must be . or , and not {decimal!r}.")


def _only_mark(table: InputTable) -> str | None:
    """Return the decimal mark of all columns in which it is clear; None if there is not one."""
    marks = {style.decimal for style in table.styles.values() if style.decided}
    for name, cells in zip(table.source.names, table.source.cells, strict=True):
        plain = table.types[name] == "number" and name not in table.styles
        if plain and has_point(cell.strip() for cell in cells if isinstance(cell, str)):
            marks.add(".")
    return marks.pop() if len(marks) == 1 else None


def tell_styles(table: InputTable, names: Iterable[str]) -> list[str]:
    """Return one note for each way in which columns write their numbers."""
    alike: dict[str, list[str]] = {}
    for name in names:
        if name in table.styles:
            alike.setdefault(str(table.styles[name]), []).append(name)
    return [
        f"column{'s' if len(names) > 1 else ''} {listed(names)}: read as {style}."
        for style, names in alike.items()
    ]


def check_ambiguous(table: InputTable, names: Iterable[str]) -> None:
    """Refuse a column whose cells are numbers in two ways."""
    for name in names:
        if name in table.ambiguous:
            word, point, comma = table.ambiguous[name]
            raise CommandError(
                f"column {name!r} is ambiguous: {word!r} may be {point:g} or {comma:g}; say which "
                f"with --decimal . or --decimal , (or {quoted([name], '--category')}, if it is no "
                "number)."
            )


def split_names(given: Sequence[str] | None, table: InputTable | None = None) -> list[str]:
    """Return the names in options such as `--drop a,b --drop c`; a name may hold commas itself."""
    known = set(table.source.names) if table is not None else set()
    found: list[str] = []
    for text in given or ():
        found += [text] if text in known else [part.strip() for part in text.split(",")]
    return [name for name in found if name]


def need_columns(source: Source, names: Iterable[str], option: str) -> None:
    """Refuse a name that is no column of the file."""
    for name in names:
        if name not in source.names:
            raise CommandError(
                f"{source.name} has no column {name!r}, which {option} names; "
                + hint(name, source.names)
            )


def take_labels(table: InputTable, target: str) -> list[Any]:
    """Return the labels, None where there is none; a column of no classes is refused."""
    need_columns(table.source, [target], "--target")
    y = read_labels(table, target)
    some = [label for label in y if label is not None]
    if not some:
        raise CommandError(
            f"the column {target!r} has no labels at all; all its cells are missing."
        )
    classes = sorted(set(some), key=str)
    if len(classes) == 1:
        raise CommandError(
            f"the column {target!r} has one class only, {classes[0]!r}; a classifier needs two or "
            "more. Is it the right --target?"
        )
    _refuse_regression(table, target, some, classes)
    return y


def read_labels(table: InputTable, target: str) -> list[Any]:
    """Return the labels, None where there is none."""
    dates = table.types[target] == "other"  # which are labels as pandas has them
    cells = table.frame[target] if dates else table.columns[target]
    cells = cells if isinstance(cells, list) else cells.tolist()
    y = [None if is_missing(label) else label for label in cells]
    some = [label for label in y if label is not None]
    if all(isinstance(label, float) and label.is_integer() for label in some):
        return [None if label is None else int(label) for label in y]  # floats for their holes
    return y


def _refuse_regression(table: InputTable, target: str, some: list[Any], classes: list[Any]) -> None:
    """Refuse labels that are no classes but names of rows or amounts."""
    if len(classes) > 20 and len(classes) > len(some) / 2:
        raise CommandError(
            f"the column {target!r} has {len(classes):,} different labels in {len(some):,} rows "
            f"({listed(classes, 3)}), so it holds no classes; name another --target, or for "
            "numbers say --bins 4 or --regression (fit and evaluate)."
        )
