"""The records of a log: lines of JSON, each with its sequence number, length and checksum.

A line is ``[2,<sequence>,<length>,"<checksum>",<record>]``; the checksum is of all the rest. Lines
and not binary frames: any tool for JSON lines reads them, and after damage the next head is found
without a doubt, as none can stand inside a record, so that a crash that cut the last record off
can be told from damage with sound records behind it. A length is believed only within the file
and below `LONGEST`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path
from typing import BinaryIO, NamedTuple

from infinimix.streaming.bad import StreamError

LONGEST = 1 << 28  # bytes of one record
HEAD = re.compile(rb'\[2,(0|[1-9]\d{0,17}),(\d{1,9}),"([0-9a-f]{16})",')
MOST_HEAD = 52  # bytes
BLOCK = 1 << 13


class DurabilityError(StreamError):
    """What was learned cannot be restored, or can no longer be kept."""


class Sealed(NamedTuple):
    """A sound record of a log, and where it ends in its file."""

    sequence: int
    record: bytes
    end: int


def seal(sequence: int, record: bytes) -> bytes:
    """Return a record as a line of the log."""
    if len(record) > LONGEST:
        raise ValueError(
            f"a record of {len(record):,} bytes is too long (at most {LONGEST:,}); learn fewer "
            "rows in one call."
        )
    checksum = _checksum(sequence, record)
    return b'[2,%d,%d,"%s",%s]\n' % (sequence, len(record), checksum, record)


def _checksum(sequence: int, record: bytes) -> bytes:
    digest = blake2b(b"%d,%d," % (sequence, len(record)), digest_size=8)
    digest.update(record)
    return digest.hexdigest().encode("ascii")


def unseal(line: bytes) -> tuple[int, bytes] | None:
    """Return sequence number and record of a line, None if the line is not whole."""
    head = HEAD.match(line)
    if head is None or not line.endswith(b"]\n"):
        return None
    sequence, record = int(head[1]), line[head.end() : -2]
    same = len(record) == int(head[2]) and head[3] == _checksum(sequence, record)
    return (sequence, record) if same else None


def read_records(path: Path) -> Iterator[Sealed]:
    """Yield the sound records of a file, whatever bytes stand between them.

    At most one record is in memory, and none that is longer than the rest of the file.
    """
    with open(path, "rb") as file:
        size, at = os.fstat(file.fileno()).st_size, 0
        while at < size:
            line = _line_at(file, at, size)
            found = None if line is None else unseal(line)
            if line is None or found is None:
                at = _next_head(file, at + 1, size)
            else:
                at += len(line)
                yield Sealed(*found, at)


def _line_at(file: BinaryIO, at: int, size: int) -> bytes | None:
    """Return the line that begins here, if its length can be true."""
    file.seek(at)
    head = HEAD.match(file.read(MOST_HEAD))
    if head is None:
        return None
    length = head.end() + int(head[2]) + 2
    if int(head[2]) > LONGEST or at + length > size:
        return None
    file.seek(at)
    return file.read(length)


def _next_head(file: BinaryIO, at: int, size: int) -> int:
    """Return where the next record may begin: its line end may be what is damaged.

    No record has a head inside: JSON has a backslash before a quote in a text.
    """
    while at < size:
        file.seek(at)
        block = file.read(BLOCK)
        head = HEAD.search(block)
        if head is not None:
            return at + head.start()
        if len(block) <= MOST_HEAD:
            break
        at += len(block) - MOST_HEAD
    return size


# --- logs of infinimix before sequence numbers ---------------------------------------------------


def unseal_first(line: bytes) -> bytes | None:
    """Return the record of a line ``["<checksum>",<record>]``, None if it is not whole."""
    checksum, record = line[2:18], line[20:-2]
    whole = line.startswith(b'["') and line[18:20] == b'",' and line.endswith(b"]\n")
    true = blake2b(record, digest_size=8).hexdigest().encode("ascii")
    return record if whole and checksum == true else None


def read_first(path: Path) -> Iterator[bytes]:
    """Yield the records of a log of the first form.

    Raises
    ------
    DurabilityError
        If a line is damaged and whole ones follow.
    """
    torn = 0
    with open(path, "rb") as file:
        number = 0
        while line := file.readline(LONGEST):
            number += 1
            record = unseal_first(line)
            if record is None:
                torn = torn or number
            elif torn:
                raise DurabilityError(
                    f"line {torn} of {path} is damaged, and rows that were learned later follow; "
                    "restore the file from a good copy"
                )
            else:
                yield record
