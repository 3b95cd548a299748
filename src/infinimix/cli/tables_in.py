"""Tables for models: what a cell means, what is missing, and which cells are numbers.

A column of a text file whose cells are all numbers is a column of numbers; any other is text. A
model remembers which were which, so that later files are read as the first one was.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from infinimix.cli.errors import CommandError, hint, listed
from infinimix.cli.files import Source, read_source
from infinimix.cli.reading import Reading
from infinimix.streaming.cells import MISSING, NUMBER, WHOLE
from infinimix.streaming.number_styles import LONGEST, Ambiguous, NumberStyle, find_style
from infinimix.tables.missing import is_missing

if TYPE_CHECKING:
    import pandas as pd

MARKERS = (*MISSING, "?", "N/A", "n/a", "#N/A", "NULL", "<NA>")
NUMERIC_MARKERS = ("-", "--", ".", "*", "n.a.", "missing", "unknown", "#DIV/0!", "#VALUE!")
FLAGS = {"false": 0, "true": 1}
POINT = re.compile(r"[+-]?\d*\.(\d{1,2}|\d{4,})")  # no thousands


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
    """

    columns: dict[str, Any]
    types: dict[str, str]
    markers: Counter[str]
    source: Source
    styles: dict[str, NumberStyle] = field(default_factory=dict)
    ambiguous: dict[str, Ambiguous] = field(default_factory=dict)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.source.n_rows

    def plain_columns(self) -> dict[str, list[Any]]:
        """Return the columns as lists of plain values, None where a cell is missing."""
        lists = {n: c if isinstance(c, list) else c.tolist() for n, c in self.columns.items()}
        return {n: [None if is_missing(v) else v for v in cells] for n, cells in lists.items()}

    @cached_property
    def frame(self) -> pd.DataFrame:
        """The columns as a data frame."""
        import pandas as pd  # slow to load, and a file that is refused needs no frame

        return pd.DataFrame(self.columns)


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
        Types that are already known, by a model; the cells must fit.
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
    given = dict(types or {}) | dict.fromkeys(text, "text")
    table = InputTable({}, {}, Counter(), source)
    open_ones = []
    for name, cells in zip(source.names, source.cells, strict=True):
        mark = reading.decimal or reading.decimals.get(name)
        column = _Column(source, name, name == labels, given.get(name), reading.missing, mark)
        column.understand(cells)
        column.put_into(table)
        open_ones += [(column, cells)] if column.ambiguous else []
    mark = _only_mark(table)
    for column, cells in open_ones if mark is not None else ():
        column.decide(str(mark))  # a file writes its numbers in one way
        column.understand(cells)
        column.put_into(table)
    for column, _ in open_ones:
        if column.ambiguous is not None and column.known == "number":
            check_ambiguous(table, [column.name])
    table.markers = +table.markers
    return table


def check_decimal(decimal: str | None) -> None:
    """Refuse a decimal mark that is neither point nor comma."""
    if decimal not in (None, ".", ","):
        raise CommandError(f"--decimal must be . or , and not {decimal!r}.")


def _only_mark(table: InputTable) -> str | None:
    """Return the decimal mark of all columns in which it is clear; None if there is not one."""
    marks = {style.decimal for style in table.styles.values() if style.decided}
    for name, cells in zip(table.source.names, table.source.cells, strict=True):
        plain = table.types[name] == "number" and name not in table.styles
        if plain and any(isinstance(c, str) and POINT.fullmatch(c.strip()) for c in cells):
            marks.add(".")
    return marks.pop() if len(marks) == 1 else None


class _Column:
    """One column of a file on its way to values."""

    def __init__(
        self, source: Source, name: str, is_label: bool, kind: str | None,
        missing: Sequence[str] | None, mark: str | None,
    ) -> None:  # fmt: skip
        self.source, self.name, self.is_label, self.known = source, name, is_label, kind
        self.kind = "text" if kind == "other" else kind  # dates, which a text file writes out
        self.given, self.mark = missing is not None, mark
        usual = MARKERS if source.is_text or source.format == "xlsx" else ()
        self.missing = frozenset(missing or ()) | {""} if self.given else frozenset(usual)
        self.markers: Counter[str] = Counter()
        self.style: NumberStyle | None = None
        self.ambiguous: Ambiguous | None = None

    def decide(self, mark: str) -> None:
        """Take a decimal mark for cells that leave it open, and begin anew."""
        self.mark, self.kind, self.ambiguous = mark, self.known, None
        self.markers.clear()

    def put_into(self, table: InputTable) -> None:
        """Let a table know what has been understood."""
        table.columns[self.name], table.types[self.name] = self.values, self.found
        table.markers += self.markers
        table.ambiguous.pop(self.name, None)
        if self.style is not None:
            table.styles[self.name] = self.style
        if self.ambiguous is not None:
            table.ambiguous[self.name] = self.ambiguous

    def understand(self, cells: list[Any]) -> None:
        """Find the values of the column and its type."""
        self.values, self.found = self._understand(cells)

    def _understand(self, cells: list[Any]) -> tuple[Any, str]:
        if not self.source.is_text and not any(isinstance(cell, str) for cell in cells):
            return self._typed(cells)
        texts = cells if self.source.is_text else [_text_or_none(cell) for cell in cells]
        counts = Counter(texts)
        bare = {text: text.strip() for text in counts if text is not None}
        holes = {text for text, word in bare.items() if word in self.missing}
        odd = {text for text in bare.keys() - holes if not self._is_number(bare[text])}
        if odd or self.mark == ",":
            odd = self._find_style(odd, bare, holes)
        if odd and not self.given and self._only_markers(odd, bare, holes):
            holes, odd = holes | odd, set()
        if self.kind is None:
            self.kind = "number" if bare.keys() - holes and not odd else "text"
        if self.kind != "text" and odd:
            if self.ambiguous is None:
                self._refuse(texts, odd)
            self.kind = "text"  # until other columns have been looked at
        self.markers["null"] += counts[None]
        for text in holes:
            self.markers[bare[text]] += counts[text]
        if self.kind == "text":
            return [None if text in holes else text for text in texts], "text"
        values = {text: self._value(bare[text]) for text in bare.keys() - holes}
        return _numbers([values.get(text) for text in texts]), self.kind  # type: ignore[arg-type]

    def _find_style(self, odd: set[str], bare: Mapping[str, str], holes: set[str]) -> set[str]:
        """Look for a style in which cells are numbers; return those that are still none."""
        if self.is_label or self.kind not in (None, "number"):
            return odd
        usual = set() if self.given else {t for t in odd if bare[t] in NUMERIC_MARKERS}
        words = [bare[text] for text in bare.keys() - holes - usual]
        style = find_style(words, self.mark)
        if isinstance(style, Ambiguous):
            self.ambiguous = style
        elif style is not None and (odd - usual or style.is_comma):
            self.style = style
            return usual
        return odd

    def _value(self, word: str) -> Any:
        return _value(word) if self.style is None else self.style.read(word)

    def _only_markers(self, odd: set[str], bare: Mapping[str, str], holes: set[str]) -> bool:
        """Whether all that is no number in a column of numbers usually means a missing cell."""
        numbers = self.kind == "number" or len(bare) > len(odd) + len(holes)
        return numbers and self.kind != "text" and all(bare[t] in NUMERIC_MARKERS for t in odd)

    def _is_number(self, word: str) -> bool:
        if self.kind == "flag" and word.lower() in FLAGS:
            return True
        if WHOLE.fullmatch(word):
            return len(word) <= LONGEST
        return not self.is_label and NUMBER.fullmatch(word) is not None

    def _typed(self, cells: list[Any]) -> tuple[Any, str]:
        """Return a column of JSON or Parquet that holds no text."""
        values = [None if is_missing(cell) else cell for cell in cells]
        some = [value for value in values if value is not None]
        self.markers["null"] += len(values) - len(some)
        if self.kind == "text" or not some:
            return [None if value is None else cell_text(value) for value in values], "text"
        if all(isinstance(value, bool) for value in some):
            return values, "flag"
        if all(isinstance(value, int | float) for value in some):
            return _numbers(values), "number"
        return values, "other"  # dates: the model says what to do about them

    def _refuse(self, texts: list[str | None], odd: set[str]) -> None:
        i = next(i for i, text in enumerate(texts) if text in odd)
        raise CommandError(
            f"{self.source.name}: {self.source.where(i)}: column {self.name!r} holds numbers, but "
            f"here {texts[i]!r}; correct it, or say with --missing that it means a missing cell."
        )


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
                f"with --decimal . or --decimal , (or --category {name!r}, if it is no number)."
            )


def _text_or_none(cell: Any) -> str | None:
    return None if is_missing(cell) else cell_text(cell)


def cell_text(cell: Any) -> str:
    """Return a cell as text."""
    return cell if isinstance(cell, str) else str(cell)


def _value(word: str) -> int | float:
    if word.lower() in FLAGS:
        return FLAGS[word.lower()]
    return int(word) if WHOLE.fullmatch(word) else float(word)


def _numbers(values: list[Any]) -> Any:
    import numpy as np  # slow to load, and a file without its target needs no numbers

    whole = all(isinstance(value, int) for value in values)
    if whole and all(abs(value) < 2**63 for value in values):
        return np.array(values, dtype=np.int64)
    return np.array([np.nan if value is None else value for value in values], dtype=np.float64)


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
            f"({listed(classes, 3)}), so it holds no classes; name another --target, or make "
            "ranges of it first."
        )
