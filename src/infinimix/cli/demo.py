"""`infinimix demo`: the library against its peers on data with holes, as a page to look at."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryFile
from typing import Annotated, NoReturn

import typer


def _refuse(reason: str) -> NoReturn:
    typer.echo(f"infinimix demo: --output: {reason}", err=True)
    raise typer.Exit(2)


def _check_place(output: Path) -> Path:
    """Say before the work, not after it, that the page cannot be written."""
    folder = output.parent
    if output.is_dir():
        _refuse(f"{str(output)!r} is a folder; name a file.")
    if output.exists() and not output.is_file():
        _refuse(f"{str(output)!r} is no regular file.")
    if not folder.is_dir():
        _refuse(f"there is no folder {str(folder)!r}.")
    try:
        TemporaryFile(dir=folder).close()
    except OSError as error:
        _refuse(f"the folder {str(folder)!r} is not writable: {error.strerror}.")
    return output


def demo(
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Page to write.", callback=_check_place)
    ] = Path("infinimix-demo.html"),
    seed: Annotated[
        int,
        typer.Option(
            "--seed", help="Seed of the holes, the split and the models.", min=0, max=2**32 - 1
        ),
    ] = 0,
    missing: Annotated[
        float, typer.Option("--missing", help="Share of cells to knock out.", min=0.0, max=0.9)
    ] = 0.3,
    open_browser: Annotated[
        bool, typer.Option("--open", help="Open the page in a browser when it is done.")
    ] = False,
) -> None:
    """Train on digits with missing cells, compare with other classifiers, write a page."""
    from infinimix.reports.demo import run

    try:
        run(output=output, seed=seed, missing=missing, open_browser=open_browser)
    except OSError as error:  # a full disk, a folder that has gone
        _refuse(f"{str(output)!r} cannot be written: {error.strerror}.")
