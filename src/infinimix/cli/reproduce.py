"""`infinimix reproduce`: tables and figures of the papers, rerun beside their own numbers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from infinimix.cli import options

if TYPE_CHECKING:
    from infinimix.papers.experiment import Experiment, Paper, Size

SIZES: tuple[Size, Size] = ("quick", "full")


def reproduce(
    paper: Annotated[
        str | None,
        typer.Argument(
            help="aclass, online-crp, m2dpm, batch-mixtures or blockmodel; without it, all are "
            "listed.",
        ),
    ] = None,
    figure: Annotated[
        str | None, typer.Option("--figure", help="Number of one figure.", metavar="N")
    ] = None,
    table: Annotated[
        str | None, typer.Option("--table", help="Number of one table.", metavar="N")
    ] = None,
    section: Annotated[
        str | None, typer.Option("--section", help="Number of one section.", metavar="N")
    ] = None,
    full: Annotated[
        bool,
        typer.Option(
            "--full", help="All repeats and sizes of the paper; goes on where it stopped."
        ),
    ] = False,
    repeats: Annotated[
        int | None,
        typer.Option(
            "--repeats", min=1, help="Only so many data sets or divisions of the form.", metavar="N"
        ),
    ] = None,
    folder: Annotated[
        Path, typer.Option("--folder", help="Folder for results, pictures and pages.")
    ] = Path("infinimix-papers"),
    as_json: options.Json = False,
) -> None:
    """Rerun tables and figures of the papers, and compare with what was printed."""
    item = _item({"figure": figure, "table": table, "section": section}, paper)
    if paper is None:
        _list_all(as_json)
        return
    _rerun(_load(paper), item, (SIZES[full], repeats), folder, as_json)


def _item(numbers: dict[str, str | None], paper: str | None) -> str | None:
    """Return what one of the options names, for example "figure 4"."""
    from infinimix.cli.errors import CommandError

    given = [f"{kind} {number}" for kind, number in numbers.items() if number is not None]
    if given and paper is None:
        raise CommandError(
            "--figure, --table and --section need a paper: infinimix reproduce aclass ..."
        )
    if len(given) > 1:
        raise CommandError("--figure, --table and --section name one item; give one of them.")
    return given[0] if given else None


def _load(name: str) -> Paper:
    from infinimix.cli.errors import CommandError, hint
    from infinimix.papers.catalogue import PAPERS, load

    if name not in PAPERS:
        raise CommandError(f"there is no paper {name!r}; {hint(name, PAPERS)}")
    return load(name)


def _chosen(paper: Paper, item: str | None) -> list[Experiment]:
    from infinimix.cli.errors import CommandError, listed

    if item is None:
        return list(paper.experiments)
    found = paper.find(item)
    if found is None:
        why = next((f": {a.why}" for a in paper.absent if a.item == item), "")
        there = listed([e.item for e in paper.experiments])
        raise CommandError(f"{paper.name} has no {item} to rerun{why}; there are {there}.")
    return [found]


def _rerun(
    paper: Paper, item: str | None, form: tuple[Size, int | None], folder: Path, as_json: bool
) -> None:
    from infinimix.cli.errors import CommandError
    from infinimix.cli.out import mention, print_json, progress, show, warn
    from infinimix.papers import page
    from infinimix.papers.data import DataMissing
    from infinimix.papers.running import reproduce as run
    from infinimix.papers.running import tasks_of

    written, (size, repeats) = [], form
    for experiment in _chosen(paper, item):
        name = f"{paper.name}, {experiment.item}"
        mention(f"{name}: {experiment.title}")
        try:
            with progress(name, len(tasks_of(experiment, size, repeats))) as step:
                done = run(paper, experiment, folder, size, step, repeats)
        except DataMissing as missing:
            if item is not None:
                raise CommandError(f"{name}: {missing}.") from None
            warn("reproduce", f"{name} is left out: {missing}.")
            continue
        path = page.write(done)
        written.append(page.figures(done) | {"page": str(path)})
        if not as_json:
            show(*_shown(done, path))
    if as_json:
        print_json(written)


def _shown(done: Any, path: Path) -> list[Any]:
    from infinimix.cli.out import grid
    from infinimix.papers import tables

    experiment, outcome = done.experiment, done.outcome
    title = f"{done.paper.name}, {experiment.item}: {experiment.title}"
    lines = [grid(title, tables.HEAD, tables.rows(outcome), outcome.unit or None), outcome.verdict]
    if experiment.stands_in:
        lines.append(f"Data: {experiment.stands_in}")
    return [*lines, *outcome.notes, f"Wrote {path}."]


def _list_all(as_json: bool) -> None:
    from infinimix.cli.out import grid, print_json, show
    from infinimix.papers.catalogue import PAPERS, load
    from infinimix.papers.data import lacking

    rows = []
    for name in PAPERS:
        paper = load(name)
        for experiment in paper.experiments:
            absent = lacking(experiment.data)
            note = f"needs {', '.join(absent)}" if absent else "can be rerun"
            rows.append((name, experiment.item, experiment.title, note))
        rows += [(name, a.item, a.title, f"not rerun: {a.why}") for a in paper.absent]
    if as_json:
        keys = ("paper", "item", "title", "note")
        print_json([dict(zip(keys, row, strict=True)) for row in rows])
    else:
        show(grid("Tables and figures of the papers", ("paper", "item", "what", ""), rows))
        show("Run one with, for example: infinimix reproduce batch-mixtures --figure 1")
