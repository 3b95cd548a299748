"""`infinimix demo`: the library against its peers on data with holes, as a page to look at."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from infinimix.cli import options
from infinimix.cli.places import check_page


def demo(
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Page to write.", callback=check_page)
    ] = Path("infinimix-demo.html"),
    seed: Annotated[
        int,
        typer.Option(
            "--seed",
            help="Seed of the missing cells, the split and the models.",
            min=0,
            max=2**32 - 1,
        ),
    ] = 0,
    missing: Annotated[
        float, typer.Option("--missing", help="Share of cells to remove.", min=0.0, max=0.9)
    ] = 0.3,
    open_browser: Annotated[
        bool, typer.Option("--open", help="Open the page in a browser when it is done.")
    ] = False,
    jobs: options.Jobs = None,
    as_json: options.Json = False,
) -> None:
    """Train on digits with missing cells, compare with other classifiers, write a page."""
    from infinimix.cli.out import print_json
    from infinimix.reports.demo import run

    results = run(
        output=output, seed=seed, missing=missing, open_browser=open_browser, n_jobs=jobs,
        quiet=as_json,
    )  # fmt: skip
    if as_json:
        told = [
            {"classifier": r.name, "error": r.error, "log_loss": r.log_loss, "seconds": r.seconds}
            for r in results
        ]
        print_json({"page": str(output), "seed": seed, "missing": missing, "classifiers": told})
