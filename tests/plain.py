"""Kernels as tests call them: bodies as plain Python, and machine code without a look at types.

Bodies are for parts that nothing but a test calls by themselves.

Numba would compile such a part once more, for seconds, though all that runs is the kernels that
contain it. The same lines run here as Python, on small input; compiled they run in tests of those
kernels (and `tests/oracle/test_interpreted.py` compares both forms).
"""

from functools import cache
from types import FunctionType

from numba.core.extending import _Intrinsic

from infinimix.kernels.compile import INTERPRETED, Kernel, entry


@cache
def plain(kernel):
    """Return a kernel's body as a function of Python, with plain bodies of all that it calls.

    What is made of machine instructions has no such body and stays compiled, in a tenth of a
    second.
    """
    if INTERPRETED:
        return kernel
    func = kernel.py_func
    names = [name for name in func.__code__.co_names if name in func.__globals__]
    used = {name: func.__globals__[name] for name in names}
    if any(isinstance(value, _Intrinsic) for value in used.values()):
        return kernel
    called = {name: plain(value) for name, value in used.items() if isinstance(value, Kernel)}
    return FunctionType(func.__code__, func.__globals__ | called, func.__name__, func.__defaults__)


def typed_once(kernel):
    """Return a kernel that looks at the types of its arguments in its first call alone.

    That takes ten times as long as a move in a small graph. Arguments of later calls must have the
    types of the first, as `entry` says: make one for each test.
    """
    found = []

    def call(*args):
        if not found:
            found.append(entry(kernel, *args))
        return found[0](*args)

    return call
