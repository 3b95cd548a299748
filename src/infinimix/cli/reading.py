"""How the user wants files to be read, and a table as it was read from one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from infinimix.streaming.encodings import Encoding
from infinimix.streaming.parquet import ParquetTypes


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


@dataclass
class Source:
    """A table as it was read.

    Attributes
    ----------
    name : str
        The path, for messages.
    format : str
        One of `FORMATS` of `files`.
    names : list of str
        The columns.
    cells : list of lists
        Column by column; None where a row of JSON lacks a key.
    lines : list of int
        Where each row begins, from 1 on.
    delimiter : str
        Between the cells of CSV files.
    raw : list of str
        Text files: each row as it stands there, with its line end; of CSV files also the header
        and blank lines.
    encoding : Encoding
        Of text files.
    nested : dict
        Columns of JSON lines that hold lists or objects, and the line of the first.
    types : ParquetTypes or None
        Of the columns of a Parquet file.
    whole : Source or None
        The file with the rows that were left out, such as totals; None if there were none.
    """

    name: str
    format: str
    names: list[str]
    cells: list[list[Any]]
    lines: list[int]
    delimiter: str = ","
    raw: list[str] = field(default_factory=list)
    encoding: Encoding = Encoding("utf-8")  # noqa: RUF009  (a value that never changes)
    nested: dict[str, int] = field(default_factory=dict)
    types: ParquetTypes | None = None
    whole: Source | None = None

    @property
    def is_text(self) -> bool:
        """Whether cells are text that has to be understood first."""
        return self.format in ("csv", "tsv")

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.lines)

    @property
    def places(self) -> list[int]:
        """Where each row is among all rows of the file."""
        at = {line: i for i, line in enumerate((self.whole or self).lines)}
        return [at[line] for line in self.lines]

    def where(self, i: int) -> str:
        """Return the place of a row, for messages."""
        return f"{'line' if self.raw else 'row'} {self.lines[i]}"
