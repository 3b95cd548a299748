"""A cluster of this machine: bytes on the wire and seconds against the model, and what Dask costs.

Workers are processes of a `LocalCluster`. What client and scheduler send is counted where they
write to sockets, what workers send by Dask's own counters. The costs of the model of seconds are
found by least squares over all fits, at 1, 2 and 4 workers.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from bench.cluster_counting import Counter, sent_by_workers, start_cluster
from bench.cluster_finite import measure_finite
from bench.cluster_model import Costs, Shape, Wire, calibrate, seconds, wire_bytes
from bench.cluster_partitions import make_rows, measure_parted
from bench.report import Grid, Line, Section
from infinimix import AClassClassifier, execution
from infinimix.execution.jobs import count_cores

SHAPES = [(20_000, 10, 2), (200_000, 10, 2), (20_000, 50, 2), (20_000, 10, 8)]
ISLANDS, PARTICLES = 4, 4
TASKS = 4


def run(quick: bool = False) -> Section:
    section = Section("A cluster of this machine")
    workers = (1, 2) if quick else (1, 2, 4)
    shapes = SHAPES[:1] if quick else SHAPES
    grid = Grid(
        "Bytes on the wire, and seconds of a fit",
        [
            "rows x columns, classes",
            "workers",
            "used",
            "bytes",
            "model",
            "ratio",
            "seconds",
            "model",
        ],
        [],
    )
    fits = [Fit(W, *one) for W in workers for one in _fits(W, shapes)]
    measured = [(fit.shape, fit.n_workers, fit.seconds) for fit in fits]
    costs = calibrate(measured, count_cores(), _byte(quick))
    worst = 1.0
    for fit in fits:
        expected = wire_bytes(fit.shape).total(fit.n_used)
        worst = max(worst, fit.n_bytes / expected, expected / fit.n_bytes)
        grid.rows.append(_row(fit, expected, costs))
    parted, farthest = measure_parted(workers, quick)
    finite, finite_worst = measure_finite(workers, quick)
    section.grids += [grid, parted, finite, _on_paper(costs)]
    section.figures["costs"] = costs._asdict()
    section.lines.append(
        Line("bytes on the wire, farthest from the model", f"{worst:.2f}", "", "", "<= 1.10",
             bool(worst <= 1.1))
    )  # fmt: skip
    section.lines.append(
        Line("the same of partitions that workers read", f"{farthest:.2f}", "", "", "<= 1.10",
             bool(farthest <= 1.1))
    )  # fmt: skip
    section.lines.append(
        Line("the same of EM", f"{finite_worst:.2f}", "", "", "<= 1.10", bool(finite_worst <= 1.1))
    )
    section.lines.append(_compare(quick))
    return section


class Fit(NamedTuple):
    """What was measured of one fit."""

    n_workers: int
    n_bytes: float
    n_used: int  # of the workers: Dask gives short tasks to those that have the table
    shape: Shape
    seconds: float


def _row(fit: Fit, expected: float, costs: Costs) -> list[str]:
    shape, guess = fit.shape, seconds(fit.shape, fit.n_workers, count_cores(), costs)
    name = f"{shape.n_rows:,} x {shape.n_columns}, {shape.n_classes}"
    figures = f"{fit.n_bytes:,.0f}", f"{expected:,.0f}", f"{fit.n_bytes / expected:.2f}"
    return [
        name,
        str(fit.n_workers),
        str(fit.n_used),
        *figures,
        f"{fit.seconds:.2f}",
        f"{guess:.2f}",
    ]


def _on_paper(costs: Costs) -> Grid:
    """Return what larger tables would take on workers with a core each, 16 islands."""
    rows = []
    for n in (10**6, 10**7, 10**8, 10**9):
        shape = Shape(n, 50, 4, 16, PARTICLES)
        took = [seconds(shape, W, W, costs) for W in (1, 10, 100)]
        table = wire_bytes(shape).table
        rows.append([f"{n:.0e}", f"{table / 2**30:,.1f}", *(f"{t:,.0f}" for t in took)])
    heads = ["rows x 50, 4 classes", "GiB of the table", "s, 1 worker", "s, 10", "s, 100"]
    return Grid("On paper: 16 islands", heads, rows)


def _byte(quick: bool) -> float:
    """Return the seconds for a byte from this process to a worker, and on to another."""
    array = np.ones(1 << (17 if quick else 23))
    wire = Wire(array.nbytes, 0, 0)
    with start_cluster(2) as client, execution.dask(client) as executor:
        executor.map(_spin, [(0.2, np.ones(2))] * 2)
        start = time.perf_counter()
        executor.map(_spin, [(0.2, array)] * 2)
        took = time.perf_counter() - start - 0.2
    return max(took, 1e-3) / wire.in_turn(2)


def _fits(n_workers: int, shapes: list[tuple[int, int, int]]) -> Iterator[tuple[Any, ...]]:
    """Yield the bytes, the workers that ran islands, the shape and the seconds of each fit."""
    from distributed import get_task_stream

    counter = Counter()
    with counter.counting(), start_cluster(n_workers) as client, execution.dask(client):
        _learn(*make_rows(2_000, 5, 2))  # what is loaded or compiled is no part of a fit
        for shape in shapes:
            X, y = make_rows(*shape)
            before = counter.sent + sum(client.run(sent_by_workers).values())
            start = time.perf_counter()
            with get_task_stream(client) as stream:
                model = _learn(X, y)
                took = time.perf_counter() - start
            used = {task["worker"] for task in stream.data if "fit_island" in str(task["key"])}
            after = counter.sent + sum(client.run(sent_by_workers).values())
            filters = [f for island in model._bank.islands for f in island.filters]
            slots = float(np.mean([f.slots.shape[1] for f in filters]))
            yield after - before, len(used), Shape(*shape, ISLANDS, PARTICLES, slots), took


def _learn(X: np.ndarray, y: np.ndarray) -> AClassClassifier:
    options = {"n_islands": ISLANDS, "n_particles": PARTICLES, "correction": "none"}
    return AClassClassifier(random_state=0, **options).fit(X, y)


def _spin(task: tuple[float, np.ndarray]) -> float:
    """Work for so many seconds of CPU time."""
    wanted, array = task
    start, total = time.process_time(), 0.0
    while time.process_time() - start < wanted:
        total += float(array[:1000].sum())
    return total


def _compare(quick: bool) -> Line:
    """Return how much longer tasks of a second take on two workers than in two processes."""
    wanted, rounds = (0.05, 1) if quick else (1.0, 3)
    tasks = [(wanted, np.ones(100_000)) for _ in range(TASKS)]
    took: dict[str, list[float]] = {"Dask": [], "processes": []}
    with start_cluster(2) as client:
        executors = {"Dask": execution.dask(client), "processes": execution.processes(2)}
        with executors["processes"], executors["Dask"]:
            for executor in executors.values():
                executor.map(_spin, [(0.01, np.ones(2)) for _ in range(TASKS)])
            for _ in range(rounds):
                for name, executor in executors.items():
                    start = time.perf_counter()
                    executor.map(_spin, tasks)
                    took[name].append(time.perf_counter() - start)
    ours, peer = min(took["Dask"]), min(took["processes"])
    return Line(
        f"{TASKS} tasks of {wanted:g} s: Dask on 2 workers, 2 local processes",
        f"{ours:.2f} s", f"{peer:.2f} s", f"{ours / peer:.2f}", "<= 1.20",
        bool(ours / peer <= 1.2), took,
    )  # fmt: skip
