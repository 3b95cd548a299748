"""The additive shared part of AClass against its slow version."""

import numpy as np
import pytest

from infinimix import AClassClassifier, CRPMixture
from infinimix.estimators.aclass.shared_part import FIRM, SharedPart, find_shared
from infinimix.families.gaussian import NormalInverseWishart, block_evidence
from infinimix.families.gaussian_priors import block_prior
from infinimix.families.seam import count_rows, empty
from tests.oracle import shared_part as slow
from tests.plain import plain

PART = SharedPart(
    0.4, np.array([1.0, -1.0, 0.5]), np.array([0.5, 1.0, 0.2]), np.array([[2.0, -1.0, 0.5]])
)
TRUTH = (PART.kappa, PART.mean, PART.covariance)


def drawn(n, seed, part=PART, groups=1):
    rng = np.random.default_rng(seed)
    d = len(part.mean)
    means = rng.multivariate_normal(part.mean, part.covariance / part.kappa, size=groups)
    noise = rng.multivariate_normal(np.zeros(d), part.covariance, size=(groups, n))
    return list(means[:, None] + noise)


def moments(groups):
    """Moments of groups, as the family counts them."""
    d = groups[0].shape[1]
    family = (NormalInverseWishart(np.eye(3 + d, d, -3) + 1),)
    stats, rows = empty(family, len(groups)), np.concatenate(groups)
    of = np.repeat(np.arange(len(groups)), [len(group) for group in groups])
    count_rows(family, stats, np.eye(len(groups))[of], (np.ascontiguousarray(rows),))
    return stats[0].n


def test_the_covariance_is_that_of_loadings_and_own_variances():
    prior = block_prior(PART.entry(), moments(drawn(4, 0))[0])
    np.testing.assert_allclose(prior[3:] / FIRM, np.outer(*[[2.0, -1.0, 0.5]] * 2) + np.diag(
        [0.5, 1.0, 0.2]))  # fmt: skip
    np.testing.assert_allclose(prior[0], PART.mean)
    assert (prior[1] == 0.4).all()
    assert (prior[2] == FIRM).all()


@pytest.mark.parametrize("n", [1, 2, 7])
def test_the_evidence_of_a_group_is_that_of_one_normal_vector(n):
    (rows,) = drawn(n, n)
    prior = block_prior(PART.entry(), moments([rows])[0])
    found = plain(block_evidence)(prior, moments([rows]), 0)
    assert found == pytest.approx(slow.log_density(rows, *TRUTH), abs=1e-4)  # nu is finite


def test_densities_are_those_of_all_partitions():
    rows = np.concatenate(drawn(3, 1, groups=2))[:5]
    model = CRPMixture(
        "gaussian", alpha=0.7, prior={"gaussian": PART.entry()}, n_particles=100, n_islands=1,
        sweeps=0, random_state=0,
    ).fit(rows)  # fmt: skip
    assert model.log_evidence_ == pytest.approx(slow.log_mixture(rows, 0.7, TRUTH), abs=1e-3)
    for x in (drawn(1, 9)[0][0], np.array([1.0, np.nan, 0.0]), np.array([np.nan, 2.0, np.nan])):
        exact = slow.log_predictive(rows, x, 0.7, TRUTH)
        assert model.score_samples([x])[0] == pytest.approx(exact, abs=1e-3)


def test_classes_are_weighed_as_all_partitions_say():
    X, y = np.concatenate(drawn(4, 2, groups=2)), np.repeat(["a", "b"], 4)
    model = AClassClassifier(
        "gaussian", alpha=0.7, n_particles=60, n_islands=1, sweeps=0, calibrate=False,
        shared_directions=1, random_state=0,
    ).fit(X, y)  # fmt: skip
    kappa, nu, *numbers = model._state.bank.settings.prior["x0"]
    mean, own, loadings = np.reshape(numbers, (3, 3))
    part = (kappa, mean, np.diag(own) + np.outer(loadings, loadings))
    assert nu == FIRM
    np.testing.assert_allclose(model.shared_loadings_, loadings[:, None])
    queries = np.concatenate(drawn(3, 7))
    logs = [[slow.log_predictive(X[y == c], x, 0.7, part) for c in "ab"] for x in queries]
    exact = np.exp(np.array(logs) - np.logaddexp.reduce(logs, axis=1)[:, None])
    np.testing.assert_allclose(model.predict_proba(queries), exact, atol=1e-3)


@pytest.mark.parametrize("seed", range(2))
def test_what_is_found_has_the_highest_evidence_there_is(seed):
    part = SharedPart(0.3, np.zeros(4), np.full(4, 0.5), np.array([[2.0, -1.0, 0.5, 1.0]]))
    groups = drawn(9, seed, part, groups=4)
    highest, (_, _, S) = slow.best_shared(groups, 1)
    found = find_shared(moments(groups), 1)
    mine = sum(slow.log_density(g, found.kappa, found.mean, found.covariance) for g in groups)
    assert mine == pytest.approx(highest, abs=0.005)
    np.testing.assert_allclose(found.covariance, S, atol=0.05 * np.abs(S).max())
