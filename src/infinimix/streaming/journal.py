"""An append-only log: JSON lines, each with a checksum of its own.

A line is ``["<checksum>",<record>]``. A crash can only leave the beginning of the last line; that
is cut off when the log is opened again. Damage anywhere else is an error, as rows would be lost.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path

from infinimix.streaming.bad import StreamError


class DurabilityError(StreamError):
    """What was learned cannot be restored, or can no longer be kept."""


def seal(record: bytes) -> bytes:
    """Return a record as a line of the log."""
    return b'["%s",%s]\n' % (_checksum(record), record)


def unseal(line: bytes) -> bytes | None:
    """Return the record of a line, None if the line is not whole."""
    checksum, record = line[2:18], line[20:-2]
    whole = line.startswith(b'["') and line[18:20] == b'",' and line.endswith(b"]\n")
    return record if whole and checksum == _checksum(record) else None


def _checksum(record: bytes) -> bytes:
    return blake2b(record, digest_size=8).hexdigest().encode("ascii")


def read_journal(path: Path) -> Iterator[tuple[int, bytes]]:
    """Yield the records of a log, each with the number of bytes up to its end.

    Raises
    ------
    DurabilityError
        If a line is damaged and whole ones follow.
    """
    end, torn = 0, 0
    with open(path, "rb") as file:
        for number, line in enumerate(file, 1):
            record = unseal(line)
            if record is None:
                torn = torn or number
            elif torn:
                raise DurabilityError(
                    f"line {torn} of {path} is damaged, and rows that were learned later follow; "
                    "restore the file from a good copy"
                )
            else:
                end += len(line)
                yield end, record


class Journal:
    """The log that is being written.

    Parameters
    ----------
    path : Path
        The file; it need not be there yet.
    length : int
        Bytes of it that are whole; what follows is cut off.
    fsync : bool
        Whether each record is on the disk, and not only with the system, when `append` returns.
    """

    def __init__(self, path: Path, length: int, fsync: bool) -> None:
        self.path, self.fsync = path, fsync
        self._file = open(path, "ab", buffering=0)  # noqa: SIM115 (closed by close)
        self._file.truncate(length)
        self.length = length
        if fsync:
            os.fsync(self._file.fileno())
            sync_folder(path.parent)

    def append(self, record: bytes) -> None:
        """Write a record, whole; if that fails the log is as it was, if that is possible at all."""
        line = seal(record)
        try:
            taken = self._file.write(line)
            if taken != len(line):
                raise OSError(f"only {taken} of {len(line)} bytes could be written to {self.path}")
            if self.fsync:
                os.fsync(self._file.fileno())
        except BaseException:
            self._file.truncate(self.length)
            raise
        self.length += len(line)

    def close(self) -> None:
        """Bring everything to the disk, and close the file."""
        if not self._file.closed:
            os.fsync(self._file.fileno())
            self._file.close()


def sync_folder(folder: Path) -> None:
    """Bring the names of new files to the disk, where the system can."""
    if os.name == "posix":
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        except OSError:
            pass  # some network file systems cannot
        finally:
            os.close(handle)
