"""Rows of EM in shards, whose expected statistics are merged in a tree.

Shards have a fixed number of rows and the tree is that of their number, so that the sums, and with
them every digit of a mixture, depend on the rows alone: not on who works on which shard. A table of
one shard is what EM has always been.
"""

from contextlib import contextmanager
from typing import NamedTuple

import numpy as np

from infinimix import execution
from infinimix.families.seam import count_rows, empty, map_arrays, merge

ROWS = 1 << 17  # of a shard


class ExpectedRows(NamedTuple):
    """What the rows of some shards say, given their responsibilities."""

    stats: tuple  # of R * K slots
    rows: np.ndarray  # (R, K) expected number of rows
    log_likelihood: np.ndarray  # (R,)


def cut(data):
    """Return the rows in shards; each has a part of all arrays."""
    n = len(data.codes)
    if n <= ROWS:
        return [data]
    parts = [slice(first, first + ROWS) for first in range(0, n, ROWS)]
    return [
        data._replace(
            X=tuple(block[part] for block in data.X), codes=data.codes[part],
            weight=data.weight[part],
        )
        for part in parts
    ]  # fmt: skip


@contextmanager
def sharing(data):
    """Enter with the shards, and what maps a task over them; meanwhile workers keep the rows."""
    parts = cut(data)
    if len(parts) == 1:
        yield parts, in_turn
        return
    arrays = [array for part in parts for array in (*part.X, part.codes, part.weight)]
    with execution.keeping(arrays):
        yield parts, execution.map_kept


def in_turn(task, payloads):
    """Run tasks one after the other, here."""
    return [task(payload) for payload in payloads]


def expected(family, data, weight, log_likelihood=0.0):
    """Return the statistics of a shard; `weight` is (rows, restarts, components)."""
    n, R, K = weight.shape
    stats = empty(family, R * K)
    count_rows(family, stats, weight.reshape(n, R * K), data.X)
    return ExpectedRows(stats, weight.sum(axis=0), log_likelihood)


def reduce(family, parts):
    """Return the statistics of all shards: neighbours are merged, then neighbouring pairs."""
    while len(parts) > 1:
        pairs = zip(parts[::2], parts[1::2])
        left = parts[-1:] if len(parts) % 2 else []
        parts = [*(_merged(family, *pair) for pair in pairs), *left]
    return parts[0]


def _merged(family, one, other):
    stats = map_arrays(lambda *arrays: np.concatenate(arrays), one.stats, other.stats)
    size = one.rows.size
    for k in range(size):
        merge(family, stats, size + k, k)
    return ExpectedRows(
        map_arrays(lambda array: np.ascontiguousarray(array[:size]), stats),
        one.rows + other.rows,
        one.log_likelihood + other.log_likelihood,
    )
