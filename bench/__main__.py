"""`python -m bench [names...] [options]`: run benchmarks, print their bars.

`python -m bench guard` is a command of its own: it compares with what was recorded and may fail.
"""

from __future__ import annotations

import argparse
import importlib
import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from bench import page, sources
from bench.catalogue import BENCHMARKS
from bench.report import Section, show, summarise, to_markdown


def run(name: str, quick: bool = False, full: bool = False) -> Section:
    """Run one benchmark; its module is imported now, so that each stands alone."""
    measure = importlib.import_module(BENCHMARKS[name].module).run
    return measure(quick, full=True) if full else measure(quick)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what the command line asks for; but for `guard`, the exit code says nothing of bars."""
    arguments = sys.argv[1:] if arguments is None else arguments
    if arguments and arguments[0] == "guard":
        from bench.guard import main as guard

        return guard(arguments[1:])
    parser = _parser()
    options = parser.parse_args(arguments)
    unknown = sorted(set(options.names) - set(BENCHMARKS))
    if unknown:
        parser.error(f"unknown: {', '.join(unknown)}; choose from {', '.join(BENCHMARKS)}")
    if options.full and options.names != ["partitions"]:
        parser.error("--full is for: partitions")
    if options.mark:
        _mark(options.page)
        return 0
    names = options.names or list(BENCHMARKS)
    if options.write:
        _refuse_to_write(parser, options, names)
    console, start, sections = Console(width=120), time.perf_counter(), {}
    for name in names:
        full = {"full": True} if options.full else {}
        sections[name] = run(name, options.quick, **full)
        show(sections[name], console)
        if options.write:
            _write(options.page, name, sections[name], console)
    summarise(list(sections.values()), console)
    console.print(f"{time.perf_counter() - start:.0f} s in all")
    if options.json:
        figures = {name: section.to_json() for name, section in sections.items()}
        options.json.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
    if options.markdown:
        options.markdown.write_text(to_markdown(list(sections.values())), encoding="utf-8")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument(
        "names", nargs="*", metavar="name", help=f"of {', '.join(BENCHMARKS)}; all by default"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all figures to FILE")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="write the tables to FILE")
    parser.add_argument("--quick", action="store_true", help="tiny sizes: does everything run?")
    parser.add_argument(
        "--full", action="store_true", help="the largest size of those that have one: partitions"
    )
    parser.add_argument(
        "--write", action="store_true", help="replace their blocks of docs/benchmarks.md"
    )
    parser.add_argument(
        "--mark", action="store_true",
        help="run nothing; let the blocks of docs/benchmarks.md say which are older than the code",
    )  # fmt: skip
    parser.add_argument("--page", type=Path, default=page.PAGE, help=argparse.SUPPRESS)
    return parser


def _refuse_to_write(
    parser: argparse.ArgumentParser, options: argparse.Namespace, names: list[str]
) -> None:
    """Before hours of running: is there a place for each, and a commit to name?"""
    places = {block.name for block in page.blocks(options.page.read_text(encoding="utf-8"))}
    lacking = [name for name in names if name not in places]
    if options.quick:
        parser.error("--quick measures nothing worth writing")
    if options.names and lacking:
        parser.error(page.no_place(lacking))
    changed = sources.uncommitted()
    if changed:
        parser.error("a table names the commit that it measured; not committed: " + changed[0])


def _write(file: Path, name: str, section: Section, console: Console) -> None:
    """Replace the block of a benchmark at once: a later one may be interrupted."""
    text = file.read_text(encoding="utf-8")
    if name not in {block.name for block in page.blocks(text)}:
        console.print(f"  {name} has no block of its own in {file.name}: not written\n")
    elif not section.lines and not section.grids:
        console.print(f"  {name} measured nothing: {file.name} keeps what it had\n")
    else:
        block = page.of_run(name, section, sources.commit(), sources.today())
        file.write_text(page.mark(page.replace(text, block)), encoding="utf-8")


def _mark(file: Path) -> None:
    text = page.mark(file.read_text(encoding="utf-8"))
    file.write_text(text, encoding="utf-8")
    for block in page.blocks(text):
        print(f"{block.name}: {'older than the code' if block.older else 'of this code'}")


if __name__ == "__main__":
    raise SystemExit(main())
