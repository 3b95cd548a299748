"""What a column may be: the kinds there are, and the categories it meets on the way."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from infinimix.tables.transforms import Transform

#: The kinds there are, in the order of the encoded blocks.
KINDS = ("binary", "categorical", "real", "count", "spiked", "gaussian")

#: Those whose columns may have a transform.
TRANSFORMED = ("real", "spiked")


def kind_of(block: str) -> str:
    """The kind of the columns of a block: gaussian blocks after the first have a number too."""
    return block.partition(" ")[0]


@dataclass(frozen=True)
class Column:
    """One column of a table.

    Attributes
    ----------
    name : str
        Its name; ``"x0"``, ``"x1"``, ... where the input has none.
    kind : str
        ``"binary"``, ``"categorical"``, ``"real"``, ``"count"``, ``"spiked"`` or ``"gaussian"``.
    transform : Log, Rank, Spike or None
        For a real column, what its cells are encoded by; None leaves them as they are. For a
        spiked one always a `Spike`, which knows the common value.
    """

    name: str
    kind: str
    transform: Transform | None = None


class Novel(NamedTuple):
    """Categories seen for the first time, by row of first appearance, then by column.

    Attributes
    ----------
    rows : array of int64
        Row in which the category first appears.
    columns : array of int64
        Which categorical column, counted among the categorical columns only.
    values : list
        The category itself.
    """

    rows: NDArray[np.int64]
    columns: NDArray[np.int64]
    values: list[Any]

    def __bool__(self) -> bool:
        return bool(self.values)
