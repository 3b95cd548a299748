"""The first bytes of an artifact. Nothing is imported: a command asks before it loads NumPy."""

from __future__ import annotations

from typing import BinaryIO

from infinimix.artifacts.errors import ArtifactError


def check_signature(file: BinaryIO) -> None:
    """Refuse a file that cannot be an artifact by how it begins."""
    start = file.read(4)
    if start == b"PK\x03\x04":
        return
    if start[:1] == b"\x80":
        raise ArtifactError("this looks like a pickle, which infinimix never loads")
    what = "this file is empty" if not start else "this is not an infinimix artifact"
    raise ArtifactError(f"{what}; give a file that infinimix has saved")
