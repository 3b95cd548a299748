"""`EncodedTable`: rows as arrays, with the schema that says what they are."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from infinimix.kernels.holes import hole_of, is_hole
from infinimix.tables.column import Novel
from infinimix.tables.schema import Schema

__all__ = ["NOTHING_NOVEL", "Blocks", "EncodedTable"]

Blocks = tuple[NDArray[Any], ...]

_NOWHERE = np.empty(0, dtype=np.int64)
_NOWHERE.flags.writeable = False
NOTHING_NOVEL = Novel(_NOWHERE, _NOWHERE, [])


class EncodedTable(NamedTuple):
    """A table as arrays.

    Attributes
    ----------
    schema : Schema
        What the columns are.
    blocks : tuple of arrays, shape (n_rows, number of columns of the kind)
        Aligned with `Schema.blocks`. Binary: int8, 0 or 1, -1 where missing; categorical: int32
        codes, -1 where missing; all others: float64, NaN where missing, real and spiked ones
        after the transform of their column, which makes +inf of the common value of a spiked one.
        Behind the binary columns there are the missingness indicators of `Schema.indicated`, 1
        where the cell is missing. C-contiguous and freshly owned.
    novel : Novel
        Categories that the schema does not know yet; `Schema.extended` adds them.

    Examples
    --------
    >>> import numpy as np
    >>> from infinimix.tables import encode, read_schema
    >>> X = np.array([[0, 1.5], [1, np.nan]])
    >>> table = encode(read_schema(X), X, learn=True)
    >>> table.n_rows, table.holes().tolist()
    (2, [[False, False], [False, True]])
    >>> table.hide([0]).holes().tolist()
    [[True, False], [True, True]]
    >>> table.concat(table.take([1])).n_rows
    3
    """

    schema: Schema
    blocks: Blocks
    novel: Novel = NOTHING_NOVEL

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return len(self.blocks[0])

    def take(self, rows: Any) -> EncodedTable:
        """Some rows, in this order."""
        return self._replace(blocks=tuple(np.ascontiguousarray(b[rows]) for b in self.blocks))

    def hide(self, columns: Any) -> EncodedTable:
        """The same rows with these columns missing; indicators of missingness stay."""
        blocks = tuple(block.copy() for block in self.blocks)
        for b, k in (self.schema.places[j] for j in np.asarray(columns).tolist()):
            blocks[b][:, k] = hole_of(blocks[b].dtype)
        return self._replace(blocks=blocks)

    def show(self, columns: NDArray[np.bool_]) -> EncodedTable:
        """The same rows with only these columns and their indicators, all others missing.

        If `columns` has a row for each of several choices, and the table has one row, that row
        comes back once for each choice.
        """
        blocks = []
        for kind, block in zip(self.schema.blocks, self.blocks, strict=True):
            cells = np.where(columns[..., self.schema.owners(kind)], block, hole_of(block.dtype))
            blocks.append(np.ascontiguousarray(cells.astype(block.dtype)))
        return self._replace(blocks=tuple(blocks))

    def hide_indicators(self) -> EncodedTable:
        """The same rows when nobody knows whether indicated cells would be missing."""
        count = len(self.schema.indicated)
        if not count:
            return self
        binary = self.blocks[0].copy()
        binary[:, -count:] = -1
        return self._replace(blocks=(binary, *self.blocks[1:]))

    def holes(self) -> NDArray[np.bool_]:
        """Where cells are missing, by row and column of the table.

        A category that the schema does not know counts as missing; `tables.holes.find_holes`
        tells what is missing in the table as it came.
        """
        places = self.schema.places
        return np.stack([is_hole(self.blocks[b][:, k]) for b, k in places], axis=1)

    def concat(self, other: EncodedTable) -> EncodedTable:
        """These rows, then those of another table of the same columns."""
        pairs = zip(self.blocks, other.blocks, strict=True)
        return self._replace(blocks=tuple(np.concatenate(pair) for pair in pairs))

    def blank(self, n: int) -> EncodedTable:
        """So many rows of these columns without any cell."""
        blocks = tuple(np.full((n, b.shape[1]), hole_of(b.dtype), b.dtype) for b in self.blocks)
        return EncodedTable(self.schema, blocks)
