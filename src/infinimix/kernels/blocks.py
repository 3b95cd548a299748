"""A product of families as one table of numbers, so that engines compile once for every mix.

A row of the table is one block of columns. Its first entries are the addresses of the compiled
operations of the block's family, then come its width and number of features, then address and
shape of each of its arrays. An engine walks over the rows and calls through the addresses: it
holds no code of any family, and its types are the same for all tables. The operations of a family
are compiled once, whatever it is mixed with. The rows of data are a second such table, which many
products share.

Hidden here: the layout of a row, functions of the form that engines call made of the bodies that
families register, and the call through an address (numba's own calling convention, so exceptions
come through).
"""

from ctypes import addressof, c_char
from functools import cache

import numpy as np
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numba.np.arrayobj import populate_array
from numba.np.numpy_support import from_dtype

from infinimix.kernels.compile import INTERPRETED, address, entry, kernel, part

OPERATIONS = (
    "count", "refresh", "score", "column_evidence", "copy", "merge", "features", "score_two",
)  # fmt: skip
COUNT, REFRESH, SCORE, EVIDENCE, COPY, MERGE, FEATURES, SCORE_TWO = range(8)  # entries of a row
WIDTH, N_FEATURES, FIRST = range(8, 11)  # the next ones
PACKAGE = __name__.partition(".")[0] + "."
STEP = 5  # entries of an array: its address, and up to four axes
MOST = 1 << 40  # stands for a length that nobody asks for
INTEGER, NUMBER = types.int64, types.float64
INTEGERS, NUMBERS = types.CPointer(types.int64), types.CPointer(types.float64)


# --- arrays from addresses ----------------------------------------------------------------------


def _load_array(context, builder, typ, row, at):
    """Return the array whose address and shape are at a place of a row."""

    def load(j):
        return builder.load(builder.gep(row, [at.type(at.constant + j)]))

    array = context.make_array(typ)(context, builder)
    item = context.get_abi_sizeof(context.get_data_type(typ.dtype))
    shape, strides, stride = [load(1 + axis) for axis in range(typ.ndim)], [], at.type(item)
    for size in reversed(shape):
        strides.insert(0, stride)
        stride = builder.mul(stride, size)
    data = builder.inttoptr(load(0), array.data.type)
    populate_array(array, data, shape, strides, item, meminfo=None)
    return array._getvalue()


def array_reader(dtype, ndim):
    """Return a compiled function: a row of a table of rows -> the block of cells there."""
    typ = types.Array(from_dtype(np.dtype(dtype)), ndim, "C")

    @intrinsic
    def read(typing_context, row):
        def generate(context, builder, signature, args):
            first = context.get_constant(INTEGER, 0)
            return _load_array(context, builder, typ, args[0], first)

        return typ(row), generate

    return read


def block_reader(family_class, stats_class, fields):
    """Return a compiled function: a row of a table -> hyper-parameters and statistics there."""
    arrays = [types.Array(from_dtype(np.dtype(d)), ndim, "C") for d, ndim in fields]
    size = len(family_class._fields)
    family = types.NamedTuple(arrays[:size], family_class)
    stats = types.NamedTuple(arrays[size:], stats_class)
    both = types.Tuple([family, stats])

    @intrinsic
    def read(typing_context, row):
        def generate(context, builder, signature, args):
            members = []
            for j, typ in enumerate(arrays):
                at = context.get_constant(INTEGER, FIRST + STEP * j)
                members.append(_load_array(context, builder, typ, args[0], at))
            parts = [
                context.make_tuple(builder, family, members[:size]),
                context.make_tuple(builder, stats, members[size:]),
            ]
            return context.make_tuple(builder, both, parts)

        return both(row), generate

    return read


def _line_reader(typ):
    @intrinsic
    def line(typing_context, pointer, size):
        array_type = types.Array(typ, 1, "C")

        def generate(context, builder, signature, args):
            array = context.make_array(array_type)(context, builder)
            item = context.get_abi_sizeof(context.get_data_type(typ))
            data = builder.bitcast(args[0], array.data.type)
            populate_array(array, data, [args[1]], [args[1].type(item)], item, meminfo=None)
            return array._getvalue()

        return array_type(pointer, types.int64), generate

    return line


integers, numbers = _line_reader(types.int64), _line_reader(types.float64)


@intrinsic
def numbers_at(typing_context, place, size):
    """Return the numbers that begin at an address, as an array of this size."""
    array_type = types.Array(NUMBER, 1, "C")

    def generate(context, builder, signature, args):
        array = context.make_array(array_type)(context, builder)
        item = context.get_abi_sizeof(context.get_data_type(NUMBER))
        data = builder.inttoptr(args[0], array.data.type)
        populate_array(array, data, [args[1]], [args[1].type(item)], item, meminfo=None)
        return array._getvalue()

    return array_type(INTEGER, INTEGER), generate


# --- calls through addresses --------------------------------------------------------------------


@intrinsic
def invoke(typing_context, place, args):
    """Call the function at an address; of arrays it gets where they begin."""
    given = [_passed_as(typ) for typ in args]

    def generate(context, builder, signature, values):
        call = []
        for value, typ, to in zip(cgutils.unpack_tuple(builder, values[1]), args, given):
            if isinstance(typ, types.Array):
                data = context.make_array(typ)(context, builder, value).data
                call.append(builder.bitcast(data, context.get_value_type(to)))
            else:
                call.append(context.cast(builder, value, typ, to))
        function = context.call_conv.get_function_type(INTEGER, given)
        callee = builder.inttoptr(values[0], function.as_pointer())
        status, result = context.call_conv.call_function(builder, callee, INTEGER, given, call)
        with cgutils.if_unlikely(builder, status.is_error):
            context.call_conv.return_status_propagate(builder, status)
        return result

    return INTEGER(INTEGER, args), generate


def _passed_as(typ):
    if isinstance(typ, types.Array):
        return types.CPointer(typ.dtype)
    return NUMBER if isinstance(typ, types.Float) else INTEGER


# --- operations in the form that engines call ---------------------------------------------------


def _count(body, read, cells):
    def count(row, rows, k, i, w):
        family, stats = read(row)
        body(family, stats, k, cells(rows), i, w)
        return 0

    return count, (INTEGERS, INTEGERS, INTEGER, INTEGER, NUMBER)


def _refresh(body, read, cells):
    def refresh(row, k):
        family, stats = read(row)
        body(family, stats, k)
        return 0

    return refresh, (INTEGERS, INTEGER)


def _score(body, read, cells):
    def score(row, rows, i, live, size, out):
        family, stats = read(row)
        body(family, stats, cells(rows), i, integers(live, size), numbers(out, MOST))
        return 0

    return score, (INTEGERS, INTEGERS, INTEGER, INTEGERS, INTEGER, NUMBERS)


def _score_two(body, read, cells):
    def score_two(row, rows, i, j, live, size, out, ahead):
        family, stats = read(row)
        live, out, ahead = integers(live, size), numbers(out, MOST), numbers(ahead, MOST)
        return body(family, stats, cells(rows), i, j, live, out, ahead)

    return score_two, (INTEGERS, INTEGERS, INTEGER, INTEGER, INTEGERS, INTEGER, NUMBERS, NUMBERS)


def _column_evidence(body, read, cells):
    def column_evidence(row, k, out):
        family, stats = read(row)
        body(family, stats, k, numbers(out, MOST))
        return 0

    return column_evidence, (INTEGERS, INTEGER, NUMBERS)


def _two_groups(body, read, cells):
    def two_groups(row, source, target):
        family, stats = read(row)
        body(family, stats, source, target)
        return 0

    return two_groups, (INTEGERS, INTEGER, INTEGER)


def _features(body, read, cells):
    def features(row, rows, i, first, index, value):
        family, stats = read(row)
        return body(
            family, stats, cells(rows), i, first, integers(index, MOST), numbers(value, MOST)
        )

    return features, (INTEGERS, INTEGERS, INTEGER, INTEGER, INTEGERS, NUMBERS)


FORMS = {
    "count": _count,
    "refresh": _refresh,
    "score": _score,
    "column_evidence": _column_evidence,
    "copy": _two_groups,
    "merge": _two_groups,
    "features": _features,
    "score_two": _score_two,
}
_PLACE: dict = {}  # by dtype: the machine code of `_place`
_KEPT: list = []  # machine code lives as long as its dispatcher


@cache
def address_of(name, body, family_class, stats_class, fields, cells):
    """Return the address of an operation of a family, compiled now if it is not on disk."""
    read = block_reader(family_class, stats_class, fields)
    function, signature = FORMS[name](part(body), read, array_reader(cells, 2))
    function.__qualname__ = f"{name}.{family_class.__name__}"
    ours = family_class.__module__.startswith(PACKAGE)  # of others no fingerprint knows the source
    place, dispatcher = address(function, signature, on_disk=ours)
    _KEPT.append(dispatcher)
    return place


# --- tables, from Python ------------------------------------------------------------------------


def data_address(array):
    """Return where the cells of an array begin."""
    try:
        return addressof(c_char.from_buffer(array))  # five times quicker than array.ctypes.data
    except (TypeError, ValueError):  # read-only, or empty
        return array.__array_interface__["data"][0]


@kernel
def _place(table, b, block):
    table[b, 0], table[b, 1], table[b, 2] = block.ctypes.data, block.shape[0], block.shape[1]


def place_rows(table, b, block):
    """Write where a block of rows is, and its shape: what a stream pays for at each row."""
    machine = _PLACE.get(block.dtype)
    if machine is None:
        machine = _PLACE[block.dtype] = entry(_place, table, b, block)
    machine(table, b, block)


def table_of_rows(blocks):
    """Return where the blocks of some rows are, as engines take them."""
    if INTERPRETED:
        return blocks
    table = np.empty((len(blocks), 3), np.int64)
    for b, block in enumerate(blocks):
        place_rows(table, b, block)
    return table


def describe_array(array):
    """Return the entries of an array of at most four axes: where it is, and its shape."""
    unused = (0,) * (STEP - 1 - array.ndim)
    return (data_address(array), *array.shape, *unused)
