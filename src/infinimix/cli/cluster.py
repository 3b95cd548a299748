"""`infinimix cluster`: groups of rows, as many as the table calls for."""

from __future__ import annotations

from typing import Any

from infinimix.cli import options
from infinimix.cli.bundles import TableOptions


def cluster(
    file: options.Table,
    output: options.Output = None,
    append: options.Append = False,
    save: options.Save = None,
    effort: options.Effort = "default",
    *,
    table: TableOptions,
    seed: options.Seed = 0,
    jobs: options.Jobs = None,
    as_json: options.Json = False,
) -> None:
    """Find groups of similar rows, as many as the table calls for."""
    from infinimix.cli.learning import make
    from infinimix.cli.out import is_watched
    from infinimix.cli.tasks import read_rows

    rows = read_rows("cluster", file, table)
    from infinimix import CRPMixture  # numba: slow to load, so after the table has been read

    model = make(
        CRPMixture, columns=rows.columns, effort=effort, random_state=seed, n_jobs=jobs,
        verbose=is_watched(),
    ).fit(rows.X)  # fmt: skip
    model.set_params(verbose=False)
    if save is not None:
        rows.save(model, save)
    _tell(model, rows, output, append, as_json)


def _tell(model: Any, rows: Any, output: Any, append: bool, as_json: bool) -> None:
    from infinimix.cli.describing import describe_groups, show_groups
    from infinimix.cli.out import print_json, show
    from infinimix.cli.predict import answer_columns
    from infinimix.cli.writing import write_table

    labels = model.labels_.tolist()
    groups = describe_groups(model)
    if output is not None or not as_json:
        answers = {"group": labels}
        types = rows.table.source.types if append else None
        write_table(answer_columns(rows.table, answers, append, output), output, types=types)
    if as_json:
        told = {"rows": len(labels), "groups": groups}
        told["n_groups_posterior"] = model.n_groups_posterior_
        print_json(told if output is not None else {**told, "labels": labels})
    elif output is not None:
        title = f"{len(groups)} groups in {rows.table.source.name}: {len(labels):,} rows"
        show(show_groups(groups, title), f"Wrote {output}.")
