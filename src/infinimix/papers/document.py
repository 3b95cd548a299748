"""`python -m infinimix.papers.document FOLDER PAGE [QUICK]`: results of `reproduce` as a page.

FOLDER is that of `infinimix reproduce --folder`. Of an item without results there the page keeps
what it has, or says that there are none. Pictures go beside the page, into `images/papers`. What
stands above the first heading of the second level is kept. QUICK is a folder of quick forms, of
which only the time is shown.
"""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from infinimix.papers import page, tables
from infinimix.papers.catalogue import PAPERS, load
from infinimix.papers.experiment import Estimate, Experiment, Paper
from infinimix.papers.running import folder_of

IMAGES = Path("images") / "papers"
MOST_LINES = 40  # of a table; all are in the files that `reproduce` writes


def write(folder: Path, target: Path, quick: Path | None = None) -> None:
    """Replace the results of a page, and the times of those quick forms that there are."""
    before = target.read_text(encoding="utf-8")
    papers, kept = [load(name) for name in PAPERS], before.partition("\n## ")[0].rstrip()
    lines = [kept, "", "## All items", "", *_overview(papers, folder, quick, before)]
    for paper in papers:
        results = _results(paper, folder, target, before)
        lines += ["", f"## {paper.title}", "", f"{paper.source}.", *results]
    target.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _read(folder: Path, paper: Paper, experiment: Experiment) -> dict[str, Any] | None:
    path = folder_of(folder, paper, experiment) / page.FIGURES
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None


def _old_cells(before: str, paper: Paper, experiment: Experiment) -> tuple[str, str]:
    """Return what the overview of the page says of an item, and the time of its quick form."""
    start = f"| {paper.name} | {experiment.item} | "
    line = next((line for line in before.splitlines() if line.startswith(start)), None)
    if line is None:
        return "can be rerun; no result here", "-"
    form, *short = (cell.strip() for cell in line.strip(" |").split(" | ")[3:])
    return form, short[0] if short else "-"


def _old_section(before: str, paper: Paper, experiment: Experiment) -> list[str]:
    """Return the results of an item on the page as it is."""
    own = before.partition(f"\n## {paper.title}\n")[2].partition("\n## ")[0]
    parts = own.split("\n### ")[1:]
    start = f"{experiment.item.capitalize()}: "
    found = next((part for part in parts if part.startswith(start)), None)
    return [] if found is None else ["", f"### {found}".rstrip()]


def _overview(papers: list[Paper], folder: Path, quick: Path | None, before: str) -> Iterator[str]:
    yield "| paper | item | what | | quick form, CPU s |"
    yield "|---|---|---|---|---:|"
    for paper in papers:
        for experiment in paper.experiments:
            form, short = _old_cells(before, paper, experiment)
            found = _read(folder, paper, experiment)
            if found is not None:
                form = _form(found) + (" with other data" if experiment.stands_in else "")
            timed = None if quick is None else _read(quick, paper, experiment)
            if timed is not None:
                short = f"{timed['run']['cpu_seconds']:,.0f}"
            yield f"| {paper.name} | {experiment.item} | {experiment.title} | {form} | {short} |"
        for absent in paper.absent:
            yield f"| {paper.name} | {absent.item} | {absent.title} | not rerun: {absent.why} | |"


def _form(found: dict[str, Any]) -> str:
    run = found["run"]
    form, _, repeats = run["form"].partition(" ")
    return f"rerun, {form} form{repeats and ' ' + repeats}, {run['cpu_seconds']:,.0f} CPU s"


def _results(paper: Paper, folder: Path, target: Path, before: str) -> Iterator[str]:
    for experiment in paper.experiments:
        found = _read(folder, paper, experiment)
        if found is None:
            yield from _old_section(before, paper, experiment)
            continue
        yield from ("", f"### {experiment.item.capitalize()}: {experiment.title}", "")
        yield found["verdict"]
        if experiment.stands_in:
            yield from ("", f"Data: {experiment.stands_in}")
        picture = folder_of(folder, paper, experiment) / page.PICTURE
        if picture.exists():
            name = f"{picture.parent.name}.png"
            (target.parent / IMAGES).mkdir(parents=True, exist_ok=True)
            shutil.copyfile(picture, target.parent / IMAGES / name)
            yield from ("", f"![{experiment.title}]({(IMAGES / name).as_posix()})")
        yield from ("", *_table(found))
        if found["notes"]:
            yield from ("", *(f"- {note}" for note in found["notes"]))


def _table(found: dict[str, Any]) -> Iterator[str]:
    yield f"| {found['unit']} | " + " | ".join(tables.HEAD[1:]) + " |"
    yield "|---" + "|---:" * (len(tables.HEAD) - 1) + "|"
    for line in found["lines"][:MOST_LINES]:
        difference = line["difference"]
        cells = (
            "-" if line["paper"] is None else tables.digits(line["paper"]),
            tables.show(_estimate(line["published"])),
            tables.show(_estimate(line["default"])),
            "-" if difference is None else f"{difference:+.3g}",
        )
        yield f"| {line['name']} | " + " | ".join(cells) + " |"


def _estimate(found: dict[str, Any] | None) -> Estimate | None:
    if found is None:
        return None
    error = found["standard_error"]
    return Estimate(found["mean"], float("nan") if error is None else error, found["n"])


if __name__ == "__main__":
    write(*(Path(argument) for argument in sys.argv[1:]))
