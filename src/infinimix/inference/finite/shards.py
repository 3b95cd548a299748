"""Rows of EM in shards, whose expected statistics are merged in a tree.

Shards have a fixed number of rows and the tree is that of their number, so that the sums, and with
them every digit of a mixture, depend on the rows alone: not on who works on which shard. A table of
one shard is what EM has always been.

Shards may lie with workers that have read them (`Placed`). A cluster also merges where the shards
are: of each step, one set of statistics comes back.
"""

from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from infinimix import execution
from infinimix.execution import Placed
from infinimix.families.seam import count_rows, empty, map_arrays, merge

ROWS = 1 << 17  # of a shard
FAN = 8  # shards that one task merges; a power of two, so that the tree is that of pairs


class WeightedRows(NamedTuple):
    """What EM is given."""

    X: tuple  # blocks; if the class is a variable, its codes are the last one
    codes: np.ndarray  # (n,) classes, -1 where there is no label
    weight: np.ndarray  # (n,) how much a row counts


class ExpectedRows(NamedTuple):
    """What the rows of some shards say, given their responsibilities."""

    stats: tuple  # of R * K slots
    rows: np.ndarray  # (R, K) expected number of rows
    log_likelihood: np.ndarray  # (R,), or another sum over rows


class Shards(NamedTuple):
    """Rows in shards, and who works on them."""

    parts: list  # WeightedRows; or what tasks have left of them: blocks, codes, weights
    sizes: list  # rows of each
    total: float  # sum of the weights
    place: Any
    execute: Any
    codes: np.ndarray | None = None  # of all rows, if they are here

    @property
    def n_rows(self):
        """The number of rows."""
        return sum(self.sizes)

    @property
    def spans(self):
        """Where the rows of each shard begin and end."""
        ends = np.cumsum(self.sizes).tolist()
        return list(zip([0, *ends[:-1]], ends))

    def collect(self, family, task, *more):
        """Return what a task expects of each shard, merged; `more` has an entry for each shard."""
        found = self.place(task, [*zip(self.parts, *more)])
        while len(found) > 1:
            groups = [tuple(found[i : i + FAN]) for i in range(0, len(found), FAN)]
            found = self.place(_merge_shards, [(family, group) for group in groups])
        return self.execute(_read, found)[0]

    def same(self, *things):
        """Return things that are the same for all shards, as `collect` takes them."""
        return [things] * len(self.parts)


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


def here(data, place=None, execute=None):
    """Return rows of this process in shards, which it works on unless it is said who does."""
    parts = cut(data)
    total = sum(float(part.weight.sum()) for part in parts)
    sizes = [len(part.codes) for part in parts]
    return Shards(parts, sizes, total, place or place_here, execute or in_turn, data.codes)


def there(parts, sizes, place, execute):
    """Return the shards that tasks have left with workers."""
    total = sum(execute(_weigh, parts))
    return Shards(parts, sizes, total, place, execute)


@contextmanager
def sharing(data):
    """Enter with rows in shards that all workers share; meanwhile these keep the rows."""
    if isinstance(data, Shards):
        yield data
        return
    executor = execution.executor_for()
    if len(data.codes) <= ROWS or (executor.is_remote and not executor.keeps):
        yield here(data)  # few rows, or processes that would be sent them anew in each step
        return
    with executor.placing() as place:
        rows = here(data, place, executor.map)
        arrays = [a for part in rows.parts for a in (*part.X, part.codes, part.weight)]
        with executor.keeping(arrays):
            yield rows


def in_turn(task, payloads):
    """Run tasks one after the other, here."""
    return [task(payload) for payload in payloads]


def place_here(task, payloads):
    """Do the same, as what leaves results where they are."""
    return [Placed(task(payload)) for payload in payloads]


def rows_of(part):
    """Return the rows of a shard, for a task."""
    if isinstance(part, Placed):
        *X, codes, weight = part.value
        return WeightedRows(tuple(X), codes, weight)
    return part


def expected(family, data, weight, log_likelihood=0.0):
    """Return the statistics of a shard; `weight` is (rows, restarts, components)."""
    n, R, K = weight.shape
    stats = empty(family, R * K)
    count_rows(family, stats, weight.reshape(n, R * K), data.X)
    return ExpectedRows(stats, weight.sum(axis=0), log_likelihood)


def pool(family, rows):
    """Return the statistics of all rows, in one slot."""
    return rows.collect(family, pool_shard, rows.same(family)).stats


def pool_shard(task):
    """Count the rows of a shard into one slot."""
    part, (family,) = task
    data = rows_of(part)
    return expected(family, data, np.ascontiguousarray(data.weight[:, None, None]))


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


def _merge_shards(task):
    family, placed = task
    return reduce(family, [one.value for one in placed])


def _read(placed):
    return placed.value


def _weigh(part):
    return float(rows_of(part).weight.sum())
