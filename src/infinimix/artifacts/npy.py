"""One array as the bytes of an ``.npy`` file, and back, without pickle.

Only version 1.0 of NumPy's format is written and read. Its header is parsed
before any memory is taken, so a file that lies about its size is refused while
that is still cheap.
"""

from __future__ import annotations

import ast
import math
from functools import lru_cache
from typing import Any, Literal, Protocol

import numpy as np
from numpy.lib import format as npy_format
from numpy.typing import NDArray

from infinimix.artifacts.errors import ArtifactError

# NumPy refuses to parse longer headers, as a guard against hostile files.
MAX_HEADER = 10_000
CHUNK = 1 << 20
PREFIX = npy_format.MAGIC_LEN + 2

Array = NDArray[Any]
Parts = tuple[bytes, memoryview]
Order = Literal["C", "F"]


class Stream(Protocol):
    """Anything that can be read forwards."""

    def read(self, size: int, /) -> bytes: ...


def dump(array: Array) -> Parts:
    """Header and data of an array as npy; the data share memory with it if they can.

    Raises
    ------
    ArtifactError
        If the dtype holds Python objects or does not survive the npy format.
    """
    check_dtype(array.dtype)
    flat = array if array.flags.c_contiguous or array.flags.f_contiguous else array.copy("C")
    return _header(flat), raw_bytes(flat)


def check_dtype(dtype: np.dtype[Any]) -> None:
    """Refuse dtypes that hold Python objects, or that NumPy widens when it allocates."""
    if dtype.hasobject:
        raise ArtifactError(
            f"arrays of dtype {dtype} hold Python objects and cannot be stored; "
            "convert to numbers, booleans or fixed-width strings"
        )
    if np.empty(0, dtype).dtype != dtype:
        raise ArtifactError(f"arrays of dtype {dtype} cannot be stored; use a wider one")


def _header(array: Array) -> bytes:
    fields = npy_format.header_data_from_array_1_0(array)
    if npy_format.descr_to_dtype(fields["descr"]) != array.dtype:
        raise ArtifactError(f"arrays of dtype {array.dtype} cannot be stored: npy would change it")
    # NumPy's own writer needs format 3.0 for names beyond Latin-1; escapes do not.
    text = ascii(dict(sorted(fields.items())))
    text += " " * (-(PREFIX + len(text) + 1) % npy_format.ARRAY_ALIGN) + "\n"
    if PREFIX + len(text) > MAX_HEADER:
        raise ArtifactError("this structured dtype is too long to be stored; use fewer fields")
    return npy_format.magic(1, 0) + len(text).to_bytes(2, "little") + text.encode("ascii")


def raw_bytes(array: Array) -> memoryview:
    """Memory of a contiguous array of either order, as bytes in their order in memory."""
    if array.nbytes == 0:
        return memoryview(bytearray())
    flat = (array if array.flags.c_contiguous else array.T).reshape(-1)
    return flat.view(np.uint8).data


def load(stream: Stream, size: int) -> Array:
    """Read one array from a stream that is said to hold ``size`` bytes in all.

    Raises
    ------
    ValueError
        Or whatever a parser raises on bad bytes; callers translate it.
    """
    shape, order, dtype, used = _read_header(stream)
    if dtype.hasobject:
        raise ValueError("it holds pickled Python objects, which are never loaded")
    expected = used + math.prod(shape) * dtype.itemsize
    if expected != size:
        raise ValueError(f"it is declared as {size} bytes, but its shape takes {expected}")
    array: Array = np.empty(shape, dtype, order=order)
    _fill(raw_bytes(array), stream)
    return array


def _read_header(stream: Stream) -> tuple[tuple[int, ...], Order, np.dtype[Any], int]:
    start = stream.read(PREFIX)
    length = int.from_bytes(start[-2:], "little")
    if not start.startswith(npy_format.magic(1, 0)) or PREFIX + length > MAX_HEADER:
        raise ValueError("it is not in npy format 1.0")
    return *_understand(stream.read(length)), PREFIX + length


@lru_cache(maxsize=256)
def _understand(header: bytes) -> tuple[tuple[int, ...], Order, np.dtype[Any]]:
    """Shape, order and dtype; a model has hundreds of arrays, and few different headers."""
    fields = _parse(header.decode("ascii"))
    shape, dtype = fields["shape"], npy_format.descr_to_dtype(fields["descr"])
    if not all(type(n) is int and n >= 0 for n in shape):
        raise ValueError(f"it has the shape {shape!r}")
    return tuple(shape), "F" if fields["fortran_order"] else "C", dtype


def _parse(text: str) -> Any:
    """Read a header's dict of literals; NumPy's reader would also try Python 2's syntax."""
    try:
        return ast.literal_eval(text)
    except MemoryError as error:
        # How some versions of Python's parser answer brackets nested too deep.
        raise ValueError("its header is absurd") from error


def _fill(view: memoryview, stream: Stream) -> None:
    done = 0
    while done < len(view):
        chunk = stream.read(min(CHUNK, len(view) - done))
        if not chunk:
            raise ValueError("it ends too early")
        view[done : done + len(chunk)] = chunk
        done += len(chunk)
