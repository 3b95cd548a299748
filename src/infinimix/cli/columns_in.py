"""One column of a file on its way to values: what is missing, and whether the rest are numbers."""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from infinimix.cli.errors import CommandError
from infinimix.cli.reading import Source
from infinimix.cli.stray import find_unit
from infinimix.streaming.cells import MISSING, NUMBER, WHOLE
from infinimix.streaming.number_styles import LONGEST, Ambiguous, NumberStyle, find_style
from infinimix.tables.dates import find_order
from infinimix.tables.missing import is_missing

if TYPE_CHECKING:
    from infinimix.cli.tables_in import InputTable

MARKERS = (*MISSING, "?", "N/A", "n/a", "#N/A", "NULL", "<NA>")
NUMERIC_MARKERS = ("-", "--", ".", "*", "n.a.", "missing", "unknown", "#DIV/0!", "#VALUE!")
FLAGS = {"false": 0, "true": 1}


class ColumnReader:
    """One column of a file on its way to values."""

    def __init__(
        self, source: Source, name: str, is_label: bool, kind: str | None,
        missing: Sequence[str] | None, mark: str | None, trim: bool = True,
    ) -> None:  # fmt: skip
        self.source, self.name, self.is_label, self.known = source, name, is_label, kind
        self.kind = "text" if kind in ("other", "date") else kind  # as a text file writes dates
        self.given, self.mark, self.trim = missing is not None, mark, trim
        self.trimmed: list[str] = []  # values that also have spaces around them
        usual = MARKERS if source.is_text or source.format == "xlsx" else ()
        self.missing = frozenset(missing or ()) | {""} if self.given else frozenset(usual)
        self.empty = "null" if source.format == "jsonl" else ""  # how None is spelled
        self.markers: Counter[str] = Counter()
        self.style: NumberStyle | None = None
        self.ambiguous: Ambiguous | None = None

    def decide(self, mark: str) -> None:
        """Take a decimal mark for cells that leave it open, and begin again."""
        self.mark, self.kind, self.ambiguous = mark, self.known, None
        self.markers.clear()

    def put_into(self, table: InputTable) -> None:
        """Let a table know what has been understood."""
        table.columns[self.name], table.types[self.name] = self.values, self.found
        table.ambiguous.pop(self.name, None)
        if self.trimmed:
            table.trimmed[self.name] = self.trimmed
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
        if self.kind == "text" and not self.given and not self.is_label:
            holes = holes | self._find_markers(bare, holes)
        self.markers[self.empty] += counts[None]
        for text in holes:
            self.markers[bare[text]] += counts[text]
        if self.kind == "text":
            return self._trimmed(texts, bare, holes), "text"
        values = {text: self._value(bare[text]) for text in bare.keys() - holes}
        return _numbers([values.get(text) for text in texts]), self.kind  # type: ignore[arg-type]

    def _trimmed(
        self, texts: list[str | None], bare: Mapping[str, str], holes: set[str]
    ) -> list[str | None]:
        """Return text without spaces around it, and remember where that joins values."""
        if not self.trim:
            return [None if text in holes else text for text in texts]
        spelled = Counter(word for text, word in bare.items() if text not in holes)
        self.trimmed = [word for word, n in spelled.items() if n > 1]
        return [None if text is None or text in holes else bare[text] for text in texts]

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

    def _find_markers(self, bare: Mapping[str, str], holes: set[str]) -> set[str]:
        """Return what usually means a missing cell, among dates or numbers with one unit."""
        usual = {text for text in bare.keys() - holes if bare[text] in NUMERIC_MARKERS}
        rest = [bare[text] for text in bare.keys() - holes - usual]
        if usual and (self.known == "date" or find_order(rest) or find_unit(rest)):
            return usual
        return set()

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
        self.markers[self.empty] += len(values) - len(some)
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
    """Return an array of Python's own: NumPy is slow to load, and a bad file needs none."""
    whole = all(isinstance(value, int) for value in values)
    if whole and all(abs(value) < 2**63 for value in values):
        return array("q", values)
    return array("d", (math.nan if value is None else value for value in values))
