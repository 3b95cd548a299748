"""`logsumexp` is SciPy's."""

import numpy as np
import pytest
from scipy.special import logsumexp as scipys

from infinimix.kernels.logs import FEW, logsumexp


@pytest.mark.parametrize("axis", [None, 0, -1, (0, 1)])
@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("infinite", [(), (-np.inf,), (np.inf,), (-np.inf, np.inf, np.nan)])
def test_it_is_scipys(axis, keepdims, infinite, seed):
    rng = np.random.default_rng(seed)
    for k in range(50):
        shape = tuple(rng.integers(1, 9, size=rng.integers(1 if axis != (0, 1) else 2, 4)))
        a = rng.normal(size=shape) * 10.0 ** rng.integers(-3, 4)
        a = np.round(a) if k % 3 == 0 else a  # ties
        for value in infinite:
            a[rng.random(shape) < 0.3] = value
        found, known = (f(a, axis=axis, keepdims=keepdims) for f in (logsumexp, scipys))
        assert np.shape(found) == np.shape(known)
        np.testing.assert_allclose(found, known, rtol=1e-15, atol=1e-15)


def test_all_of_nothing():
    assert logsumexp(np.empty(0)) == -np.inf
    np.testing.assert_array_equal(logsumexp(np.empty((2, 0)), axis=1), [-np.inf, -np.inf])
    assert logsumexp([-np.inf, -np.inf]) == -np.inf


def test_what_is_small_beside_the_largest_is_not_lost():
    assert logsumexp([0.0, -40.0]) == np.log1p(np.exp(-40.0))
    assert logsumexp([1000.0, 1000.0]) == 1000.0 + np.log(2.0)


@pytest.mark.parametrize("width", range(1, FEW + 2))
@pytest.mark.parametrize("infinite", [False, True])
def test_many_short_rows_have_the_digits_of_each_alone(width, infinite, seed):
    a = np.random.default_rng(seed).normal(size=(300, width)) * 3.0
    a[::3] = np.round(a[::3])  # ties
    if infinite:
        a[::5, 0], a[::7, -1] = -np.inf, np.inf
    each = np.array([logsumexp(row) for row in a])
    np.testing.assert_array_equal(logsumexp(a, axis=1), each)
    np.testing.assert_array_equal(logsumexp(a, axis=1, keepdims=True), each[:, None])
