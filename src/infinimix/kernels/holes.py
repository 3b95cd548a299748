"""Missing cells in encoded arrays: -1 among codes, NaN among numbers.

Compiled code skips such cells, and knows their type; what is to serve both asks `is_missing`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba.core import types
from numba.extending import overload

from infinimix.kernels.compile import INSIDE


def hole_of(dtype: Any) -> float:
    """Return what stands for a missing cell in an array of this dtype."""
    return np.nan if np.dtype(dtype).kind == "f" else -1


def is_hole(X: Any) -> Any:
    """Return where the cells of an array are missing."""
    return np.isnan(X) if X.dtype.kind == "f" else X < 0


def is_missing(x: Any) -> bool:
    """Return whether one cell is missing, also in compiled code."""
    return bool(x != x if isinstance(x, float) else x < 0)


@overload(is_missing, strict=False, jit_options=INSIDE)
def _compiled(x):
    if isinstance(x, types.Float):
        return lambda x: x != x
    return lambda x: x < 0
