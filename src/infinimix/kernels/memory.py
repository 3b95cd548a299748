"""Arrays as compiled code meets them: borrowed rather than owned, and in step with the cache.

numba counts a reference for every name that an array gets, also where a tuple of arrays is handed
from one function to another: two atomic instructions each time, a quarter of the time of a particle
filter. Whoever calls a function holds its arguments until it returns, so a function may
borrow them: the same cells, without an owner, for which nothing is counted.

Before every access to a cell numba asks whether the index is negative and counts from the end:
four instructions, where a loop has ten. `unsigned` says that an index is not.

NumPy lets an array begin at any multiple of 16 bytes, so half of the vectors of 32 bytes that a
loop reads would lie across two lines of the cache.

Memory for a few lines of numbers that a function needs while it runs is asked of the system, and
given back, in a tenth of the time of scoring a row: `on_stack` has it at hand.

A loop over rows here and there in an array of many megabytes waits for the memory most of the time.
Whoever knows before which rows these are says so (`foretell`), and works on while they come.
"""

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numba.np.arrayobj import populate_array

from infinimix.kernels.blocks import data_address
from infinimix.kernels.compile import INTERPRETED, part
from infinimix.kernels.held import HeldType, read_held, without_owner

LINE = 64  # bytes
ROOM = 1024  # numbers that `on_stack` has room for: 8 kB
HOW = (0, 2, 1)  # to be read; kept in the second cache, as the first is too small for a row; data


@intrinsic
def _borrowed(typing_context, given):
    def generate(context, builder, signature, args):
        return without_owner(context, builder, given, args[0])

    def read(context, builder, signature, args):
        pointer = context.get_value_type(given.members).as_pointer()
        return read_held(context, builder, given.members, builder.inttoptr(args[0], pointer))

    return (given.members(given), read) if isinstance(given, HeldType) else (given(given), generate)


def _as_it_is(given):
    return given


#: An argument of the calling function, an array or a tuple, without its owner; of what is `held`,
#: its members. What is local must not be borrowed: it would be freed after its last own use.
borrowed = _as_it_is if INTERPRETED else _borrowed


@part
def _unsigned(k):
    return np.uint64(k)


#: An index that is not negative.
unsigned = _as_it_is if INTERPRETED else _unsigned


@intrinsic
def _on_stack(typing_context, lines, width):
    table = types.Array(types.float64, 2, "C")

    def generate(context, builder, signature, args):
        given = zip(args, signature.args, strict=True)
        shape = [context.cast(builder, *pair, types.intp) for pair in given]
        array, item = context.make_array(table)(context, builder), shape[0].type(8)
        cells = cgutils.alloca_once(builder, ir.DoubleType(), ROOM)
        cells.align = LINE
        strides = [builder.mul(shape[1], item), item]
        populate_array(array, cells, shape, strides, item, meminfo=None)
        return array._getvalue()

    return table(lines, width), generate


def _from_heap(lines, width):
    return np.empty((lines, width))


#: An array of so many lines of numbers, ROOM at most, that is gone when the calling function
#: returns: it must not be returned, nor asked for by a function that only prepares it.
on_stack = _from_heap if INTERPRETED else _on_stack


@intrinsic
def _foretell(typing_context, array, row, first, last):
    def generate(context, builder, signature, args):
        made = context.make_array(array)(context, builder, args[0])
        given = zip(args[1:], signature.args[1:], strict=True)
        row_, first_, last_ = (context.cast(builder, *pair, types.intp) for pair in given)
        cells = builder.ptrtoint(made.data, row_.type)
        cells = builder.add(cells, builder.mul(row_, builder.extract_value(made.strides, 0)))
        begin = builder.add(cells, builder.mul(first_, made.itemsize))
        begin = builder.and_(begin, begin.type(-LINE))
        end = builder.add(cells, builder.mul(last_, made.itemsize))
        pointer = ir.IntType(8).as_pointer()
        kind = ir.FunctionType(ir.VoidType(), [pointer] + 3 * [ir.IntType(32)])
        fetch = builder.module.declare_intrinsic("llvm.prefetch", [pointer], kind)
        how = [ir.IntType(32)(number) for number in HOW]
        with cgutils.for_range_slice(builder, begin, end, begin.type(LINE)) as (at, _):
            builder.call(fetch, [builder.inttoptr(at, pointer), *how])
        return context.get_dummy_value()

    return types.none(array, row, first, last), generate


def _say_nothing(array, row, first, last):
    pass


#: Cells ``array[row, first:last]`` will be needed soon; nothing is changed, and nothing waits.
foretell = _say_nothing if INTERPRETED else _foretell


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
