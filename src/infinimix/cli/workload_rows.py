"""The rows of `workloads`: small tables of every kind of column, and documents."""

from __future__ import annotations

from typing import Any

N = 40
ALL_KINDS = ("binary", "categorical", "real", "count", "spiked", "gaussian")
#: What must be said of the kinds of columns that are not guessed.
COLUMNS: dict[Any, str] = {
    "count0": "count", "count1": "count", "spiked0": "spiked", "spiked1": "spiked",
    ("gaussian0", "gaussian1"): "gaussian",
}  # fmt: skip
_PARTS = ("a late goal", "in the last minute", "a new law", "in the old house", "a late law")
WORDS = [f"{_PARTS[j % 5]} {_PARTS[j % 3]}" for j in range(N)]


def table(*kinds: str) -> tuple[dict[str, Any], Any]:
    """Return columns of these kinds, two of each, and labels."""
    import numpy as np

    rng = np.random.default_rng(0)
    y = rng.integers(2, size=N)
    make = {
        "binary": lambda: rng.random(N) < 0.3 + 0.4 * y,
        "categorical": lambda: np.array(list("abc"), object)[rng.integers(3, size=N)],
        "real": lambda: rng.normal(size=N) + y,
        "count": lambda: rng.poisson(3.0, N).astype(float),
        "spiked": lambda: np.where(rng.random(N) < 0.5, 0.0, rng.normal(size=N)),
        "gaussian": lambda: rng.normal(size=N) - y,
    }
    return {f"{kind}{j}": make[kind]() for kind in kinds for j in range(2)}, y


def frame(*kinds: str, holes: bool = False) -> tuple[Any, Any]:
    """Return such a table as a frame, every seventh cell of which may be missing."""
    import numpy as np
    import pandas as pd

    columns, y = table(*kinds)
    rows = pd.DataFrame(columns)
    if holes:
        rows = rows.mask(np.arange(rows.size).reshape(rows.shape) % 7 == 3)
    return rows, y
