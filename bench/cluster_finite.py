"""Shards of EM that workers have read: bytes on all connections against the model.

Which rows and statistics change workers depends on where Dask has run the tasks; that is read from
its stream of tasks.
"""

from __future__ import annotations

import tempfile
from collections import defaultdict
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from bench.cluster_counting import Counter, sent_by_workers, start_cluster
from bench.cluster_model import FiniteMoves, FiniteShape, finite_bytes
from bench.cluster_partitions import PARTS, make_rows, write_parts
from bench.report import Grid
from infinimix import FiniteMixtureClassifier, execution, read_partitions
from infinimix.inference.finite.shards import ROWS

SHAPES = [(300_000, 10, 2), (300_000, 50, 2), (900_000, 10, 4)]
RESTARTS, COMPONENTS, STEPS = 3, 4, 4
COLLECTED = ("pool_shard", "start_shard", "expect_shard", "complete_shard")
HEADS = [
    "rows x columns, classes", "workers", "bytes of rows moved", "statistics moved", "bytes",
    "model", "ratio",
]  # fmt: skip


def measure_finite(workers: tuple[int, ...], quick: bool) -> tuple[Grid, float]:
    """Return a table of fits, and how far the farthest is from the model."""
    grid, worst = Grid("Bytes on the wire of EM over partitions that workers read", HEADS, []), 1.0
    for W in workers:
        counter = Counter()
        with counter.counting(), start_cluster(W) as client, execution.dask(client):
            _fit(client, counter, ROWS + 1, 3, 2)  # what is loaded or compiled is no part of a fit
            for n, d, C in SHAPES[:1] if quick else SHAPES:
                n_bytes, expected, moves = _fit(client, counter, n, d, C)
                ratio = n_bytes / expected
                worst = max(worst, ratio, 1 / ratio)
                moved = f"{moves.row_bytes:,.0f}", f"{moves.statistics}"
                figures = f"{n_bytes:,.0f}", f"{expected:,.0f}", f"{ratio:.2f}"
                row = [f"{n:,} x {d}, {C}", str(W), *moved, *figures]
                grid.rows.append(row)
    return grid, worst


def _fit(client: Any, counter: Counter, n: int, d: int, C: int) -> tuple[float, float, FiniteMoves]:
    """Return the bytes of a fit, those of the model, and what moved."""
    from distributed import get_task_stream

    with tempfile.TemporaryDirectory() as folder:
        write_parts(Path(folder), *make_rows(n, d, C))
        before = counter.sent + sum(client.run(sent_by_workers).values())
        with get_task_stream(client) as stream:
            model = FiniteMixtureClassifier(
                n_components=COMPONENTS, n_init=RESTARTS, max_iter=STEPS, random_state=0
            ).fit(read_partitions(folder), "y")
        after = counter.sent + sum(client.run(sent_by_workers).values())
    moves = _find_moves(stream.data, n, d)
    shape = FiniteShape(n, d, C, -(-n // ROWS), RESTARTS, COMPONENTS, model.n_iter_)
    return after - before, finite_bytes(shape, PARTS, moves), moves


def _find_moves(tasks: Any, n: int, d: int) -> FiniteMoves:
    """Return the bytes of rows that changed workers, and how many sets of statistics did."""
    calls: dict[tuple[str, str], dict[int, str]] = defaultdict(dict)  # where tasks ran, in order
    for task in sorted(tasks, key=lambda task: task["startstops"][0]["start"]):
        name, call, number = str(task["key"]).removeprefix("infinimix-").rsplit("-", 2)
        calls[name, call][int(number)] = task["worker"]
    of: dict[str, list[dict[int, str]]] = defaultdict(list)
    for (name, _), where in calls.items():
        of[name].append(where)
    spans, joined = _spans(n), of["join_shard"][0]
    parts = [len(some) for some in np.array_split(np.arange(n), PARTS)]
    sizes = [min(ROWS, n - k) for k in range(0, n, ROWS)]
    taken = of["take_span"][0]
    rows = {
        d + 1: _copied(parts, of["pack_part"], of["outline"], of["digest_part"], of["encode_part"]),
        d + 4: _copied(parts, of["encode_part"], of["count"], [_by_part(spans, taken, parts)])
        + sum(b - a for i, (k, a, b) in enumerate(spans) if taken[i] != joined[k]),
        d + 12: _copied(sizes, of["join_shard"], of["count_labels"], of["weigh"][:1],
                        of["pool_shard"], of["weigh_shard"]),
        d + 16: _copied(sizes, of["weigh_shard"], of["weigh"][1:],
                        *(of[name] for name in COLLECTED[1:])),
    }  # fmt: skip
    drawn = {*of["take_starts"][0].values()} - {*of["draw_starts_there"][0].values()}
    starts = n * len(drawn) + _copied(sizes, of["take_starts"], of["start_shard"])
    merged, statistics = iter(of["merge_shards"]), 0
    for (name, _), where in calls.items():
        if name in COLLECTED:
            at = next(merged)[0]
            statistics += sum(worker != at for worker in where.values())
    row_bytes = sum(width * some for width, some in rows.items()) + RESTARTS * starts
    return FiniteMoves(row_bytes, statistics)


def _copied(sizes: list[int], made: list[dict[int, str]], *used: list[dict[int, str]]) -> int:
    """Return the rows that tasks needed where they had not been made, once for each worker."""
    pairs = {(k, worker) for calls in used for where in calls for k, worker in where.items()}
    return sum(sizes[k] for k, worker in pairs if worker != made[0][k])


def _by_part(
    spans: list[tuple[int, int, int]], taken: dict[int, str], parts: list[int]
) -> dict[int, str]:
    """Return a worker that has cut each part into pieces; one that did not have it, if any."""
    starts = np.cumsum([0, *parts])
    return {int(np.searchsorted(starts, b)) - 1: taken[i] for i, (_, _, b) in enumerate(spans)}


def _spans(n: int) -> list[tuple[int, int, int]]:
    """Return the shard, and the first and last row, of each piece of a partition."""
    ends = np.cumsum([len(part) for part in np.array_split(np.arange(n), PARTS)]).tolist()
    cuts = sorted({0, *ends, *range(0, n, ROWS)})
    return [(a // ROWS, a, b) for a, b in pairwise(cuts)]
