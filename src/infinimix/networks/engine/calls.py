"""Kernels that call others by their addresses: each is compiled by itself, and only if it is used.

A kernel that calls another one takes its code in, and the code of all that this one calls. Where
a chain may go on with one of several (its moves, the likelihood, the constants of partitions), the
caller knows types only, and gets an address at run time. A kernel must be compiled for just the
types it is called with; `through` casts numbers, and the rest is packs, whose types are few.
"""

from importlib import import_module
from typing import Any

import numba
import numpy as np
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from infinimix.kernels.compile import INTERPRETED

INTERPRETABLE: dict[int, Any] = {}  # by the number that stands for an address


class Calls(tuple):
    """Kernels that others call by their addresses; compiled code gets an array of these.

    Each is a pair of a kernel and the types of its arguments. It is compiled, or read from disk,
    when compiled code first gets the pack that these are in.
    """

    @property
    def addresses(self):
        """Where the machine code of each is, in this process."""
        if "_block" not in self.__dict__:
            found = [address(kernel, kinds) for kernel, kinds in self]
            self.__dict__.setdefault("_block", np.array(found, np.int64))
        return self.__dict__["_block"]

    def __getitem__(self, k):
        return self.addresses[k]  # for bodies that are interpreted

    def __reduce__(self):
        bodies = [getattr(kernel, "py_func", kernel) for kernel, _ in self]
        kinds = [kinds for _, kinds in self]
        return _find_calls, ([(f.__module__, f.__name__) for f in bodies], kinds)


def _find_calls(names, kinds):
    """Return the calls of another process: the kernels are the same, their addresses are not."""
    kernels = [getattr(import_module(module), name) for module, name in names]
    return Calls(zip(kernels, kinds, strict=True))


def call_of(kernel, *args):
    """Return a kernel and the types of these arguments, for `Calls`."""
    return kernel, tuple(numba.typeof(arg) for arg in args)


def address(kernel, kinds):
    """Return where the machine code of a kernel is, for arguments of these types."""
    if INTERPRETED:
        INTERPRETABLE[id(kernel)] = kernel
        return id(kernel)
    dispatcher = getattr(kernel, "dispatcher", kernel)
    dispatcher.compile(kinds)
    compiled = dispatcher.overloads[kinds]
    return compiled.library.get_pointer_to_function(compiled.fndesc.llvm_func_name)


def through(*given, returns=types.int64):
    """Return a compiled function (address, arguments) that calls the kernel at the address.

    `given` are the numba types of the arguments, None for those that are not numbers: these
    must be of the types that the kernel was compiled for. With `returns=None` what the kernel
    returns, a number at most, is dropped.
    """
    result = types.int64 if returns is None else returns

    @intrinsic
    def call(typing_context, place, args):
        kinds = [typ if kind is None else kind for typ, kind in zip(args, given, strict=True)]

        def generate(context, builder, sig, values):
            parts = cgutils.unpack_tuple(builder, values[1])
            passed = [
                context.cast(builder, value, typ, kind)
                for value, typ, kind in zip(parts, args, kinds, strict=True)
            ]
            convention = context.call_conv
            function = convention.get_function_type(result, kinds)
            callee = builder.inttoptr(values[0], function.as_pointer())
            status, found = convention.call_function(builder, callee, result, kinds, passed)
            with cgutils.if_unlikely(builder, status.is_error):
                convention.return_status_propagate(builder, status)
            return context.get_dummy_value() if returns is None else found

        return (types.none if returns is None else returns)(types.int64, args), generate

    def interpreted(place, args):
        return INTERPRETABLE[int(place)](*args)

    return interpreted if INTERPRETED else call
