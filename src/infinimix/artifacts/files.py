"""Where artifacts are written to and read from: paths, atomically, or file objects."""

from __future__ import annotations

import errno
import io
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO, TypeAlias

from infinimix.artifacts.errors import ArtifactError

Target: TypeAlias = "str | os.PathLike[str] | BinaryIO"


def name_of(target: Target) -> str:
    """The path, or what else a message can call the target."""
    if isinstance(target, str | os.PathLike):
        return os.fspath(target)
    return str(getattr(target, "name", "the file object"))


@contextmanager
def writing(target: Target) -> Iterator[BinaryIO]:
    """A seekable file whose content reaches ``target`` only if the block succeeds."""
    if isinstance(target, str | os.PathLike):
        with _replacing(os.path.realpath(target)) as file:
            yield file
    else:
        buffer = io.BytesIO()
        yield buffer
        _send(buffer.getbuffer(), target)


@contextmanager
def _replacing(path: str) -> Iterator[BinaryIO]:
    """A temporary file beside ``path`` that takes its place at the end, or vanishes."""
    folder = os.path.dirname(path)
    _check_place(path, folder)
    temporary = os.path.join(folder, f".infinimix-{secrets.token_hex(8)}.tmp")
    try:
        with open(temporary, "xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if os.path.exists(path):
            shutil.copymode(path, temporary)
        os.replace(temporary, path)
    except BaseException:
        if os.path.exists(temporary):
            os.unlink(temporary)
        raise
    sync_folder(folder)


def _check_place(path: str, folder: str) -> None:
    # Said here, as later errors would name the temporary file.
    if not os.path.isdir(folder):
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), folder)
    if os.path.isdir(path):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
    if os.path.exists(path) and not os.path.isfile(path):
        raise ArtifactError(f"{path} is not a regular file; open it and pass the file object")


def sync_folder(folder: str | os.PathLike[str]) -> None:
    """Make the new name itself durable, on systems where a folder can be synced."""
    if os.name != "posix":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    except OSError as error:
        # Some network file systems cannot; the file's content is already safe.
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):
            raise
    finally:
        os.close(handle)


def _send(view: memoryview, file: BinaryIO) -> None:
    """Write all of ``view``, also to raw files, which may take less than they are given."""
    while len(view):
        taken = file.write(view)
        view = view[len(view) if taken is None else taken :]


@contextmanager
def reading(source: Target) -> Iterator[BinaryIO]:
    """A seekable file with the content of ``source``, from where a file object stands."""
    if isinstance(source, str | os.PathLike):
        with open(source, "rb") as file:
            yield file
        return
    data = source.read()
    if not isinstance(data, bytes):
        raise TypeError("the file object must be open in binary mode")
    yield io.BytesIO(data)
