"""What fits of `AClassClassifier` and of EM on a cluster move, and take, on paper.

Bytes are those of binary columns: a cell is one byte in a table, and four numbers in each slot of a
filter. `docs/scale.md` explains the terms.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

SLOTS = 64  # of a filter at first; they double when there are more groups
SHARED = 1 << 16  # bytes from which on an array of several tasks travels once
MOST_CHECKED = 20_000  # rows that may be held out
PICKLE = 1_500  # of names and small arrays, for each filter
STRETCHES = 5  # of a fit; filters come back after each
TASK = 4_000  # bytes of a task of a partition, there and back


class Shape(NamedTuple):
    """A table and how it is learned."""

    n_rows: int
    n_columns: int
    n_classes: int
    n_islands: int
    n_particles: int
    slots: float = SLOTS  # of a filter at the end, on average


class Wire(NamedTuple):
    """Bytes that cross the wire."""

    table: int  # once to each worker
    sent: float  # with all islands together
    returned: float

    def total(self, n_workers: int) -> float:
        """Sum over all connections: client, scheduler, and the workers that run islands.

        Tasks and results pass the scheduler; the table goes through it to one worker, and from
        worker to worker.
        """
        return (1 + n_workers) * self.table + 2 * (self.sent + self.returned)

    def in_turn(self, n_workers: int) -> float:
        """Bytes that wait for one another: workers hand the table on at the same time."""
        return (2 + np.log2(n_workers)) * self.table + 2 * (self.sent + self.returned)


def filter_bytes(shape: Shape, slots: float) -> float:
    """Return the size of one filter."""
    particles = shape.n_particles * (16 + 4 + 1) * 8 * 2
    return slots * (32 * shape.n_columns + 72) + 8 * (1024 + 64 * shape.n_particles) + particles


def wire_bytes(shape: Shape) -> Wire:
    """Return what a fit moves."""
    n, islands, C = shape.n_rows, shape.n_islands, shape.n_classes
    mask = n if n < SHARED else 0  # which rows may be held out
    cells, codes = n * shape.n_columns, 8 * n
    table = sum(size for size in (cells, codes, n) if size >= SHARED)
    small = sum(size for size in (cells, codes) if size < SHARED) + mask
    held = min(n, MOST_CHECKED) // 4 * (8 + 8 * C)
    sent = islands * (C * (filter_bytes(shape, SLOTS) + PICKLE) + small)
    returned = islands * (C * (filter_bytes(shape, shape.slots) + PICKLE) + held)
    return Wire(table, sent, returned)


def parted_bytes(shape: Shape, n_parts: int, rows_moved: float, copies: float) -> float:
    """Return what a fit of partitions that workers read moves, over all connections.

    `rows_moved` is the share of rows whose class is with another worker than their partition, on
    average 1 - 1 / workers; `copies` is how many tables of classes Dask has copied to a worker.
    """
    n, C, tasks = shape.n_rows, shape.n_classes, shape.n_islands * shape.n_classes
    sample = min(n, MOST_CHECKED)
    rows = n * shape.n_columns * (rows_moved + copies / C)
    filters = STRETCHES * tasks * (filter_bytes(shape, (SLOTS + shape.slots) / 2) + PICKLE)
    back = sample * (shape.n_columns + 16) + 8 * sample + 2 * shape.n_islands * sample
    there = 16 * sample  # where rows of the sample are, in the table and in their classes
    others = TASK * (n_parts * (6 + C) + C)
    return rows + 4 * filters + 2 * (back + there) + others


class FiniteShape(NamedTuple):
    """A table in shards, and how EM learns it."""

    n_rows: int
    n_columns: int
    n_classes: int
    n_shards: int
    n_restarts: int
    n_components: int
    n_steps: int


class FiniteMoves(NamedTuple):
    """What Dask has sent from worker to worker."""

    row_bytes: float  # d + 1 for a packed row, d + 4 encoded, d + 12 in a shard, d + 16 for EM, and
    # one for each restart that it may start
    statistics: int  # sets of statistics that were merged elsewhere


def statistics_bytes(shape: FiniteShape) -> float:
    """Return the size of the statistics, or the estimates, of all components and restarts."""
    slots = shape.n_restarts * shape.n_components
    return slots * (32 * shape.n_columns + 16 * shape.n_classes + 32) + PICKLE


def finite_bytes(shape: FiniteShape, n_parts: int, moves: FiniteMoves) -> float:
    """Return what EM over partitions that workers read moves, over all connections."""
    S = shape.n_shards
    own, rounds = statistics_bytes(shape), shape.n_steps + 2  # a start, and a score at the end
    there = 2 * rounds * S * own  # the estimates, with the task of each shard
    back = 2 * rounds * own + moves.statistics * own
    others = TASK * (6 * n_parts + 4 * S + rounds * (S + 2) / 2)
    return moves.row_bytes + there + back + others


class Costs(NamedTuple):
    """What is calibrated: seconds."""

    fit: float  # of a fit, whatever it learns
    round: float  # of a round of tasks
    row: float  # of a row on an island
    cell: float
    byte: float  # on the wire


def seconds(shape: Shape, n_workers: int, n_cores: int, costs: Costs) -> float:
    """Return how long a fit takes: the busiest core, then the wire."""
    return float(np.dot(_amounts(shape, n_workers, n_cores), costs))


def _amounts(shape: Shape, n_workers: int, n_cores: int) -> list[float]:
    """Return how many there are of what costs something, one after the other."""
    at_once = min(n_workers, n_cores, shape.n_islands)
    rounds = -(-shape.n_islands // at_once)
    rows = rounds * shape.n_rows
    return [1, rounds, rows, rows * shape.n_columns, wire_bytes(shape).in_turn(at_once)]


def calibrate(fits: list[tuple[Shape, int, float]], n_cores: int, byte: float) -> Costs:
    """Return the costs, none below zero, that come closest to measured seconds, relatively.

    That of a byte is measured by itself: in short fits it is too small to be found.
    """
    from scipy.optimize import nnls

    amounts = np.array([_amounts(shape, W, n_cores) for shape, W, _ in fits], float)
    took = np.array([t for *_, t in fits])
    scale, left = amounts[:, :-1].max(axis=0), took - byte * amounts[:, -1]
    found, _ = nnls(amounts[:, :-1] / took[:, None] / scale, left / took)
    return Costs(*(found / scale).tolist(), byte)
