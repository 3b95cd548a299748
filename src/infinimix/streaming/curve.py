"""Curves of a run: means over the latest rows, at evenly spaced places.

The window slides; only its rows are kept. When a stream is so long that there would be too many
places, every other one is dropped and the rest of the curve is as sparse.
"""

from __future__ import annotations

import warnings

import numpy as np

PLACES = 1000  # at most; then every other one goes


class Curve:
    """Means of some values over a sliding window.

    Parameters
    ----------
    window : int
        Rows over which is averaged; less at the beginning.
    names : sequence of str
        The values; NaN is left out of means.
    """

    def __init__(self, window: int, names: tuple[str, ...]) -> None:
        self.window = window
        self.stride = max(1, window // 10)
        self.names = names
        self.n_rows = 0
        self.latest = np.empty((len(names), 0))
        self.points: list[tuple[int, list[float]]] = []

    def add(self, *values: np.ndarray) -> None:
        """Take in rows: an array for each name."""
        recent = np.concatenate([self.latest, np.array(values, dtype=float)], axis=1)
        before = self.n_rows - self.latest.shape[1]  # rows that are gone
        self.n_rows = before + recent.shape[1]
        first = (self.n_rows - len(values[0])) // self.stride + 1
        places = list(range(first * self.stride, self.n_rows + 1, self.stride))
        while len(self.points) + len(places) > PLACES:  # before means are taken that would go
            self.stride *= 2
            self.points = [point for point in self.points if point[0] % self.stride == 0]
            places = [place for place in places if place % self.stride == 0]
        for place in places:
            last = place - before
            self.points.append((place, self._mean(recent[:, max(0, last - self.window) : last])))
        self.latest = recent[:, -self.window :]

    def _mean(self, values: np.ndarray) -> list[float]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # nothing but NaN: the mean is NaN
            means: list[float] = np.nanmean(values, axis=1).tolist()
        return means

    def columns(self) -> dict[str, list[float]]:
        """Return the curve as columns, the number of rows so far first; it ends at the end."""
        points = list(self.points)
        if self.n_rows and (not points or points[-1][0] != self.n_rows):
            points.append((self.n_rows, self._mean(self.latest)))
        out: dict[str, list[float]] = {"row": [place for place, _ in points]}
        for k, name in enumerate(self.names):
            out[name] = [means[k] for _, means in points]
        return out
