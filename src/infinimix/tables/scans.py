"""Compiled passes over whole arrays: copy to the encoded type and check, in one go.

One row of a stream and a batch of a million go through the same loops; they are the reason why
`encode` costs about as much as copying. The Python functions here choose the loop by dtype and
return the copy and the flat position of the first cell that does not fit, or -1.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from infinimix.kernels.compile import entry, kernel

__all__ = ["BITS", "COUNTS", "LARGEST", "REALS", "TOO_MANY", "Scan", "ready"]

#: Beyond this a number is refused as infinity is: its square, and sums of that, would overflow.
LARGEST = 1e150

#: A count is less: from here on float64 does not hold every whole number.
TOO_MANY = 2.0**53

_INT8, _FLOAT64 = np.dtype(np.int8), np.dtype(np.float64)
_MACHINE: dict[Any, Any] = {}  # by loop and dtype: its machine code


@kernel
def _scan_binary(values: NDArray[Any], out: NDArray[np.int8]) -> int:
    source, target = values.ravel(), out.ravel()
    odd = 0
    for i in range(source.size):
        v = source[i]
        target[i] = 1 if v == 1 else (-1 if v != v else 0)
        odd |= 0 if v == 0 or v == 1 or v != v else 1
    if odd:
        for i in range(source.size):
            v = source[i]
            if not (v == 0 or v == 1 or v != v):
                return i
    return -1


@kernel
def _scan_real(values: NDArray[np.float64], out: NDArray[np.float64]) -> int:
    source, target = values.ravel(), out.ravel()
    odd = 0
    for i in range(source.size):
        v = source[i]
        target[i] = v
        odd |= 1 if abs(v) > LARGEST else 0
    if odd:
        for i in range(source.size):
            if abs(source[i]) > LARGEST:
                return i
    return -1


@kernel
def _scan_count(values: NDArray[np.float64], out: NDArray[np.float64]) -> int:
    source, target = values.ravel(), out.ravel()
    odd = 0
    for i in range(source.size):
        v = source[i]
        target[i] = abs(v)  # no cell is minus zero
        odd |= 0 if v != v or (v >= 0.0 and v < TOO_MANY and v == np.floor(v)) else 1
    if odd:
        for i in range(source.size):
            v = source[i]
            if not (v != v or (v >= 0.0 and v < TOO_MANY and v == np.floor(v))):
                return i
    return -1


def _scan(loop: Any, values: NDArray[Any], out: NDArray[Any]) -> int:
    """Run a loop, past the look at its arguments, which takes longer than a row does."""
    machine = _MACHINE.get((loop, values.dtype.char))
    if machine is None:
        machine = _MACHINE[loop, values.dtype.char] = entry(loop, values, out)
    found: int = machine(values, out)
    return found


def fill_binary(values: NDArray[Any], out: NDArray[np.int8]) -> int:
    """Write a C-contiguous 2-D array of a ready dtype as int8: 0, 1, and -1 for NaN."""
    if values.dtype.char in "?B":  # one byte each: 0 and 1 look the same, the rest is refused
        values = values.view(np.int8)
    return _scan(_scan_binary, values, out)


def fill_real(values: NDArray[np.float64], out: NDArray[np.float64]) -> int:
    """Write a C-contiguous 2-D float64 array; NaN stays, infinity and the like is reported."""
    return _scan(_scan_real, values, out)


def fill_count(values: NDArray[np.float64], out: NDArray[np.float64]) -> int:
    """Write a C-contiguous 2-D float64 array; NaN stays, all but whole numbers is reported."""
    return _scan(_scan_count, values, out)


class Scan(NamedTuple):
    """A compiled pass: an array copied and checked.

    Attributes
    ----------
    fill : callable
        A C-contiguous 2-D array and one of the same shape for the cells -> where the first cell
        is that does not fit, or -1.
    dtype : dtype
        The dtype of the cells that it writes.
    dtypes : frozenset
        The dtypes that it reads as they are; `ready` converts the others.
    """

    fill: Callable[[NDArray[Any], NDArray[Any]], int]
    dtype: np.dtype[Any]
    dtypes: frozenset[np.dtype[Any]]

    def copy(self, values: NDArray[Any]) -> tuple[NDArray[Any], int]:
        """Return a copy, and where the first cell is that does not fit, or -1."""
        out = np.empty(values.shape, self.dtype)
        return out, self.fill(values, out)


BITS = Scan(fill_binary, _INT8, frozenset(map(np.dtype, ("?", "i1", "u1", "i8", "f8"))))
REALS = Scan(fill_real, _FLOAT64, frozenset([_FLOAT64]))
COUNTS = Scan(fill_count, _FLOAT64, frozenset([_FLOAT64]))


def ready(values: NDArray[Any], scan: Scan) -> NDArray[Any]:
    """Convert a numeric array so that a compiled pass can read it, copying if needed.

    Read-only, strided, misaligned and byte-swapped arrays are copied: a kernel compiled for each
    of them would cost more than the copy does.
    """
    if values.dtype in scan.dtypes:
        return values if values.flags.carray else np.array(values, order="C")
    wide = "f8" if scan is not BITS or values.dtype.kind == "f" else "i8"
    return values.astype(wide, order="C")
