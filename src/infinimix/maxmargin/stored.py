"""Parts of a file that may say anything: what they must be before they are taken over."""

from __future__ import annotations

from typing import Any

import numpy as np

from infinimix.estimators.common.labels import Labels, check_labels


def check_array(
    name: str, value: Any, shape: str, sizes: dict[str, int], whole: bool = False
) -> Any:
    """Return a fitted attribute if it has the dimensions that it should have."""
    if shape == "":
        if isinstance(value, bool) or not isinstance(value, int if whole else float):
            raise ValueError(f"{name} is no number")
        if not np.isfinite(value):
            raise ValueError(f"{name} is not finite")
        return value
    kind = np.int64 if whole else np.float64
    if not isinstance(value, np.ndarray) or value.dtype != kind or value.ndim != len(shape):
        raise ValueError(f"{name} is no array of {len(shape)} dimensions")
    for letter, size in zip(shape, value.shape, strict=True):
        if letter != "*" and sizes.setdefault(letter, size) != size:
            raise ValueError(f"{name} does not fit the others")
    if not np.isfinite(value).all():
        raise ValueError(f"{name} has numbers that are not finite")
    return value


def check_names(names: Any, d: int) -> np.ndarray:
    """Return names of columns, if there is one for each."""
    if not isinstance(names, list) or len(names) != d or not all(isinstance(n, str) for n in names):
        raise ValueError("its names of columns do not fit")
    return np.array(names, dtype=object)


def check_labels_of(values: Any) -> Labels:
    """Return labels, if they are labels and differ."""
    labels = Labels()
    if not isinstance(values, list) or not values or len(set(check_labels(values))) != len(values):
        raise ValueError("its labels do not fit its classes")
    labels.extend(values)
    return labels
