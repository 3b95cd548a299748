"""Charts as inline SVG: they take their colours from the page, light, dark or printed.

A chart is 360 units wide and is shown at about that many pixels, on a phone as on a desk, so
that its letters stay readable. Each has a label for those who hear the page; a table with the
same figures belongs beside it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from infinimix.reports.markup import Markup, draw

WIDTH, HEIGHT = 360, 220
LEFT, RIGHT, TOP, BOTTOM = 46, 20, 10, 36
LETTER = 7.8  # width of a digit of the text at an axis, at most

Format = Callable[[float], str]


def nice_ticks(low: float, high: float, most: int = 5) -> list[float]:
    """Return round numbers from low to high: at most so many, or the next few if that leaves one.

    >>> nice_ticks(0, 0.9)
    [0.0, 0.2, 0.4, 0.6, 0.8]
    >>> nice_ticks(0, 12000)
    [0.0, 5000.0, 10000.0]
    >>> nice_ticks(-4.6, 4.9, most=4)
    [-4.0, -2.0, 0.0, 2.0, 4.0]
    """
    if not high > low:
        return [low]
    power = 10.0 ** math.floor(math.log10((high - low) / most))
    steps = [m * power for m in (0.5, 1, 2, 5, 10)]
    k = next(k for k in range(1, 5) if (high - low) / steps[k] <= most)
    ticks = _multiples(steps[k], low, high)
    return ticks if len(ticks) > 1 else _multiples(steps[k - 1], low, high)


def _multiples(step: float, low: float, high: float) -> list[float]:
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    digits = max(0, -math.floor(math.log10(step)))
    return [round(k * step, digits) for k in range(first, last + 1)]


class Axes:
    """The axes of a chart: from numbers to places."""

    def __init__(
        self,
        x: tuple[float, float],
        y: tuple[float, float],
        y_format: Format,
        height: int = HEIGHT,
    ) -> None:
        self.x_range, self.y_range, self.height = x, y, height
        ticks = nice_ticks(*y)
        self.y_texts = [(tick, y_format(tick)) for tick in ticks]
        longest = max(len(text) for _, text in self.y_texts)
        self.left = max(
            LEFT, math.ceil(8 + LETTER * longest)
        )  # or the text would leave the picture

    def x(self, value: float) -> float:
        """Return how far to the right a value is."""
        low, high = self.x_range
        return self.left + (value - low) / ((high - low) or 1.0) * (WIDTH - self.left - RIGHT)

    def y(self, value: float) -> float:
        """Return how far down a value is."""
        low, high = self.y_range
        room = self.height - TOP - BOTTOM
        return self.height - BOTTOM - (value - low) / ((high - low) or 1.0) * room

    def axes(self, x_name: str, x_format: Format) -> dict[str, Any]:
        """Return what the template draws: ticks with their text, and the name of the axis below."""
        x_ticks = []
        for tick in nice_ticks(*self.x_range, most=4):
            x = self.x(tick)
            at_end = x > WIDTH - RIGHT - 12  # the text would leave the picture
            x_ticks.append((*(("end", WIDTH - 2.0) if at_end else ("mid", x)), x_format(tick)))
        return {
            "x_ticks": x_ticks,
            "y_ticks": [(self.y(tick), text) for tick, text in self.y_texts],
            "x_name": x_name, "width": WIDTH, "height": self.height, "base": self.height - BOTTOM,
            "left": self.left, "right": WIDTH - RIGHT,
            "middle": (self.left + WIDTH - RIGHT) / 2,
        }  # fmt: skip


def draw_line(
    xs: Sequence[float], ys: Sequence[float], label: str, x_name: str, y_format: Format
) -> Markup:
    """Return a curve from zero on; it is broken where a value is missing."""
    values = np.asarray(ys, dtype=float)
    top = float(np.nanmax(values, initial=0.0)) if np.isfinite(values).any() else 0.0
    frame = Axes((0.0, float(xs[-1])), (0.0, top * 1.05 or 1.0), y_format)
    path, pen = [], "M"
    for x, y in zip(xs, values, strict=True):
        if math.isfinite(y):
            path.append(f"{pen}{frame.x(x):.1f} {frame.y(y):.1f}")
            pen = "L"
        else:
            pen = "M"
    dot = path[0][1:].split() if len(path) == 1 else None  # a single point has no line
    axes = frame.axes(x_name, lambda tick: f"{tick:,.0f}")
    return draw("pictures.html", "line", label, axes, "".join(path), dot)


def draw_reliability(
    bins: Sequence[tuple[float, float, float, float, float]], label: str
) -> Markup:
    """Return a calibration plot of bins: confidence, accuracy, its interval, share of rows."""
    low = min([0.5, *(min(b[0], b[2]) for b in bins)])
    low = math.floor(low * 10) / 10
    frame = Axes((low, 1.0), (low, 1.0), "{:.0%}".format, height=280)
    ideal = f"M{frame.x(low):.1f} {frame.y(low):.1f}L{frame.x(1):.1f} {frame.y(1):.1f}"
    points = []
    for confidence, right, least, most, share in bins:
        text = (
            f"confidence {confidence:.0%}, accuracy {right:.0%} ({least:.0%} to {most:.0%}), "
            f"{share:.0%} of the rows"
        )
        radius = 3.0 + 5.0 * math.sqrt(share)
        x, y = frame.x(confidence), frame.y(right)
        points.append((x, y, frame.y(least), frame.y(most), radius, text))
    axes = frame.axes("confidence of the prediction", "{:.0%}".format)
    return draw("pictures.html", "reliability", label, axes, ideal, points)
