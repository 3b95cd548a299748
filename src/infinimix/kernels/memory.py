"""Arrays as compiled code meets them: borrowed rather than owned, and in step with the cache.

numba counts a reference for every name that an array gets, also where a tuple of arrays is handed
from one function to another: two atomic instructions each time, a quarter of the time of a particle
filter. Whoever calls a function holds its arguments until it returns, so a function may
borrow them: the same cells, without an owner, for which nothing is counted.

Before every access to a cell numba asks whether the index is negative and counts from the end:
four instructions, where a loop has ten. `unsigned` says that an index is not.

NumPy lets an array begin at any multiple of 16 bytes, so half of the vectors of 32 bytes that a
loop reads would lie across two lines of the cache.
"""

import numpy as np
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numba.np.arrayobj import populate_array

from infinimix.kernels.blocks import data_address
from infinimix.kernels.compile import INTERPRETED, part

LINE = 64  # bytes


def _without_owner(context, builder, typ, value):
    """Return an array, or a nest of tuples with arrays in it, whose cells belong to nobody."""
    if isinstance(typ, types.BaseTuple):
        members = zip(typ, cgutils.unpack_tuple(builder, value), strict=True)
        parts = [_without_owner(context, builder, *member) for member in members]
        return context.make_tuple(builder, typ, parts)
    if not isinstance(typ, types.Array):
        return value
    owned = context.make_array(typ)(context, builder, value)
    made = context.make_array(typ)(context, builder)
    populate_array(
        made, owned.data, owned.shape, owned.strides, owned.itemsize, meminfo=None
    )  # fmt: skip
    return made._getvalue()


@intrinsic
def _borrowed(typing_context, given):
    def generate(context, builder, signature, args):
        return _without_owner(context, builder, given, args[0])

    return given(given), generate


def _as_it_is(given):
    return given


#: An argument of the calling function, an array or a tuple, without its owner. What is local must
#: not be borrowed: it would be freed after its last own use.
borrowed = _as_it_is if INTERPRETED else _borrowed


@part
def _unsigned(k):
    return np.uint64(k)


#: An index that is not negative.
unsigned = _as_it_is if INTERPRETED else _unsigned


def aligned(array):
    """Return an array that begins with a line of the cache: a copy, unless it does already."""
    return array if data_address(array) % LINE == 0 else aligned_copy(array)


def aligned_copy(array):
    """Return a copy that begins with a line of the cache."""
    space = np.empty(array.nbytes + LINE, np.uint8)
    first = -data_address(space) % LINE
    out = space[first : first + array.nbytes].view(array.dtype).reshape(array.shape)
    out[...] = array
    return out
