"""`infinimix warm-up`: compile everything now, so that no later command waits for it."""

from __future__ import annotations

import time
from typing import Annotated

import typer

from infinimix.cli.out import count, progress


def warm_up(
    only: Annotated[
        list[str] | None, typer.Option("--only", help="Compile just this; may be repeated.")
    ] = None,
    jobs: Annotated[
        int,
        typer.Option("--jobs", "-j", help="Processes that compile at once; 0: one a core.", min=0),
    ] = 0,
) -> None:
    """Compile all kernels and keep them on disk; later runs load them."""
    from concurrent.futures import ProcessPoolExecutor, as_completed
    from multiprocessing import get_context

    from infinimix.cli.errors import CommandError
    from infinimix.cli.workloads import WORKLOADS, run
    from infinimix.execution.jobs import count_cores

    names, start = only or list(WORKLOADS), time.perf_counter()
    for name in names:
        if name not in WORKLOADS:
            raise CommandError(
                f"there is no {name!r} to compile; choose from {', '.join(WORKLOADS)}"
            )
    workers = min(jobs or count_cores(), len(names))
    with (
        ProcessPoolExecutor(workers, get_context("spawn"), _prepare) as pool,
        progress("Compiling", len(names)) as advance,
    ):
        for done in as_completed([pool.submit(run, name) for name in names]):
            done.result()
            advance()
    seconds = time.perf_counter() - start
    what = "These" if only else "All"
    typer.echo(f"{what} kernels are on disk ({count(round(seconds), 'second')})", err=True)


def _prepare() -> None:
    """Say nothing of compiling in a worker: that is what it is for.

    The compiler makes millions of small objects that stay: looking for garbage among them at
    Python's usual pace takes some percent of the time.
    """
    import gc

    from infinimix.kernels.cache import hush

    gc.set_threshold(50_000, 20, 50)
    hush()
