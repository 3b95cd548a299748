"""Where a command writes: to a file whole or not at all, or to standard output."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryFile
from typing import NoReturn, TextIO

import typer

from infinimix.artifacts.errors import ArtifactError
from infinimix.artifacts.signature import check_signature
from infinimix.cli.errors import hint, refuse
from infinimix.streaming.compression import zipped
from infinimix.streaming.encodings import Encoding

PAGES = (".html", ".htm", "")


def check_place(
    context: typer.Context, option: typer.CallbackParam, path: Path | None
) -> Path | None:
    """Say before the work, not after it, that a file cannot be written."""
    if path is None or str(path) == "-":
        return path
    name, flag = str(context.info_name), option.opts[0]

    def no(reason: str) -> NoReturn:
        refuse(name, f"{flag}: {reason}")

    folder = path.parent
    if path.is_dir():
        no(f"{str(path)!r} is a folder; name a file.")
    if path.exists() and not path.is_file():
        no(f"{str(path)!r} is no regular file.")
    if not folder.is_dir():
        no(f"there is no folder {str(folder)!r}.")
    try:
        TemporaryFile(dir=folder).close()
    except OSError as error:
        no(f"the folder {str(folder)!r} is not writable: {error.strerror}.")
    return path


def check_page(
    context: typer.Context, option: typer.CallbackParam, path: Path | None
) -> Path | None:
    """Say the same of a page, whose name must not promise another format."""
    if path is not None and path.suffix.lower() not in PAGES:
        refuse(
            str(context.info_name),
            f"{option.opts[0]}: {path.name!r} ends in {path.suffix}, and the page is HTML; name a "
            "file that ends in .html.",
        )
    return check_place(context, option, path)


def check_file(context: typer.Context, path: Path | None) -> Path | None:
    """Say at once, before anything heavy is imported, that there is no such file."""
    wrong = None if path is None else wrong_with_file(path)
    if wrong and not context.resilient_parsing:
        refuse(str(context.info_name), wrong)
    return path


def check_files(context: typer.Context, paths: list[Path] | None) -> list[Path] | None:
    """Say the same of several files."""
    for path in paths or ():
        check_file(context, path)
    return paths


def check_source(context: typer.Context, path: Path | None) -> Path | None:
    """Do the same for a command that takes a folder of files or a pattern too."""
    from infinimix.cli.partitions_in import are_partitions

    return path if path is not None and are_partitions(path) else check_file(context, path)


def check_model(context: typer.Context, path: Path) -> Path:
    """Say at once that there is no such model."""
    if not path.exists() and not context.resilient_parsing:
        refuse(
            str(context.info_name),
            f"there is no model {str(path)!r}; make one with: infinimix fit TABLE --target COLUMN "
            f"--output {path}",
        )
    if path.is_file() and not context.resilient_parsing:
        _check_start(str(context.info_name), path)
    return path


def _check_start(command: str, path: Path) -> None:
    """Say at once that a file is no model, before anything slow is loaded to read it."""
    try:
        with path.open("rb") as file:
            check_signature(file)
    except ArtifactError as error:
        refuse(command, f"cannot read {path}: {error}")
    except OSError:
        return  # who reads it says why it cannot be read


def wrong_with_file(path: Path) -> str | None:
    """Return why a path is no file to read; None if it is one."""
    if str(path) == "-" or path.is_file():
        return None
    if path.is_dir():
        return f"{str(path)!r} is a folder; name a file in it."
    if path.exists():
        return None  # a pipe
    folder = path.parent
    if not folder.is_dir():
        return f"there is no file {str(path)!r}, and no folder {str(folder)!r}; check the name."
    found = hint(path.name, (other.name for other in folder.iterdir() if other.is_file()))
    advice = found if found.startswith("did") else "check the name."
    return f"there is no file {str(path)!r}; {advice}"


def write_text(text: str, path: Path | None, encoding: Encoding | None = None) -> None:
    """Write text to a file, compressed if its name says so, or to standard output."""
    data = encoding.encode(text) if encoding else text.encode("utf-8", "surrogateescape")
    if path is None or str(path) == "-":
        _write_out(data)
        return
    write_bytes(zipped(data, path.name), path)


def write_bytes(data: bytes, path: Path) -> None:
    """Write a file, whole or not at all."""
    from infinimix.artifacts.files import writing

    with writing(path) as file:
        file.write(data)


def _write_out(data: bytes) -> None:
    try:
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    except OSError:
        forget_output(sys.stdout)
        raise


def forget_output(stream: TextIO | None) -> None:
    """Let what could not be written go, or Python would try again at its end."""
    with suppress(OSError, ValueError, AttributeError):  # of what is no file of the system
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())  # type: ignore[union-attr]
