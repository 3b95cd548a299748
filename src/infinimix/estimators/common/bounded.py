"""The least value of a function of one number between two bounds, by Brent's method.

The steps are those of `scipy.optimize.minimize_scalar(..., method="bounded")`, to the bit. SciPy's
is one page of Python, but all of `scipy.optimize` is imported with it, at every first fit.
"""

from __future__ import annotations

from collections.abc import Callable
from math import copysign, sqrt

GOLDEN = 0.5 * (3.0 - sqrt(5.0))
ROOT_EPS = sqrt(2.2e-16)


def minimise(
    cost: Callable[[float], float], low: float, high: float, tol: float = 1e-5, most: int = 500
) -> float:
    """Return where the cost is least, in at most `most` calls of it.

    A parabola through the three best points says where to look next; where it cannot be trusted,
    the larger part of the interval is cut in the golden ratio.
    """
    best = second = third = low + GOLDEN * (high - low)
    f_best = f_second = f_third = cost(best)
    step = last = 0.0
    for _ in range(most - 1):
        middle = 0.5 * (low + high)
        near = ROOT_EPS * abs(best) + tol / 3.0
        if not abs(best - middle) > 2.0 * near - 0.5 * (high - low):
            break
        p = q = 0.0
        before, trusted = last, False
        if abs(last) > near:
            r = (best - second) * (f_best - f_third)
            q = (best - third) * (f_best - f_second)
            p = (best - third) * q - (best - second) * r
            q = 2.0 * (q - r)
            p, q = (-p if q > 0.0 else p), abs(q)
            last = step
            inside = q * (low - best) < p < q * (high - best)
            trusted = abs(p) < abs(0.5 * q * before) and inside
        if trusted:
            step = p / q
            x = best + step
            if x - low < 2.0 * near or high - x < 2.0 * near:
                step = near if middle >= best else -near
        else:
            last = low - best if best >= middle else high - best
            step = GOLDEN * last
        x = best + copysign(max(abs(step), near), step if step else 1.0)
        f = cost(x)
        if f <= f_best:
            low, high = (best, high) if x >= best else (low, best)
            third, f_third, second, f_second, best, f_best = second, f_second, best, f_best, x, f
            continue
        low, high = (x, high) if x < best else (low, x)
        if f <= f_second or second == best:
            third, f_third, second, f_second = second, f_second, x, f
        elif f <= f_third or third in (best, second):
            third, f_third = x, f
    return best
