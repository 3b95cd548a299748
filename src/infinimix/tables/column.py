"""What a column may be: the kinds there are, and the categories it meets on the way.

How the columns of a kind are modelled is in `families.catalogue`, under the same name.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from infinimix.tables import errors
from infinimix.tables.cells import Refusal, encode_bits, encode_numbers
from infinimix.tables.decoding import decode_bits, decode_counts, decode_numbers
from infinimix.tables.forms import Cells
from infinimix.tables.scans import BITS, COUNTS, REALS, Scan
from infinimix.tables.transforms import Transform


def _same(values: NDArray[Any]) -> NDArray[Any]:
    return values


def _infinite(name: str, row: int, value: object) -> ValueError:
    return errors.infinite_cell(name, row)


@dataclass(frozen=True)
class Kind:
    """What a kind of column is to a table: one record has all.

    Attributes
    ----------
    dtype : dtype
        Of encoded cells; a missing one is -1 among codes and NaN among numbers.
    scan : Scan or None
        The compiled pass over arrays of numbers. None: cells are looked up among categories.
    encoder : callable
        One column of any form -> encoded cells; it gets the cells, the name and the kind.
    decoder : callable
        Encoded cells and the type their values came as -> natural values.
    refuse : callable
        The refusal of a cell in a list that is no such value.
    misfit : callable
        The refusal of a number that the scan has found.
    nearest : callable
        The mean or the most probable value, as `fill` has it, to cells.
    transformed : bool
        Whether columns may have a transform.
    has_mass : bool
        Whether each value has a probability, and not a density.
    averaged : bool
        Whether the typical value, a probability or a rate, is no cell.
    has_atom : bool
        Whether one value is common, and has a probability of its own.
    """

    dtype: Any
    scan: Scan | None
    encoder: Callable[[Cells, str, "Kind"], NDArray[Any]] = encode_numbers
    decoder: Callable[[NDArray[Any], str], NDArray[Any]] = decode_numbers
    refuse: Refusal = errors.not_real
    misfit: Refusal = _infinite
    nearest: Callable[[NDArray[Any]], NDArray[Any]] = _same
    transformed: bool = False
    has_mass: bool = False
    averaged: bool = False
    has_atom: bool = False

    @property
    def discrete(self) -> bool:
        """Whether the cells are codes of finitely many values."""
        return np.dtype(self.dtype).kind == "i"

    @property
    def has_categories(self) -> bool:
        """Whether cells are looked up among categories."""
        return self.scan is None

    @property
    def two_valued(self) -> bool:
        """Whether the codes are 0 and 1, whatever the column holds."""
        return self.discrete and not self.has_categories

    def encode(self, cells: Cells, name: str) -> NDArray[Any]:
        """One column as encoded cells."""
        return self.encoder(cells, name, self)


def _nearest_bit(p: NDArray[Any]) -> NDArray[Any]:
    return (p >= 0.5).astype(np.int8)


def _nearest_code(code: NDArray[Any]) -> NDArray[Any]:
    return code.astype(np.int32)


#: The kinds there are, in the order of the encoded blocks.
KINDS = {
    "binary": Kind(
        np.int8,
        BITS,
        encode_bits,
        decode_bits,
        errors.not_binary,
        errors.not_binary,
        _nearest_bit,
        has_mass=True,
        averaged=True,
    ),
    "categorical": Kind(np.int32, None, nearest=_nearest_code, has_mass=True),
    "real": Kind(np.float64, REALS, transformed=True),
    "count": Kind(
        np.float64,
        COUNTS,
        decoder=decode_counts,
        refuse=errors.not_count,
        misfit=errors.not_count,
        nearest=np.floor,
        has_mass=True,
        averaged=True,
    ),
    "spiked": Kind(np.float64, REALS, refuse=errors.not_spiked, transformed=True, has_atom=True),
    "gaussian": Kind(np.float64, REALS, refuse=errors.not_gaussian),
}

#: Those whose columns may have a transform.
TRANSFORMED = tuple(name for name, kind in KINDS.items() if kind.transformed)


def kind_of(block: str) -> str:
    """The kind of the columns of a block: gaussian blocks after the first have a number too."""
    return block.partition(" ")[0]


def record_of(spelled: str) -> Kind:
    """The record of the kind of a block, or of a column as `columns=` spells it.

    >>> record_of("gaussian 1") is KINDS["gaussian"], record_of("real:log") is KINDS["real"]
    (True, True)
    """
    return KINDS[kind_of(spelled).partition(":")[0]]


@dataclass(frozen=True)
class Column:
    """One column of a table.

    Attributes
    ----------
    name : str
        Its name; ``"x0"``, ``"x1"``, ... where the input has none.
    kind : str
        One of `KINDS`.
    transform : Log, Rank, Spike or None
        For a real column, what its cells are encoded by; None leaves them as they are. For a
        spiked one always a `Spike`, which knows the common value.
    guessed : bool
        Whether the kind was found by the "auto" rule: numbers that it cannot hold are then
        missing cells, where a kind that was asked for refuses them. Columns compare without it.
    resolution : float
        For a real or spiked column, the width of the interval that an encoded cell stands for
        (`tables.resolution`); 0 if there is none.
    grid : tuple of two floats, or None
        A value and the step of the grid on which natural values lie, for what is shown.
    values : tuple of floats
        For a real or spiked column of a whole table, the natural values that occur in it, rising,
        if they are few: prototypes show these. Columns compare without them.
    """

    name: str
    kind: str
    transform: Transform | None = None
    guessed: bool = field(default=False, compare=False)
    resolution: float = 0.0
    grid: tuple[float, float] | None = None
    values: tuple[float, ...] = field(default=(), compare=False)

    @property
    def record(self) -> Kind:
        """What its kind is to a table."""
        return KINDS[self.kind]


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
