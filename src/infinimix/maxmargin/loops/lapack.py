"""Linear equations in compiled code by LAPACK's `dgesv`, which SciPy brings.

`np.linalg.solve` calls the same function, and needs seconds to compile around it: it may have one
right-hand side or many, any type and layout, and messages about shapes.
"""

import llvmlite.binding
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import get_cython_function_address, intrinsic

from infinimix.kernels.compile import INTERPRETED, kernel

SYMBOL = "infinimix_dgesv"  # machine code on disk finds the function of its process by this name
llvmlite.binding.add_symbol(
    SYMBOL, get_cython_function_address("scipy.linalg.cython_lapack", "dgesv")
)


@intrinsic
def _dgesv(typing_context, size, A, pivots, b):
    """Solve A x = b in place, A column by column; return 0, or which pivot was zero."""

    def generate(context, builder, signature, args):
        order = [cgutils.alloca_once(builder, ir.IntType(32)) for _ in range(3)]
        n, one, info = order
        builder.store(builder.trunc(args[0], ir.IntType(32)), n)
        builder.store(ir.IntType(32)(1), one)
        builder.store(ir.IntType(32)(0), info)
        arrays = zip(signature.args[1:], args[1:], strict=True)
        A, pivots, b = (context.make_array(typ)(context, builder, v).data for typ, v in arrays)
        passed = [n, one, A, n, pivots, b, n, info]
        kind = ir.FunctionType(ir.VoidType(), [value.type for value in passed])
        builder.call(cgutils.get_or_insert_function(builder.module, kind, SYMBOL), passed)
        return builder.sext(builder.load(info), ir.IntType(64))

    return types.int64(types.int64, A, pivots, b), generate


@kernel
def _solve(A, b):
    """Return the solution of A x = b; A is lost."""
    n = b.shape[0]
    x, pivots, sound = np.empty(n), np.empty(n, np.int32), True
    for i in range(n):
        x[i] = b[i]
        sound = sound and np.isfinite(b[i])
        for j in range(n):
            sound = sound and np.isfinite(A[i, j])
        for j in range(i):  # to the order of LAPACK, column by column
            A[i, j], A[j, i] = A[j, i], A[i, j]
    if not sound:
        raise np.linalg.LinAlgError("Array must not contain infs or NaNs.")
    if n > 0 and _dgesv(n, A, pivots, x) != 0:
        raise np.linalg.LinAlgError("Matrix is singular to machine precision.")
    return x


solve = np.linalg.solve if INTERPRETED else _solve
