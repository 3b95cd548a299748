"""`infinimix impute`: missing cells filled, everything else of the file as it was."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from infinimix.cli import options
from infinimix.cli.bundles import TableOptions


def impute(
    file: options.Table,
    output: options.Output = None,
    draw: Annotated[
        bool, typer.Option("--draw", help="Draw cells as they vary, instead of their mean or mode.")
    ] = False,
    save: options.Save = None,
    effort: options.Effort = "default",
    *,
    table: TableOptions,
    seed: options.Seed = 0,
    jobs: options.Jobs = None,
    as_json: options.Json = False,
) -> None:
    """Fill missing cells, and leave the rest of the file as it is."""
    from infinimix.cli.errors import CommandError
    from infinimix.cli.filling import fill, write_filled
    from infinimix.cli.learning import make
    from infinimix.cli.out import is_watched
    from infinimix.cli.tasks import read_rows

    if as_json and output is None:
        raise CommandError("--json: the table itself goes to standard output; add --output FILE.")
    rows = read_rows("impute", file, table)
    from infinimix import CRPImputer  # numba: slow to load, so after the table has been read

    model = make(
        CRPImputer, columns=rows.columns, strategy="draw" if draw else "mean", effort=effort,
        random_state=seed, n_jobs=jobs, verbose=is_watched(),
    ).fit(rows.X)  # fmt: skip
    model.set_params(verbose=False)
    filled, counts = fill(rows.table, rows.X, model.transform(rows.X))
    write_filled(rows.table, filled, output)
    if save is not None:
        rows.save(model, save)
    _tell(counts, rows, output, as_json)


def _tell(counts: dict[str, int], rows: Any, output: Any, as_json: bool) -> None:
    from infinimix.cli.out import count, grid, print_json, show

    total = sum(counts.values())
    if as_json:
        print_json({"output": str(output), "cells": total, "columns": counts})
    elif output is not None:
        most = sorted(counts.items(), key=lambda item: -item[1])[:12]
        n = rows.table.n_rows
        cells = [(name, f"{filled:,}", f"{filled / n:.1%}") for name, filled in most]
        if cells:
            show(grid(f"Filled {count(total, 'cell')}", ("column", "cells", "share"), cells))
        else:
            show("No cell was missing.")
        show(f"Wrote {output}.")
