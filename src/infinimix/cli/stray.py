"""Words that keep a column of numbers or dates from being read as one, such as "k.A." or "tbd".

A word may mean that a cell is missing or be a value of its own, so nothing is guessed: the column
stays text, and a note names the words and the option that makes them missing.
"""

from __future__ import annotations

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
FEWEST = 10  # different numbers beside them: below, all may be categories


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
    """Return why a column is text, and the option that changes it.

    The option replaces the usual spellings, so those that the file has are named as well.
    """
    cells = count(sum(stray.words.values()), "cell")
    words = [*list(stray.words)[:FEW_WORDS], *(m for m in markers if m not in ("", "null"))]
    option = " ".join(f"--missing {shell_word(word)}" for word in words)
    return (
        f"is text only because of {listed(stray.words, FEW_WORDS)} in {cells}; if that means "
        f"missing, add {option} to read {stray.what}"
    )


def _is_number(text: str) -> bool:
    return any(map(str.isdigit, text)) and find_style([text]) is not None


def _is_date(text: str) -> bool:
    return find_order([text]) is not None


def _agree(texts: Iterable[str], what: str) -> bool:
    """Whether all are numbers in one style, or dates in one order."""
    return (find_style(texts) if what == "numbers" else find_order(list(texts))) is not None
