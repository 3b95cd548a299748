"""Static dispatch of compiled code on the class of the first argument.

A family is a NamedTuple of hyper-parameters, and its class chooses the body of an
operation: by a look-up in Python, by type inference in compiled code (inlined, cached on
disk). So one generic kernel serves any family, and a plain tuple is a product of families.

A class may adopt the default of an operation that it has no body for. Without one it would
pass for a plain tuple: who registers classes asks `adopt`, and refuses those that lack a body.
"""

import numpy as np
from numba.core import types
from numba.extending import overload

from infinimix.kernels.compile import INSIDE


def _python_class(typ):
    """Return the Python class behind a numba type (a plain tuple is a product)."""
    if isinstance(typ, types.Array):
        return np.ndarray
    return getattr(typ, "instance_class", tuple) if isinstance(typ, types.BaseTuple) else object


def operation(signature):
    """Make `signature(first, ...)` open: each class registers its own body."""
    bodies, defaults = {}, []

    def find(cls):  # a NamedTuple without a body of its own is a tuple
        return next((bodies[c] for c in cls.__mro__ if c in bodies), None)

    def op(first, *args):
        body = find(type(first))
        if body is None:
            raise TypeError(f"{type(first).__name__} has no operation {op.__name__!r}")
        return body(first, *args)

    @overload(op, strict=False, jit_options=INSIDE)
    def resolve(first, *args):
        return find(_python_class(first))

    def implement(*classes):
        def register(body):
            bodies.update(dict.fromkeys(classes, body))
            return body

        return register

    def default(body):
        defaults.append(body)
        return body

    def adopt(cls):
        """Give a class the default if it has no body of its own; return whether it has one now."""
        if not any(c in bodies for c in cls.__mro__ if c not in (tuple, object)):
            if not defaults:
                return False
            bodies[cls] = defaults[-1]
        return True

    def refuse(cls):
        """Let a class that has no body of its own be refused in Python: it is no tuple."""

        def no_body(first, *args):
            raise TypeError(f"{type(first).__name__} has no operation {op.__name__!r}")

        bodies.setdefault(cls, no_body)

    op.implement, op.default, op.find, op.adopt, op.refuse = implement, default, find, adopt, refuse
    op.has_default = lambda: bool(defaults)
    op.is_default = lambda body: body in defaults
    op.__name__, op.__doc__ = signature.__name__, signature.__doc__
    return op
