"""One encoded column back to natural values, for samples and prototypes.

Numbers come back as NumPy numbers with NaN where they are missing; everything else comes back
as an object array with None where it is missing.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["decode_bits", "decode_codes", "decode_counts", "decode_numbers"]

#: Integers up to here are exact as float64.
EXACT = 2**53


def decode_numbers(cells: NDArray[Any], source: str) -> NDArray[Any]:
    """Decode a column of numbers; `source` is the type its values came as (`Schema.sources`)."""
    return np.array(cells, dtype=np.float64)


def decode_bits(cells: NDArray[Any], source: str) -> NDArray[Any]:
    """Decode a column of zeros and ones."""
    missing = cells < 0
    if source == "bool":
        out = cells.astype(bool)
        return _with_none(out, missing) if missing.any() else out
    if source == "float" or missing.any():
        return np.where(missing, np.nan, cells.astype(np.float64))
    return cells.astype(np.int64)


def decode_counts(cells: NDArray[Any], source: str) -> NDArray[Any]:
    """Decode a column of whole numbers."""
    whole = source != "float" and not np.isnan(cells).any()
    return cells.astype(np.int64 if whole else np.float64)


def decode_codes(codes: NDArray[Any], categories: tuple[Any, ...]) -> NDArray[Any]:
    """Decode a column of categories, given the values by code."""
    missing = codes < 0
    if all(type(value) is bool for value in categories):
        values = np.array(categories, dtype=bool)
    elif all(type(value) in (bool, int, float) for value in categories):
        values = _exact_array(categories)
    else:
        values = np.fromiter(categories, dtype=object, count=len(categories))
    if not missing.any():
        return values.take(codes)
    exact = values.dtype.kind == "f" or (
        values.dtype.kind in "iu" and all(abs(value) <= EXACT for value in categories)
    )
    if exact:
        return np.append(values.astype(np.float64), np.nan).take(codes)  # -1 is the last
    nothing = np.array([None], dtype=object)
    return np.append(values.astype(object), nothing).take(codes)


def _exact_array(numbers: tuple[Any, ...]) -> NDArray[Any]:
    """Numbers as int64, uint64 or float64; as objects where NumPy would round huge integers."""
    values = np.array(numbers)
    whole = all(type(number) is int for number in numbers)
    if values.dtype.kind == "f" and whole and min(numbers) >= 0 and max(numbers) < 2**64:
        return np.array(numbers, dtype=np.uint64)
    return values if values.tolist() == list(numbers) else np.array(numbers, dtype=object)


def _with_none(values: NDArray[Any], missing: NDArray[np.bool_]) -> NDArray[Any]:
    out = values.astype(object)
    out[missing] = None
    return out
