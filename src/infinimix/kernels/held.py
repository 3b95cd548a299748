"""Tuples of arrays that compiled code is handed as one number: an address.

At every call numba looks at each array of its arguments anew, for a tenth of a microsecond each. A
model of forty arrays takes as long as a document of a stream does. `hold` lets numba look once,
and writes down what it has found; compiled code reads that by `memory.borrowed`.
"""

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import (
    NativeValue,
    intrinsic,
    models,
    register_model,
    typeof_impl,
    unbox,
)

from infinimix.kernels.blocks import data_address
from infinimix.kernels.compile import INTERPRETED, entry, kernel

WORDS = 5  # of eight bytes, that numba knows an array by, beside its shape and strides
_WRITERS: dict = {}  # the machine code that writes a tuple down, by the types in it


class HeldArrays(int):
    """An address, and the arrays that are found there: these live as long as it does.

    Attributes
    ----------
    members : tuple or array
        What is held.
    """

    def __new__(cls, members, cells):
        """Return the address of what was written in `cells` about these members."""
        made = super().__new__(cls, data_address(cells))
        made.members, made._cells = members, cells
        return made

    def __reduce__(self):
        return hold, (self.members,)  # an address is good in one process, for these arrays


class HeldType(types.Type):
    """The numba type of what is held: an address, of members of this type."""

    def __init__(self, members):
        self.members = members
        super().__init__(name=f"held({members})")


@register_model(HeldType)
class _HeldModel(models.PrimitiveModel):
    def __init__(self, manager, numba_type):
        super().__init__(manager, numba_type, ir.IntType(64))


@typeof_impl.register(HeldArrays)
def _(value, context):
    return HeldType(typeof_impl(value.members, context))


@unbox(HeldType)
def _(numba_type, value, c):
    return NativeValue(c.pyapi.long_as_longlong(value), is_error=c.pyapi.c_api_error())


def without_owner(context, builder, typ, value):
    """Return an array, or a nest of tuples with arrays in it, whose cells belong to nobody."""
    if isinstance(typ, types.BaseTuple):
        members = zip(typ, cgutils.unpack_tuple(builder, value), strict=True)
        parts = [without_owner(context, builder, *member) for member in members]
        return context.make_tuple(builder, typ, parts)
    if not isinstance(typ, types.Array):
        return value
    made = context.make_array(typ)(context, builder, value)
    for owner in ("meminfo", "parent"):
        setattr(made, owner, cgutils.get_null_value(getattr(made, owner).type))
    return made._getvalue()


def read_held(context, builder, typ, pointer):
    """Return what was written down, part by part: LLVM is slow at large structures."""
    if not isinstance(typ, types.BaseTuple):
        return builder.load(pointer)
    parts = [
        read_held(context, builder, part, cgutils.gep_inbounds(builder, pointer, 0, k))
        for k, part in enumerate(typ)
    ]
    return context.make_tuple(builder, typ, parts)


@intrinsic
def _store(typing_context, members, cells):
    def generate(context, builder, signature, args):
        value = without_owner(context, builder, members, args[0])
        place = context.make_array(cells)(context, builder, args[1]).data
        builder.store(value, builder.bitcast(place, value.type.as_pointer()))
        return context.get_dummy_value()

    return types.none(members, cells), generate


@kernel
def _write(members, cells):
    """Write down what numba knows of these arrays."""
    _store(members, cells)


def _kind(members):
    """Return what tells the types of two tuples apart, and how many words they take."""
    if isinstance(members, np.ndarray):
        key = members.dtype, members.ndim, members.flags.carray
        return key, WORDS + 2 * members.ndim
    if not isinstance(members, tuple):
        return type(members), 1  # a number, or None
    keys, sizes = zip(*map(_kind, members), strict=True)
    return (type(members), keys), sum(sizes)


def hold(members):
    """Return arrays, in nests of tuples, as compiled code takes them at once.

    What is done to their cells is seen; a tuple with other arrays has to be held anew.
    """
    if INTERPRETED:
        return members
    key, size = _kind(members)
    cells = np.empty(size, np.int64)
    writer = _WRITERS.get(key)
    if writer is None:
        writer = _WRITERS[key] = entry(_write, members, cells)
    writer(members, cells)
    return HeldArrays(members, cells)
