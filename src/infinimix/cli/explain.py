"""`infinimix explain`: why a model predicts what it does for one row of a file."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from infinimix.cli import options
from infinimix.cli.bundles import FileOptions

MOST_COLUMNS = 20
MOST_GROUPS = 5


def explain(
    model: options.Model,
    file: options.Table,
    row: Annotated[
        int, typer.Option("--row", "-r", help="Which row, counted from 1.", metavar="N", min=1)
    ] = 1,
    label: Annotated[
        str | None,
        typer.Option("--label", help="Explain this class, not the predicted one.", metavar="CLASS"),
    ] = None,
    against: Annotated[
        str | None,
        typer.Option("--against", help="Compare with this class, not all others.", metavar="CLASS"),
    ] = None,
    *,
    reads: FileOptions,
    as_json: options.Json = False,
) -> None:
    """Explain the prediction of a row, column by column."""
    from infinimix.cli.errors import CommandError
    from infinimix.cli.files import read_source
    from infinimix.cli.model_files import load_trained, read_for
    from infinimix.cli.out import count, print_json, show

    source = read_source(file, reads.reading)
    n_rows = (source.whole or source).n_rows
    if row > n_rows:
        raise CommandError(f"--row {row}: {source.name} has {count(n_rows, 'row')}.")
    if row - 1 not in source.places:
        raise CommandError(f"--row {row} was left out, as it is no row of values; take another.")
    at = source.places.index(row - 1)
    trained = load_trained(model)
    _check(trained, label, against)
    table, X = read_for(trained, source, reads.reading)
    cells = X.iloc[[at]].reset_index(drop=True)
    why = trained.model.explain(trained.rows(cells), **_classes(trained.model, label, against))
    told = {"row": row, **_tell(why), **_truth(trained, table, at)}
    if as_json:
        print_json(told)
    else:
        show(*_show(told, f"{source.name}, row {row}"))


def _check(trained: Any, label: str | None, against: str | None) -> None:
    """Refuse a model that gives no reasons."""
    from infinimix.cli.errors import CommandError
    from infinimix.evaluation.abilities import Classified, Explaining, able
    from infinimix.streaming.folder import name_kind

    if not able(trained.model, Explaining):
        raise CommandError(
            f"the model is {name_kind(trained.model)}, which gives no reasons; those of "
            "infinimix fit --model aclass and of infinimix cluster do."
        )
    if not able(trained.model, Classified) and (label or against):
        option = "--label" if label else "--against"
        raise CommandError(f"{option}: the model has groups and no classes; leave it out.")


def _classes(model: Any, label: str | None, against: str | None) -> dict[str, Any]:
    """Return the labels that options name, as the model has them."""
    from infinimix.cli.errors import CommandError, hint
    from infinimix.tables.rows import list_labels

    found = {}
    for option, name in (("label", label), ("against", against)):
        if name is None:
            continue
        known = {str(one): one for one in list_labels(model.classes_)}
        if name not in known:
            raise CommandError(f"--{option}: there is no class {name!r}; {hint(name, known)}")
        found[option] = known[name]
    return found


def _tell(why: Any) -> dict[str, Any]:
    columns = [
        {"column": str(name), **{key: line[key] for key in ("value", "typical", "evidence")}}
        for name, line in why.to_frame().iterrows()
    ]
    groups = [
        {"group": int(number), "probability": line["probability"], "rows": int(line["rows"])}
        for number, line in why.groups.head(MOST_GROUPS).iterrows()
    ]
    return {
        "prediction": why.answer, "probability": why.probability, "summary": why.summary,
        "columns": columns, "groups": groups,
    }  # fmt: skip


def _truth(trained: Any, table: Any, at: int) -> dict[str, Any]:
    """Return the label that the file itself has for the row, if there is one."""
    from infinimix.cli.tables_in import read_labels

    target = trained.notes.get("target")
    if target is None or target not in table.types:
        return {}
    return {"target": target, "true": read_labels(table, target)[at]}


def _show(told: dict[str, Any], title: str) -> list[Any]:
    from infinimix.cli.out import grid, percent, plain

    rows = [
        (c["column"], _cell(plain(c["value"])), _cell(plain(c["typical"])), f"{c['evidence']:+.3f}")
        for c in told["columns"][:MOST_COLUMNS]
    ]
    hidden = len(told["columns"]) - MOST_COLUMNS
    caption = "Evidence in nats: + is for the prediction, - against it."
    if any(c["evidence"] and plain(c["value"]) is None for c in told["columns"]):
        caption += " A missing cell is evidence where missingness depends on the class."
    if hidden > 0:
        caption += f" {hidden} columns with less evidence are not shown."
    groups = [(g["group"], percent(g["probability"]), f"{g['rows']:,}") for g in told["groups"]]
    truth = [f"In the file, {told['target']!r} is {told['true']!r}."] if told.get("true") else []
    return [
        f"{title}: {told['summary']}",
        *truth,
        grid("Columns", ("column", "cell", "typical", "evidence"), rows, caption=caption),
        grid("Groups that it may be in", ("group", "probability", "rows"), groups),
    ]


def _cell(value: Any) -> str:
    if value is None:
        return "missing"
    return f"{value:.4g}" if isinstance(value, float) else str(value)
