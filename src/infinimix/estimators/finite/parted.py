"""`fit` of a table in partitions that a cluster reads: shards of EM stay with the workers.

The partitions are encoded where they are, and cut into the shards that the table would have in
memory; each step of EM works on these, and statistics are merged there. The calling process has
the schema, counts and mixtures. What needs all rows at once (dates), and a table of one shard, is
learned as in memory, by one worker.
"""

from __future__ import annotations

from copy import copy
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from infinimix import execution
from infinimix.estimators.common.labels import Labels
from infinimix.estimators.common.parameters import check_parameters, seed_sequence
from infinimix.estimators.common.parted_fits import fit_at_one
from infinimix.estimators.common.parted_rows import (
    PartEncoding,
    PlacedPartitions,
    as_table,
    encode_parts,
    find_labels,
    find_schema,
    read_there,
)
from infinimix.estimators.common.partitioned_rows import labels_of
from infinimix.estimators.common.unlabelled import choose_judged, gains
from infinimix.estimators.common.weights import factors_by_total, weigh_all
from infinimix.estimators.finite.binning import Edges, cut_blocks, edges_of
from infinimix.estimators.finite.parameters import make_plan, weigh_unlabelled
from infinimix.estimators.finite.state import FiniteState
from infinimix.inference.finite import shards
from infinimix.inference.finite.ensemble import Plan, learn_shards, rows_for
from infinimix.tables import Schema
from infinimix.tables.partition_sources import open_partitions
from infinimix.tables.partitioned import is_in_partitions

NO_ROWS = np.empty(0, np.int64)


class ShardedRows(NamedTuple):
    """The rows of `fit`, with workers."""

    schema: Schema
    labels: Labels
    edges: Edges
    shards: shards.Shards  # of cut blocks, and the rows' own weights
    counts: np.ndarray  # (shards, 2) rows with labels and without


def fit_there(model: Any, X: Any, y: Any) -> tuple[FiniteState, np.ndarray]:
    """Return what workers learn of a table in partitions, and what rows without labels gain."""
    check_parameters(model)
    if is_in_partitions(y):
        y = labels_of(model._gather(open_partitions(y)).pick(0))
    with execution.placing() as place:
        reading = model._run_reading(partial(read_there, open_partitions(X), y), place)
        try:
            few = sum(reading.sizes) <= shards.ROWS
            rows = None if few else _read_rows(model, reading, y, place)
        except (TypeError, ValueError):  # of a part; that of the whole table names its row
            rows = None
        if rows is None:
            return fit_at_one(model, reading, y, _forget_rows), np.empty(0)
        del reading  # the packed partitions
        return _learn(model, rows, place)


def _forget_rows(state: FiniteState) -> None:
    state.table, state.codes, state.weight = None, NO_ROWS, None


def _read_rows(model: Any, reading: PlacedPartitions, y: Any, place: Any) -> ShardedRows | None:
    """Return the encoded rows in shards; None if all rows are needed at once."""
    schema = find_schema(reading, model, False, place)
    labels, codes, _ = find_labels(reading, y, model.unlabelled)
    if schema is None:
        return None
    how = PartEncoding(schema, type(model).__name__, labels, reading.target, model.unlabelled)
    placed = encode_parts(reading, codes, how, place)
    found = model._execute(_count, [(part, len(labels.values)) for part in placed])
    factors = factors_by_total(model.class_weight, labels, np.sum(found, axis=0)[:-1])
    edges = _find_edges(model, schema, placed, place)
    sizes, pieces = _cut(placed, reading.sizes, place)
    tasks = [(piece, schema, edges, factors) for piece in pieces]
    parts = place(join_shard, tasks)
    counts = np.array(model._execute(_count_labels, parts))
    return ShardedRows(
        schema, labels, edges, shards.there(parts, sizes, place, model._execute), counts
    )


def _count(task: tuple[Any, int]) -> np.ndarray:
    """Return the rows of each class in a part, and last those without label."""
    part, n_classes = task
    codes = part.value[-1]
    return np.bincount(np.where(codes < 0, n_classes, codes), minlength=n_classes + 1)


def _count_labels(part: Any) -> tuple[int, int]:
    codes = part.value[-2]
    known = int((codes >= 0).sum())
    return known, len(codes) - known


def _find_edges(model: Any, schema: Schema, placed: list[Any], place: Any) -> Edges:
    """Return the quantiles of each real column, which one worker gets whole."""
    if not model.bins or "real" not in schema.blocks:
        return ()
    at, width = schema.blocks.index("real"), len(schema.positions("real"))
    columns = [tuple(place(_pick, [(part, at, j) for part in placed])) for j in range(width)]
    return tuple(model._execute(_edges_of, [(cells, int(model.bins)) for cells in columns]))


def _pick(task: tuple[Any, int, int]) -> np.ndarray:
    part, at, j = task
    return np.ascontiguousarray(part.value[at][:, j])


def _edges_of(task: tuple[tuple[Any, ...], int]) -> np.ndarray:
    parts, bins = task
    return edges_of(np.concatenate([part.value for part in parts]), bins)


def _cut(placed: list[Any], sizes: list[int], place: Any) -> tuple[list[int], list[Any]]:
    """Return the sizes of shards, and the pieces of parts that each is made of."""
    ends = np.cumsum(sizes)
    n, starts = int(ends[-1]), ends - sizes
    firsts = range(0, n, shards.ROWS)
    spans, owners = [], []  # pieces: where they are in their part, and which shard has them
    for shard, first in enumerate(firsts):
        last = min(first + shards.ROWS, n)
        for k in np.flatnonzero((starts < last) & (ends > first)).tolist():
            a, b = max(first, int(starts[k])), min(last, int(ends[k]))
            spans.append((placed[k], a - int(starts[k]), b - int(starts[k])))
            owners.append(shard)
    pieces: list[list[Any]] = [[] for _ in firsts]
    for shard, piece in zip(owners, place(take_span, spans), strict=True):
        pieces[shard].append(piece)
    return [min(shards.ROWS, n - first) for first in firsts], [tuple(some) for some in pieces]


def take_span(task: tuple[Any, int, int]) -> tuple[np.ndarray, ...]:
    """Return some rows of a part."""
    part, a, b = task
    return tuple(array[a:b] for array in part.value)


def join_shard(task: tuple[tuple[Any, ...], Schema, Edges, Any]) -> tuple[np.ndarray, ...]:
    """Return the rows of a shard: cut blocks, codes, and weights by their classes."""
    pieces, schema, edges, factors = task
    joined = tuple(np.concatenate(some) for some in zip(*(p.value for p in pieces), strict=True))
    codes, blocks = joined[-1], cut_blocks(as_table(schema, joined), edges)
    own = weigh_all(codes, None, factors)
    return (*blocks, codes, np.ones(len(codes)) if own is None else own)


def _learn(model: Any, rows: ShardedRows, place: Any) -> tuple[FiniteState, np.ndarray]:
    schema, labels, edges, own, _ = rows
    plan, seed = make_plan(model, len(labels.values)), seed_sequence(model.random_state)
    family = model._families(schema, edges, own)
    tasks = [(part, plan, float(model.unlabelled_weight)) for part in own.parts]
    weighed = shards.there(place(weigh_shard, tasks), own.sizes, place, model._execute)
    ensemble, gain = learn_shards(plan, family, weighed, seed), np.empty(0)
    del weighed
    if model.unlabelled_weight:
        gain = _find_gains(model, rows, plan, ensemble.n_components, seed, place)
    mean = float(gain.mean()) if gain.size else float("nan")
    return FiniteState(schema, None, NO_ROWS, labels, edges, plan, seed, ensemble, mean), gain


def weigh_shard(task: tuple[Any, Plan, float]) -> tuple[np.ndarray, ...]:
    """Return the rows of a shard as EM takes them."""
    part, plan, share = task
    *X, codes, own = part.value
    data = rows_for(plan, tuple(X), codes, own * weigh_unlabelled(share, codes))
    return (*data.X, data.codes, data.weight)


def _find_gains(
    model: Any, rows: ShardedRows, plan: Plan, chosen: int, seed: Any, place: Any
) -> np.ndarray:
    """Let one worker judge what rows without labels gain, by a sample of the rows."""
    n_known, n_free = rows.counts.sum(axis=0).tolist()
    if not n_free:
        return np.empty(0)
    judged = choose_judged(n_known, n_free)
    ends = rows.counts.cumsum(axis=0)
    tasks = []
    for k, part in enumerate(rows.shards.parts):
        some = []
        for at, drawn in enumerate((judged.known, judged.free)):
            first, last = ends[k, at] - rows.counts[k, at], ends[k, at]
            a, b = np.searchsorted(drawn, [first, last])
            some.append(drawn[a:b] - first)
        tasks.append((part, *some))
    pieces = tuple(place(_take_judged, tasks))
    bare = copy(model)
    bare._state = None
    learn = partial(bare._learn, schema=rows.schema, edges=rows.edges, seed=seed)
    task = (pieces, judged.copies, learn, plan, chosen)
    return np.asarray(model._execute(judge_sample, [task])[0])


def _take_judged(task: tuple[Any, np.ndarray, np.ndarray]) -> tuple[np.ndarray, ...]:
    part, known, free = task
    codes = part.value[-2]
    index = np.append(np.flatnonzero(codes >= 0)[known], np.flatnonzero(codes < 0)[free])
    index.sort()
    return tuple(array[index] for array in part.value)


def judge_sample(task: tuple[Any, ...]) -> np.ndarray:
    """Return what rows without labels gain, given a sample of all rows in pieces."""
    pieces, copies, learn, plan, chosen = task
    joined = [np.concatenate(some) for some in zip(*(p.value for p in pieces), strict=True)]
    *blocks, codes, own = joined
    weight = own * copies[(codes < 0).astype(int)]
    return gains(learn, plan, chosen, tuple(blocks), codes.astype(np.int64), weight, 0)
