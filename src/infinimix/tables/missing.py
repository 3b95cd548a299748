"""Which cell is missing; a file of its own, as it is asked before anything compiled is needed."""

from typing import Any

__all__ = ["is_missing"]


def is_missing(value: Any) -> bool:
    """Whether a cell is None, NaN, NaT or pandas.NA (which is unlike itself in its own way)."""
    if value is None or type(value).__name__ == "NAType":
        return True
    return bool(value != value)
