"""Compressed files, told by the end of their names: gzip, bzip2, xz and Zstandard.

One place for reading, for writing, and for what a damaged file raises.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import zlib
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

SUFFIXES = (".gz", ".bz2", ".xz", ".zst")
CHUNK = 1 << 16  # bytes
BROKEN = (EOFError, gzip.BadGzipFile, zlib.error, lzma.LZMAError)


class DamagedFile(EOFError):
    """A compressed file that cannot be read to its end."""


def suffix_of(name: str) -> str:
    """Return how a file is compressed, by its name; "" if it is not.

    >>> suffix_of("rows.CSV.GZ"), suffix_of("rows.csv")
    ('.gz', '')
    """
    end = os.path.splitext(name.lower())[1]
    return end if end in SUFFIXES else ""


def bare_name(name: str) -> str:
    """Return the name without the end that says how the file is compressed."""
    end = suffix_of(name)
    return name[: -len(end)] if end else name


def unzipped(file: Any, name: str) -> Any:
    """Return a binary file that gives what `file` holds, unzipped if its name says so."""
    end = suffix_of(name)
    if end == ".gz":
        return gzip.GzipFile(fileobj=file)
    if end == ".bz2":
        return io.BufferedReader(_Frames(file, bz2.BZ2Decompressor, OSError))
    if end == ".xz":
        return lzma.LZMAFile(file)
    if end == ".zst":
        library = _zstandard()
        start = library.ZstdDecompressor().decompressobj
        return io.BufferedReader(_Frames(file, start, library.ZstdError))
    return file


def zipped(data: bytes, name: str) -> bytes:
    """Return data as the name of a file says; the same data give the same bytes."""
    end = suffix_of(name)
    if end == ".gz":
        return gzip.compress(data, mtime=0)
    if end == ".bz2":
        return bz2.compress(data)
    if end == ".xz":
        return lzma.compress(data)
    return bytes(_zstandard().ZstdCompressor().compress(data)) if end == ".zst" else data


def check_library(name: str) -> None:
    """Raise ImportError, which says what to install, if a file cannot be unzipped or zipped."""
    if suffix_of(name) == ".zst":
        _zstandard()


class _Frames(io.RawIOBase):
    """Compressed frames one after the other; one that is damaged or ends early is an error."""

    def __init__(self, file: Any, start: Callable[[], Any], broken: type[Exception]) -> None:
        self._file, self._start, self._broken = file, start, broken
        self._frame: Any = None
        self._ready = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._ready:
            data = self._file.read(CHUNK)
            if not data:
                if self._frame is not None:
                    raise DamagedFile("it has no end")
                return 0
            self._ready = self._decompress(data)
        n = min(len(buffer), len(self._ready))
        buffer[:n], self._ready = self._ready[:n], self._ready[n:]
        return n

    def _decompress(self, data: bytes) -> bytes:
        parts = []
        while data:
            self._frame = self._frame or self._start()
            try:
                parts.append(self._frame.decompress(data))
            except self._broken as error:
                raise DamagedFile(str(error)) from error
            data = self._frame.unused_data if self._frame.eof else b""
            self._frame = None if self._frame.eof else self._frame
        return b"".join(parts)


def _zstandard() -> Any:
    if not find_spec("zstandard"):
        raise ImportError("files that end in .zst need a package: pip install zstandard")
    import zstandard

    return zstandard
