"""Tables in partitions, as models take them: gathered to learn, answered one by one.

`gather_rows` gives `fit` the encoded columns that the whole table would have in memory;
`over_partitions` lets a method that answers for rows answer for partitions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import wraps
from typing import Any, TypeVar

import numpy as np

from infinimix import execution
from infinimix.tables.column import KINDS
from infinimix.tables.forms import Cells
from infinimix.tables.lazy_tables import DaskTable
from infinimix.tables.packed import PackedTable
from infinimix.tables.partition_sources import open_partitions
from infinimix.tables.partitioned import PartitionedTable, is_in_partitions

IN_MEMORY = (list, np.ndarray)  # what needs no closer look
PER_ROW = {"predicted", "sample_weight"}  # arguments with an entry for each row
REAL = KINDS["real"]
READ_IT = "read it into memory as a frame, or as many of its rows as fit"
M = TypeVar("M", bound=Callable[..., Any])


def gather_rows(
    X: Any, y: Any, gather: Callable[[PartitionedTable], PackedTable], sample_weight: Any = None
) -> tuple[Any, Any]:
    """Return rows in few bytes a cell and their labels, if they come in partitions."""
    if is_in_partitions(y):
        y = labels_of(gather(open_partitions(y)).pick(0))
    if not is_in_partitions(X):
        return X, y
    if sample_weight is not None:
        raise ValueError(
            "sample_weight is for tables in memory; repeat rows in the partitions, or leave it out."
        )
    table = open_partitions(X)
    if isinstance(y, str):
        check_target(table, y)
        rows, cells = gather(table).without(y)
        return rows, labels_of(cells)
    return gather(table), y


def gather_numbers(table: PackedTable) -> np.ndarray:
    """Return rows as an array of numbers, NaN where they are missing; words are refused."""
    columns = [REAL.encode(table.pick(j), name) for j, name in enumerate(table.columns)]
    return np.ascontiguousarray(np.stack(columns, axis=1))


def refuse_partitions(X: Any, who: str, instead: str) -> None:
    """Raise TypeError if a table comes in partitions to a model that takes none."""
    if type(X) not in IN_MEMORY and is_in_partitions(X):
        raise TypeError(f"{who} takes no table in partitions; {instead}.")


def check_target(table: PartitionedTable, name: str) -> None:
    """Refuse a target that is no column."""
    if name not in table.columns:
        raise ValueError(
            f"y names the column {name!r}, which the table does not have; it has "
            + ", ".join(map(repr, table.columns))
        )


def labels_of(cells: Cells) -> Any:
    """Return the cells of a column as labels: a list if some are missing."""
    if isinstance(cells.values, list) or cells.missing is None:
        return cells.values
    pairs = zip(cells.values.tolist(), cells.missing.tolist(), strict=True)
    return [None if hole else value for value, hole in pairs]


def labelled_batches(X: Any, y: Any) -> Iterator[tuple[Any, Any]]:
    """Yield rows and labels, batch by batch; `y` names their column.

    How many rows there are is not known before the last is read, and all but the last batch are
    learned by then: labels that stand elsewhere could turn out to be too many or too few too late.
    """
    import narwhals as nw

    if not isinstance(y, str):
        raise ValueError(
            "Rows in partitions are learned batch by batch with the labels that stand beside them: "
            f"let y be the name of a column, not a {type(y).__name__}."
        )
    table = open_partitions(X)
    check_target(table, y)
    for batch in table.batches():
        if len(batch):  # a partition may be empty, which a table may not
            frame = nw.from_native(batch, eager_only=True)
            yield frame.drop(y).to_native(), frame[y].to_list()


def by_batches(method: M) -> M:
    """Let a method that learns more rows and their labels learn a table in partitions too."""

    @wraps(method)
    def learn(self: Any, X: Any, y: Any, *more: Any, **options: Any) -> Any:
        if type(X) in IN_MEMORY or not is_in_partitions(X):
            return method(self, X, y, *more, **options)
        for name in PER_ROW & options.keys():
            if options[name] is not None:
                raise ValueError(f"{name} is for tables in memory, not for rows in partitions.")
        for rows, labels in labelled_batches(X, y):
            method(self, rows, labels, *more, **options)
        return self

    return learn  # type: ignore[return-value]


def over_partitions(method: M) -> M:
    """Let a method that answers for the rows of a table answer for a table in partitions too."""

    @wraps(method)
    def answer(self: Any, X: Any, *more: Any, **options: Any) -> Any:
        if type(X) in IN_MEMORY or not is_in_partitions(X):
            return method(self, X, *more, **options)
        table = open_partitions(X)
        if isinstance(table, DaskTable):
            return _answer_lazily(self, method.__name__, table)
        return _answer_parts(self, method.__name__, table)

    return answer  # type: ignore[return-value]


def _answer_parts(model: Any, name: str, table: PartitionedTable) -> Iterator[Any]:
    """Yield the answer for each batch of rows; as many partitions at a time as workers."""
    executor = execution.executor_for(getattr(model, "n_jobs", None))
    for first in range(0, len(table.parts), executor.n):
        tasks = [(model, name, part) for part in table.parts[first : first + executor.n]]
        for answers in executor.map(_answer_part, tasks):
            yield from answers


def _answer_part(task: tuple[Any, str, Any]) -> list[Any]:
    model, name, part = task
    return [getattr(model, name)(batch) for batch in part.frames() if len(batch)]


def _answer_lazily(model: Any, name: str, table: DaskTable) -> Any:
    """Return an array of Dask with the answers for each partition."""
    import dask
    import dask.array as da

    held = dask.delayed(model, pure=False)
    sample = _no_rows(model, name)
    blocks = [
        da.from_delayed(
            dask.delayed(_answer)(held, name, value),
            shape=(size, *sample.shape[1:]),
            dtype=sample.dtype,
        )
        for value, size in zip(table.values, table.sizes, strict=True)
    ]
    return da.concatenate(blocks, allow_unknown_chunksizes=True)


def _answer(model: Any, name: str, batch: Any) -> Any:
    return getattr(model, name)(batch) if len(batch) else _no_rows(model, name)


def _no_rows(model: Any, name: str) -> np.ndarray:
    """Return the answer for no rows: what shape and type answers have."""
    classes = getattr(model, "classes_", None)
    if name == "predict" and classes is not None:
        return np.asarray(classes[:0])
    if name.startswith("predict") and not name.endswith("proba"):
        return np.empty(0, np.int64)  # clusters
    two = name == "decision_function" and classes is not None and len(classes) == 2
    if name == "score_samples" or two:
        return np.empty(0)
    return np.empty((0, model.n_groups_ if classes is None else len(classes)))
