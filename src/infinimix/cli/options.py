"""Options that several commands have: one spelling, one text and one meaning each."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from infinimix.cli.places import check_file, check_model, check_place

TABLE = "CSV, TSV, JSON lines or Parquet file, maybe .gz; - is standard input."


def _columns(flag: str, text: str) -> Any:
    return typer.Option(flag, help=text, metavar="A,B", rich_help_panel="Columns")


def _file(flag: str, text: str, metavar: str) -> Any:
    return typer.Option(flag, help=text, metavar=metavar, rich_help_panel="Reading the file")


def _running(*flags: str, text: str, metavar: str | None = None, **more: Any) -> Any:
    return typer.Option(*flags, help=text, metavar=metavar, rich_help_panel="Running", **more)


def to_file(*flags: str, text: str) -> Any:
    """Return an option that names a file to write, checked before the work."""
    return typer.Option(*flags, help=text, metavar="FILE", callback=check_place)


Table = Annotated[Path, typer.Argument(help=TABLE, callback=check_file)]
Model = Annotated[
    Path, typer.Argument(help="Model that infinimix has saved.", callback=check_model)
]
Target = Annotated[
    str, typer.Option("--target", "-t", help="Column that holds the class.", metavar="COLUMN")
]
ModelName = Annotated[
    str,
    typer.Option(
        "--model",
        "-m",
        help="aclass, online-crp, finite-mixture or m2dpm.",
        metavar="NAME",
        autocompletion=lambda: ["aclass", "online-crp", "finite-mixture", "m2dpm"],
    ),
]
Text = Annotated[
    str | None,
    typer.Option("--text", help="Learn from the words of this column only.", metavar="COLUMN"),
]
Output = Annotated[
    Path | None, to_file("--output", "-o", text="File to write, else standard output.")
]
Save = Annotated[Path | None, to_file("--save", text="Save the model in this file.")]
Append = Annotated[
    bool, typer.Option("--append", help="Write the columns of the file too, before the answer.")
]

Real = Annotated[list[str] | None, _columns("--real", "These are numbers.")]
Log = Annotated[list[str] | None, _columns("--log", "These are numbers with a long tail.")]
Category = Annotated[list[str] | None, _columns("--category", "These are categories.")]
Binary = Annotated[list[str] | None, _columns("--binary", "These are 0 or 1.")]
Count = Annotated[list[str] | None, _columns("--count", "These are counts: 0, 1, 2 and so on.")]
Gaussian = Annotated[
    list[str] | None,
    _columns("--gaussian", "These are numbers, correlated within groups; repeat it for blocks."),
]
Drop = Annotated[
    list[str] | None, _columns("--drop", "Leave these out, such as names and numbers of rows.")
]
Columns = Annotated[
    Path | None,
    typer.Option(
        "--columns",
        help='TOML file with lines such as age = "real" and id = "drop".',
        metavar="FILE",
        rich_help_panel="Columns",
    ),
]

Missing = Annotated[
    list[str] | None,
    _file("--missing", "How missing cells are spelled, found if not given; repeat it.", "WORD"),
]
Format = Annotated[
    str | None,
    _file("--format", "csv, tsv, jsonl or parquet, where the name does not say it.", "NAME"),
]
Delimiter = Annotated[
    str | None, _file("--delimiter", "What is between cells, found if not given.", "CHARACTER")
]

Effort = Annotated[
    str, _running("--effort", text="How hard to try: fast, default or thorough.", metavar="NAME")
]
Seed = Annotated[
    int, _running("--seed", text="Seed of all draws.", metavar="N", min=0, max=2**32 - 1)
]
Jobs = Annotated[
    int | None,
    _running("--jobs", "-j", text="Threads; the result does not depend on it.", metavar="N"),
]
Json = Annotated[bool, _running("--json", text="Print JSON instead of tables.")]
