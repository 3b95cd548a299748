"""How the text of a file is encoded: told by its first bytes, or found by trying.

A byte-order mark decides. Without one, text with a zero in every other byte is UTF-16, text that is
valid UTF-8 is UTF-8, and text of Western words is Windows-1252, of which Latin-1 is a part.
Anything else is not guessed: `UnknownEncoding` says where UTF-8 failed.
"""

from __future__ import annotations

import codecs
import re
from typing import NamedTuple

MARKS = {  # the longer ones first: that of UTF-32 begins with that of UTF-16
    codecs.BOM_UTF32_LE: "utf-32-le", codecs.BOM_UTF32_BE: "utf-32-be",
    codecs.BOM_UTF8: "utf-8", codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be",
}  # fmt: skip
WESTERN = "cp1252"
FOREIGN = re.compile(  # no Western word has three letters beyond ASCII in a row, nor one of these
    r"[^\W\d_a-zA-Z]{3}|[\u0192\u02c6\u02dc]"
)
HEAD = 1 << 12  # bytes that show whether every other one is zero
CONTROLS = {*range(32), 127} - {9, 10, 12, 13}


class UnknownEncoding(ValueError):
    """Text that is neither UTF-8 nor UTF-16 nor Windows-1252."""


class Encoding(NamedTuple):
    """A codec of Python, and the byte-order mark before the text."""

    name: str
    mark: bytes = b""

    def decode(self, data: bytes) -> str:
        """Return the text of a file; UnknownEncoding if a byte does not fit."""
        try:
            return data[len(self.mark) :].decode(self.name)
        except UnicodeDecodeError as error:
            raise UnknownEncoding(f"is not {self.name}: {_place(data, error)}") from error

    def encode(self, text: str) -> bytes:
        """Return text as a file of this encoding holds it."""
        return self.mark + text.encode(self.name)


def find_marked(head: bytes) -> Encoding | None:
    """Return what the first bytes of a file say of its encoding; None if nothing."""
    for mark, name in MARKS.items():
        if head.startswith(mark):
            return Encoding(name, mark)
    head = head[:HEAD]
    pairs = len(head) // 2
    even, odd = head[0 : 2 * pairs : 2].count(0), head[1 : 2 * pairs : 2].count(0)
    if pairs >= 2 and max(even, odd) > 0.7 * pairs and min(even, odd) < 0.1 * pairs:
        return Encoding("utf-16-be" if even > odd else "utf-16-le")
    return None


def find_encoding(data: bytes) -> Encoding:
    """Return how a text is encoded, by all its bytes; UnknownEncoding if that is not clear.

    >>> find_encoding("é".encode()).name, find_encoding("une fête".encode("latin-1")).name
    ('utf-8', 'cp1252')
    """
    marked = find_marked(data)
    if marked is not None:
        return marked
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        if not _is_western(data):
            raise UnknownEncoding(f"is not UTF-8: {_place(data, error)}") from error
        return Encoding(WESTERN)
    return Encoding("utf-8")


def named(name: str, data: bytes = b"") -> Encoding:
    """Return the encoding that the user names, with the mark that the data have; or LookupError."""
    found = codecs.lookup(name).name
    if found == "utf-8-sig":
        found = "utf-8"
    for mark, marked in MARKS.items():
        if data.startswith(mark) and marked in (found, f"{found}-le", f"{found}-be"):
            return Encoding(marked, mark)
    return Encoding(found)


def _is_western(data: bytes) -> bool:
    """Whether bytes are a text in Windows-1252: no controls, and words with letters of ASCII."""
    if CONTROLS & set(data):
        return False
    try:
        return FOREIGN.search(data.decode(WESTERN)) is None
    except UnicodeDecodeError:
        return False


def _place(data: bytes, error: UnicodeDecodeError) -> str:
    """Return which byte does not fit, and on which line."""
    line = data.count(b"\n", 0, error.start) + 1
    return f"line {line} has the byte 0x{error.object[error.start]:02x}"
