"""`python -m infinimix.papers.document FOLDER PAGE`: results of `reproduce` as a page of the docs.

FOLDER is that of `infinimix reproduce --folder`. Of an item without results there the page keeps
what it has, or says that there are none. Pictures go beside the page, into `images/papers`. What
stands above the first heading of the second level is kept.
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


def write(folder: Path, target: Path) -> None:
    """Replace the results of a page."""
    before = target.read_text(encoding="utf-8")
    papers, kept = [load(name) for name in PAPERS], before.partition("\n## ")[0].rstrip()
    lines = [kept, "", "## All items", "", *_overview(papers, folder, before)]
    for paper in papers:
        results = _results(paper, folder, target, before)
        lines += ["", f"## {paper.title}", "", f"{paper.source}.", *results]
    target.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _read(folder: Path, paper: Paper, experiment: Experiment) -> dict[str, Any] | None:
    path = folder_of(folder, paper, experiment) / page.FIGURES
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None


def _old_row(before: str, paper: Paper, experiment: Experiment) -> str | None:
    """Return the line of an item in the overview of the page as it is."""
    start = f"| {paper.name} | {experiment.item} | "
    return next((line for line in before.splitlines() if line.startswith(start)), None)


def _old_section(before: str, paper: Paper, experiment: Experiment) -> list[str]:
    """Return the results of an item on the page as it is."""
    own = before.partition(f"\n## {paper.title}\n")[2].partition("\n## ")[0]
    parts = own.split("\n### ")[1:]
    start = f"{experiment.item.capitalize()}: "
    found = next((part for part in parts if part.startswith(start)), None)
    return [] if found is None else ["", f"### {found}".rstrip()]


def _overview(papers: list[Paper], folder: Path, before: str) -> Iterator[str]:
    yield "| paper | item | what | |"
    yield "|---|---|---|---|"
    for paper in papers:
        for experiment in paper.experiments:
            found = _read(folder, paper, experiment)
            old = _old_row(before, paper, experiment)
            if found is None and old is not None:
                yield old
                continue
            form = "can be rerun; no result here" if found is None else _form(found)
            stands = " with other data" if experiment.stands_in else ""
            yield f"| {paper.name} | {experiment.item} | {experiment.title} | {form}{stands} |"
        for absent in paper.absent:
            yield f"| {paper.name} | {absent.item} | {absent.title} | not rerun: {absent.why} |"


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
    write(Path(sys.argv[1]), Path(sys.argv[2]))
