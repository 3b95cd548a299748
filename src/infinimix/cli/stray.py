"""Words that keep a column of numbers or dates from being read as one, such as "k.A." or "tbd".

A word may mean that a cell is missing or be a value of its own, so nothing is guessed: the column
stays text, and a note names the words and the option that makes them missing.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from typing import Any, NamedTuple

from infinimix.cli.errors import listed, shell_word
from infinimix.cli.out import count
from infinimix.streaming.number_styles import find_style
from infinimix.tables.dates import find_order
from infinimix.tables.missing import is_missing

NEARLY_ALL = 0.9  # of the cells are numbers or dates: any words may be between them
FEW_WORDS = 3  # so many are enough to spell what is missing, also in many cells
MOST_WORDS = 8  # that are spelled as options
FEWEST = 10  # different numbers beside them: below, all may be categories
WITH_UNIT = re.compile(
    r"(?P<number>[-+\u2212]?\d[\d.,'\u2019]*)\s*(?P<unit>[^\W\d_][^\d\s]{0,11}|[°µ][^\d\s]{1,11})"
)


class Stray(NamedTuple):
    """What a column would hold without its words, and the words, the most frequent first."""

    what: str  # "numbers" or "dates"
    words: dict[str, int]


def find_stray(cells: Iterable[Any]) -> Stray | None:
    """Return the words that make text of a column of numbers or dates; None if it is text."""
    texts = Counter(str(cell).strip() for cell in cells if not is_missing(cell))
    for what, reads in (("numbers", _is_number), ("dates", _is_date)):
        words = {text: n for text, n in texts.most_common() if not reads(text)}
        rest = texts.keys() - words.keys()
        share = 1.0 - sum(words.values()) / max(texts.total(), 1)
        few = len(words) <= FEW_WORDS and len(rest) >= FEWEST and share >= 0.5
        if words and rest and (few or share >= NEARLY_ALL) and _agree(rest, what):
            return Stray(what, words)
    return None


def word_stray(stray: Stray, markers: Iterable[str] = ()) -> str:
    """Return why a column is text, and what changes it.

    A cell with a digit, such as 9.4 kg, is a value to correct rather than to lose. The option
    replaces the usual spellings, so those that the file has are named as well, and it has to name
    all words: a single one that is left keeps the column text.
    """
    cells = count(sum(stray.words.values()), "cell")
    why = f"is text only because of {listed(stray.words, FEW_WORDS)} in {cells}"
    values = [word for word in stray.words if any(map(str.isdigit, word))]
    empty = [word for word in stray.words if word not in values]
    known = [marker for marker in markers if marker not in ("", "null", *empty)]
    option = _missing([*empty, *known]) if empty else ""
    if not values:
        return f"{why}; if that means missing, add {option} to read {stray.what}"
    rest = f", and if {listed(empty, FEW_WORDS)} means missing, add {option} too" if empty else ""
    return f"{why}; to read {stray.what}, correct cells such as {values[0]!r} in the file{rest}"


def _missing(words: list[str]) -> str:
    options = " ".join(f"--missing {shell_word(word)}" for word in words[:MOST_WORDS])
    more = len(words) - MOST_WORDS
    return f"{options} and the same for {more} more" if more > 0 else options


def find_unit(cells: Iterable[Any]) -> str | None:
    """Return the unit that stands behind the numbers in all cells; None if there is none.

    Such a column is not read as numbers: another file may have another unit, and nobody would
    notice that 300 g became 300 kg.
    """
    texts = {str(cell).strip() for cell in cells if not is_missing(cell)}
    matches = [WITH_UNIT.fullmatch(text) for text in texts]
    units = {found["unit"] if found else None for found in matches}
    if len(units) > 1 or None in units or len(texts) < FEWEST:
        return None
    agree = _agree([found["number"] for found in matches if found], "numbers")
    return units.pop() if agree else None


def explain_text(cells: Iterable[Any], markers: Iterable[str] = ()) -> str:
    """Return why a column of numbers or dates is text, and what to do; "" if it is just text."""
    cells = list(cells)
    stray = find_stray(cells)
    if stray is not None:
        return word_stray(stray, markers)
    unit = find_unit(cells)
    if unit is None:
        return ""
    return (
        f"is text because of the unit {unit!r} in every cell; to read numbers, remove it from the "
        "cells (it may stand in the name of the column)"
    )


def _is_number(text: str) -> bool:
    return any(map(str.isdigit, text)) and find_style([text]) is not None


def _is_date(text: str) -> bool:
    return find_order([text]) is not None


def _agree(texts: Iterable[str], what: str) -> bool:
    """Whether all are numbers in one style, or dates in one order."""
    return (find_style(texts) if what == "numbers" else find_order(list(texts))) is not None
