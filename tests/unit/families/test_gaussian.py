"""Gaussian blocks: closed forms, rows with holes, cells given other cells."""

import numpy as np
import pytest
from scipy.special import multigammaln

from infinimix.families import NormalInverseWishart, gaussian, seam
from infinimix.families.gaussian import REPAIR
from infinimix.families.product import engine
from tests.oracle.gaussian import log_density, posterior

D, SLOTS = 4, 3
rng = np.random.default_rng(3)
MIX = rng.normal(size=(D, D))
PSI = MIX @ MIX.T + np.eye(D)
MEAN = np.array([0.3, -1.0, 2.0, 0.0])
KAPPA, NU = 0.4, 1.7
BLOCK = NormalInverseWishart(np.vstack([MEAN, np.full(D, KAPPA), np.full(D, NU), PSI]))
WHOLE = rng.normal(size=(40, D)) @ MIX.T + MEAN + 1.0
HOLES = np.where(rng.random(WHOLE.shape) < 0.3, np.nan, WHOLE)


@engine("column_evidence")
def evidence_of(family, stats, k):
    return seam.evidence(family, stats, k)


@engine("column_evidence")
def columns_of(family, stats, k, out):
    seam.column_evidence(family, stats, k, out)


@engine("count", "refresh")
def _count_all(family, stats, X, k, rows):
    for i in range(rows):
        seam.count(family, stats, k, X, i, 1.0)
    seam.refresh(family, stats, k)


def count_all(family, stats, k, X):
    _count_all(family, stats, X, k, len(X))


def group(X, family=BLOCK):
    stats = seam.empty(family, SLOTS)
    count_all(family, stats, 0, np.ascontiguousarray(X))
    return stats


def scores(stats, X, k=0, family=BLOCK):
    out = np.zeros((len(X), 1))
    seam.score_rows(family, stats, np.array([k]), np.ascontiguousarray(X), out)
    return out[:, 0]


def part(columns):
    """The family of some columns of the block."""
    prior = np.vstack([BLOCK.prior[:3, columns], PSI[np.ix_(columns, columns)]])
    return NormalInverseWishart(np.ascontiguousarray(prior))


# --- rows without holes --------------------------------------------------------------------------


def textbook(X):
    """Parameters of the posterior (Murphy, Machine Learning, 4.6.3.3)."""
    n, centre = len(X), X.mean(axis=0)
    psi = PSI + (X - centre).T @ (X - centre)
    psi += KAPPA * n / (KAPPA + n) * np.outer(centre - MEAN, centre - MEAN)
    return (KAPPA * MEAN + n * centre) / (KAPPA + n), KAPPA + n, NU + n, psi


@pytest.mark.parametrize("n", [1, 2, 40])
def test_the_predictive_is_a_multivariate_t(n):
    mean, kappa, nu, psi = textbook(WHOLE[:n])
    t = mean, psi * (kappa + 1) / (kappa * nu), nu
    expected = [log_density(t, row) for row in HOLES]
    np.testing.assert_allclose(scores(group(WHOLE[:n]), HOLES), expected, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("n", [1, 2, 40])
def test_the_evidence_is_the_closed_form(n):
    _, kappa, nu, psi = textbook(WHOLE[:n])
    before, after = (NU + D - 1) / 2, (nu + D - 1) / 2
    expected = multigammaln(after, D) - multigammaln(before, D) + D / 2 * np.log(KAPPA / kappa)
    expected += before * np.linalg.slogdet(PSI)[1] - after * np.linalg.slogdet(psi)[1]
    expected -= n * D / 2 * np.log(np.pi)
    assert evidence_of(BLOCK, group(WHOLE[:n]), 0) == pytest.approx(expected, rel=1e-11)


def test_a_block_of_one_column_is_a_normal_column():
    from infinimix.families import NormalInverseChiSquared

    column = NormalInverseChiSquared(
        np.array([[0.3], [KAPPA], [NU], [PSI[0, 0] / NU]]), np.zeros(1)
    )
    X = np.ascontiguousarray(HOLES[:, :1])
    a, b = group(X, part([0])), seam.empty(column, 1)
    count_all(column, b, 0, X)
    np.testing.assert_allclose(scores(a, X, family=part([0])), scores(b, X, family=column))
    assert evidence_of(part([0]), a, 0) == pytest.approx(evidence_of(column, b, 0), rel=1e-12)


# --- rows with holes -----------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 3, 8, 40])
def test_with_holes_it_is_the_t_of_the_slow_way(n):
    t = posterior(BLOCK.prior, HOLES[:n], REPAIR)
    expected = [log_density(t, row) for row in HOLES]
    np.testing.assert_allclose(scores(group(HOLES[:n]), HOLES), expected, rtol=1e-9, atol=1e-9)


def test_correlations_that_contradict_each_other_are_repaired():
    """a = b, b = c and a = -c, each in its own rows: no matrix has these correlations."""
    x, gone = rng.normal(size=50), np.full(50, np.nan)
    parts = [(x, x, gone), (gone, x, x), (x, gone, -x)]
    X = np.vstack([np.column_stack(part) for part in parts])
    stats = group(10.0 * X, part([0, 1, 2]))
    R = stats.r[0, gaussian.CORRELATION]
    assert np.linalg.eigvalsh(R)[0] > 1e-5  # the prior alone holds it up
    assert R[0, 1] > 0.2
    assert R[0, 2] < -0.2
    assert np.isfinite(scores(stats, WHOLE[:, :3], family=part([0, 1, 2]))).all()


def test_the_order_of_columns_does_not_matter():
    order = [2, 0, 3, 1]
    turned = group(HOLES[:, order], part(order))
    found = scores(turned, HOLES[:, order], family=part(order))
    np.testing.assert_allclose(found, scores(group(HOLES), HOLES), rtol=1e-9, atol=1e-9)
    a, b = evidence_of(part(order), turned, 0), evidence_of(BLOCK, group(HOLES), 0)
    assert a == pytest.approx(b, rel=1e-9)


def test_densities_of_fewer_columns_are_margins_of_those_of_more():
    """Integrating a column out by quadrature over the angle seen from the place."""
    stats = group(HOLES)
    nodes, weights = np.polynomial.legendre.leggauss(400)
    angle = nodes * np.pi / 2
    points = WHOLE[0, 1] + 3.0 * np.tan(angle)
    widths = weights * np.pi / 2 * 3.0 / np.cos(angle) ** 2
    rows = np.repeat(np.array([[0.7, np.nan, np.nan, -1.0]]), 400, axis=0)
    fewer = scores(stats, rows[:1])[0]
    rows[:, 1] = points
    assert np.log((np.exp(scores(stats, rows)) * widths).sum()) == pytest.approx(fewer, abs=1e-6)


def test_the_evidence_of_one_cell_is_its_score():
    empty = seam.empty(BLOCK, 1)
    for d in range(D):
        row = np.full((1, D), np.nan)
        row[0, d] = 1.3
        found = evidence_of(BLOCK, group(row), 0)
        assert found == pytest.approx(scores(empty, row)[0], abs=1e-12)


def test_two_columns_with_holes_gain_by_the_rows_that_have_both():
    """For two columns that need no repair: each alone, and the gain of the shared rows."""
    two, X = part([0, 2]), rng.normal(size=(40, 2)) @ [[1.0, 0.5], [0.0, 1.0]]
    X[rng.random(X.shape) < 0.3] = np.nan
    both = X[~np.isnan(X).any(axis=1)]

    def alone(rows, column):
        return evidence_of(part([column]), group(rows[:, None], part([column])), 0)

    expected = alone(X[:, 0], 0) + alone(X[:, 1], 2)
    expected += evidence_of(two, group(both, two), 0)
    expected -= alone(both[:, 0], 0) + alone(both[:, 1], 2)
    assert evidence_of(two, group(X, two), 0) == pytest.approx(expected, rel=1e-10)


def test_with_holes_the_chain_of_scores_is_near_the_evidence():
    """Neither is exact, and the chain depends on the order; they are within 0.6 nats a row."""
    chain, stats = 0.0, seam.empty(BLOCK, 1)
    for i in range(len(HOLES)):
        chain += scores(stats, HOLES[i : i + 1])[0]
        count_all(BLOCK, stats, 0, HOLES[i : i + 1])
    assert evidence_of(BLOCK, stats, 0) == pytest.approx(chain, abs=0.6 * len(HOLES))


def test_columns_that_determine_each_other_stay_finite():
    X = np.column_stack([WHOLE[:, 0], 2 * WHOLE[:, 0], np.ones(40), WHOLE[:, 0] - WHOLE[:, 1]])
    for rows in (X, np.where(np.isnan(HOLES), np.nan, X), 1e6 * X, X + 1e12):
        stats = group(rows)
        assert np.isfinite(scores(stats, rows)).all()
        assert np.isfinite(evidence_of(BLOCK, stats, 0))


# --- cells given other cells ---------------------------------------------------------------------


def test_drawn_cells_have_the_conditional_moments_and_the_others_stay():
    """Means within 5 standard errors, deviations within 10%, 20,000 rows: 8 numbers, fixed seed."""
    stats, n = group(HOLES), 20_000
    row = np.array([0.5, np.nan, 1.0, np.nan])
    X = np.tile(row, (n, 1))
    drawn = seam.draw(BLOCK, stats, np.zeros(n, np.int64), X, np.random.default_rng(0))
    assert (drawn[:, [0, 2]] == row[[0, 2]]).all()
    value, spread = seam.fill(BLOCK, stats, np.tile([1.0, 0.0, 0.0], (1, 1)), X[:1])
    assert value[0, [0, 2]].tolist() == [0.5, 1.0]
    assert (spread[0, [0, 2]] == 0.0).all()
    for d in (1, 3):
        assert abs(drawn[:, d].mean() - value[0, d]) < 5 * spread[0, d] / np.sqrt(n)
        assert drawn[:, d].std() == pytest.approx(spread[0, d], rel=0.1)
    place, shape, _ = posterior(BLOCK.prior, HOLES, REPAIR)
    o, m = [0, 2], [1, 3]
    slope = shape[np.ix_(m, o)] @ np.linalg.inv(shape[np.ix_(o, o)])
    np.testing.assert_allclose(value[0, m], place[m] + slope @ (row[o] - place[o]), rtol=1e-9)


def test_the_ratio_of_densities_is_the_conditional_density():
    """Drawn cells against the score of whole rows over that of parts: Kolmogorov-Smirnov."""
    stats, n = group(HOLES), 4000
    X = np.tile([0.5, np.nan, 1.0, 0.2], (n, 1))
    x = np.sort(seam.draw(BLOCK, stats, np.zeros(n, np.int64), X, np.random.default_rng(1))[:, 1])
    points = np.linspace(x[0] - 5.0, x[-1] + 5.0, 4000)
    rows = np.repeat(X[:1], 4000, axis=0)
    rows[:, 1] = points
    p = np.exp(scores(stats, rows) - scores(stats, X[:1]))
    below = np.cumsum(p) * (points[1] - points[0])
    assert below[-1] == pytest.approx(1.0, abs=1e-3)
    assert np.abs(np.interp(x, points, below) - (np.arange(n) + 0.5) / n).max() < 2.5 / np.sqrt(n)


def test_filling_mixes_the_groups():
    stats = group(WHOLE)
    count_all(BLOCK, stats, 1, np.ascontiguousarray(WHOLE + 50.0))
    X = np.array([[np.nan] * D, [0.5, np.nan, 1.0, np.nan], [1.0, 2.0, 3.0, 4.0]])
    weight = np.array([[0.25, 0.75, 0.0], [1.0, 0.0, 0.0], [0.5, 0.5, 0.0]])
    value, spread = seam.fill(BLOCK, stats, weight, X)
    places = seam.typical(BLOCK, stats, np.array([0, 1]))
    np.testing.assert_allclose(value[0], 0.25 * places[0] + 0.75 * places[1])
    assert (spread[0] > 20.0).all()
    assert (spread[1, [1, 3]] > 0.0).all()
    assert (value[2] == X[2]).all()
    assert (spread[2] == 0.0).all()


def test_a_block_counts_as_one_column():
    stats, out = group(HOLES), np.array([0.5])
    columns_of(BLOCK, stats, 0, out)
    assert out[0] == 0.5 + evidence_of(BLOCK, stats, 0)


def test_what_no_rows_leave_is_not_sound():
    def broken(change):
        stats = group(HOLES)
        change(stats.n)
        return bool(seam.sound(BLOCK, stats))

    def put(place, value):
        return lambda n: n.__setitem__(place, value)

    assert broken(lambda n: None)
    assert not broken(put((0, gaussian.N, 0, 1), 7.5))
    assert not broken(put((0, gaussian.N, 0, 0), 1.0))
    assert not broken(put((0, gaussian.SQUARE, 0, 1), -1.0))
    assert not broken(put((0, gaussian.CROSS, 2, 1), 1e9))
    assert not broken(put((0, gaussian.MEAN, 0, 0), np.inf))
