"""Where the cost of stacked models is least, by L-BFGS.

The direction of a step is that of Newton's method with an estimate of the inverse curvature from
the last MEMORY steps (Nocedal's two loops). The logs of powers are bounded, by projection: one at
its bound stays there while the gradient pushes it outwards, all other numbers move, and a step that
would leave the bounds is cut off at them. `scipy.optimize` has such a method too (L-BFGS-B), but
takes a fifth of a second to load, at every first fit, and `tests/oracle` has it in plain Python,
where each step takes longer than a small cost does.
"""

import numpy as np

from infinimix.inference.stacking.cost import cost, curvature
from infinimix.kernels.compile import kernel, part
from infinimix.kernels.memory import borrowed

MEMORY = 10  # steps by which the curvature is estimated
ROOM = MEMORY + 1  # the next one may turn out to say nothing, and must not replace the first
ENOUGH = 1e-4  # of the decrease that the gradient promises, a step must bring
STEEP = 0.9  # of its fall along the step, so much the cost may still have after it
LENGTHENED = 10  # times at most
SHORTEST = 1e-14  # a step so many times shorter than the whole one is none
CONVEX = 1e-10  # a step along which the gradient turns less says nothing of the curvature


@kernel
def minimise(problem, x, down, up, tolerance, flat, most):
    """Move `x` to where the cost is least; return the cost there, and how often it was asked for.

    Parameters
    ----------
    problem : StackedRows
        The rows and the priors.
    x : array
        Where to begin, and at the end the solution.
    down, up : float
        How far the log of a power may be below its centre, and above it.
    tolerance : float
        Two steps in a row that lower the cost by less, relative to its size or to 1, are the last.
    flat : float
        So is one after which no number that can move has a larger entry in the gradient.
    most : int
        Number of steps.
    """
    problem, x = borrowed(problem), borrowed(x)
    n_models, size = problem.ratios.shape[0], x.shape[0]
    box = n_models, problem.centre - down, problem.centre + up
    for m in range(n_models):
        x[m] = min(max(x[m], box[1]), box[2])
    bend, gradient, direction = np.empty(size), np.empty(size), np.empty(size)
    next_x, next_gradient, trial, slope = (
        np.empty(size), np.empty(size), np.empty(size), np.empty(size),
    )  # fmt: skip
    moved, turned, products = np.empty((ROOM, size)), np.empty((ROOM, size)), np.empty(ROOM)
    curvature(problem, x, bend)
    value, calls, n_steps = cost(problem, x, gradient), 1, 0
    idle = False  # did the last step bring little? One may by chance, two in a row do not
    for _ in range(most):
        if point_down(x, gradient, box, direction) <= flat:
            break
        turn(direction, bend, moved, turned, products, n_steps)
        fall = fall_along(x, gradient, box, direction)
        if not fall < 0.0:  # what was learned of the curvature misleads here
            n_steps = 0
            point_down(x, gradient, box, direction)
            turn(direction, bend, moved, turned, products, n_steps)
            fall = fall_along(x, gradient, box, direction)
        found, tried = search(
            problem, x, value, gradient, direction, fall, box, trial, slope, next_x, next_gradient
        )
        calls += tried
        if found >= value:  # no step is short enough: this is as exact as the cost is
            if n_steps == 0:
                break
            n_steps = 0
            continue
        at, product, square = n_steps % ROOM, 0.0, 0.0
        for j in range(size):
            step, change = next_x[j] - x[j], next_gradient[j] - gradient[j]
            moved[at, j], turned[at, j] = step, change
            product += step * change
            square += change * change / bend[j]
            x[j], gradient[j] = next_x[j], next_gradient[j]
        if product > CONVEX * square:  # or the estimate is not convex
            products[at] = product
            n_steps += 1
        little = value - found <= tolerance * max(abs(value), 1.0)
        value = found
        if little and idle:
            break
        idle = little
    return value, calls


@part
def point_down(x, gradient, box, direction):
    """Fill in minus the gradient, 0 where a bound is in the way; return its largest entry."""
    n_models, low, high = box
    steepest = 0.0
    for j in range(x.shape[0]):
        direction[j] = -gradient[j]
    for m in range(n_models):
        if (x[m] <= low and gradient[m] > 0.0) or (x[m] >= high and gradient[m] < 0.0):
            direction[m] = 0.0
    for j in range(x.shape[0]):
        steepest = max(steepest, abs(direction[j]))
    return steepest


@part
def turn(direction, bend, moved, turned, products, n_steps):
    """Multiply minus the gradient by the inverse curvature; at first its size is a guess."""
    size, shares = direction.shape[0], np.empty(MEMORY)
    if n_steps == 0:
        length = 0.0
        for j in range(size):
            length += direction[j] * direction[j]
        length = np.sqrt(length)
        for j in range(size):
            direction[j] /= max(bend[j], length)
        return
    n_known = min(n_steps, MEMORY)
    for back in range(n_known):
        at, share = (n_steps - 1 - back) % ROOM, 0.0
        for j in range(size):
            share += moved[at, j] * direction[j]
        share /= products[at]
        shares[back] = share
        for j in range(size):
            direction[j] -= share * turned[at, j]
    at, square = (n_steps - 1) % ROOM, 0.0
    for j in range(size):
        square += turned[at, j] * turned[at, j] / bend[j]
    scale = products[at] / square
    for j in range(size):
        direction[j] *= scale / bend[j]
    for back in range(n_known - 1, -1, -1):
        at, share = (n_steps - 1 - back) % ROOM, 0.0
        for j in range(size):
            share += turned[at, j] * direction[j]
        share = shares[back] - share / products[at]
        for j in range(size):
            direction[j] += share * moved[at, j]


@part
def fall_along(x, gradient, box, direction):
    """Return the slope of the cost along a direction; components at a bound are set to 0."""
    n_models, low, high = box
    fall = 0.0
    for m in range(n_models):
        if (x[m] <= low and gradient[m] > 0.0) or (x[m] >= high and gradient[m] < 0.0):
            direction[m] = 0.0
    for j in range(x.shape[0]):
        fall += gradient[j] * direction[j]
    return fall


@part
def search(
    problem, x, value, gradient, direction, fall, box, trial, slope, next_x, next_gradient
):  # fmt: skip
    """Fill in a point along the direction where the cost is low enough, and the gradient there.

    The whole step comes first. After one that brings too little, a parabola says how long the next
    one is; one after which the cost falls nearly as fast as before was too short, and is lengthened
    for as long as that pays. Return the cost, no less than `value` if there is none, and how often
    it was asked for.
    """
    n_models, low, high = box
    size = x.shape[0]
    best, calls, length = value, 0, 1.0
    while length > SHORTEST:
        promised = 0.0
        for j in range(size):
            trial[j] = x[j] + length * direction[j]
        for m in range(n_models):
            trial[m] = min(max(trial[m], low), high)
        for j in range(size):
            promised += gradient[j] * (trial[j] - x[j])
        found = cost(problem, trial, slope)
        calls += 1
        if found <= value + ENOUGH * promised and found < best:
            best, rest = found, 0.0
            for j in range(size):
                next_x[j], next_gradient[j] = trial[j], slope[j]
                rest += slope[j] * direction[j]
            if rest > STEEP * fall or calls > LENGTHENED:
                break
            length *= 4.0
        elif best < value:  # a longer step was no better
            break
        else:
            lost = found - value - promised
            share = -0.5 * promised / lost if np.isfinite(lost) and lost > 0.0 else 0.1
            length *= min(max(share, 0.1), 0.5)
    return best, calls
