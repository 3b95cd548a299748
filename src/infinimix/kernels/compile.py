"""The one door to numba: `@kernel`, `@part` and `@exact`.

A kernel is called from Python, or by other kernels; its machine code is kept on disk (`cache`).
Within another kernel it is only a part of that one: numba lowers it, and LLVM sees it once, with
the whole (`parts`).

Set `NUMBA_DISABLE_JIT=1` to run the same bodies interpreted, for debugging.
"""

from contextlib import suppress
from functools import cached_property

import numba
from numba import njit
from numba.core import config
from numba.extending import typeof_impl

from infinimix.kernels.cache import KernelCache
from infinimix.kernels.parts import LEAN, PIPELINE

SUMS = {"reassoc", "nsz", "contract"}  # sums may be vectorised; NaN keeps its meaning (missing)
INTERPRETED = bool(config.DISABLE_JIT)
OPTIONS = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
INSIDE = OPTIONS | PIPELINE | {"no_cpython_wrapper": True}  # called by compiled code alone


def keep(dispatcher):
    """Let a dispatcher keep its machine code on disk."""
    with suppress(RuntimeError):  # no folder to write to: compile in every process
        dispatcher._cache = KernelCache(dispatcher.py_func)
    return dispatcher


class Kernel:
    """A compiled function: for Python a dispatcher, for compiled code a part of the caller."""

    def __init__(self, func, fastmath, **inside):
        self.fastmath, self.inside = fastmath, inside
        self.py_func = self.__wrapped__ = func
        self.__name__, self.__doc__ = func.__name__, func.__doc__
        self.__module__, self.__qualname__ = func.__module__, func.__qualname__

    @cached_property
    def dispatcher(self):
        """What Python calls; it is compiled at the first call, for its types."""
        return keep(njit(fastmath=self.fastmath, **OPTIONS)(self.py_func))

    @cached_property
    def inner(self):
        """What compiled code calls."""
        return njit(fastmath=self.fastmath, **INSIDE, **self.inside)(self.py_func)

    def __call__(self, *args):
        """Run the machine code for arguments of these types."""
        return self.dispatcher(*args)

    def __reduce__(self):
        return self.__qualname__  # found again by its name


@typeof_impl.register(Kernel)
def _(value, context):
    return typeof_impl(value.inner, context)


def kernel(func):
    """Compile `func` lazily, without the GIL, kept on disk; LLVM decides what is inlined."""
    return func if INTERPRETED else Kernel(func, SUMS)


def part(func):
    """Compile `func` into the kernels that call it: a call would cost more than the work."""
    return func if INTERPRETED else Kernel(func, SUMS, forceinline=True)


def exact(func):
    """Compile a small function into its callers; its roundings stay as they are written."""
    return func if INTERPRETED else Kernel(func, {"contract"}, forceinline=True)


def entry(function, *args):
    """Return the machine code of a kernel for arguments of these types, without type checks.

    Working out the types of nested tuples takes longer than one row does. The caller must
    pass arguments of just these types: contiguous, writable arrays of the same dtype and rank.
    """
    if INTERPRETED:
        return function
    return function.dispatcher.compile(tuple(numba.typeof(arg) for arg in args))


def address(func, types, on_disk=True):
    """Return the address of a compiled function, by numba's convention, and its dispatcher.

    That is, int32 f(result *, exception **, arguments...). It is valid while the dispatcher lives.
    """
    options = OPTIONS | LEAN | {"no_cpython_wrapper": True}
    dispatcher = njit(fastmath=SUMS, **options)(func)
    if on_disk:
        keep(dispatcher)
    dispatcher.compile(types)
    compiled = dispatcher.overloads[types]
    return compiled.library.get_pointer_to_function(compiled.fndesc.llvm_func_name), dispatcher
