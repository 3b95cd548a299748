"""The command `infinimix`: one file a command, listed in `NAMES`.

Commands import what they run when they run, so `--version` and `--help` answer at once. `errors`
and `usage` word what goes wrong, `options` and `bundles` hold what several commands share, `files`,
`sheets`, `columns_in`, `tables_in`, `dates`, `ids` and `kinds` read tables, `learning` and `tasks`
make models of them, `out`, `places`, `writing` and `filling` show and write.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable
from importlib import import_module
from typing import Annotated, Any

import typer

from infinimix import __version__

NAMES = (  # in the order of --help
    "demo", "fit", "predict", "evaluate", "compare", "explain", "report", "inspect", "cluster",
    "impute", "network", "stream", "replay", "serve", "watch", "reproduce", "warm-up",
)  # fmt: skip


def _command(name: str) -> Callable[..., None]:
    """Return the function of a command, which is in a file of the same name."""
    function = name.replace("-", "_")
    found: Callable[..., None] = getattr(import_module(f"infinimix.cli.{function}"), function)
    return found


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"infinimix {__version__}")
        raise typer.Exit


def infinimix(
    version: Annotated[
        bool,
        typer.Option("--version", help="Show the version.", callback=_show_version, is_eager=True),
    ] = False,
) -> None:
    """Classifiers and models that grow with the data."""


def _make_app(names: Iterable[str]) -> typer.Typer:
    """Return a command line with these commands."""
    from infinimix.cli.bundles import unfolded
    from infinimix.cli.errors import OneLineGroup, guarded
    from infinimix.cli.examples import EXAMPLES

    made = typer.Typer(
        cls=OneLineGroup, no_args_is_help=True, add_completion=True, pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["--help", "-h"]},
    )  # fmt: skip
    made.callback()(infinimix)
    for name in names:
        command = guarded(name, unfolded(_command(name)))
        made.command(name, epilog=f"Example: {EXAMPLES[name]}")(command)
    return made


def __getattr__(name: str) -> Any:
    """Return all commands, `COMMANDS` by name or as one `app`, when somebody asks for them."""
    if name == "COMMANDS":
        globals()[name] = {command: _command(command) for command in NAMES}
    elif name == "app":
        globals()[name] = _make_app(NAMES)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return globals()[name]


def main() -> None:
    """Run the command line of this process.

    If its first word is a command, the others need not be loaded and described.
    """
    first = sys.argv[1:2]
    completes = "_INFINIMIX_COMPLETE" in os.environ  # the shell asks what words there are
    alone = bool(first) and first[0] in NAMES and not completes
    _make_app(first if alone else NAMES)(prog_name="infinimix")
