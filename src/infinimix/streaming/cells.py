"""Cells of text files: what a column holds is decided once, by the first chunk that shows it.

A column whose cells are all numbers there is a column of numbers, also with decimal commas,
currencies or percent signs (`number_styles`); any other is text. A later cell that does not fit
makes its record a bad one.
"""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from infinimix.streaming.bad import StreamError
from infinimix.streaming.number_styles import Ambiguous, NumberStyle, find_style, has_point
from infinimix.tables.dates import find_order

WHOLE = re.compile(r"[+-]?\d+", re.ASCII)
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
MISSING = ("", "NA", "NaN", "nan", "null", "None")
TYPES = ("number", "text")


class TypedColumns:
    """The columns of a text file.

    Parameters
    ----------
    names : sequence of str
        Their names.
    types : mapping
        "number" or "text" for some of them; the others are decided by their cells.
    missing : sequence of str
        How missing cells are spelled.
    target : str
        The column of labels, of which only whole numbers are numbers.
    decimal : "." or "," or None
        The decimal mark, where cells leave it open.
    dashes : sequence of str
        How missing cells are spelled in columns of numbers and dates, too.
    """

    def __init__(
        self, names: Sequence[str], types: Mapping[str, str], missing: Sequence[str], target: str,
        decimal: str | None = None, dashes: Sequence[str] = (),
    ) -> None:  # fmt: skip
        for name, kind in types.items():
            if name not in names or kind not in TYPES:
                raise ValueError(
                    f"types: {name!r}: {kind!r} is not a column with one of the types {TYPES}; "
                    f"the columns are {', '.join(map(repr, names))}."
                )
        self.names = list(names)
        self.missing, self.dashes = frozenset(missing), frozenset(dashes)
        self.dashed = [types.get(name) == "number" for name in names]  # whether they have dashes
        self.target = target
        self.types: list[str | None] = [types.get(name) for name in names]
        self.whole = [False] * len(names)
        self.decimal = decimal
        self.styles: list[NumberStyle | None] = [None] * len(names)
        self.open = [kind != "text" for kind in self.types]

    def decide(self, records: list[list[str]]) -> None:
        """Decide the columns that have not been, by the cells of a chunk."""
        found = {}
        for j, is_open in enumerate(self.open):
            if is_open:
                cells = {record[j].strip() for record in records} - self.missing
                some = cells if self.names[j] == self.target else cells - self.dashes
                if some:
                    found[j] = some
                    self.open[j] = False
        self.decimal = self.decimal or self._only_mark(found)
        for j, cells in found.items():
            self._decide(j, cells)
            if self.names[j] != self.target and self.dashes:
                self.dashed[j] = self.types[j] == "number" or find_order(cells) is not None

    def _only_mark(self, found: Mapping[int, set[str]]) -> str | None:
        """Return the decimal mark of all columns in which it is clear; None if there is not one."""
        marks = set()
        for j, cells in found.items():
            if self.names[j] == self.target:
                continue
            if all(map(NUMBER.fullmatch, cells)):
                marks |= {"."} if has_point(cells) else set()
            elif isinstance(style := find_style(cells), NumberStyle) and style.decided:
                marks.add(style.decimal)
        return marks.pop() if len(marks) == 1 else None

    def _decide(self, j: int, cells: set[str]) -> None:
        whole = all(WHOLE.fullmatch(cell) for cell in cells)
        fits = whole or (
            self.names[j] != self.target and all(NUMBER.fullmatch(cell) for cell in cells)
        )
        if self.names[j] != self.target and (not fits or self.decimal == ","):
            self.styles[j] = self._find_style(j, cells, fits)
        known = fits or self.styles[j] is not None
        if self.types[j] is None:
            self.types[j] = "number" if known else "text"
            self.whole[j] = whole and self.styles[j] is None

    def _find_style(self, j: int, cells: set[str], plain: bool) -> NumberStyle | None:
        """Return how a column writes its numbers, if they are no plain ones."""
        style = find_style(cells, self.decimal)
        if plain and not (isinstance(style, NumberStyle) and style.is_comma):
            return None
        if isinstance(style, Ambiguous):
            raise StreamError(
                f"column {self.names[j]!r} is ambiguous: {style.word!r} may be {style.point:g} or "
                f"{style.comma:g}; say which with decimal='.' or decimal=',' (--decimal), or "
                f'that it is text with types={{{self.names[j]!r}: "text"}} (--category)'
            )
        if style is not None:
            warnings.warn(f"column {self.names[j]!r}: read as {style}.", stacklevel=2)
        return style

    def read(self, record: list[str]) -> dict[str, Any]:
        """Return a record as a row, its missing cells as None; ValueError if one does not fit."""
        return {name: self._cell(j, record[j]) for j, name in enumerate(self.names)}

    def _cell(self, j: int, text: str) -> Any:
        bare = text.strip()
        if bare in self.missing or (bare in self.dashes and self.dashed[j]):
            return None
        if self.types[j] != "number":
            return text
        style = self.styles[j]
        if style is not None:
            found = style.read(bare)
            if found is None:
                raise ValueError(f"column {self.names[j]!r} holds {style}, but here {_shown(text)}")
            return float(found)
        if self.whole[j] and WHOLE.fullmatch(bare) and len(bare) < 4000:
            return int(bare)
        if not NUMBER.fullmatch(bare):
            raise ValueError(
                f"column {self.names[j]!r} holds numbers, but here {_shown(text)}; if it is "
                f'text, say so with types={{{self.names[j]!r}: "text"}}'
            )
        value = float(bare)
        if math.isinf(value):
            raise ValueError(f"column {self.names[j]!r} has {_shown(text)}, beyond all numbers")
        return value


def _shown(text: str) -> str:
    return repr(text if len(text) <= 40 else text[:37] + "...")
