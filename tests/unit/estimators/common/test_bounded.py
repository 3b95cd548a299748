"""The bounded search goes where SciPy's goes."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from infinimix.estimators.common.bounded import minimise

COSTS = [
    lambda x: (x - 0.3) ** 2,
    lambda x: np.cosh(x - 1.0) + 0.1 * x,
    lambda x: abs(x + 0.7),
    lambda x: -x,
    lambda x: x,
    lambda x: 0.0,
    lambda x: np.sin(5 * x) + 0.1 * x * x,
    lambda x: float(x > 0.5) - 1e-3 * x,
    lambda x: np.exp(-x) + 1e-9 * np.exp(8 * x),
]


@pytest.mark.parametrize("number", range(len(COSTS)))
@pytest.mark.parametrize("bounds", [(-3.0, 3.0), (-1.0, 0.25), (0.0, 1e-3), (2.0, 50.0)])
def test_every_step_is_scipys(number, bounds):
    ours, theirs = [], []

    def watched(cost, seen):
        return lambda x: seen.append(float(x)) or float(cost(x))

    found = minimise(watched(COSTS[number], ours), *bounds)
    known = minimize_scalar(watched(COSTS[number], theirs), bounds=bounds, method="bounded")
    assert ours == theirs
    assert found == known.x


def test_costs_that_jump_about(seed):
    rng = np.random.default_rng(seed)
    for _ in range(200):
        w, c = rng.normal(size=(2, 5))

        def cost(x, w=w, c=c):
            return float((w * np.sin(3 * c * x)).sum())

        assert minimise(cost, -3, 3) == minimize_scalar(cost, bounds=(-3, 3), method="bounded").x


def test_it_stops_when_it_has_asked_often_enough():
    asked = []
    minimise(lambda x: asked.append(x) or x * x, -1.0, 1.0, most=4)
    assert len(asked) == 4
