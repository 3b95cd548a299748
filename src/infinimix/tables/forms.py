"""The three forms a table takes inside this room: dense, sparse, or column by column.

Whatever the user passes is opened as one of them (`readers`). All can hand out one column as
`Cells`; the two matrices can also hand out rows in blocks, which is how whole blocks of one
kind are encoded in a single compiled pass.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from infinimix.tables import errors
from infinimix.tables.scans import Scan, ready

__all__ = ["CHUNK", "FEW", "Cells", "Columns", "Dense", "Sparse", "Table", "holds_no_rows"]

#: Cells handed out at a time where a block has to be converted or densified first.
CHUNK = 1 << 18

#: Below this many rows a loop over the cells is faster than NumPy's work on a column.
FEW = 32


def is_empty(X: Any) -> bool:
    """Whether an input says by its length that it has no rows."""
    return hasattr(X, "__len__") and len(X) == 0


def holds_no_rows(X: Any) -> bool:
    """Whether an input has no rows in any order: one string or dict, a set, None, a generator."""
    if hasattr(X, "shape") or hasattr(X, "__array__"):  # also sparse matrices that are mappings
        return False
    return isinstance(X, str | bytes | Mapping) or not hasattr(X, "__getitem__")


def may_lack(absent: Sequence[str], names: Sequence[str], lenient: bool) -> bool:
    """Whether a table may lack these columns: up to half of them, of a table for answers."""
    return lenient and 2 * len(absent) <= len(names) and len(absent) < len(names)


class Cells(NamedTuple):
    """One column: numbers as an array, anything else as a list of Python objects.

    Attributes
    ----------
    values : 1-D array of bool, int or float dtype, or list
        In a list, and as NaN in a float array, missing cells are found by looking at them.
    missing : 1-D bool array, optional
        Missing cells of an array that cannot hold NaN; its values there mean nothing.
    category : bool
        Declared categorical by the input (a pandas categorical, a polars enum, ...).
    widened : bool
        Floats of an input that cannot hold whole numbers with holes: they may have been those.
    """

    values: NDArray[Any] | list[Any]
    missing: NDArray[np.bool_] | None = None
    category: bool = False
    widened: bool = False


@dataclass(frozen=True)
class Table:
    """What all forms share; `labels` are the columns' own names for `columns=` to use."""

    names: tuple[str, ...]
    labels: tuple[Any, ...]
    named: bool
    n_rows: int

    @property
    def width(self) -> int:
        return len(self.names)

    def column(self, j: int) -> Cells:
        raise NotImplementedError

    def picked(self, positions: NDArray[np.int64]) -> Iterable[Cells]:
        """Several columns, one after the other."""
        return map(self.column, positions.tolist())


@dataclass(frozen=True)
class Columns(Table):
    """A table held column by column; `pick` converts a column when it is asked for.

    `partial` tables (rows as dicts) may lack columns altogether: those are missing cells.
    """

    pick: Callable[[int], Cells]
    partial: bool = False
    order: tuple[int, ...] | None = None

    def column(self, j: int) -> Cells:
        at = j if self.order is None else self.order[j]
        return self.pick(at) if at >= 0 else Cells([None] * self.n_rows)

    def arranged(self, names: Sequence[str], who: str, lenient: bool = False) -> "Columns":
        """The same table with its columns in the order of `names`."""
        place = {name: at for at, name in enumerate(self.names)}
        wanted = set(names)
        unknown = [name for name in self.names if name not in wanted]
        absent = [name for name in names if name not in place and not self.partial]
        if unknown or (absent and not may_lack(absent, names, lenient)):
            raise errors.wrong_columns(unknown, absent, who)
        order = tuple(place.get(name, -1) for name in names)
        return replace(self, names=tuple(names), labels=tuple(names), order=order)


@dataclass(frozen=True)
class Dense(Table):
    """A 2-D array of bool, int or float dtype."""

    array: NDArray[Any]

    def column(self, j: int) -> Cells:
        return Cells(self.array[:, j])

    def picked(self, positions: NDArray[np.int64]) -> Iterable[Cells]:
        if self.n_rows >= FEW:
            return super().picked(positions)
        return map(Cells, self.array[:, positions].T.tolist())

    def parts(self, scan: Scan, positions: NDArray[np.int64]) -> Iterator[tuple[int, NDArray[Any]]]:
        """Some columns by blocks of rows, in one block if nothing has to be copied."""
        every = len(positions) == self.width
        whole = every and self.array.dtype in scan.dtypes and self.array.flags.carray
        step = self.n_rows if whole else max(1, CHUNK // self.width)
        for start in range(0, self.n_rows, step):
            part = self.array[start : start + step]
            yield start, ready(part if every else part.take(positions, axis=1), scan)


@dataclass(frozen=True)
class Sparse(Table):
    """A SciPy sparse matrix; what it does not store is 0, a value like any other."""

    matrix: Any

    @cached_property
    def _by_column(self) -> Any:
        matrix = self.matrix.tocsc()
        if not matrix.has_canonical_format:
            matrix = matrix.copy()  # it may be the user's own, which stays as it is
            matrix.sum_duplicates()
        return matrix

    @cached_property
    def _by_row(self) -> Any:
        return self.matrix.tocsr()

    def column(self, j: int) -> Cells:
        matrix = self._by_column
        stored = slice(matrix.indptr[j], matrix.indptr[j + 1])
        values = np.zeros(self.n_rows, dtype=matrix.dtype)
        values[matrix.indices[stored]] = matrix.data[stored]
        return Cells(values)

    def parts(self, scan: Scan, positions: NDArray[np.int64]) -> Iterator[tuple[int, NDArray[Any]]]:
        """Some columns by blocks of rows, so that the whole is never held dense twice."""
        step = max(1, CHUNK // self.width)
        for start in range(0, self.n_rows, step):
            part = self._by_row[start : start + step].toarray()
            yield start, ready(part.take(positions, axis=1), scan)
