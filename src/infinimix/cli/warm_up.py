"""`infinimix warm-up`: compile everything now, so that no later command waits for it."""

from __future__ import annotations

import os
import time
from typing import Annotated

import typer

from infinimix.cli.out import count, progress


def warm_up(
    jobs: Annotated[
        int, typer.Option("--jobs", help="Processes that compile at once; 0: one a core.", min=0)
    ] = 0,
) -> None:
    """Compile all kernels and keep them on disk; later runs load them."""
    from concurrent.futures import ProcessPoolExecutor, as_completed
    from multiprocessing import get_context

    from infinimix.cli.workloads import WORKLOADS, run

    start = time.perf_counter()
    workers = jobs or min(_cores(), len(WORKLOADS))
    with (
        ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool,
        progress("Compiling", len(WORKLOADS)) as advance,
    ):
        for done in as_completed([pool.submit(run, name) for name in WORKLOADS]):
            done.result()
            advance()
    seconds = time.perf_counter() - start
    typer.echo(f"All kernels are on disk ({count(round(seconds), 'second')})", err=True)


def _cores() -> int:
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on this system
        return os.cpu_count() or 1
