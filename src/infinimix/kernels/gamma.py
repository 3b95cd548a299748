"""Ratios of gamma functions without calls: straight-line arithmetic that LLVM can vectorise.

For s > 0 and x >= 0 let z = s + SHIFT. Stirling's series at z and z + x, and the product that
leads from s to z, give

    lgamma(s + x) - lgamma(s) = (z + x - 1/2) log(1 + x / z) + x (log z - 1)
                                + rest(z + x) - rest(z) - log of prod_j (s + x + j) / (s + j)

with j = 0 .. SHIFT - 1. Nothing here is as large as the two lgammas, which for s = 1e9 would
take ten digits with them: the rounding error is that of a number of the size x log(z).
`lead` and `follow` are the parts that depend on s alone, and on x too, so that the first can
be kept by whoever asks for many x; `rise` is the whole. `half_rise` is the ratio for x = 1/2 by
its own series, with half of the logarithms.
"""

from math import lgamma

import numpy as np

from infinimix.kernels.compile import exact, part
from infinimix.kernels.elementary import log

SHIFT = 8.0  # from here on seven terms of Stirling's series are right to the last place
SMALL = np.array([lgamma(x + 1.0) for x in range(256)])  # log factorials


@part
def stirling_rest(w):
    """Return lgamma(z) - (z - 1/2) log z + z - log(2 pi) / 2 for w = 1 / z, z >= SHIFT."""
    q = w * w
    series = -691.0 / 360360.0 + q * (1.0 / 156.0)
    series = 1.0 / 1188.0 + q * series
    series = -1.0 / 1680.0 + q * series
    series = 1.0 / 1260.0 + q * series
    series = -1.0 / 360.0 + q * series
    return w * (1.0 / 12.0 + q * series)


@part
def climb(s, w):
    """Return the product of (s + j) w for j = 0 .. SHIFT - 1: with w = 1 / z it stays small."""
    v, c = s * w, w * w
    q = v * (v + 7.0 * w)  # the first times the last; the pairs inside have only more of c
    return (q * (q + 6.0 * c)) * ((q + 10.0 * c) * (q + 12.0 * c))


@part
def lead(s):
    """Return what lgamma(s + x) - lgamma(s) has for every x."""
    w = 1.0 / (s + SHIFT)
    return log(climb(s, w)) - stirling_rest(w)


@exact
def follow(s, w, x):
    """Return what x adds to `lead`, but for x (log z - 1); w is 1 / z = 1 / (s + SHIFT)."""
    y = x * w
    u = 1.0 + y
    inverse = 1.0 / u
    log_u = log(u) + (y - (u - 1.0)) * inverse  # log1p, with the division that is there anyway
    return (s + x + (SHIFT - 0.5)) * log_u + stirling_rest(w * inverse) - log(climb(s + x, w))


@part
def rise(s, x):
    """Return lgamma(s + x) - lgamma(s)."""
    z = s + SHIFT
    w = 1.0 / z
    return x * (log(z) - 1.0) + lead(s) + follow(s, w, x)


@part
def half_rise(s):
    """Return lgamma(s + 1/2) - lgamma(s).

    At z = s + SHIFT it is log(v) / 2 - sum_j E_2j / (j 4^(2j + 1)) v^-2j with v = z - 1/4 and
    Euler's numbers E; the products that lead from s to z go under the same logarithm.
    """
    w = 1.0 / (s + SHIFT)
    v = s + (SHIFT - 0.25)
    step = climb(s, w) / climb(s + 0.5, w)
    q = 1.0 / (v * v)
    series = -2702765.0 / 402653184.0 + q * (199360981.0 / 7516192768.0)
    series = 50521.0 / 20971520.0 + q * series
    series = -1385.0 / 1048576.0 + q * series
    series = 61.0 / 49152.0 + q * series
    series = -5.0 / 2048.0 + q * series
    series = 1.0 / 64.0 + q * series
    return 0.5 * log(v * step * step) + q * series


@part
def log_factorial(x):
    """Return log(x!) for a whole number x >= 0: small ones from a table."""
    return SMALL[int(x)] if x < SMALL.size else lgamma(x + 1.0)
