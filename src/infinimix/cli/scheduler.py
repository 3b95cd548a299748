"""`--cluster ADDRESS`: fits run on a Dask cluster while the command runs."""

from __future__ import annotations

import typer

from infinimix.cli.errors import CommandError


def enter_cluster(context: typer.Context, address: str | None) -> None:
    """Let the rest of the command run its fits on the cluster of a scheduler, if one is named."""
    if address is None:
        return
    from infinimix import execution  # Dask: slow to load

    try:
        executor = execution.dask(address)
    except (OSError, ValueError) as error:
        raise CommandError(
            f"no Dask scheduler answers at {address!r}; give the address that `dask scheduler` "
            "prints, such as tcp://127.0.0.1:8786"
        ) from error
    context.with_resource(executor)
