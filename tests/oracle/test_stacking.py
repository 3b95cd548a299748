"""The compiled regression of stacked models: formulas by NumPy, plain L-BFGS, and SciPy's."""

import numpy as np
import pytest
from scipy.optimize import approx_fprime, minimize
from scipy.special import log_softmax

from infinimix.estimators.aclass.stacking import LARGEST, HeldOut, as_problem, as_weights, solve
from infinimix.inference.stacking import cost as formulas
from infinimix.inference.stacking.descent import minimise
from tests.oracle import quasi_newton
from tests.plain import plain

cost, curvature = plain(formulas.cost), plain(formulas.curvature)  # compiled within `minimise`
STRENGTHS = [np.inf, 20.0, 0.3]


def held_out(rng, n=40, classes=3, width=4, models=1, weighted=False):
    codes = rng.integers(classes, size=n)
    ratios = rng.normal(size=(models, n, classes)) * 2.0
    ratios[:, np.arange(n), codes] += 1.0
    return HeldOut(
        ratios,
        np.log(rng.dirichlet(np.ones(classes), n)),
        rng.random(n),
        rng.normal(size=(n, width)) + 0.5 * codes[:, None],
        codes,
        rng.gamma(2.0, size=n) if weighted else None,
    )


def slow_cost(problem, w):
    """From the formula, all rows at once."""
    n_models, n, n_classes = problem.ratios.shape
    ends = n_models + n_classes
    powers, offsets = np.exp(w[:n_models]), w[n_models:ends]
    B = w[ends:].reshape(n_classes, -1)
    Z = problem.features[:, : B.shape[1]]
    joint = problem.log_prior + np.tensordot(powers, problem.ratios, 1)
    joint = joint + np.outer(problem.observed, offsets) + Z @ B.T
    log_p = log_softmax(joint, axis=1)
    gap = problem.weight[:, None] * (np.exp(log_p) - np.eye(n_classes)[problem.codes])
    from_centre = w[:n_models] - problem.centre
    value = -(problem.weight * log_p[np.arange(n), problem.codes]).sum()
    value += 0.5 * ((from_centre**2).sum() + (offsets**2).sum() + problem.ridge * (B**2).sum())
    slopes = powers * np.tensordot(problem.ratios, gap, 2) + from_centre
    by_class = problem.observed @ gap + offsets
    return value, np.concatenate([slopes, by_class, (gap.T @ Z + problem.ridge * B).ravel()])


@pytest.mark.parametrize("models", [1, 2])
@pytest.mark.parametrize("strength", STRENGTHS)
@pytest.mark.parametrize("weighted", [False, True])
def test_cost_gradient_and_curvature_are_those_of_the_formula(strength, models, weighted, seed):
    rng = np.random.default_rng(seed)
    problem, start = as_problem(held_out(rng, models=models, weighted=weighted), strength)
    w, gradient = 0.3 * rng.normal(size=len(start)), np.empty(len(start))
    value, slope = slow_cost(problem, w)
    assert cost(problem, w, gradient) == pytest.approx(value, rel=1e-13)
    np.testing.assert_allclose(gradient, slope, rtol=1e-11, atol=1e-11)
    differences = approx_fprime(w, lambda x: cost(problem, x, gradient), 1e-7)
    np.testing.assert_allclose(slope, differences, atol=2e-4)
    bends = np.empty(len(w))
    curvature(problem, w, bends)
    for i in range(models, len(w)):  # of a power it is a part
        step = 1e-5 * np.eye(len(w))[i]
        bend = (slow_cost(problem, w + step)[1] - slow_cost(problem, w - step)[1])[i] / 2e-5
        assert bends[i] == pytest.approx(max(bend, 1.0), rel=1e-4)


@pytest.mark.parametrize("tolerance", [1e-5, 1e-15])
def test_every_step_is_that_of_the_plain_method(tolerance, seed):
    """The same number of calls and the same end, be it rough: only roundings differ."""
    rng = np.random.default_rng(seed)
    for _ in range(20):
        shape = rng.integers([10, 2, 0, 1], [80, 5, 8, 4])
        rows = held_out(rng, *shape.tolist(), weighted=bool(rng.integers(2)))
        problem, x = as_problem(rows, 10.0 ** rng.uniform(0, 2))
        bends, start = np.empty(len(x)), x.copy()
        curvature(problem, x, bends)
        box = problem.centre - LARGEST, problem.centre + LARGEST
        known = quasi_newton.minimise(
            lambda w, problem=problem: slow_cost(problem, w), start,
            dict.fromkeys(range(shape[3]), box), tolerance, 1e-6, 500, bends,
        )  # fmt: skip
        value, calls = minimise(problem, x, LARGEST, LARGEST, tolerance, 1e-6, 500)
        assert abs(calls - known.calls) <= (0 if tolerance > 1e-9 else 3)
        assert value == pytest.approx(known.value, rel=1e-9)
        np.testing.assert_allclose(x, known.x, atol=1e-6)


@pytest.mark.parametrize(("down", "up"), [(LARGEST, LARGEST), (0.2, 0.2), (LARGEST, 0.0)])
def test_the_end_is_scipys(down, up, seed):
    """The cost bends by 1 or more in all numbers but powers, so that x is told to 1e-5."""
    rng = np.random.default_rng(seed)
    for _ in range(10):
        n, classes, width, models = rng.integers([10, 2, 0, 1], [80, 5, 8, 4]).tolist()
        problem, x = as_problem(held_out(rng, n, classes, width, models), 10 ** rng.uniform(0, 2))
        box = problem.centre - down, problem.centre + up
        bounds = [box if i < models else (None, None) for i in range(len(x))]
        options = {"maxiter": 5000, "maxfun": 50_000, "ftol": 1e-15, "gtol": 1e-8, "maxcor": 20}
        known = minimize(
            lambda w, problem=problem: slow_cost(problem, w), x, jac=True, method="L-BFGS-B",
            bounds=bounds, options=options,
        )  # fmt: skip
        value, _ = minimise(problem, x, down, up, 1e-15, 1e-8, 5000)
        assert value <= known.fun + 1e-9 * max(abs(known.fun), 1.0)
        np.testing.assert_allclose(x, known.x, atol=1e-5)
        assert (box[0] <= x[:models]).all()
        assert (x[:models] <= box[1]).all()


def test_a_start_is_gone_on_from_and_left_alone():
    rows = held_out(np.random.default_rng(0), models=2)
    rough, exact = solve(rows, 20.0, tolerance=1e-3), solve(rows, 20.0)
    kept = [part.copy() for part in rough]
    again = solve(rows, 20.0, rough)
    for before, now, end, best in zip(kept, rough, again, exact, strict=True):
        assert (before == now).all()
        np.testing.assert_allclose(end, best, atol=1e-3)
    alone = solve(rows, np.inf, exact)  # coefficients of a start are no use without features
    assert alone.coefficients.shape == (0, 3)


def test_numbers_and_parameters_are_each_others():
    rows = held_out(np.random.default_rng(0), models=2, classes=3, width=4)
    found = solve(rows, 20.0)
    _, w = as_problem(rows, 20.0, found)
    for one, other in zip(as_weights(w, 2, 3), found, strict=True):
        assert (one == other).all()
