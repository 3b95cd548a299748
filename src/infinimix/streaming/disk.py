"""All that a `DurableLearner` does to its folder: one small seam between it and the system.

Everything that has to survive goes through these functions, called as `disk.sync(...)`, so that a
test can put a disk in their place that is full, or that loses what was not synced.
"""

from __future__ import annotations

import os
from pathlib import Path

from infinimix.artifacts import files


def open_log(path: Path) -> int:
    """Open a file to append to, which need not be there yet."""
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0), 0o644)


def write(handle: int, data: bytes) -> None:
    """Write all of it, or raise OSError; then some of it may have been written."""
    view = memoryview(data)
    while view:
        view = view[os.write(handle, view) :]


def cut(handle: int, length: int) -> None:
    """Leave only the first bytes of a file."""
    os.ftruncate(handle, length)


def sync(handle: int) -> None:
    """Wait until what was written is on the disk; without the time of writing, where possible."""
    (os.fdatasync if hasattr(os, "fdatasync") else os.fsync)(handle)


def close(handle: int) -> None:
    """Close a file."""
    os.close(handle)


def rename(old: Path, new: Path) -> None:
    """Give a file a new name, in place of one that has it."""
    os.replace(old, new)


def remove(path: Path) -> None:
    """Remove a file, if it is there."""
    path.unlink(missing_ok=True)


def sync_folder(folder: Path) -> None:
    """Wait until the names of files are on the disk, where the system can."""
    files.sync_folder(folder)


def write_whole(path: Path, data: bytes) -> None:
    """Write a file whole or not at all: beside its place, synced, then renamed, folder synced."""
    beside = path.with_name(f".infinimix-{path.name}.tmp")
    try:
        remove(beside)
        handle = open_log(beside)
        try:
            write(handle, data)
            sync(handle)
        finally:
            close(handle)
        rename(beside, path)
    except BaseException:
        remove(beside)
        raise
    sync_folder(path.parent)
