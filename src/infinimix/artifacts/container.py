"""The zip file around an artifact: deterministic to write, suspicious to read.

Each member is stored as it is, or deflated at level 1 where a sample of it
halves: counts and assignments shrink 3 to 50 times at 100 to 700 MB/s, while
dense floats would be written 14 times slower to save 4 percent.

A deflated byte can stand for a thousand. Writer and reader therefore share a
budget for what is deflated, so reading never takes more memory for arrays than
the file's own size plus ``DEFLATE_BUDGET``, unless whoever reads says so. All
sizes are judged by the archive's directory, before anything is inflated.
"""

from __future__ import annotations

import hashlib
import os
import zipfile
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import IO, BinaryIO

from infinimix.artifacts.errors import ArtifactError, damage_in
from infinimix.artifacts.formats import HEADER, TREE
from infinimix.artifacts.npy import CHUNK
from infinimix.artifacts.signature import check_signature

DEFLATE_BUDGET = 1 << 28  # bytes; it was 1 << 30 in earlier versions
INFLATION = 1032  # the most bytes that one deflated byte can stand for, by its format
# JSON takes up to thirty times its size once parsed, so its share is smaller.
TEXT_BUDGET = 1 << 25
SAMPLE = 1 << 12
WORTHWHILE = 1 << 10
# Well below the 2 GiB of plain zip, as deflate may add a little.
ZIP64_FROM = 1 << 30


@dataclass(frozen=True)
class Member:
    """A named piece of an archive: parts of bytes that follow each other."""

    name: str
    parts: tuple[bytes | memoryview, ...]

    @property
    def size(self) -> int:
        return sum(len(part) for part in self.parts)

    def sha256(self) -> str:
        digest = hashlib.sha256()
        for part in self.parts:
            digest.update(part)
        return digest.hexdigest()

    def shrinks(self, worthwhile: int = WORTHWHILE) -> bool:
        """Whether deflate halves the largest part, or sixteen samples spread over it."""
        part = max(self.parts, key=len)
        if len(part) < worthwhile:
            return False
        # Samples of a short part would overlap, and deflate would find the repeats.
        step = max(len(part) // 16, SAMPLE)
        sample = b"".join(part[i : i + SAMPLE] for i in range(0, len(part), step))
        return len(zlib.compress(sample, 1)) * 2 < len(sample)


def pack(out: BinaryIO, members: Sequence[Member], worthwhile: int = WORTHWHILE) -> None:
    """Write the members in their order; equal members give equal bytes.

    Those of fewer than `worthwhile` bytes are stored as they are.
    """
    budget = DEFLATE_BUDGET
    with zipfile.ZipFile(out, "w", compresslevel=1) as archive:
        for member in members:
            deflate = member.size <= min(budget, allowance(member.name))
            deflate = deflate and member.shrinks(worthwhile)
            budget -= member.size * deflate
            archive.compression = zipfile.ZIP_DEFLATED if deflate else zipfile.ZIP_STORED
            _add(archive, member)


def allowance(name: str) -> int:
    """How large a member of this name may be and still be deflated."""
    return {HEADER: 0, TREE: TEXT_BUDGET}.get(name, DEFLATE_BUDGET)


def _add(archive: zipfile.ZipFile, member: Member) -> None:
    # Opened by name, a member gets the earliest zip date, not the clock's.
    with archive.open(member.name, "w", force_zip64=member.size > ZIP64_FROM) as file:
        for part in member.parts:
            for start in range(0, len(part), CHUNK):
                file.write(part[start : start + CHUNK])
    info = archive.getinfo(member.name)
    info.create_system, info.external_attr = 3, 0o644 << 16


class HashingStream:
    """A stream that keeps the SHA-256 of what has been read from it."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._digest = hashlib.sha256()

    def read(self, size: int, /) -> bytes:
        data = self._file.read(size)
        self._digest.update(data)
        return data

    def check(self, expected: str, part: str) -> None:
        """Refuse unless all was read and was what the header promised."""
        if self._file.read(1) or self._digest.hexdigest() != expected:
            raise ArtifactError(
                f"{part} is damaged (its SHA-256 is not the one in the header); "
                "restore the file from a good copy"
            )


class Container:
    """An archive opened for reading, once its directory has been found credible."""

    def __init__(self, file: BinaryIO, max_unpacked: int | None = None) -> None:
        check_signature(file)
        with damage_in("the archive (cut short, perhaps)"):
            self._archive = zipfile.ZipFile(file)
            self._members = self._archive.infolist()
        if not self._members or self._members[0].filename != HEADER:
            raise ArtifactError(f"this is a zip file, but no artifact: {HEADER} is not its first")
        _check_sizes(self._members, file.seek(0, os.SEEK_END))
        _check_budget(self._members, max_unpacked)

    def check_names(self, expected: list[str]) -> None:
        """Refuse unless the members after the header are exactly these, in this order."""
        found = [info.filename for info in self._members[1:]]
        if found == expected:
            return
        missing = sorted(set(expected) - set(found))
        extra = sorted(set(found) - set(expected))
        raise ArtifactError(
            f"the archive's members are not those in its header: missing {missing[:5]}, "
            f"extra {extra[:5]}; restore the file from a good copy"
        )

    def size(self, name: str) -> int:
        return self._archive.getinfo(name).file_size

    def open(self, name: str) -> IO[bytes]:
        return self._archive.open(name)


def _check_sizes(members: list[zipfile.ZipInfo], length: int) -> None:
    """Refuse overlapping members, and sizes that no file of this length can have."""
    deflated = [info for info in members if info.compress_type == zipfile.ZIP_DEFLATED]
    stored = [info for info in members if info.compress_type == zipfile.ZIP_STORED]
    honest = (
        len(deflated) + len(stored) == len(members)
        and all(info.file_size == info.compress_size for info in stored)
        and all(info.file_size <= INFLATION * info.compress_size for info in deflated)
        and sum(info.compress_size for info in members) < length
    )
    if not honest:
        raise ArtifactError("the archive's directory is damaged: it declares impossible sizes")


def _check_budget(members: list[zipfile.ZipInfo], max_unpacked: int | None) -> None:
    """Refuse to inflate more bytes than a writer would deflate, or than were asked for."""
    deflated = [info for info in members if info.compress_type == zipfile.ZIP_DEFLATED]
    total = sum(info.file_size for info in deflated)
    if max_unpacked is not None:
        if sum(info.file_size for info in members) > max_unpacked:
            raise ArtifactError(f"it would unpack to more than max_unpacked={max_unpacked} bytes")
    elif total > DEFLATE_BUDGET or any(i.file_size > allowance(i.filename) for i in deflated):
        raise ArtifactError(
            f"it would unpack {total} bytes from a much smaller file; if you trust it, give load "
            f"a larger max_unpacked than the {DEFLATE_BUDGET} bytes it unpacks by itself"
        )
