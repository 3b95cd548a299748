"""A table to encoded arrays: C-contiguous blocks of columns of one kind, owned by the library.

A plain array whose columns are all binary, all real or all counts is one compiled pass, so that
learning row by row is not spent here. Everything else goes by blocks of rows (matrices) or column
by column, and reports its errors; the short way leaves them to the long one.
"""

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from infinimix.tables.aligned import open_aligned
from infinimix.tables.codes import encode_codes
from infinimix.tables.column import KINDS, Novel, kind_of
from infinimix.tables.encoded import NOTHING_NOVEL, EncodedTable
from infinimix.tables.forms import CHUNK, FEW, Dense, Sparse, Table
from infinimix.tables.guesses import Misfits
from infinimix.tables.holes import holes_in
from infinimix.tables.records import Records
from infinimix.tables.scans import BITS, Scan, ready
from infinimix.tables.schema import Schema
from infinimix.tables.single_rows import copy_row

__all__ = ["encode"]


def encode(
    schema: Schema,
    X: Any,
    learn: bool,
    *,
    who: str = "the model",
    strict: bool = False,
    lenient: bool | None = None,
) -> EncodedTable:
    """Encode a table by a schema.

    Parameters
    ----------
    schema : Schema
        What the columns are; not changed.
    X : data frame, 2-D array, sparse matrix, list of dicts or list of lists
        The table. Frames with string names and rows as dicts are matched by name, in any order;
        a dict that lacks a key has a missing cell there. Everything else is matched by position.
    learn : bool
        With True, unseen categories get the next free codes of their columns and are listed in
        `novel`; keep them with ``schema.extended(encoded.novel)``. With False, as for
        prediction, a cell with an unseen category counts as missing.
    who : str
        Who expects these columns, for error messages.
    strict : bool
        Whether guessed kinds refuse the numbers that they cannot hold, as kinds that were asked
        for do. By default these count as missing, with one warning.
    lenient : bool, optional
        Whether a frame may lack columns, up to half of them, whose cells are then missing; by
        default if `learn` is False.

    Returns
    -------
    EncodedTable

    Raises
    ------
    ValueError, TypeError
        If a cell does not fit its column, naming both, or if the columns are not those of the
        schema.

    Examples
    --------
    >>> import numpy as np
    >>> from infinimix.tables import read_schema
    >>> X = np.array([[0, 1.5], [np.nan, 2.5]])
    >>> binary, real = encode(read_schema(X), X, learn=True).blocks
    >>> binary.tolist(), real.tolist()
    ([[0], [-1]], [[1.5], [2.5]])
    """
    kind = schema.uniform
    if kind is not None and type(X) is np.ndarray:
        block = _copy_whole(_scan_of(kind), schema.width, X)
        if block is not None:
            if schema.transforms:
                _transform(schema, kind, block)
            return EncodedTable(schema, (block,))
    single = copy_row(schema, X) if type(X) is list and len(X) == 1 else None
    if single is not None:
        return single
    table = open_aligned(schema, X, who, not learn if lenient is None else lenient)
    misfits = None if strict else Misfits()
    blocks, novel = [], NOTHING_NOVEL
    for kind in schema.blocks:
        if kind == "categorical":
            block, novel = _encode_categorical(schema, table, learn)
        elif isinstance(table, (Dense, Sparse)) and len(schema.positions(kind)):
            block = _encode_parts(schema, table, kind, misfits)
        else:
            block = _encode_columns(schema, table, kind, misfits)
        if kind in schema.transforms_by_kind:
            _transform(schema, kind, block)
        if kind == "binary" and schema.indicated:
            indicators = holes_in(table, schema.indicated).astype(np.int8)
            block = np.ascontiguousarray(np.hstack([block, indicators]))
        blocks.append(block)
    if misfits is not None:
        misfits.warn()
    return EncodedTable(schema, tuple(blocks), novel)


@cache
def _scan_of(block: str) -> Scan:
    scan = KINDS[kind_of(block)].scan
    assert scan is not None  # categories are looked up
    return scan


def _copy_whole(scan: Scan, width: int, X: NDArray[Any]) -> NDArray[Any] | None:
    """A well-formed array whose columns are of one kind, in one pass; None if it is not that."""
    if X.ndim != 2 or X.shape[1] != width or len(X) == 0:
        return None
    if X.dtype not in scan.dtypes or not X.flags.carray:
        if X.size > CHUNK or X.dtype.kind not in "biuf":
            return None
        X = ready(X, scan)
    block, bad = scan.copy(X)
    return block if bad < 0 else None


def _encode_parts(
    schema: Schema, table: Dense | Sparse, block: str, misfits: Misfits | None
) -> NDArray[Any]:
    """A block of a matrix, by blocks of rows."""
    positions, kind, scan = schema.positions(block), KINDS[kind_of(block)], _scan_of(block)
    out = np.empty((table.n_rows, len(positions)), dtype=kind.dtype)
    for start, part in table.parts(scan, positions):
        cells, bad = scan.copy(part)
        if bad >= 0:
            j, row = int(positions[bad % len(positions)]), start + bad // len(positions)
            if misfits is not None and misfits.may_hold(schema.columns[j]):
                return _encode_columns(schema, table, block, misfits)
            raise kind.misfit(schema.names[j], row, table.column(j).values[row])
        out[start : start + len(cells)] = cells
    return out


def _encode_columns(
    schema: Schema, table: Table, block: str, misfits: Misfits | None
) -> NDArray[Any]:
    """A block of a table that is held column by column, or as rows."""
    whole = _encode_records(table, block) if isinstance(table, Records) else None
    if whole is not None:
        return whole
    positions, kind = schema.positions(block).tolist(), KINDS[kind_of(block)]
    out = np.empty((table.n_rows, len(positions)), dtype=kind.dtype)
    for k, j in enumerate(positions):
        cells, name = table.column(j), schema.names[j]
        if misfits is not None and misfits.may_hold(schema.columns[j]):
            out[:, k] = misfits.encode(cells, name, kind)
        else:
            out[:, k] = kind.encode(cells, name)
    return out


def _encode_records(table: Records, block: str) -> NDArray[Any] | None:
    """A block of rows as dicts, in one pass; None if a cell of it takes a closer look."""
    scan = _scan_of(block)
    if scan is BITS:
        return table.bits(block)
    values = table.numbers(block)
    if values is None:
        return None
    encoded, bad = scan.copy(values)
    return encoded if bad < 0 else None


def _transform(schema: Schema, kind: str, block: NDArray[Any]) -> None:
    """Let the block of a kind hold transformed cells."""
    for k, transform in schema.transforms_by_kind[kind]:
        block[:, k] = transform.encode(block[:, k])


def _encode_categorical(
    schema: Schema, table: Table, learn: bool
) -> tuple[NDArray[np.int32], Novel]:
    known = table.codes("categorical") if isinstance(table, Records) else None
    if known is not None:
        return known, NOTHING_NOVEL
    positions = schema.positions("categorical")
    out = np.empty((table.n_rows, len(positions)), dtype=np.int32)
    names = [schema.names[j] for j in positions.tolist()]
    few: list[Any] = []
    found: list[tuple[int, int, Any]] = []
    for k, cells in enumerate(table.picked(positions)):
        column = encode_codes(cells, names[k], schema.lookups[k], learn)
        if table.n_rows < FEW:
            few.append(column.codes)
        else:
            out[:, k] = column.codes
        if column.rows:
            found += [(row, k, v) for row, v in zip(column.rows, column.values, strict=True)]
    if few:
        out[:] = np.array(few, dtype=np.int32).T  # one assignment instead of one a column
    return out, _list_novel(found)


def _list_novel(found: list[tuple[int, int, Any]]) -> Novel:
    """New categories as (row, column, value), in their order of first appearance."""
    if not found:
        return NOTHING_NOVEL
    found.sort(key=lambda entry: entry[:2])
    rows, columns, values = zip(*found, strict=True)
    return Novel(np.array(rows, np.int64), np.array(columns, np.int64), list(values))
