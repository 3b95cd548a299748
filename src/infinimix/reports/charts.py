"""Charts as inline SVG, drawn here: they take their colours from the page, light, dark or printed.

A chart is 360 units wide and is shown at about that many pixels, on a phone as on a desk, so
that its letters stay readable. Each has a label for those who hear the page; a table with the
same figures belongs beside it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from html import escape

import numpy as np

WIDTH, HEIGHT = 360, 220
LEFT, RIGHT, TOP, BOTTOM = 46, 20, 10, 36

Format = Callable[[float], str]


def nice_ticks(low: float, high: float, most: int = 5) -> list[float]:
    """Return round numbers from low to high, at most so many.

    >>> nice_ticks(0, 0.9)
    [0.0, 0.2, 0.4, 0.6, 0.8]
    >>> nice_ticks(0, 12000)
    [0.0, 5000.0, 10000.0]
    """
    if not high > low:
        return [low]
    power = 10.0 ** math.floor(math.log10((high - low) / most))
    step = next(m * power for m in (1, 2, 5, 10) if (high - low) / (m * power) <= most)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    digits = max(0, -math.floor(math.log10(step)))
    return [round(k * step, digits) for k in range(first, last + 1)]


class Frame:
    """The axes of a chart: from numbers to places."""

    def __init__(
        self, x: tuple[float, float], y: tuple[float, float], height: int = HEIGHT
    ) -> None:
        self.x_range, self.y_range, self.height = x, y, height

    def x(self, value: float) -> float:
        """Return how far to the right a value is."""
        low, high = self.x_range
        return LEFT + (value - low) / ((high - low) or 1.0) * (WIDTH - LEFT - RIGHT)

    def y(self, value: float) -> float:
        """Return how far down a value is."""
        low, high = self.y_range
        room = self.height - TOP - BOTTOM
        return self.height - BOTTOM - (value - low) / ((high - low) or 1.0) * room

    def axes(self, x_name: str, x_format: Format, y_format: Format) -> Iterator[str]:
        """Yield grid lines, ticks and the name of the axis below."""
        for tick in nice_ticks(*self.y_range):
            y = self.y(tick)
            yield f'<path class="rule" d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}"/>'
            text = escape(y_format(tick))
            yield f'<text class="end" x="{LEFT - 6}" y="{y + 4:.1f}">{text}</text>'
        base = self.height - BOTTOM
        for tick in nice_ticks(*self.x_range, most=4):
            text = escape(x_format(tick))
            x = self.x(tick)
            kind, x = ("end", WIDTH - 2.0) if x > WIDTH - RIGHT - 12 else ("mid", x)
            yield f'<text class="{kind}" x="{x:.1f}" y="{base + 16}">{text}</text>'
        middle = (LEFT + WIDTH - RIGHT) / 2
        yield f'<text class="mid" x="{middle}" y="{base + 32}">{escape(x_name)}</text>'

    def svg(self, label: str, pieces: Iterator[str]) -> str:
        """Return the picture."""
        head = f'<svg class="plot" role="img" aria-label="{escape(label)}"'
        return f'{head} viewBox="0 0 {WIDTH} {self.height}">\n' + "\n".join(pieces) + "\n</svg>"


def draw_line(
    xs: Sequence[float], ys: Sequence[float], label: str, x_name: str, y_format: Format
) -> str:
    """Return a curve from zero on; it is broken where a value is missing."""
    values = np.asarray(ys, dtype=float)
    top = float(np.nanmax(values, initial=0.0)) if np.isfinite(values).any() else 0.0
    frame = Frame((0.0, float(xs[-1])), (0.0, top * 1.05 or 1.0))

    def pieces() -> Iterator[str]:
        yield from frame.axes(x_name, lambda tick: f"{tick:,.0f}", y_format)
        path, pen = [], "M"
        for x, y in zip(xs, values, strict=True):
            if math.isfinite(y):
                path.append(f"{pen}{frame.x(x):.1f} {frame.y(y):.1f}")
                pen = "L"
            else:
                pen = "M"
        yield f'<path class="curve" d="{"".join(path)}"/>'
        if len(path) == 1:  # a single point has no line
            across, down = path[0][1:].split()
            yield f'<circle class="dot" cx="{across}" cy="{down}" r="3"/>'

    return frame.svg(label, pieces())


def draw_reliability(bins: Sequence[tuple[float, float, float, float, float]], label: str) -> str:
    """Return a calibration plot of bins: confidence, share right, its interval, share of rows."""
    low = min([0.5, *(min(b[0], b[2]) for b in bins)])
    low = math.floor(low * 10) / 10
    frame = Frame((low, 1.0), (low, 1.0), height=280)

    def pieces() -> Iterator[str]:
        yield from frame.axes("confidence of the prediction", "{:.0%}".format, "{:.0%}".format)
        ends = f"M{frame.x(low):.1f} {frame.y(low):.1f}L{frame.x(1):.1f} {frame.y(1):.1f}"
        yield f'<path class="ideal" d="{ends}"/>'
        for confidence, right, least, most, share in bins:
            x = frame.x(confidence)
            yield f'<path class="whisker" d="M{x:.1f} {frame.y(least):.1f}V{frame.y(most):.1f}"/>'
            text = f"confidence {confidence:.0%}, accuracy {right:.0%} ({least:.0%} to {most:.0%})"
            radius = 3.0 + 5.0 * math.sqrt(share)
            yield (
                f'<circle class="dot" cx="{x:.1f}" cy="{frame.y(right):.1f}" r="{radius:.1f}">'
                f"<title>{text}, {share:.0%} of the rows</title></circle>"
            )

    return frame.svg(label, pieces())
