"""Small correlation matrices against NumPy."""

import numpy as np
import pytest

from infinimix.kernels import matrices
from infinimix.kernels.matrices import LEAST_PIVOT
from tests.plain import plain

factor, invert, lift = (plain(getattr(matrices, name)) for name in ("factor", "invert", "lift"))
rng = np.random.default_rng(0)


def correlations(d, rows):
    return np.atleast_2d(np.corrcoef(rng.normal(size=(rows, d)).T)) if d > 1 else np.eye(1)


@pytest.mark.parametrize("d", [1, 2, 5, 12])
def test_the_factor_and_its_inverse(d):
    R, L, W = correlations(d, 40), np.zeros((d, d)), np.zeros((d, d))
    log_det = factor(R, np.arange(d), d, L)
    np.testing.assert_allclose(L, np.linalg.cholesky(R), atol=1e-12)
    assert log_det == pytest.approx(np.linalg.slogdet(R)[1], abs=1e-12)
    invert(L, W)
    np.testing.assert_allclose(W @ L, np.eye(d), atol=1e-12)


def test_the_factor_of_some_columns():
    R, L, held = correlations(6, 30), np.zeros((6, 6)), np.array([4, 1, 5, 0, 0, 0])
    log_det = factor(R, held, 3, L)
    some = R[np.ix_(held[:3], held[:3])]
    np.testing.assert_allclose(L[:3, :3], np.linalg.cholesky(some), atol=1e-12)
    assert log_det == pytest.approx(np.linalg.slogdet(some)[1], abs=1e-12)


def test_columns_that_are_equal_have_the_least_pivot():
    L = np.zeros((2, 2))
    assert factor(np.ones((2, 2)), np.arange(2), 2, L) == pytest.approx(np.log(LEAST_PIVOT))
    assert (np.diag(L) > 0.0).all()


def test_what_is_positive_definite_enough_stays():
    R = correlations(5, 200)
    before = R.copy()
    lift(R, 0.9 * R + 0.1 * np.eye(5), 0.5)
    np.testing.assert_array_equal(R, before)


def test_what_is_not_is_lifted():
    R = np.array([[1.0, 0.9, -0.9], [0.9, 1.0, 0.9], [-0.9, 0.9, 1.0]])
    assert np.linalg.eigvalsh(R)[0] < 0.0
    lift(R, np.eye(3), 0.3)
    assert np.linalg.eigvalsh(R)[0] > 0.15  # 0.3 before the diagonal was made one again
    np.testing.assert_allclose(np.diag(R), 1.0)
    assert (R == R.T).all() or np.abs(R - R.T).max() < 1e-15
    assert (np.sign(R) == [[1, 1, -1], [1, 1, 1], [-1, 1, 1]]).all()
