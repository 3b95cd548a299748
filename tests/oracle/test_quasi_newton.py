"""L-BFGS with bounds: it ends where SciPy's ends."""

import numpy as np
import pytest
from scipy.optimize import minimize

from tests.oracle.quasi_newton import minimise


def regression(rng, n, classes, width, ridge):
    """A penalised multinomial regression whose first number is the log of a power."""
    known = rng.normal(size=(n, classes)) * 3.0
    Z = rng.normal(size=(n, width)) * rng.lognormal(size=width)
    y = np.eye(classes)[rng.integers(classes, size=n)]

    def cost(w):
        B = w[1:].reshape(width, classes)
        scaled = np.exp(w[0]) * known
        joint = scaled + Z @ B
        log_p = joint - np.logaddexp.reduce(joint, axis=1)[:, None]
        gap = np.exp(log_p) - y
        value = -(y * log_p).sum() + 0.5 * (w[0] ** 2 + ridge * (B**2).sum())
        slope = (gap * scaled).sum() + w[0], *(Z.T @ gap + ridge * B).ravel()
        return float(value), np.array(slope)

    return cost, 1 + width * classes


def scipys(cost, start, bounds, tolerance=1e-15):
    every = [bounds.get(i, (None, None)) for i in range(len(start))]
    options = {"maxiter": 5000, "maxfun": 50_000, "ftol": tolerance, "gtol": 1e-8, "maxcor": 20}
    return minimize(cost, start, jac=True, method="L-BFGS-B", bounds=every, options=options)


def tight(cost, start, bounds, **options):
    return minimise(cost, start, bounds, tolerance=1e-15, flat=1e-8, most=5000, **options)


@pytest.mark.parametrize("bounds", [{}, {0: (-3.0, 3.0)}, {0: (-0.4, 0.4)}, {0: (1.0, 2.0)}])
def test_the_optimum_is_scipys(bounds, seed):
    """The cost is convex but for the power. A ridge of 1 makes it bend enough to tell x to 1e-6."""
    rng = np.random.default_rng(seed)
    for _ in range(12):
        n, classes, width = rng.integers(5, 80), rng.integers(2, 6), rng.integers(1, 8)
        cost, size = regression(rng, n, classes, width, 10.0 ** rng.uniform(0, 2))
        start = 0.3 * rng.normal(size=size)
        found, known = tight(cost, start, bounds), scipys(cost, start, bounds)
        assert found.value <= known.fun + 1e-9 * max(abs(known.fun), 1.0)
        np.testing.assert_allclose(found.x, known.x, atol=1e-6)
        value, gradient = cost(found.x)
        assert value == found.value
        assert (gradient == found.gradient).all()
        for i, (low, high) in bounds.items():
            assert low <= found.x[i] <= high


def test_many_bounds_and_none_inside(seed):
    """A quadratic in a box: numbers go to bounds, leave them, and some end there."""
    rng = np.random.default_rng(seed)
    for _ in range(30):
        size = int(rng.integers(1, 12))
        root = rng.normal(size=(size, size))
        H, b = root @ root.T + 0.1 * np.eye(size), rng.normal(size=size) * 3.0

        def cost(x, H=H, b=b):
            return float(0.5 * x @ H @ x - b @ x), H @ x - b

        bounds = {i: tuple(np.sort(rng.normal(size=2))) for i in range(0, size, 2)}
        start = rng.normal(size=size) * 2.0  # may be outside
        found, known = tight(cost, start, bounds), scipys(cost, start, bounds)
        np.testing.assert_allclose(found.x, known.x, atol=1e-6)


def test_a_guess_of_the_curvature_changes_the_way_and_not_the_end():
    """Numbers in units that differ by a hundred need far fewer steps when that is known."""
    scale = 10.0 ** np.linspace(-1, 1, 40)

    def cost(x):
        return float(
            np.logaddexp(scale * x, -scale * x).sum() + 0.5 * (scale * x - 1) @ (scale * x - 1)
        ), scale * np.tanh(scale * x) + scale * (scale * x - 1)

    blind = tight(cost, np.ones(40), {})
    told = tight(cost, np.ones(40), {}, curvature=scale**2)
    np.testing.assert_allclose(told.x * scale, blind.x * scale, atol=1e-6)
    assert told.calls < 0.3 * blind.calls


def test_it_ends_early_where_it_may_and_leaves_the_start_alone():
    rng = np.random.default_rng(0)
    cost, size = regression(rng, 60, 3, 5, 1.0)
    start = rng.normal(size=size)
    before = start.copy()
    rough = minimise(cost, start, tolerance=1e-5)
    exact = tight(cost, start, {})
    assert (start == before).all()
    assert rough.calls < 0.6 * exact.calls
    assert exact.value < rough.value < exact.value * (1.0 + 1e-4)
    assert minimise(cost, start, most=0).value == cost(start)[0]
    assert minimise(cost, exact.x).calls == 1


def test_a_cost_that_overflows_far_away_is_no_harm():
    def cost(x):
        with np.errstate(over="ignore"):
            return float(np.exp(x[0]) - 50.0 * x[0]), np.exp(x) - 50.0

    found = minimise(cost, np.array([-800.0]), {0: (-1e4, 1e4)}, tolerance=1e-14, flat=1e-9)
    assert found.x[0] == pytest.approx(np.log(50.0), abs=1e-6)
