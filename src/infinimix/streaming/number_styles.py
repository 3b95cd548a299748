"""How a column of text writes its numbers: decimal point or comma, thousands, currency, percent.

A style is decided for a whole column, by all its different cells, and never guessed: where the same
cells could be read in two ways with different results ("1,234" alone), the column is ambiguous.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

CURRENCIES = (
    "US$", "A$", "C$", "R$", "$", "€", "£", "¥", "₹", "₽", "₩", "₺", "zł", "kr", "EUR", "USD",
    "GBP", "CHF", "JPY", "SEK", "NOK", "DKK", "PLN", "CZK", "HUF", "CAD", "AUD", "INR", "CNY",
    "BRL",
)  # fmt: skip
MARKS = {",": "commas", ".": "points", "'": "apostrophes", "\u2019": "apostrophes"}
LONGEST = 18  # digits of a whole number that 64 bits surely hold; longer ones are names
_UNIT = "|".join(map(re.escape, CURRENCIES))
_WORD = re.compile(
    rf"(?P<sign>[-+\u2212]?)\s*(?P<before>{_UNIT})?\s*(?P<inner>[-+\u2212]?)"
    rf"(?P<core>[\d.,'\u2019 \u00a0\u202f]*\d(?:[.,](?=\s|\D|$))?(?:[eE][-+]?\d+)?)"
    rf"\s*(?P<after>{_UNIT}|%)?",
)
_SPACES = "'\u2019 \u00a0\u202f"  # the Swiss write 1'234
_FIRST = r"[1-9]\d{0,2}"  # nobody writes 0,234 for 234
_EXPONENT = r"(?:[eE][-+]?\d+)?"
CORES = {
    decimal: re.compile(
        rf"(?:{_FIRST}(?:{re.escape(other)}\d{{3}})+|{_FIRST}(?:[{_SPACES}]\d{{3}})+|\d+)"
        rf"(?:{re.escape(decimal)}\d*)?{_EXPONENT}|{re.escape(decimal)}\d+{_EXPONENT}",
        re.ASCII,
    )
    for decimal, other in ((".", ","), (",", "."))
}
_GROUPS = re.compile(rf"[{_SPACES}]")
_POINT = re.compile(r"[+-]?\d*\.(\d{1,2}|\d{4,})", re.ASCII)  # no thousands
_POINTS = re.compile(r"[+-]?[1-9]\d{0,2}(\.\d{3})+", re.ASCII)  # thousands, or three decimals


class NumberStyle(NamedTuple):
    """How the numbers of a column are written.

    Attributes
    ----------
    decimal : str
        "." or ",".
    thousands : str
        What is between thousands; "" if nothing is.
    before, after : str
        A currency or %, with its spaces, as the first cell has it; "" if there is none.
    decided : bool
        Whether the decimal mark makes a difference: "5 %" is the same number with both.
    whole : bool
        Whether no cell has a decimal mark.
    """

    decimal: str = "."
    thousands: str = ""
    before: str = ""
    after: str = ""
    decided: bool = False
    whole: bool = False

    @property
    def is_comma(self) -> bool:
        """Whether cells are other numbers than with a decimal point."""
        return self.decided and self.decimal == ","

    def read(self, word: str) -> float | int | None:
        """Return the number that a cell is; None if it is none in this style."""
        found = _match(word)
        if found is None or not CORES[self.decimal].fullmatch(found["core"]):
            return None
        return _value(found, self.decimal)

    def write(self, value: float, digits: int) -> str:
        """Return a number as the other cells of the column are written."""
        text = f"{abs(value):,.{digits}f}" if self.thousands else f"{abs(value):.{digits}f}"
        text = text.translate({ord(","): self.thousands, ord("."): self.decimal})
        sign = "-" if value < 0 and float(f"{value:.{digits}f}") != 0 else ""
        return f"{sign}{self.before}{text}{self.after}"

    def digits(self, word: str) -> int:
        """Return how many digits a cell has behind its decimal mark."""
        found = _WORD.fullmatch(word)
        core = found["core"] if found else ""
        mantissa, _, exponent = core.lower().partition("e")
        behind = len(mantissa.partition(self.decimal)[2])
        return min(max(behind - int(exponent or 0), 0), 12)

    def __str__(self) -> str:
        parts = ["a decimal comma"] if self.is_comma and not self.whole else []
        if self.thousands and not parts:
            parts.append(f"{MARKS.get(self.thousands, 'spaces')} between thousands")
        unit = (self.before or self.after).strip()
        parts += [f"the unit {unit}"] if unit not in ("", "%") else []
        kind = "percentages" if unit == "%" else "numbers"
        return f"{kind} with {' and '.join(parts)}" if parts else kind


class Ambiguous(NamedTuple):
    """Cells that are numbers in two ways; one of them, and what it may be."""

    word: str
    point: float
    comma: float


def find_style(
    words: Iterable[str], preferred: str | None = None
) -> NumberStyle | Ambiguous | None:
    """Return how the numbers of a column are written; None if not all its cells are numbers.

    Parameters
    ----------
    words : iterable of str
        The different cells, without spaces around them.
    preferred : "." or "," or None
        The decimal mark where cells leave it open.

    Examples
    --------
    >>> find_style(["1.234,50", "3,00"]).decimal
    ','
    >>> find_style(["1,234", "2,345"])
    Ambiguous(word='1,234', point=1234, comma=1.234)
    """
    matches = [(word, _match(word)) for word in words]
    if not matches or any(m is None for _, m in matches):
        return None
    if any(m and m["core"].isdigit() and len(m["core"]) > LONGEST for _, m in matches):
        return None
    units = {(m["before"] or m["after"]) for _, m in matches if m}
    named = units - {None}
    if len(named) > 1 or ("%" in named and None in units):
        return None  # different currencies, or shares beside percentages
    cores = [m["core"] for _, m in matches if m]
    fits = [mark for mark, core in CORES.items() if all(map(core.fullmatch, cores))]
    if not fits:
        return None
    mark = fits[0]
    odd = None
    if len(fits) == 2:
        odd = next(((w, m) for w, m in matches if m and _value(m, ".") != _value(m, ",")), None)
        if odd is not None and preferred is None:
            return Ambiguous(odd[0], *(_value(odd[1], one) for one in (".", ",")))
        mark = preferred or "."
    decided = len(fits) == 1 or odd is not None
    whole = not any(mark in core for core in cores)
    return NumberStyle(mark, _thousands(cores, mark), *_unit(matches), decided, whole)


def has_point(words: Iterable[str]) -> bool:
    """Whether a point is surely the decimal mark of plain numbers: 4.3 is no 43."""
    return any(map(_POINT.fullmatch, words))


def may_be_thousands(words: Iterable[str]) -> bool:
    """Whether plain numbers have points that may stand between thousands, and no others."""
    pointed = [word for word in words if "." in word]
    return bool(pointed) and all(map(_POINTS.fullmatch, pointed))


def _match(word: str) -> re.Match[str] | None:
    """Return the parts of a cell that may be a number; it has one sign and one unit at most."""
    found = _WORD.fullmatch(word)
    if found is None or (found["before"] and found["after"]) or (found["sign"] and found["inner"]):
        return None
    return found


def _value(found: re.Match[str], decimal: str) -> float | int:
    core = _GROUPS.sub("", found["core"]).replace("," if decimal == "." else ".", "")
    core = core.replace(",", ".")
    negative = (found["sign"] + found["inner"]) in ("-", "\u2212")
    value = int(core) if core.isdigit() else float(core)
    return -value if negative else value


def _thousands(cores: list[str], decimal: str) -> str:
    other = "," if decimal == "." else "."
    for core in cores:
        if other in core:
            return other
        if spaces := _GROUPS.search(core):
            return spaces[0]
    return ""


def _unit(matches: list[tuple[str, re.Match[str] | None]]) -> tuple[str, str]:
    """Return what is before and after the number in the first cell that has a unit."""
    for word, found in matches:
        if found and (found["before"] or found["after"]):
            start = found.start("before") if found["before"] else found.start("core")
            return word[start : found.start("core")].rstrip("+-\u2212"), word[found.end("core") :]
    return "", ""
