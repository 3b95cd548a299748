"""Missing cells in encoded arrays: -1 among codes, NaN among numbers.

Compiled code skips such cells; everybody else asks here.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def hole_of(dtype: Any) -> float:
    """Return what stands for a missing cell in an array of this dtype."""
    return np.nan if np.dtype(dtype).kind == "f" else -1


def is_hole(X: Any) -> Any:
    """Return where the cells of an array are missing."""
    return np.isnan(X) if X.dtype.kind == "f" else X < 0
