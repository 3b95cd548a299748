"""Equations are solved as NumPy solves them, and refused as it refuses them."""

import numpy as np
import pytest

from infinimix.maxmargin.loops.lapack import solve


@pytest.mark.parametrize("n", [0, 1, 2, 7])
def test_as_numpy(n):
    rng = np.random.default_rng(n)
    A, b = rng.normal(size=(n, n)), rng.normal(size=n)
    assert np.allclose(solve(A.copy(), b), np.linalg.solve(A, b), rtol=1e-10)


def test_singular_matrices_are_refused():
    with pytest.raises(np.linalg.LinAlgError, match=r"[Ss]ingular"):
        solve(np.zeros((2, 2)), np.ones(2))
