"""L-BFGS for any smooth function with bounds, in plain Python: what compiled code is held against.

`inference/stacking/descent.py` does the same steps for one cost. Here the cost is any callable, so
that tests can compare the method itself with SciPy's on many functions.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from math import sqrt
from typing import NamedTuple

import numpy as np

MEMORY = 10  # steps by which the curvature is estimated
ENOUGH = 1e-4  # of the decrease that the gradient promises, a step must bring
FLAT = 1e-5  # largest entry of the gradient at a solution, unless another is asked for
STEEP = 0.9  # of its fall along the step, so much the cost may still have after it
LENGTHENED = 10  # times at most
SHORTEST = 1e-14  # a step so many times shorter than the whole one is none

Cost = Callable[[np.ndarray], tuple[float, np.ndarray]]
Bounds = Mapping[int, tuple[float, float]]
Step = tuple[np.ndarray, np.ndarray, float]  # of a step, of the gradient, and their product


class Solution(NamedTuple):
    """Where a function is least, as far as it was followed."""

    x: np.ndarray
    value: float
    gradient: np.ndarray
    calls: int  # of the function


class _Box:
    """The bounds of some of the numbers."""

    def __init__(self, bounds: Bounds):
        self.at = np.array(list(bounds), np.int64)
        self.low, self.high = np.array(list(bounds.values()), float).reshape(-1, 2).T

    def project(self, x: np.ndarray) -> np.ndarray:
        """Move numbers that are outside to their bounds, in place."""
        if len(self.at):
            x[self.at] = np.minimum(np.maximum(x[self.at], self.low), self.high)
        return x

    def stuck(self, x: np.ndarray, gradient: np.ndarray) -> np.ndarray:
        """Return which numbers are at a bound that the cost would fall beyond."""
        if not len(self.at):
            return self.at
        x, slope = x[self.at], gradient[self.at]
        outwards = ((x <= self.low) & (slope > 0.0)) | ((x >= self.high) & (slope < 0.0))
        return self.at[outwards]


def minimise(
    cost: Cost,
    start: np.ndarray,
    bounds: Bounds | None = None,
    tolerance: float = 1e-9,
    flat: float = FLAT,
    most: int = 200,
    curvature: np.ndarray | float = 1.0,
) -> Solution:
    """Return where the cost is least.

    Parameters
    ----------
    cost : callable
        Returns the value at a vector, and the gradient there in an array of its own.
    start : array (n,)
        Where to begin; it is not changed.
    bounds : mapping, optional
        Lowest and highest value of bounded numbers, by index.
    tolerance : float
        Two steps in a row that lower the cost by less, relative to its size or to 1, are the last.
    flat : float
        So is one after which no number that can move has a larger entry in the gradient.
    most : int
        Number of steps.
    curvature : array (n,) or float
        A positive guess of the second derivatives at the start. It need not be right; numbers
        of which the cost depends in very different measure are found in fewer steps with it.

    Examples
    --------
    >>> cost = lambda x: (float(((x - 3.0) ** 2).sum()), 2.0 * (x - 3.0))
    >>> minimise(cost, np.zeros(2), bounds={1: (-1.0, 1.0)}).x
    array([3., 1.])
    """
    box = _Box(bounds or {})
    x = box.project(np.array(start, float))
    value, gradient = cost(x)
    calls, steps = 1, deque[Step](maxlen=MEMORY)
    idle = False  # did the last step bring little? One may by chance, two in a row do not
    for _ in range(most):
        stuck = box.stuck(x, gradient)
        free = gradient.copy()
        free[stuck] = 0.0
        if np.abs(free).max(initial=0.0) <= flat:
            break
        direction = _newton(free, steps, curvature)
        direction[stuck] = 0.0
        if not direction @ free < 0.0:  # what was learned of the curvature misleads here
            steps.clear()
            direction = _newton(free, steps, curvature)
        found = _search(cost, box, x, value, gradient, direction)
        calls += found.calls
        if found.value >= value:  # no step is short enough: this is as exact as the cost is
            if not steps:
                break
            steps.clear()
            continue
        moved, turned = found.x - x, found.gradient - gradient
        bent = float(moved @ turned)
        if bent > 1e-10 * float(turned @ (turned / curvature)):  # or the estimate is not convex
            steps.append((moved, turned, bent))
        little = value - found.value <= tolerance * max(abs(value), 1.0)
        x, value, gradient = found.x, found.value, found.gradient
        if little and idle:
            break
        idle = little
    return Solution(x, value, gradient, calls)


def _newton(gradient: np.ndarray, steps: deque[Step], curvature: np.ndarray | float) -> np.ndarray:
    """Return minus the inverse curvature times the gradient; at first its size is a guess."""
    if not steps:
        return -gradient / np.maximum(curvature, sqrt(float(gradient @ gradient)))
    direction, shares = -gradient, []
    for moved, turned, bent in reversed(steps):
        share = (moved @ direction) / bent
        direction = direction - share * turned
        shares.append(share)
    _, turned, bent = steps[-1]
    direction /= curvature
    direction *= bent / float(turned @ (turned / curvature))
    for (moved, turned, bent), share in zip(steps, reversed(shares), strict=True):
        direction += (share - (turned @ direction) / bent) * moved
    return direction


def _search(
    cost: Cost, box: _Box, x: np.ndarray, value: float, gradient: np.ndarray, direction: np.ndarray
) -> Solution:
    """Return a point along the direction, within the bounds, where the cost is low enough.

    The whole step comes first. After one that brings too little, a parabola says how long the next
    one is; one after which the cost falls nearly as fast as before was too short, and is lengthened
    for as long as that pays. A solution that is no better than `value` says that there is none.
    """
    kept, length, calls = Solution(x, value, gradient, 0), 1.0, 0
    fall = float(gradient @ direction)
    while length > SHORTEST:
        there = box.project(x + length * direction)
        promised = float(gradient @ (there - x))
        found, slope = cost(there)
        calls += 1
        if found <= value + ENOUGH * promised and found < kept.value:
            kept = Solution(there, found, slope, calls)
            if float(slope @ direction) > STEEP * fall or calls > LENGTHENED:
                return kept
            length *= 4.0
        elif kept.calls:  # a longer step was no better
            break
        else:
            bend = found - value - promised
            best = -0.5 * promised / bend if np.isfinite(bend) and bend > 0.0 else 0.1
            length *= min(max(best, 0.1), 0.5)
    return kept._replace(calls=calls)
