"""Named tuples of arrays that compiled code gets as one pointer.

numba hands a tuple over in pieces, seven or more numbers for an array: the model of a chain would
be three hundred arguments of every function, and most of the time to compile it. A class that is
`packed` stays a named tuple in Python. Compiled code gets the address of a block of words, which
holds for each field its number, or address and shape of its array, or the address of another
block; reading a field there is a load that LLVM may take for constant.
"""

import hashlib
from operator import getitem

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.datamodel import models
from numba.core.typing.templates import (
    AbstractTemplate,
    AttributeTemplate,
    infer_getattr,
    infer_global,
    signature,
)
from numba.extending import (
    NativeValue,
    lower_builtin,
    lower_getattr_generic,
    register_model,
    typeof_impl,
    unbox,
)
from numba.np.arrayobj import populate_array

from infinimix.networks.engine.calls import Calls

WORD = 8


class PackType(types.Type):
    """The numba type of a packed class, given the types of its fields."""

    def __init__(self, title, fields):
        self.fields = fields
        digest = hashlib.sha256(repr(fields).encode()).hexdigest()
        super().__init__(f"{title}_{digest[:8]}")  # short: it is in the name of every function

    def place(self, name):
        """Return the type of a field, and where its words begin."""
        at = 0
        for field, typ in self.fields:
            if field == name:
                return typ, at
            at += 1 + (typ.ndim if isinstance(typ, types.Array) else 0)
        return None, at


class SeveralType(types.Type):
    """The numba type of `Several`."""

    def __init__(self, item):
        self.item = item
        super().__init__(f"Several({item.name})")


class Several(tuple):
    """Packed tuples of one type; compiled code may take one of them by its number."""

    @property
    def _address(self):
        return _kept(self, lambda: [item._address for item in self])

    def __reduce__(self):
        return Several, (tuple(self),)


def packed(cls):
    """Let compiled code get a named tuple of arrays and whole numbers as one pointer."""

    def words(self):
        return _kept(self, lambda: _words(self))

    def again(self):
        return type(self), tuple(self)  # without the block, whose addresses hold in this process

    names = {"__doc__": cls.__doc__, "__module__": cls.__module__, "__reduce__": again}
    made = type(cls.__name__, (cls,), names | {"_address": property(words)})
    typeof_impl.register(made)(_typeof_pack)
    return made


def _words(pack):
    """Return the words of a pack, which itself keeps alive what they point at."""
    words = []
    for field in pack:
        field = field.addresses if isinstance(field, Calls) else field
        if isinstance(field, np.ndarray):
            words += [field.ctypes.data, *field.shape]
        else:
            words.append(field._address if isinstance(field, tuple) else int(field))
    return words


def _kept(owner, make):
    """Return the address of the words of a tuple, which are made once: other blocks point there."""
    found = owner.__dict__.get("_block")
    if found is None:  # threads may get here together; only one block is kept
        found = owner.__dict__.setdefault("_block", np.array(make(), np.int64))
    return found.ctypes.data


def _typeof_pack(pack, context):
    found = pack.__dict__.get("_type")
    if found is None:
        pairs = zip(pack._fields, pack, strict=True)
        fields = tuple((name, _typeof_field(name, value)) for name, value in pairs)
        found = pack.__dict__["_type"] = PackType(type(pack).__name__, fields)
    return found


def _typeof_field(name, value):
    if isinstance(value, np.ndarray):
        if not value.flags.carray:
            raise TypeError(f"{name} must be a contiguous array that may be written to")
        return types.Array(numba.typeof(value).dtype, value.ndim, "C")
    if isinstance(value, Calls):
        return types.Array(types.int64, 1, "C")
    if isinstance(value, tuple):
        return numba.typeof(value)
    return types.boolean if isinstance(value, bool | np.bool_) else types.int64


@typeof_impl.register(Several)
def _typeof_several(items, context):
    return SeveralType(numba.typeof(items[0]))


# --- compiled side ------------------------------------------------------------------------------

register_model(PackType)(models.OpaqueModel)
register_model(SeveralType)(models.OpaqueModel)


@unbox(PackType)
@unbox(SeveralType)
def _unbox(typ, obj, c):
    found = c.pyapi.object_getattr_string(obj, "_address")
    failed = cgutils.is_null(c.builder, found)
    place = cgutils.alloca_once(c.builder, c.context.get_value_type(typ))
    with c.builder.if_then(c.builder.not_(failed)):
        c.builder.store(c.pyapi.long_as_voidptr(found), place)
        c.pyapi.decref(found)
    return NativeValue(c.builder.load(place), is_error=failed)


@infer_getattr
class _Fields(AttributeTemplate):
    key = PackType

    def generic_resolve(self, typ, name):
        return typ.place(name)[0]


def _load(builder, block, at, kind):
    """Load a word of a block as a value of some LLVM type; `at` counts words."""
    offset = at if isinstance(at, ir.Value) else ir.Constant(ir.IntType(64), at)
    offset = builder.mul(offset, offset.type(WORD))
    found = builder.load(cgutils.pointer_add(builder, block, offset, kind.as_pointer()))
    found.set_metadata("invariant.load", builder.module.add_metadata([]))
    return found


@lower_getattr_generic(PackType)
def _get_field(context, builder, typ, block, name):
    kind, at = typ.place(name)
    if kind == types.boolean:
        word = _load(builder, block, at, ir.IntType(64))
        return builder.icmp_signed("!=", word, word.type(0))
    if not isinstance(kind, types.Array):
        return _load(builder, block, at, context.get_value_type(kind))
    array = context.make_array(kind)(context, builder)
    data = _load(builder, block, at, array.data.type)
    shape = [_load(builder, block, at + 1 + axis, ir.IntType(64)) for axis in range(kind.ndim)]
    item = context.get_abi_sizeof(context.get_data_type(kind.dtype))
    strides, stride = [], ir.IntType(64)(item)
    for size in reversed(shape):
        strides.insert(0, stride)
        stride = builder.mul(stride, size)
    populate_array(array, data, shape, strides, item, meminfo=None)
    return array._getvalue()


@infer_global(getitem)
class _Item(AbstractTemplate):
    def generic(self, args, kws):
        if isinstance(args[0], SeveralType) and isinstance(args[1], types.Integer):
            return signature(args[0].item, args[0], types.int64)
        return None


@lower_builtin(getitem, SeveralType, types.int64)
def _get_item(context, builder, sig, args):
    return _load(builder, args[0], args[1], context.get_value_type(sig.return_type))
