"""Options that several commands have: one spelling, one text and one meaning each."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from infinimix.cli.places import check_file, check_model, check_page, check_place, check_source

MODEL_NAMES = (
    "aclass", "online-crp", "finite-mixture", "m2dpm", "m2dpm-cv", "dpmeans-svc", "gibbs-svc",
    "hybrid", "regressor",
)  # fmt: skip
TABLE = (
    "CSV, TSV, JSON lines, Parquet or Excel file, maybe .gz, .bz2, .xz or .zst; "
    "- is standard input."
)


def _columns(flag: str, text: str) -> Any:
    return typer.Option(flag, help=text, metavar="A,B", rich_help_panel="Columns")


def _file(flag: str, text: str, metavar: str) -> Any:
    return typer.Option(flag, help=text, metavar=metavar, rich_help_panel="Reading the file")


def _running(*flags: str, text: str, metavar: str | None = None, **more: Any) -> Any:
    return typer.Option(*flags, help=text, metavar=metavar, rich_help_panel="Running", **more)


def to_file(*flags: str, text: str) -> Any:
    """Return an option that names a file to write, checked before the work."""
    return typer.Option(*flags, help=text, metavar="FILE", callback=check_place)


def to_page(*flags: str, text: str) -> Any:
    """Return an option that names a page to write, checked before the work."""
    return typer.Option(*flags, help=text, metavar="FILE", callback=check_page)


def _check_table(
    context: typer.Context, option: typer.CallbackParam, path: Path | None
) -> Path | None:
    from infinimix.cli.writing import check_table  # only commands that write tables need it

    return check_table(context, option, path)


def _check_table_or_folder(
    context: typer.Context, option: typer.CallbackParam, path: Path | None
) -> Path | None:
    return path if path is not None and path.is_dir() else _check_table(context, option, path)


Table = Annotated[Path, typer.Argument(help=TABLE, callback=check_file)]
TableOrFolder = Annotated[
    Path, typer.Argument(help=TABLE + " Or a folder, or a pattern of files.", callback=check_source)
]
Model = Annotated[
    Path, typer.Argument(help="Model that infinimix has saved.", callback=check_model)
]
Target = Annotated[
    str,
    typer.Option(
        "--target", "-t", help="Column to predict: classes, or a number.", metavar="COLUMN"
    ),
]
ModelName = Annotated[
    str,
    typer.Option(
        "--model",
        "-m",
        help=f"{', '.join(MODEL_NAMES[:-1])} or {MODEL_NAMES[-1]}.",
        metavar="NAME",
        autocompletion=lambda: list(MODEL_NAMES),
    ),
]
Groups = Annotated[
    str | None,
    typer.Option(
        "--groups",
        help="Keep rows with the same cell of this column in one fold; it is not learned.",
        metavar="COLUMN",
    ),
]
Weights = Annotated[
    str | None,
    typer.Option(
        "--weights",
        help="Column of weights of rows, which is not learned: counts, or relative weights.",
        metavar="COLUMN",
    ),
]
ClassWeight = Annotated[
    str | None,
    typer.Option(
        "--class-weight",
        help='balanced, or weights of classes: "no=1,yes=5".',
        metavar="WEIGHTS",
        rich_help_panel="Model",
    ),
]
Cost = Annotated[
    str | None,
    typer.Option(
        "--cost",
        help='Costs of wrong predictions: "fn=5,fp=1", or a cost for each class that is missed.',
        metavar="COSTS",
    ),
]
Regression = Annotated[
    bool | None,
    typer.Option(
        "--regression/--classes",
        help="Predict the target as a number, or as classes; found if not given.",
        show_default=False,
    ),
]
Bins = Annotated[
    int | None,
    typer.Option(
        "--bins",
        help="Make so many classes of a target that is a number, by quantiles.",
        metavar="N",
        min=2,
    ),
]
Text = Annotated[
    str | None,
    typer.Option("--text", help="Learn from the words of this column only.", metavar="COLUMN"),
]
Share = Annotated[
    float | None,
    typer.Option(
        "--unlabelled-share",
        help="Learn this share of the rows without label; less if a note says that they hurt.",
        min=0.0,
        max=1.0,
        metavar="SHARE",
        rich_help_panel="Model",
    ),
]
Relevance = Annotated[
    str | None,
    typer.Option(
        "--relevance",
        help="all, or learn: find columns that say nothing of the class.",
        metavar="NAME",
        rich_help_panel="Model",
    ),
]
Set = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        help="Any parameter of the model in Python, such as n_islands=32; repeat it.",
        metavar="NAME=VALUE",
        rich_help_panel="Model",
    ),
]
Output = Annotated[
    Path | None,
    typer.Option(
        "--output", "-o", metavar="FILE", callback=_check_table,
        help="File to write: .csv, .tsv, .jsonl, .parquet or .xlsx; else standard output.",
    ),
]  # fmt: skip
OutputOrFolder = Annotated[
    Path | None,
    typer.Option(
        "--output", "-o", metavar="FILE", callback=_check_table_or_folder,
        help="File to write: .csv, .tsv, .jsonl, .parquet or .xlsx; else standard output. For a "
        "folder or a pattern of files: a new folder.",
    ),
]  # fmt: skip
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
Keep = Annotated[
    list[str] | None,
    _columns("--keep", "Use these although nearly all their values are different."),
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
    _file("--format", "csv, tsv, jsonl, parquet or xlsx, if the name does not say it.", "NAME"),
]
Delimiter = Annotated[
    str | None, _file("--delimiter", "What is between cells, found if not given.", "CHARACTER")
]
Encoding = Annotated[
    str | None,
    _file("--encoding", "Of text: utf-8, utf-16, cp1252 and so on, found if not given.", "NAME"),
]
Decimal = Annotated[
    str | None,
    _file("--decimal", "What is before decimals, . or , where cells leave it open.", "CHARACTER"),
]
DateOrder = Annotated[
    str | None,
    _file("--date-order", "dmy, mdy or ymd, where dates leave it open.", "NAME"),
]
Sheet = Annotated[
    str | None,
    _file("--sheet", "Sheet of an Excel file, by name or number.", "NAME"),
]

Effort = Annotated[
    str,
    _running(
        "--effort",
        text="How hard to try: fast, default or thorough.",
        metavar="NAME",
        autocompletion=lambda: ["fast", "default", "thorough"],
    ),
]
Seed = Annotated[
    int, _running("--seed", text="Seed of all draws.", metavar="N", min=0, max=2**32 - 1)
]
Jobs = Annotated[
    int | None,
    _running("--jobs", "-j", text="Threads; the result does not depend on it.", metavar="N"),
]
Cluster = Annotated[
    str | None,
    _running(
        "--cluster",
        text="Address of a Dask scheduler whose workers fit; the result does not depend on it.",
        metavar="ADDRESS",
    ),
]
Json = Annotated[bool, _running("--json", text="Print JSON instead of tables.")]
