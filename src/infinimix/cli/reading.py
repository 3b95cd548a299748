"""How the user wants files to be read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Reading:
    """How the user wants files to be read; what is None is found.

    Attributes
    ----------
    format, delimiter, encoding, sheet : str or None
        Of the file.
    missing : sequence of str or None
        How missing cells are spelled.
    decimal : "." or "," or None
        What is before the decimals of all numbers.
    drop : tuple of str
        Columns to leave out.
    date_order : "ymd", "dmy" or "mdy" or None
        The order of day, month and year, where dates leave it open.
    decimals : mapping
        The same as `decimal` for columns of a model, where a file leaves it open.
    trim : bool
        Whether spaces around text are left out; a model may have learned them.
    """

    format: str | None = None
    delimiter: str | None = None
    missing: Sequence[str] | None = None
    drop: tuple[str, ...] = ()
    encoding: str | None = None
    sheet: str | None = None
    decimal: str | None = None
    date_order: str | None = None
    decimals: Mapping[str, str] = field(default_factory=dict)
    trim: bool = True
