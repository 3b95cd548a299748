"""When the columns of a table are the pixels of an image, and how to draw rows of it.

Only names decide: `pixel_0_0`, `pixel_0_1`, ... or `p0`, `px0`, `pix0`, `pixel1`, ..., a square
number of them and nothing else. Otherwise the caller says so.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from infinimix.reports.markup import Markup
from infinimix.reports.pictures import draw_grid
from infinimix.tables.column import record_of

STEM = r"(?:p|px|pix|pixels?)[_.-]?"
LEAST_SIDE = 4


class Image(NamedTuple):
    """How rows are drawn: pixels in this order, values between these bounds."""

    height: int
    width: int
    names: tuple[str, ...]
    low: float
    high: float

    def draw(self, values: Mapping[str, Any], label: str, kind: str = "") -> Markup:
        """Return a picture of a row; missing cells are hatched."""
        cells = [values[name] for name in self.names]
        grid = np.array([np.nan if c is None else c for c in cells], dtype=float)
        shades = (grid - self.low) / ((self.high - self.low) or 1.0)
        return draw_grid(np.clip(shades, 0.0, 1.0).reshape(self.height, self.width), label, kind)


def find_shape(names: Sequence[str]) -> tuple[int, int, tuple[str, ...]] | None:
    """Return height, width and the names in reading order, if the names are those of pixels.

    >>> find_shape([f"p{i}" for i in range(64)])[:2]
    (8, 8)
    >>> find_shape([f"pixel_{i}_{j}" for i in range(4) for j in range(6)])[:2]
    (4, 6)
    >>> find_shape([f"x{i}" for i in range(64)])
    """
    pairs = [re.fullmatch(rf"{STEM}(\d+)[_x](\d+)", name, re.I) for name in names]
    if names and all(pairs):
        at = {(int(m[1]), int(m[2])): m[0] for m in pairs if m}
        height, width = (1 + max(k) - min(k) for k in zip(*at, strict=True))
        if height * width == len(names) == len(at) and min(height, width) >= LEAST_SIDE:
            return height, width, tuple(at[key] for key in sorted(at))
        return None
    singles = [re.fullmatch(rf"{STEM}(\d+)", name, re.I) for name in names]
    side = round(len(names) ** 0.5)
    if not all(singles) or side * side != len(names) or side < LEAST_SIDE:
        return None
    by_number = {int(m[1]): m[0] for m in singles if m}
    numbers = sorted(by_number)
    if len(numbers) != len(names) or numbers[0] > 1 or numbers[-1] - numbers[0] != len(names) - 1:
        return None
    return side, side, tuple(by_number[i] for i in numbers)


def find_image(kinds: Mapping[str, str], values: np.ndarray, asked: Any = None) -> Image | None:
    """Return how to draw rows, or None where columns are not pixels.

    Parameters
    ----------
    kinds : mapping
        The kind of each column, in table order.
    values : array
        Numbers that will be drawn, for their range.
    asked : pair of int or False, optional
        Height and width that the caller asks for; False for no pictures.
    """
    if asked is False:
        return None
    names = tuple(kinds)
    found = find_shape(names)
    if asked is not None:
        height, width = (int(side) for side in asked)
        if height * width != len(names):
            raise ValueError(
                f"image is {height} by {width}, but there are {len(names)} columns to draw."
            )
        found = height, width, names
    if found is None or any(record_of(kind).has_categories for kind in kinds.values()):
        if asked is not None:
            raise ValueError("image needs columns of numbers; some are categorical.")
        return None
    if all(record_of(kind).two_valued for kind in kinds.values()):
        return Image(*found, 0.0, 1.0)
    return Image(*found, float(np.nanmin(values)), float(np.nanmax(values)))
