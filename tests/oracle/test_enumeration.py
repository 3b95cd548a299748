"""The oracle itself: it must agree with what is known without it."""

from functools import cache
from math import comb, factorial, log

import numpy as np
import pytest
from scipy import stats

from tests.oracle.enumeration import Enumeration, bell, log_crp, log_marginal, partitions
from tests.oracle.worlds import DC, GP, NX, WORLDS


def test_all_partitions_are_there_once():
    assert [bell(n) for n in range(8)] == [1, 1, 2, 5, 15, 52, 203, 877]
    assert len(np.unique(partitions(7), axis=0)) == 877


@pytest.mark.parametrize("alpha", [0.01, 1.0, 30.0])
def test_the_prior_sums_to_one(alpha):
    assert np.exp(log_crp(7, alpha)).sum() == pytest.approx(1.0, abs=1e-12)


def test_a_real_group_has_the_density_of_a_multivariate_t():
    x = np.array([[0.3], [-1.0], [2.5]])
    mean, kappa, nu, scale2 = NX.prior[:, 0]
    t = stats.multivariate_t(np.full(3, mean), scale2 * (np.eye(3) + 1 / kappa), nu)
    one_column = NX._replace(prior=NX.prior[:, :1])
    assert log_marginal((one_column,), (x,), range(3)) == pytest.approx(t.logpdf(x[:, 0]))


def test_a_categorical_group_counts_its_orders():
    x = np.array([[0, -1], [0, -1], [1, -1]], np.int32)
    a = DC.prior[:3]
    counts = stats.dirichlet_multinomial(a, 3).logpmf([2, 1, 0])
    orders = factorial(3) // factorial(2)
    assert log_marginal((DC,), (x,), range(3)) == pytest.approx(counts - log(orders))


@pytest.mark.parametrize("column", [0, 1])
@pytest.mark.parametrize("x", [[0], [3], [1, 0, 4], [0] * 7, [150, 90]])
def test_a_group_of_counts_has_the_closed_form(x, column):
    """A sum is negative binomial, and given it the cells are multinomial."""
    a, b = GP.prior[:, column]
    n, total = len(x), sum(x)
    expected = stats.nbinom.logpmf(total, a, b / (b + n))
    expected += stats.multinomial.logpmf(x, total, [1 / n] * n)
    cells = np.full((n, 2), np.nan)
    cells[:, column] = x
    assert log_marginal((GP,), (cells,), range(n)) == pytest.approx(expected, abs=1e-10)


@pytest.mark.parametrize("bound", [None, 2])
def test_the_predictive_is_a_mixture_over_groups(bound):
    """The ratio of two evidences is the mixture with weights n_g, and alpha if there is room."""
    world, alpha = WORLDS["product-holes"], 0.7
    exact = Enumeration(world.families, world.X, alpha, bound)
    densities, weight = np.zeros(len(world.Y[0])), 0.0

    @cache
    def predict(group):
        """The density of each new row in a group: partitions have many groups in common."""
        g = list(group)
        before = log_marginal(world.families, world.X, g)
        joined = (
            tuple(np.vstack([x[g], y[i]]) for x, y in zip(world.X, world.Y, strict=True))
            for i in range(len(densities))
        )
        after = [log_marginal(world.families, rows, range(len(g) + 1)) for rows in joined]
        return np.exp(np.array(after) - before)

    for z, w in zip(exact.z, exact.weights, strict=True):
        groups = [np.flatnonzero(z == k).tolist() for k in range(z.max() + 1)]
        masses = [len(g) for g in groups]
        if bound is None or len(groups) < bound:
            groups, masses = [*groups, []], [*masses, alpha]
        for g, mass in zip(groups, masses, strict=True):
            densities += w * mass * predict(tuple(g))
            weight += w * mass
    np.testing.assert_allclose(
        exact.log_predictive(world.Y), np.log(densities / weight), atol=1e-10
    )


def test_the_number_of_groups_under_the_prior():
    """Without any data the posterior is the prior: Stirling numbers of the first kind."""
    families, X, _ = WORLDS["binary"]
    empty = tuple(np.full_like(x, -1) for x in X)
    exact = Enumeration(families, empty, 1.0)
    assert exact.log_evidence == pytest.approx(0.0, abs=1e-12)
    pairs = exact.co_assignment()
    assert pairs[0, 1] == pytest.approx(1 / 2)
    assert exact.n_groups_posterior()[1] == pytest.approx(1 / 7)
    assert exact.n_groups_posterior()[6] == pytest.approx(comb(7, 2) / factorial(7))
