"""Partitions that the workers of a cluster read: bytes on all connections against the model.

Which rows change workers, and whether a table of a class is copied, depends on where Dask has run
the tasks; that is read from its stream of tasks.
"""

from __future__ import annotations

import tempfile
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np

from bench.cluster_counting import Counter, sent_by_workers, start_cluster
from bench.cluster_model import Shape, parted_bytes
from bench.report import Grid
from infinimix import AClassClassifier, execution, read_partitions

SHAPES = [(20_000, 10, 2), (200_000, 10, 2), (20_000, 50, 2), (20_000, 10, 8), (200_000, 50, 4)]
PARTS, ISLANDS, PARTICLES = 8, 4, 4
HEADS = ["rows x columns, classes", "workers", "rows moved", "copies", "bytes", "model", "ratio"]


def make_rows(n: int, d: int, C: int) -> tuple[np.ndarray, np.ndarray]:
    """Return rows of bits with five modes in each class, and the classes."""
    rng = np.random.default_rng(0)
    p = rng.beta(0.5, 0.5, size=(C, 5, d))
    y, k = rng.integers(C, size=n), rng.integers(5, size=n)
    return (rng.random((n, d)) < p[y, k]).astype(np.int8), y


def measure_parted(workers: tuple[int, ...], quick: bool) -> tuple[Grid, float]:
    """Return a table of fits, and how far the farthest is from the model."""
    grid, worst = Grid("Bytes on the wire of partitions that workers read", HEADS, []), 1.0
    for W in workers:
        counter = Counter()
        with counter.counting(), start_cluster(W) as client, execution.dask(client):
            _fit(client, counter, 2_000, 5, 2)  # what is loaded or compiled is no part of a fit
            for shape in SHAPES[:1] if quick else SHAPES:
                n_bytes, expected, moved, copies = _fit(client, counter, *shape)
                ratio = n_bytes / expected
                worst = max(worst, ratio, 1 / ratio)
                n, d, C = shape
                figures = f"{moved:.2f}", f"{copies}", f"{n_bytes:,.0f}", f"{expected:,.0f}"
                grid.rows.append([f"{n:,} x {d}, {C}", str(W), *figures, f"{ratio:.2f}"])
    return grid, worst


def _fit(client: Any, counter: Counter, n: int, d: int, C: int) -> tuple[float, float, float, int]:
    """Return the bytes of a fit, those of the model, and which rows and tables moved."""
    from distributed import get_task_stream

    with tempfile.TemporaryDirectory() as folder:
        write_parts(Path(folder), *make_rows(n, d, C))
        before = counter.sent + sum(client.run(sent_by_workers).values())
        options = {"n_islands": ISLANDS, "n_particles": PARTICLES, "correction": "none"}
        with get_task_stream(client) as stream:
            model = AClassClassifier(random_state=0, **options)  # type: ignore[arg-type]
            model.fit(read_partitions(folder), "y")
        after = counter.sent + sum(client.run(sent_by_workers).values())
    filters = [f for island in model._bank.islands for f in island.filters]
    slots = float(np.mean([f.slots.shape[1] for f in filters]))
    moved, copies = _find_moves(stream.data, C)
    shape = Shape(n, d, C, ISLANDS, PARTICLES, slots)
    return after - before, parted_bytes(shape, PARTS, moved, copies), moved, copies


def write_parts(folder: Path, X: np.ndarray, y: np.ndarray) -> None:
    """Write a table as Parquet files."""
    import polars as pl

    for i, rows in enumerate(np.array_split(np.arange(len(y)), PARTS)):
        cells = {f"x{j}": X[rows, j] for j in range(X.shape[1])}
        pl.DataFrame({**cells, "y": y[rows]}).write_parquet(folder / f"{i:03d}.parquet")


def _find_moves(tasks: Any, C: int) -> tuple[float, int]:
    """Return the share of rows that changed workers, and how many tables of classes were copied."""
    where: dict[str, dict[int, set[str]]] = defaultdict(lambda: defaultdict(set))
    for task in tasks:
        name, *_, number = str(task["key"]).removeprefix("infinimix-").split("-")
        at = int(number) % C if name == "filter_class" else int(number)
        where[name][at].add(task["worker"])
    joined = where["join_class"]
    moved = [where["take_class"][c * PARTS + i] != joined[c] for c in joined for i in range(PARTS)]
    copies = sum(len(where["filter_class"][c] | joined[c]) - 1 for c in joined)
    return float(np.mean(moved)), copies
