"""Single rows of a stream, encoded into arrays that are used again.

A stream hands over one row, learns it or asks about it, and hands over the next. `encode` would
spend its time there on choosing a way and on making arrays; both are done once here. The cells are
read by the same passes as there (`scans`, `records`), and what takes a closer look (another form or
dtype, a new category, a cell of another type) is left to `encode`.

Hidden here: a reader serves one caller at a time. Threads that ask one model take different
readers from the list of its schema (`take_reader`), and put them back (`take_back`) when the row
is done with.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from infinimix.kernels.blocks import table_of_rows
from infinimix.tables.column import KINDS, kind_of
from infinimix.tables.encoded import EncodedTable
from infinimix.tables.records import code_bits, code_cells, make_whole, read_numbers
from infinimix.tables.scans import BITS, Scan, ready
from infinimix.tables.schema import Schema

__all__ = ["RowReader", "copy_row", "take_back", "take_reader"]

Fill = Callable[[dict[Any, Any]], bool]


class RowReader:
    """Reads single rows by a schema.

    Attributes
    ----------
    blocks : tuple of arrays
        The latest row, as in an `EncodedTable`; the next one overwrites it.
    placed : array
        The same row as engines take it (`families.product.rows_of`).
    """

    def __init__(self, schema: Schema) -> None:
        widths = [len(schema.positions(block)) for block in schema.blocks]
        dtypes = [KINDS[kind_of(block)].dtype for block in schema.blocks]
        blocks = tuple(np.zeros((1, w), d) for w, d in zip(widths, dtypes, strict=True))
        self.blocks, self.placed = blocks, table_of_rows(blocks)
        plain = not (schema.transforms or schema.indicated or schema.dates)
        self._fills = _fills_of(schema, blocks) if schema.named and plain else ()
        self._blank = schema.blank  # not the schema, which holds this: a cycle stays in memory
        uniform = schema.uniform if plain and not schema.named else None
        self._scan = None if uniform is None else KINDS[kind_of(uniform)].scan
        self._shape, self._block = blocks[0].shape, blocks[0]

    def read(self, X: Any) -> bool:
        """Read the row of a table that has one; False leaves the table to `encode`."""
        if type(X) is np.ndarray:
            return self._scan is not None and self._read_array(X)
        if type(X) is list and self._fills and len(X) == 1 and type(X[0]) is dict:
            rows = make_whole(self._blank, X)
            return rows is not None and all(fill(rows[0]) for fill in self._fills)
        return False

    def _read_array(self, X: NDArray[Any]) -> bool:
        scan: Any = self._scan
        if X.shape != self._shape:
            return False
        if X.dtype not in scan.dtypes or not X.flags.carray:
            if X.dtype.kind not in "biuf":
                return False
            X = ready(X, scan)
        return scan.fill(X, self._block) < 0


def _fills_of(schema: Schema, blocks: tuple[NDArray[Any], ...]) -> tuple[Fill, ...]:
    """For each block what writes its cells of a row as a dict; False if one takes a closer look."""
    pairs = zip(schema.blocks, blocks, strict=True)
    return tuple(_fill_of(schema, name, block) for name, block in pairs)


def _fill_of(schema: Schema, name: str, block: NDArray[Any]) -> Fill:
    pick, scan, lookups = schema.pickers[name], KINDS[kind_of(name)].scan, schema.lookups
    if scan is not None and scan is not BITS:
        return _fill_numbers(pick, scan, block)

    def fill(row: dict[Any, Any]) -> bool:
        cells = (pick(row),)
        codes = code_bits(cells, 1) if scan is BITS else code_cells(cells, lookups, 1)
        if codes is not None:
            block[:] = codes
        return codes is not None

    return fill


def _fill_numbers(pick: Callable[[Any], tuple[Any, ...]], scan: Scan, block: NDArray[Any]) -> Fill:
    def fill(row: dict[Any, Any]) -> bool:
        numbers = read_numbers((pick(row),))
        return numbers is not None and scan.fill(numbers, block) < 0

    return fill


def take_reader(schema: Schema) -> RowReader:
    """A reader that nobody uses now."""
    try:
        return schema.readers.pop()
    except IndexError:
        return RowReader(schema)


def take_back(schema: Schema, reader: RowReader) -> None:
    """Let others use a reader."""
    schema.readers.append(reader)


def copy_row(schema: Schema, X: Any) -> EncodedTable | None:
    """The row of a table that has one, in arrays of its own; None leaves the table to `encode`."""
    reader = take_reader(schema)
    try:
        if not reader.read(X):
            return None
        return EncodedTable(schema, tuple([block.copy() for block in reader.blocks]))
    finally:
        take_back(schema, reader)
