"""Lines of text from a path, compressed or not, from standard input, or from an open file.

Text is UTF-8 unless the first bytes show another encoding, or the caller names one. What does not
fit comes through as lone surrogates, so that a bad byte spoils its own record and not the file;
`check_text` finds them.
"""

from __future__ import annotations

import gzip
import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from infinimix.streaming.bad import BadRecords
from infinimix.streaming.compression import BROKEN, unzipped
from infinimix.streaming.encodings import HEAD, find_marked, named


@contextmanager
def open_lines(source: Any, encoding: str | None = None) -> Iterator[Any]:
    """Open a source of text lines; only what is opened here is closed."""
    if isinstance(source, io.TextIOBase):
        yield source
    elif isinstance(source, str | os.PathLike) and source != "-":
        with open(source, "rb") as file, _as_text(file, os.fspath(source), encoding) as lines:
            yield lines
    else:
        given: Any = getattr(sys.stdin, "buffer", None) or sys.stdin if source == "-" else source
        if isinstance(given, io.TextIOBase):
            yield given
            return
        name = "" if isinstance(given, gzip.GzipFile) else str(getattr(given, "name", ""))
        text = _as_text(given, name, encoding)
        try:
            yield text
        finally:
            text.detach()  # or the user's file would be closed with it


def _as_text(file: Any, name: str, encoding: str | None) -> io.TextIOWrapper:
    plain = unzipped(file, name)
    head = b""
    try:
        head = plain.peek(HEAD)[:HEAD]
    except (AttributeError, *BROKEN):
        pass  # it cannot be looked at beforehand, or is damaged, which its reader says
    found = find_marked(head) if encoding is None else named(encoding, head)
    if found is None or found.name == "utf-8":
        codec = "utf-8-sig"
    else:
        codec = found.name
        plain.read(len(found.mark))
    return io.TextIOWrapper(plain, encoding=codec, errors="surrogateescape", newline="")


def number_lines(lines: Any, bad: BadRecords) -> Iterator[tuple[int, str]]:
    """Yield lines with their numbers, from 1 on; the damaged end of a file is a bad record."""
    number = 0
    try:
        for number, line in enumerate(lines, 1):
            yield number, line
    except BROKEN as error:
        bad.add(number + 1, f"the compressed file is damaged or ends early ({error})")


def check_text(text: str) -> None:
    """Raise ValueError if the text was no UTF-8."""
    if not text.isascii():
        try:
            text.encode("utf-8")
        except UnicodeEncodeError:
            raise ValueError("it is not UTF-8, and no other encoding was named") from None
