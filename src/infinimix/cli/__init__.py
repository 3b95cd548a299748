"""The command `infinimix`: one file a command, listed in `COMMANDS`.

Commands import what they run when they run, so `--version` and `--help` answer at once. `errors`
words what goes wrong, `options` and `bundles` hold what several commands share, `files`, `sheets`,
`columns_in`, `tables_in`, `dates`, `ids` and `kinds` read tables, `learning` and `tasks` make
models of them, `out`, `places`, `writing` and `filling` show and write.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

import typer

from infinimix import __version__
from infinimix.cli import (
    cluster,
    compare,
    demo,
    evaluate,
    explain,
    fit,
    impute,
    inspect,
    network,
    predict,
    report,
    reproduce,
    stream,
    warm_up,
)
from infinimix.cli.bundles import unfolded
from infinimix.cli.errors import guarded
from infinimix.cli.examples import EXAMPLES

COMMANDS: dict[str, Callable[..., None]] = {  # in the order of --help
    "demo": demo.demo,
    "fit": fit.fit,
    "predict": predict.predict,
    "evaluate": evaluate.evaluate,
    "compare": compare.compare,
    "explain": explain.explain,
    "report": report.report,
    "inspect": inspect.inspect,
    "cluster": cluster.cluster,
    "impute": impute.impute,
    "network": network.network,
    "stream": stream.stream,
    "reproduce": reproduce.reproduce,
    "warm-up": warm_up.warm_up,
}

app = typer.Typer(no_args_is_help=True, add_completion=True, pretty_exceptions_enable=False)
for name, command in COMMANDS.items():
    app.command(name, epilog=f"Example: {EXAMPLES[name]}")(guarded(name, unfolded(command)))


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"infinimix {__version__}")
        raise typer.Exit


@app.callback()
def infinimix(
    version: Annotated[
        bool,
        typer.Option("--version", help="Show the version.", callback=_show_version, is_eager=True),
    ] = False,
) -> None:
    """Classifiers and models that grow with the data."""


def main() -> None:
    """Run the command line of this process."""
    app(prog_name="infinimix")
