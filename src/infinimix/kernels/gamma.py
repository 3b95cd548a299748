"""Ratios of gamma functions without calls: straight-line arithmetic that LLVM can vectorise.

For s > 0 and x >= 0 let z = s + SHIFT. Stirling's series at z and z + x, and the product that
leads from s to z, give

    lgamma(s + x) - lgamma(s) = (z + x - 1/2) log(1 + x / z) + x (log z - 1)
                                + rest(z + x) - rest(z) - log of prod_j (s + x + j) / (s + j)

with j = 0 .. SHIFT - 1. Nothing here is as large as the two lgammas, which for s = 1e9 would
take ten digits with them: the rounding error is that of a number of the size x log(z).
`lead` and `follow` are the parts that depend on s alone, and on x too, so that the first can
be kept by whoever asks for many x.
"""

from infinimix.kernels.compile import part
from infinimix.kernels.elementary import log, log1p

SHIFT = 8.0  # from here on seven terms of Stirling's series are right to the last place


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
    low = (s * w) * ((s + 1.0) * w) * ((s + 2.0) * w) * ((s + 3.0) * w)
    return low * ((s + 4.0) * w) * ((s + 5.0) * w) * ((s + 6.0) * w) * ((s + 7.0) * w)


@part
def lead(s):
    """Return what lgamma(s + x) - lgamma(s) has for every x."""
    w = 1.0 / (s + SHIFT)
    return log(climb(s, w)) - stirling_rest(w)


@part
def follow(s, w, x):
    """Return what x adds to `lead`, but for x (log z - 1); w is 1 / z = 1 / (s + SHIFT)."""
    y = x * w
    steps = (s + x + (SHIFT - 0.5)) * log1p(y)
    return steps + stirling_rest(w / (1.0 + y)) - log(climb(s + x, w))
