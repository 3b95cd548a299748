"""Cells of text files: what a column holds is decided once, by the first chunk that shows it.

A column whose cells are all numbers there is a column of numbers; any other is text. A later cell
that does not fit makes its record a bad one.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

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
    """

    def __init__(
        self, names: Sequence[str], types: Mapping[str, str], missing: Sequence[str], target: str
    ) -> None:
        for name, kind in types.items():
            if name not in names or kind not in TYPES:
                raise ValueError(
                    f"types: {name!r}: {kind!r} is not a column with one of the types {TYPES}; "
                    f"the columns are {', '.join(map(repr, names))}."
                )
        self.names = list(names)
        self.missing = frozenset(missing)
        self.target = target
        self.types: list[str | None] = [types.get(name) for name in names]
        self.whole = [False] * len(names)

    def decide(self, records: list[list[str]]) -> None:
        """Decide the columns that have not been, by the cells of a chunk."""
        for j, kind in enumerate(self.types):
            if kind is None:
                cells = [record[j].strip() for record in records]
                cells = [cell for cell in cells if cell not in self.missing]
                if cells:
                    self._decide(j, cells)

    def _decide(self, j: int, cells: list[str]) -> None:
        whole = all(WHOLE.fullmatch(cell) for cell in cells)
        fits = whole or (
            self.names[j] != self.target and all(NUMBER.fullmatch(cell) for cell in cells)
        )
        self.types[j] = "number" if fits else "text"
        self.whole[j] = whole

    def read(self, record: list[str]) -> dict[str, Any]:
        """Return a record as a row, its missing cells as None; ValueError if one does not fit."""
        return {name: self._cell(j, record[j]) for j, name in enumerate(self.names)}

    def _cell(self, j: int, text: str) -> Any:
        bare = text.strip()
        if bare in self.missing:
            return None
        if self.types[j] != "number":
            return text
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
