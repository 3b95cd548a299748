"""The modules that the code of a kernel and the types of its arguments come from.

A function may have others in its closure: the bodies of a family, in the functions that engines
call (`blocks`). The class of an argument chooses the bodies of operations (`dispatch`), and a type
of our own says how its values are read.
"""

from contextlib import suppress
from types import FunctionType

from numba.core import types
from numba.extending import _Intrinsic as Intrinsic

PACKAGE = __name__.partition(".")[0]
PLAIN = {str, int, bool, float, type(None), types.Integer, types.Float}  # nothing is in them


def origins(func, signature):
    """Return the names of all modules that a function and the types of its arguments come from.

    Of what is not ours there are only functions and tuples: numba's types choose no body.
    """
    found, seen, waiting = set(), {}, [func, *signature]
    while waiting:
        value = waiting.pop()
        if type(value) not in PLAIN and id(value) not in seen:
            seen[id(value)] = value  # it lives on, so nothing else has its number
            found.add(_module_of(value))
            waiting += _parts_of(value)
    return found - {None}


def is_ours(module):
    """Is this the name of a module of the package?"""
    return module == PACKAGE or module.startswith(f"{PACKAGE}.")


def _module_of(value):
    if isinstance(value, FunctionType):
        return value.__globals__["__name__"]
    is_class = isinstance(value, type) and value is not tuple
    if is_class and (issubclass(value, tuple) or is_ours(value.__module__)):
        return value.__module__
    return None


def _parts_of(value):
    """Return what else a value is made of that may be compiled, or choose what is."""
    if isinstance(value, FunctionType):
        return [*_closed_over(value), *(value.__defaults__ or ())]
    if isinstance(value, type):
        return value.__mro__
    if isinstance(value, types.Dispatcher):
        return [value.dispatcher]
    if hasattr(value, "py_func"):  # compiled by numba, or by us
        return [value.py_func]
    if isinstance(value, dict):
        return [type(value), *value.values()]
    if isinstance(value, tuple | list | set | frozenset):
        return [type(value), *value]
    if isinstance(value, types.Type | Intrinsic) or is_ours(type(value).__module__):
        return [type(value), *getattr(value, "__dict__", {}).values()]
    return []


def _closed_over(func):
    """Yield what a function has from the functions that it is written in."""
    for cell in func.__closure__ or ():
        with suppress(ValueError):  # nothing yet: what is compiled has all
            yield cell.cell_contents
