"""Dates and times in cells: which strings are some, in which order, and what they say of a row.

A date becomes the columns year, month, weekday, hour and days (elapsed since the first one), a time
of day its hour, a duration its days. Strings are dates if all of a column are: 2024-12-31, with a
time or without; 31.12.2024; 31/12/2024 or 12/31/2024, whichever fits; 31 Dec 2024 and Dec 31, 2024.
Where day and month could change places in every cell, the order is left open and never guessed.

Plain Python, so that a command can ask before anything slow is loaded.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Collection
from typing import Any, NamedTuple

from infinimix.tables.missing import is_missing

__all__ = ["ORDERS", "PARTS", "DateColumn", "Moment", "choose_parts", "find_order", "is_temporal"]
__all__ += ["part_of", "read_moment"]

ORDERS = ("ymd", "dmy", "mdy")
OPEN = "open"  # day and month could change places
TIME, SPAN = "time", "span"  # of columns without dates
PARTS = ("year", "month", "weekday", "hour", "days")
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")

_CLOCK = r"(?P<h>\d{1,2}):(?P<m>\d{2})(?::(?P<s>\d{2}(?:\.\d+)?))?\s?(?P<half>[AaPp][Mm])?"
_ZONE = r"\s?(?:Z|UTC|[+-]\d{2}:?\d{2})?"
_TIME = re.compile(_CLOCK, re.ASCII)
_DATE = re.compile(
    r"(?:(?P<year>\d{4})(?P<sep>[-/.])(?P<month>\d{1,2})(?P=sep)(?P<day>\d{1,2})"
    r"|(?P<a>\d{1,2})(?:(?P<dot>[-/.])(?P<b>\d{1,2})(?P=dot)(?P<long>\d{4})"
    r"|(?P<slash>[/.])(?P<b2>\d{1,2})(?P=slash)(?P<short>\d{2}))"
    r"|(?P<d1>\d{1,2})(?:st|nd|rd|th)?[- ](?P<m1>[A-Za-z]{3,9})\.?,?[- ](?P<y1>\d{4})"
    r"|(?P<m2>[A-Za-z]{3,9})\.?[- ](?P<d2>\d{1,2})(?:st|nd|rd|th)?,?[- ](?P<y2>\d{4}))"
    rf"(?:[T ,]\s?{_CLOCK}{_ZONE})?",
    re.ASCII,
)


class Moment(NamedTuple):
    """A date as the number of its day, and the hours since midnight; None where it has no such."""

    day: int | float | None
    hour: float | None


class DateColumn(NamedTuple):
    """What is known of a column of dates.

    Attributes
    ----------
    name : str
        The column of the table.
    order : str
        How strings are read, one of `ORDERS`; "time" for times of day, "span" for durations.
    origin : int
        The day from which elapsed days are counted.
    parts : tuple of str
        Those of `PARTS` that are columns of the model.
    columns : tuple of str
        What these are called.
    """

    name: str
    order: str
    origin: int
    parts: tuple[str, ...]
    columns: tuple[str, ...]

    @property
    def request(self) -> str:
        """The kind for `columns=` that reads another table in the same way."""
        return f"date:{self.order}:{'+'.join(self.parts)}"


def is_temporal(value: Any) -> bool:
    """Whether a cell is a date, time or duration by its type."""
    if isinstance(value, dt.date | dt.time | dt.timedelta):
        return True
    return type(value).__module__ == "numpy" and value.dtype.kind in "mM"


def read_moment(value: Any, order: str) -> Moment | None:
    """Return what a cell says in the order of its column; None if it is no such date."""
    if isinstance(value, str):
        return _read_string(value.strip(), order)
    if type(value).__module__ == "numpy" and is_temporal(value):
        value = value.astype(f"{value.dtype.name.partition('[')[0]}[us]").item()
    if isinstance(value, dt.timedelta):
        return Moment(value / dt.timedelta(days=1), None) if order == SPAN else None
    if isinstance(value, dt.time):
        return Moment(None, _hours(value)) if order == TIME else None
    if not isinstance(value, dt.date) or order in (TIME, SPAN):
        return None
    return Moment(value.toordinal(), _hours(value) if isinstance(value, dt.datetime) else 0.0)


def _hours(time: dt.time | dt.datetime) -> float:
    return time.hour + time.minute / 60 + (time.second + time.microsecond / 1e6) / 3600


def _read_string(text: str, order: str) -> Moment | None:
    found = (_TIME if order == TIME else _DATE).fullmatch(text)
    if found is None or order == SPAN:
        return None
    hour = _read_clock(found)
    if hour is None or order == TIME:
        return None if hour is None else Moment(None, hour)
    try:
        return Moment(dt.date(*_year_month_day(found, order)).toordinal(), hour)
    except (ValueError, TypeError):
        return None


def _year_month_day(found: re.Match[str], order: str) -> tuple[int, int, int]:
    if found["year"]:
        return int(found["year"]), int(found["month"]), int(found["day"])
    if word := found["m1"] or found["m2"]:
        month = MONTHS.index(word[:3].lower()) + 1  # ValueError: no month
        return int(found["y1"] or found["y2"]), month, int(found["d1"] or found["d2"])
    if order == "ymd":
        raise ValueError("it begins with no year")
    a, b = int(found["a"]), int(found["b"] or found["b2"])
    year = int(found["long"] or found["short"])
    if found["short"]:
        year += 1900 if year >= 70 else 2000
    return (year, b, a) if order == "dmy" else (year, a, b)


def _read_clock(found: re.Match[str]) -> float | None:
    if found["h"] is None:
        return 0.0
    h, m, s = int(found["h"]), int(found["m"]), float(found["s"] or 0.0)
    if found["half"]:
        if not 1 <= h <= 12:
            return None
        h = h % 12 + (12 if found["half"].lower() == "pm" else 0)
    return h + m / 60 + s / 3600 if h < 24 and m < 60 and s < 60 else None


def find_order(values: Collection[Any], given: str | None = None) -> str | None:
    """Return how a column is read whose cells are all dates; `OPEN` if that is not clear, or None.

    Parameters
    ----------
    values : collection
        The cells; missing ones say nothing.
    given : str, optional
        The order where cells leave it open.

    Examples
    --------
    >>> find_order(["31.12.2024", "1.2.2024"]), find_order(["1/2/2024", "12/31/2024"])
    ('dmy', 'mdy')
    >>> find_order(["1/2/2024", "3/4/2024"]), find_order(["2024-05-06 12:30"]), find_order(["x"])
    ('open', 'ymd', None)
    """
    first = next((value for value in values if not is_missing(value)), None)
    if first is None or not _may_be(first):
        return None
    some = {value for value in values if not is_missing(value)}
    fits = [o for o in (*ORDERS, TIME, SPAN) if all(read_moment(v, o) is not None for v in some)]
    if not fits or fits[0] == "ymd" or len(fits) == 1:
        return fits[0] if fits else None
    if given in fits or all("." in str(value) for value in some):
        return given or "dmy"  # with points the day is always first
    alike = all(read_moment(v, "dmy") == read_moment(v, "mdy") for v in some)
    return "dmy" if alike else OPEN


def _may_be(value: Any) -> bool:
    """A quick look at one cell: most columns of strings are no dates."""
    if isinstance(value, str):
        text = value.strip()
        return bool(_DATE.fullmatch(text) or _TIME.fullmatch(text))
    return is_temporal(value)


def part_of(moment: Moment, part: str, origin: int) -> Any:
    """Return what a moment says of one part."""
    day, hour = moment
    if part == "hour":
        return hour
    assert day is not None
    if part == "days":
        return float(day - origin)
    date = dt.date.fromordinal(int(day))
    return {"year": date.year, "month": date.month, "weekday": WEEKDAYS[date.weekday()]}[part]


def choose_parts(moments: Collection[Moment], order: str) -> tuple[str, ...]:
    """Return the parts that vary; of one moment only, those that could."""
    if order in (TIME, SPAN):
        return ("hour",) if order == TIME else ("days",)
    distinct = set(moments)
    if len(distinct) <= 1:
        timed = any(moment.hour for moment in distinct)
        return tuple(part for part in PARTS if timed or part != "hour")
    varying = [p for p in PARTS if len({part_of(m, p, 0) for m in distinct}) > 1]
    return tuple(varying)
