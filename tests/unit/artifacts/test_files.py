"""Files are replaced whole or left alone; file objects and odd targets behave."""

from __future__ import annotations

import errno
import io
import os
import stat
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from infinimix import artifacts
from infinimix.artifacts import ArtifactError, container

TREE = {"a": np.arange(1000.0), "b": np.ones(5)}


def write(target: Any, tree: Any = TREE) -> None:
    artifacts.write(target, "thing", tree, library_version="1")


class Interrupt(BaseException):
    """Stands for Ctrl-C, which no ``except Exception`` sees."""


@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "No space left"), Interrupt()])
@pytest.mark.parametrize("exists", [True, False])
def test_a_failure_in_the_middle_leaves_what_was_there(
    error: BaseException, exists: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.imx"
    if exists:
        write(path, "old")
    before = {each.name: each.read_bytes() for each in tmp_path.iterdir()}
    add = container._add

    def fail(archive: Any, member: Any) -> None:
        add(archive, member)
        if member.name == "arrays/0.npy":
            raise error

    monkeypatch.setattr(container, "_add", fail)
    with pytest.raises(type(error)):
        write(path)
    assert {each.name: each.read_bytes() for each in tmp_path.iterdir()} == before


@pytest.mark.parametrize("call", ["fsync", "replace"])
def test_a_failure_at_the_end_leaves_what_was_there(
    call: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.imx"
    write(path, "old")

    def fail(*args: Any) -> None:
        raise OSError(errno.EIO, "I/O error")

    with monkeypatch.context() as patch:
        patch.setattr(os, call, fail)
        with pytest.raises(OSError, match="I/O error"):
            write(path)
    assert [each.name for each in tmp_path.iterdir()] == ["a.imx"]
    assert artifacts.read(path)[1] == "old"


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_a_full_disk_is_reported_as_it_is() -> None:
    with open("/dev/full", "wb", buffering=0) as file, pytest.raises(OSError, match="No space"):
        write(file)


def test_a_missing_file_is_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"nothing\.imx"):
        artifacts.read(tmp_path / "nothing.imx")


def test_a_missing_folder_is_named_without_the_temporary_file(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as caught:
        write(tmp_path / "nowhere" / "a.imx")
    assert caught.value.filename == str(tmp_path / "nowhere")


def test_a_folder_is_not_a_target(tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError):
        write(tmp_path)


@pytest.mark.skipif(os.name != "posix", reason="devices are a matter of POSIX")
def test_a_device_is_not_replaced() -> None:
    with pytest.raises(ArtifactError, match="not a regular file"):
        write(os.devnull)
    assert stat.S_ISCHR(os.stat(os.devnull).st_mode)


@pytest.mark.skipif(os.name != "posix", reason="modes and links are a matter of POSIX")
def test_modes_and_links_are_kept(tmp_path: Path) -> None:
    path, link, other = tmp_path / "a.imx", tmp_path / "link.imx", tmp_path / "plain"
    other.touch()
    write(path)
    assert path.stat().st_mode == other.stat().st_mode
    path.chmod(0o600)
    link.symlink_to(path)
    write(link, "new")
    assert link.is_symlink()
    assert artifacts.read(path)[1] == "new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


class Trickle(io.RawIOBase):
    """A raw file that takes at most 7 bytes at a time and cannot seek."""

    def __init__(self) -> None:
        self.data = bytearray()

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self.data += bytes(data[:7])
        return len(data[:7])


def test_any_binary_file_object_will_do(dumps: Any) -> None:
    file = Trickle()
    write(file)
    whole = io.BytesIO(b"before" + bytes(file.data))
    whole.seek(len(b"before"))
    assert artifacts.read(whole)[1]["b"].tolist() == [1.0] * 5


def test_text_files_are_refused() -> None:
    with pytest.raises(TypeError, match="binary mode"):
        artifacts.read(io.StringIO("text"))  # type: ignore[arg-type]
