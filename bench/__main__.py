"""`python -m bench [names...] [options]`: run benchmarks, print their bars."""

from __future__ import annotations

import argparse
import importlib
import json
import time
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from bench.report import Section, show, summarise, to_markdown

BENCHMARKS = {  # name -> module; imported when run, so that each stands alone
    "training": "bench.training",
    "rowwise": "bench.rowwise",
    "prediction": "bench.prediction",
    "growth": "bench.growth",
    "paper": "bench.paper_task",
    "digits": "bench.digits",
    "startup": "bench.startup",
    "tables": "bench.tables",
    "imputation": "bench.imputation",
    "density": "bench.density",
    "mnist": "bench.mnist",
    "effort": "bench.effort",
    "texts": "bench.texts",
    "stream_speed": "bench.stream_speed",
    "emerging": "bench.emerging",
    "drift": "bench.drift",
    "few_labels": "bench.few_labels",
    "table_one": "bench.table_one",
    "few_digits": "bench.few_digits",
    "em_speed": "bench.em_speed",
    "maxmargin": "bench.maxmargin",
    "margin_tables": "bench.margin_tables",
    "networks": "bench.networks",
    "network_exact": "bench.network_exact",
    "network_files": "bench.network_files",
    "network_worlds": "bench.network_worlds",
    "network_franchise": "bench.network_franchise",
}


def run(name: str, quick: bool = False) -> Section:
    """Run one benchmark."""
    return importlib.import_module(BENCHMARKS[name]).run(quick)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what the command line asks for; the exit code says nothing of the bars."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument(
        "names", nargs="*", metavar="name", help=f"of {', '.join(BENCHMARKS)}; all by default"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all figures to FILE")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="write the tables to FILE")
    parser.add_argument("--quick", action="store_true", help="tiny sizes: does everything run?")
    options = parser.parse_args(arguments)
    unknown = sorted(set(options.names) - set(BENCHMARKS))
    if unknown:
        parser.error(f"unknown: {', '.join(unknown)}; choose from {', '.join(BENCHMARKS)}")
    console, start, sections = Console(width=120), time.perf_counter(), {}
    for name in options.names or BENCHMARKS:
        sections[name] = run(name, options.quick)
        show(sections[name], console)
    summarise(list(sections.values()), console)
    console.print(f"{time.perf_counter() - start:.0f} s in all")
    if options.json:
        figures = {name: section.to_json() for name, section in sections.items()}
        options.json.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
    if options.markdown:
        options.markdown.write_text(to_markdown(list(sections.values())), encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
