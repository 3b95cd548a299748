"""Laws that every family obeys: densities, draws from them, and cells filled by them."""

from functools import cache

import numpy as np
import pytest
from scipy.stats import nbinom

from infinimix.families import BetaBernoulli, NormalInverseChiSquared, seam
from infinimix.families.normal import PLACE
from infinimix.kernels.holes import is_hole
from tests.contract.examples import EXAMPLES, Example
from tests.contract.groups import (
    LIVE,
    SLOTS,
    add,
    added,
    everywhere,
    grown,
    same,
    without_cells,
)

# --- densities -----------------------------------------------------------------------------------

SINGLE = {"bernoulli", "categorical", "normal", "poisson", "spiked", "gaussian"}
reals = pytest.mark.parametrize("name", ["normal", "gaussian"])


def columns(name):
    """Each example's columns in turn, with a group of a few rows in slot 0."""
    for example in EXAMPLES[name]:
        for d in range(example.X.shape[1]):
            yield example, d, grown(example, [0, 2, 3, 3, 5])


def scores_in_column(example, stats, d, values):
    """Scores of rows that have a cell in column d only."""
    X = np.repeat(without_cells(example.X[:1]), len(values), axis=0)
    X[:, d] = values
    out = np.zeros((len(values), 1))
    seam.score_rows(example.family, stats, np.array([0]), X, out)
    return out[:, 0]


def codes_of(family, d):
    if isinstance(family, BetaBernoulli):
        return np.arange(2)
    return np.arange(family.start[d + 1] - family.start[d])


@cache
def quadrature():
    return np.polynomial.legendre.leggauss(800)


def grid(example, stats, d):
    """Points and widths that cover the real line evenly in the angle seen from the mode."""
    mode = seam.typical(example.family, stats, np.array([0]))[0, d]
    mode = stats.t[0, PLACE, d] if mode == np.inf else mode  # of all cells but the common value
    scale = np.exp(-scores_in_column(example, stats, d, [mode])[0]) / np.pi
    nodes, weights = quadrature()
    angle = nodes * np.pi / 2
    return mode + scale * np.tan(angle), weights * np.pi / 2 * scale / np.cos(angle) ** 2


@pytest.mark.parametrize("name", ["bernoulli", "categorical"])
def test_probabilities_sum_to_one(name):
    for example, d, stats in columns(name):
        values = codes_of(example.family, d)
        if len(values):
            total = np.exp(scores_in_column(example, stats, d, values)).sum()
            assert total == pytest.approx(1.0, abs=1e-12)


@pytest.fixture(scope="module")
def of_whole_numbers():
    """Each count column, all counts a group may meet, but for 1e-12 of them or so, and their p."""
    found = []
    for example, d, stats in columns("poisson"):
        values = np.arange(500.0 + 40.0 * np.nanmax(example.X[:, d], initial=0.0))
        p = np.exp(scores_in_column(example, stats, d, values))
        found.append((example, d, stats, values, p))
    return found


def test_probabilities_of_counts_sum_to_one(of_whole_numbers):
    for *_, p in of_whole_numbers:
        assert p.sum() == pytest.approx(1.0, abs=1e-9)


def test_counts_are_negative_binomial():
    for example, d, stats in columns("poisson"):
        cells = example.X[[0, 2, 3, 3, 5], d]
        a, b = example.family.prior[:, d]
        shape, rate = a + np.nansum(cells), b + np.sum(~np.isnan(cells))
        values = np.array([0.0, 1.0, 2.0, 7.0, 40.0, 3000.0])
        expected = nbinom.logpmf(values, shape, rate / (1.0 + rate))
        found = scores_in_column(example, stats, d, values)
        np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-7)  # SciPy's own digits


@reals
def test_a_density_integrates_to_one(name):
    for example, d, stats in columns(name):
        points, widths = grid(example, stats, d)
        total = (np.exp(scores_in_column(example, stats, d, points)) * widths).sum()
        assert total == pytest.approx(1.0, abs=1e-5)


def test_the_mass_of_the_common_value_and_the_density_of_others_add_up_to_one():
    for example, d, stats in columns("spiked"):
        mass = np.exp(scores_in_column(example, stats, d, [np.inf])[0])
        cells = example.X[[0, 2, 3, 3, 5], d]
        b, a = example.family.prior[4:, d]
        expected = (a + np.isposinf(cells).sum()) / (a + b + (~np.isnan(cells)).sum())
        assert mass == pytest.approx(expected, rel=1e-12)
        points, widths = grid(example, stats, d)
        total = (np.exp(scores_in_column(example, stats, d, points)) * widths).sum()
        assert total == pytest.approx(1.0 - mass, rel=1e-5)


def test_the_others_are_scored_as_a_normal_column_scores_them():
    for example, d, stats in columns("spiked"):
        rest = np.where(np.isposinf(example.X), np.nan, example.X)
        plain = Example(
            NormalInverseChiSquared(example.family.prior[:4], example.family.grain), rest
        )
        points = np.array([-3.0, 0.0, 0.4, 5.0, 1e6])
        mass = scores_in_column(example, stats, d, [np.inf])[0]
        expected = scores_in_column(plain, grown(plain, [0, 2, 3, 3, 5]), d, points)
        found = scores_in_column(example, stats, d, points)
        np.testing.assert_allclose(found, expected + np.log(-np.expm1(mass)), rtol=1e-9, atol=1e-9)


def test_a_typical_value_is_the_most_probable(of_whole_numbers):
    for example, d, stats, values, p in of_whole_numbers:
        value = seam.typical(example.family, stats, np.array([0]))[0, d]
        assert value == pytest.approx(p @ values, rel=1e-6)  # of counts it is the mean
    for name in SINGLE - {"poisson"}:
        for example, d, stats in columns(name):
            value = seam.typical(example.family, stats, np.array([0]))[0, d]
            if name == "bernoulli":
                assert np.log(value) == pytest.approx(scores_in_column(example, stats, d, [1])[0])
            elif name == "spiked" and value == np.inf:
                assert scores_in_column(example, stats, d, [value])[0] > np.log(0.5)
            elif name in ("normal", "spiked", "gaussian"):
                if name == "spiked":
                    assert scores_in_column(example, stats, d, [np.inf])[0] <= np.log(0.5)
                points, _ = grid(example, stats, d)
                at, around = (scores_in_column(example, stats, d, v) for v in ([value], points))
                assert at >= around.max()
                same(around, around[::-1])  # it is the centre as well
            elif len(codes_of(example.family, d)):
                scores = scores_in_column(example, stats, d, codes_of(example.family, d))
                assert value == scores.argmax()
            else:
                assert value == -1


def draws(example, stats, n, rng):
    """n rows without cells, drawn from slot 0."""
    holes = np.repeat(without_cells(example.X[:1]), n, axis=0)
    return seam.draw(example.family, stats, np.zeros(n, np.int64), holes, rng)


def test_draws_have_the_frequencies_of_the_scores(seed):
    """Each code within 5 standard errors: about 30 counts, a false alarm in 50,000 runs."""
    rng, n = np.random.default_rng(seed), 4000
    for name in ("bernoulli", "categorical"):
        for example, d, stats in columns(name):
            cells = draws(example, stats, n, rng)[:, d]
            values = codes_of(example.family, d)
            if len(values) == 0:
                assert (cells == -1).all()
                continue
            assert cells.min() >= 0
            assert cells.max() < len(values)
            p = np.exp(scores_in_column(example, stats, d, values))
            error = np.bincount(cells, minlength=len(p)) / n - p
            # a code of probability 1e-4 may come once: one draw of grace
            assert (np.abs(error) <= 5 * np.sqrt(p * (1 - p) / n) + 1 / n).all()


@reals
def test_draws_of_numbers_have_the_distribution_of_the_scores(seed, name):
    """Kolmogorov-Smirnov at 2.5 / sqrt(n), 12 or 25 columns: a false alarm in 5,000 runs."""
    rng, n = np.random.default_rng(seed), 4000
    for example, d, stats in columns(name):
        x = np.sort(draws(example, stats, n, rng)[:, d])
        points, widths = grid(example, stats, d)
        below = np.cumsum(np.exp(scores_in_column(example, stats, d, points)) * widths)
        gap = np.abs(np.interp(x, points, below) - (np.arange(n) + 0.5) / n).max()
        assert gap < 2.5 / np.sqrt(n) + 2e-3  # the second part is the error of the grid


def test_draws_of_spiked_cells_have_the_distribution_of_the_scores(seed):
    """The common value within 5 standard errors and a draw of grace, the others by
    Kolmogorov-Smirnov at 2.5 / sqrt(n) where there are a few; 14 columns: a false alarm in
    5,000 runs.
    """
    rng, n = np.random.default_rng(seed), 4000
    for example, d, stats in columns("spiked"):
        x = draws(example, stats, n, rng)[:, d]
        mass = np.exp(scores_in_column(example, stats, d, [np.inf])[0])
        error = np.isposinf(x).mean() - mass
        assert abs(error) <= 5 * np.sqrt(mass * (1 - mass) / n) + 1 / n
        rest = np.sort(x[np.isfinite(x)])
        if len(rest) > 100:
            points, widths = grid(example, stats, d)
            density = np.exp(scores_in_column(example, stats, d, points)) / (1.0 - mass)
            below = np.interp(rest, points, np.cumsum(density * widths))
            gap = np.abs(below - (np.arange(len(rest)) + 0.5) / len(rest)).max()
            assert gap < 2.5 / np.sqrt(len(rest)) + 2e-3


def test_draws_of_counts_have_the_distribution_of_the_scores(of_whole_numbers, seed):
    """Kolmogorov-Smirnov at 2.5 / sqrt(n), 11 columns: a false alarm in 10,000 runs."""
    rng, n = np.random.default_rng(seed), 4000
    for example, d, stats, values, p in of_whole_numbers:
        x = draws(example, stats, n, rng)[:, d]
        assert x.dtype == np.float64
        assert (x == np.floor(x)).all()
        below = np.cumsum(p)
        found = np.searchsorted(np.sort(x), values, side="right") / n
        assert np.abs(found - below).max() < 2.5 / np.sqrt(n)


@everywhere
def test_draws_keep_what_is_observed(name):
    for example in EXAMPLES[name]:
        stats, rng = grown(example, [0, 2, 3]), np.random.default_rng(0)
        slots = np.arange(example.n) % 2
        drawn = seam.draw(example.family, stats, slots, example.X, rng)
        for cells, block in zip(*map(blocks, (drawn, example.X)), strict=True):
            seen = ~is_hole(block)
            assert cells.dtype == block.dtype
            assert cells[seen].tobytes() == block[seen].tobytes()


# --- filling -------------------------------------------------------------------------------------


def blocks(X):
    return X if isinstance(X, tuple) else (X,)


def mixed(name):
    """Examples with three groups, and rows of weights for these."""
    for example in EXAMPLES[name]:
        stats = grown(example, [0, 2, 3, 3, 5])
        add(example, stats, 1, [4, 6, 7])
        weight = np.random.default_rng(5).dirichlet([0.5] * SLOTS, example.n)
        yield example, stats, weight


@everywhere
def test_an_observed_cell_is_filled_by_itself(name):
    for example, stats, weight in mixed(name):
        found = map(blocks, seam.fill(example.family, stats, weight, example.X))
        for value, spread, block in zip(*found, blocks(example.X), strict=True):
            seen = ~is_hole(block)
            assert value.dtype == spread.dtype == np.float64
            assert (value[seen] == block[seen]).all()
            assert (spread[seen] == 0).all()


@pytest.mark.parametrize("name", ["bernoulli", "categorical"])
def test_codes_are_filled_as_the_mixture_of_scores_says(name):
    """Probabilities, modes and errors by sums over all codes."""
    for example, stats, weight in mixed(name):
        value, spread = seam.fill(example.family, stats, weight, without_cells(example.X))
        for d in range(example.X.shape[1]):
            codes = codes_of(example.family, d)
            if len(codes) == 0:
                assert (value[:, d] == -1).all()
                assert np.isnan(spread[:, d]).all()
                continue
            rows = np.repeat(without_cells(example.X[:1]), len(codes), axis=0)
            rows[:, d] = codes
            scores = np.zeros((len(codes), SLOTS))
            seam.score_rows(example.family, stats, LIVE, rows, scores)
            p = weight @ np.exp(scores).T
            same(value[:, d], p[:, 1] if name == "bernoulli" else p.argmax(axis=1))
            same(spread[:, d], 1 - p.max(axis=1))


@pytest.mark.parametrize("name", ["normal", "poisson"])
def test_numbers_are_filled_by_the_law_of_total_variance(name):
    """Over Student's t or the negative binomial, from the prior's own formulas."""
    moments = student_moments if name == "normal" else negative_binomial_moments
    for example, stats, weight in mixed(name):
        value, spread = seam.fill(example.family, stats, weight, without_cells(example.X))
        for d in range(example.X.shape[1]):
            groups = [example.X[rows, d] for rows in ([0, 2, 3, 3, 5], [4, 6, 7], [], [])]
            prior = example.family.prior[:, d]
            mean, variance = np.array([moments(prior, c[~np.isnan(c)]) for c in groups]).T
            expected = weight @ mean
            between = (weight * (mean - expected[:, None]) ** 2).sum(axis=1)
            np.testing.assert_allclose(value[:, d], expected, rtol=1e-9, atol=1e-12)
            np.testing.assert_allclose(spread[:, d] ** 2, weight @ variance + between, rtol=1e-8)


def student_moments(prior, x):
    """Mean and variance of a group's predictive; at least three degrees of freedom."""
    mean, kappa, nu, scale2 = prior
    n, centre = len(x), x.mean() if len(x) else mean
    squares = nu * scale2 + ((x - centre) ** 2).sum()
    squares += kappa * n / (kappa + n) * (centre - mean) ** 2
    scale = squares / (nu + n) * (kappa + n + 1) / (kappa + n)
    degrees = max(nu + n, 3.0)
    return (kappa * mean + n * centre) / (kappa + n), scale * degrees / (degrees - 2)


def test_a_spiked_cell_is_filled_by_the_common_value_or_the_mean_of_the_others():
    for example, stats, weight in mixed("spiked"):
        value, spread = seam.fill(example.family, stats, weight, without_cells(example.X))
        for d in range(example.X.shape[1]):
            *prior, b, a = example.family.prior[:, d]
            groups = [example.X[rows, d] for rows in ([0, 2, 3, 3, 5], [4, 6, 7], [], [])]
            atoms = np.array([np.isposinf(c).sum() for c in groups])
            rest = [c[np.isfinite(c)] for c in groups]
            share = (a + atoms) / (a + b + atoms + np.array(list(map(len, rest))))
            p = weight @ share
            common = p >= 0.5
            assert (np.isposinf(value[:, d]) == common).all()
            same(spread[common, d], 1.0 - p[common])
            mean, variance = np.array([student_moments(prior, c) for c in rest]).T
            for i in np.flatnonzero(~common):
                w = weight[i] * (1.0 - share) / (1.0 - p[i])
                np.testing.assert_allclose(value[i, d], w @ mean, rtol=1e-9, atol=1e-12)
                expected = w @ variance + w @ (mean - w @ mean) ** 2
                np.testing.assert_allclose(spread[i, d] ** 2, expected, rtol=1e-8)


def negative_binomial_moments(prior, x):
    shape, rate = prior[0] + x.sum(), prior[1] + len(x)
    return nbinom.stats(shape, rate / (1 + rate))


@pytest.mark.parametrize("name", sorted(SINGLE))
def test_a_column_alone_scores_as_in_its_block(name):
    for example, d, stats in columns(name):
        if getattr(example.family, "tied", False):
            continue  # it may not be asked
        add(example, stats, 2, [1, 4, 6])
        alone, whole = np.zeros((2, example.n, SLOTS))
        rows = without_cells(example.X)
        rows[:, d] = example.X[:, d]
        seam.score_rows(example.family, stats, LIVE, rows, whole)
        cells = np.ascontiguousarray(example.X[:, d : d + 1])
        seam.score_rows(*seam.column(example.family, stats, d), LIVE, cells, alone)
        same(alone, whole)


def test_each_slot_is_drawn_from_itself():
    """Slots far apart: every draw tells its own."""
    (example, *_) = EXAMPLES["product"]
    stats = seam.empty(example.family, 2)
    for k in (0, 1):
        X = tuple(
            np.full_like(block[:1], [0, 1000][k] if block.dtype.kind == "f" else k)
            for block in example.X
        )
        for _ in range(2000):
            added(example.family, stats, X, k, 0, 1.0)
    slots = np.array([1, 0, 0, 1])
    holes = tuple(np.repeat(block[:1], 4, axis=0) for block in without_cells(example.X))
    cells = seam.draw(example.family, stats, slots, holes, np.random.default_rng(0))
    binary, code, real, number, spiked, block = cells
    # a cell goes astray with probability 1/2000 or less: here 44 of them, with this fixed seed
    assert (binary == slots[:, None]).all()
    assert (code == slots[:, None]).all()
    assert (np.abs(real - 1000.0 * slots[:, None]) < 500.0).all()
    assert (np.abs(number - 1000.0 * slots[:, None]) < 500.0).all()
    assert (np.abs(spiked - 1000.0 * slots[:, None]) < 500.0).all()
    assert (np.abs(block - 1000.0 * slots[:, None]) < 500.0).all()
    assert [block.dtype for block in cells] == [block.dtype for block in example.X]
