"""Static dispatch of compiled code on the class of the first argument.

A family is a NamedTuple of hyper-parameters, and its class chooses the body of an
operation: by a look-up in Python, by type inference in compiled code (inlined, cached on
disk). So one generic kernel serves any family, and a plain tuple is a product of families.
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
    bodies = {}

    def find(cls):  # a NamedTuple without a body of its own is a tuple
        return next((bodies[c] for c in cls.__mro__ if c in bodies), None)

    def op(first, *args):
        return find(type(first))(first, *args)

    @overload(op, strict=False, jit_options=INSIDE)
    def resolve(first, *args):
        return find(_python_class(first))

    def implement(*classes):
        def register(body):
            bodies.update(dict.fromkeys(classes, body))
            return body

        return register

    op.implement, op.find = implement, find
    op.__name__, op.__doc__ = signature.__name__, signature.__doc__
    return op
