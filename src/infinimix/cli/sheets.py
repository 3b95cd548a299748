"""Excel files: the cells of one sheet, and columns written as a new one."""

from __future__ import annotations

import io
import math
import sys
import warnings
from importlib import import_module
from importlib.util import find_spec
from typing import Any
from zipfile import is_zipfile

from infinimix.cli.errors import CommandError, hint
from infinimix.cli.layout import HEAD, count_titles, tell_titles

LARGEST = 1_048_576  # rows of a sheet


def check_library() -> None:
    """Refuse Excel files if what reads and writes them is not installed."""
    if not find_spec("openpyxl"):
        raise CommandError("Excel files need a package: pip install openpyxl")


def read_sheet(
    data: bytes, name: str, sheet: str | None
) -> tuple[list[str], list[list[Any]], list[int]]:
    """Return header, columns of cells, and the row of the sheet where each row of the table is.

    The header is the first row that is not blank; blank rows and columns are left out.
    """
    check_library()
    if not is_zipfile(io.BytesIO(data)):  # before openpyxl is loaded, which is slow
        raise CommandError(
            f"{name} cannot be read as an Excel file: it is no zip archive, as .xlsx files are "
            "(old .xls files must be saved as .xlsx; text is read with --format csv)."
        )
    openpyxl = _load()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of styles and extensions, which are not read
            book = openpyxl.load_workbook(io.BytesIO(data), read_only=True, data_only=True)
            found = _find_sheet(book.sheetnames, name, sheet)
            cells = list(book[found].iter_rows(values_only=True))
    except CommandError:
        raise
    except Exception as error:  # of zipfile, XML and openpyxl, without a common root
        raise CommandError(f"{name} cannot be read as an Excel file: {error}.") from error
    if sheet is None and len(book.sheetnames) > 1:
        warnings.warn(
            f"{name} has {len(book.sheetnames)} sheets; this is the first, {found!r}. Name another "
            "with --sheet.", stacklevel=2,
        )  # fmt: skip
    rows = [(at, row) for at, row in enumerate(cells, 1) if not all(map(_blank, row))]
    if not rows:
        raise CommandError(f"{name} is empty; give a sheet with a header and rows below it.")
    titles = count_titles([row for _, row in rows[:HEAD]])
    tell_titles(name, titles)
    rows = rows[titles:]
    width = max(len(row) for _, row in rows)
    wide = [(at, [*row, *[None] * (width - len(row))]) for at, row in rows]
    kept = [j for j in range(width) if not all(_blank(row[j]) for _, row in wide)]
    names = [str(h) if not _blank(h := wide[0][1][j]) else f"column {j + 1}" for j in kept]
    columns = [[_plain(row[j]) for _, row in wide[1:]] for j in kept]
    return names, columns, [at for at, _ in wide[1:]]


def _load() -> Any:
    """Return openpyxl; it would load NumPy too, for types that plain cells never have."""
    if "numpy" in sys.modules:
        return import_module("openpyxl")
    sys.modules["numpy"] = None  # type: ignore[assignment]
    try:
        return import_module("openpyxl")
    finally:
        del sys.modules["numpy"]


def _find_sheet(names: list[str], name: str, sheet: str | None) -> str:
    """Return the name of a sheet by its name or number; the first if none is asked for."""
    if sheet is None or sheet in names:
        return names[0] if sheet is None else sheet
    if sheet.isascii() and sheet.isdigit() and 1 <= int(sheet) <= len(names):
        return names[int(sheet) - 1]
    raise CommandError(f"--sheet: {name} has no sheet {sheet!r}; {hint(sheet, names)}")


def _blank(cell: Any) -> bool:
    return cell is None or cell == ""


def _plain(cell: Any) -> Any:
    """Return a cell; whole numbers, which Excel keeps as floats, are whole."""
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < 2**53:
        return int(cell)
    return cell


def write_sheet(columns: dict[str, list[Any]]) -> bytes:
    """Return columns of plain values as an Excel file with one sheet."""
    check_library()
    import openpyxl

    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet("Sheet1")
    sheet.append(list(columns))
    for n, row in enumerate(zip(*columns.values(), strict=True), 2):
        if n > LARGEST:
            raise CommandError(f"an Excel sheet has at most {LARGEST:,} rows; write CSV instead.")
        sheet.append([None if isinstance(v, float) and not math.isfinite(v) else v for v in row])
    file = io.BytesIO()
    book.save(file)
    return file.getvalue()
