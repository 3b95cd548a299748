"""Drawn parameters: the mean density over draws is the predictive, for every family."""

import numpy as np
import pytest

from infinimix.families import BetaBernoulli, GammaPoisson, product
from infinimix.families.posterior_draws import draw_parameters
from infinimix.families.seam import empty, score_rows
from tests.contract.examples import categorical, joint, normal_family, spiked_family
from tests.contract.page import family as page

DRAWS, ROWS, ASKED = 20_000, 30, 6
NORMAL = [[0.0, 1.0], [1.0, 0.5], [3.0, 4.0], [1.0, 2.0]]
FAMILIES = {
    "bernoulli": BetaBernoulli(np.array([[0.7, 0.2, 3.0], [0.4, 1.0, 0.1]])),
    "categorical": categorical([0.5, 0.6, 1.0], [1.0, 2.0, 0.2]),
    "normal": normal_family(NORMAL),
    "coarse": normal_family(NORMAL, [1.0, 0.5]),
    "spiked": spiked_family([*NORMAL, [0.5, 2.0], [0.5, 0.1]], 0.5),
    "poisson": GammaPoisson(np.array([[0.5, 2.0], [0.5, 0.2]])),
    "block": joint([0.0, 0.5, 0.0], 1.0, 4.0, [1.0, 0.5, 2.0], 0.4),
    "block of one": joint([0.3], 0.5, 2.0, [1.3], 0.0),
}


def rows_of(name, rng):
    """Return rows for a family, some of them with missing cells."""
    width, holes = 3 if name in ("bernoulli", "block") else 2, rng.random((ROWS, 3)) < 0.2
    width = 1 if name == "block of one" else width
    holes[ASKED:] = holes[ASKED:] & (name != "block")  # there, the posterior is exact without them
    if name == "bernoulli":
        return np.where(holes, -1, rng.integers(0, 2, (ROWS, 3))).astype(np.int8)
    if name == "categorical":
        return np.where(holes[:, :2], -1, rng.integers(0, 3, (ROWS, 2))).astype(np.int32)
    X = rng.poisson([1.0, 6.0], (ROWS, 2)) if name == "poisson" else rng.normal(size=(ROWS, width))
    X = np.rint(2.0 * X) / 2.0 if name in ("coarse", "spiked") else X.astype(float)
    X = np.where(rng.random(X.shape) < 0.3, np.inf, X) if name == "spiked" else X
    return np.where(holes[:, :width], np.nan, X)


def density_ratios(family, X, n_draws, rng):
    """Return densities of the first rows under draws from the others, over the predictive."""
    stats, weight = empty(family, n_draws + 1), np.zeros((ROWS, n_draws + 1))
    weight[ASKED:] = 1.0
    product.count_slots(family, stats, X, weight)
    product.refresh_all(family, stats, n_draws + 1)
    draw_parameters(family, stats, np.arange(1, n_draws + 1), rng)
    logs = np.zeros((ASKED, n_draws + 1))
    score_rows(family, stats, np.arange(n_draws + 1), X[:ASKED], logs)
    return np.exp(logs[:, 1:] - logs[:, :1])


@pytest.mark.parametrize("name", FAMILIES)
def test_the_mean_density_over_draws_is_the_predictive(name, seed):
    """Five standard errors, 48 comparisons: one run in 30,000 fails by chance."""
    rng = np.random.default_rng(seed)
    draws = DRAWS // 5 if "block" in name else DRAWS  # these are drawn one by one
    ratio = density_ratios(FAMILIES[name], rows_of(name, rng), draws, rng)
    error = ratio.std(axis=1) / np.sqrt(draws)
    assert error.max() < 0.05  # or the comparison would say nothing
    assert (abs(ratio.mean(axis=1) - 1.0) <= 5 * error + 1e-6).all()


def test_a_product_draws_each_of_its_families(seed):
    families = FAMILIES["bernoulli"], FAMILIES["normal"]
    stats = empty(families, 2)
    before = [own.t.copy() for own in stats]
    draw_parameters(families, stats, np.array([1]), np.random.default_rng(seed))
    for old, own in zip(before, stats, strict=True):
        assert np.array_equal(old[0], own.t[0])
        assert not np.isclose(old[1], own.t[1]).any()


def test_a_family_that_does_not_say_how_is_named():
    family = page.GammaExponential(np.ones((2, 1)))
    with pytest.raises(TypeError, match="GammaExponential"):
        draw_parameters(family, empty(family, 1), [0], np.random.default_rng(0))
