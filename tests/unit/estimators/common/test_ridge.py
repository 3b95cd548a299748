import numpy as np
import pytest

from infinimix.estimators.common.ridge import solve_ridge


@pytest.mark.parametrize("width", [3, 40])  # also more features than rows
def test_left_out_rows_are_those_of_a_ridge_of_the_others(width):
    rng = np.random.default_rng(width)
    X, y = rng.normal(size=(25, width)) + 2.0, rng.normal(size=25) + 1.0
    penalty = rng.uniform(0.5, 5.0, width)

    def slow(rows):
        """Least squares with an intercept, and a row of its own for each penalty."""
        A = np.column_stack([np.ones(len(rows)), X[rows]])
        A = np.vstack([A, np.column_stack([np.zeros(width), np.diag(np.sqrt(penalty))])])
        return np.linalg.lstsq(A, np.append(y[rows], np.zeros(width)), rcond=None)[0]

    every = np.arange(25)
    line = solve_ridge(X, y, penalty)
    np.testing.assert_allclose(np.append(line.intercept, line.coefficients), slow(every), atol=1e-9)
    for i in every:
        found = slow(np.delete(every, i))
        assert line.left_out[i] == pytest.approx(y[i] - found[0] - X[i] @ found[1:], abs=1e-8)
