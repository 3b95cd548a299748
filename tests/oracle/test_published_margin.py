"""The published forms of the max-margin models against slow ones from the paper's equations."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.special import gammaln, logsumexp

from infinimix import GibbsInfiniteSVC, MaxMarginDPMeans, MaxMarginDPMeansCV
from infinimix.maxmargin.descent.at_sight import descend_at_sight, one_cluster
from infinimix.maxmargin.descent.passes import move_experts, scan
from infinimix.maxmargin.descent.solvers import joint_value
from infinimix.maxmargin.experts.training import read_data
from infinimix.maxmargin.objective.hinges import LossWeights
from infinimix.maxmargin.objective.problem import MarginProblem
from tests.oracle import margins
from tests.oracle.margins import Paper
from tests.unit.maxmargin.synthetic import partitions, turned_rules


def table(n, classes, seed, d=2):
    rng = np.random.default_rng(seed)
    z = rng.integers(0, 3, n)
    X = rng.normal(size=(n, d)) + np.array([-5.0, 2.0, 9.0])[z][:, None]
    y = np.r_[np.arange(classes), rng.integers(0, classes, n - classes)]
    return X, y


def pose(X, y, w):
    """The problem of the published form, as the library poses it."""
    data = read_data(MaxMarginDPMeans.as_published(), X, y)
    ours = LossWeights(w.lam, w.s, w.c, w.nu, w.l, joint=True, constant=0.0)
    return MarginProblem(data.rows, data.divergence, ours)


def in_paper(y, classes):
    return 2 * y - 1 if classes == 2 else y


def slow_start(problem):
    clusters = one_cluster(problem)
    means = clusters.means + problem.divergence.centre
    return clusters, means, clusters.eta[:, :, :-1]


@pytest.mark.parametrize("classes", [2, 3, 4])
def test_costs_are_those_of_equations_31_and_32(classes):
    X, y = table(12, classes, 0)
    w = Paper(3.0, 0.4, 0.7, 1.3, 1.5)
    problem, signs = pose(X, y, w), in_paper(y, classes)
    clusters = problem.open(np.array([0, 4, 7]))
    clusters.eta[..., :-1] += np.random.default_rng(1).normal(size=clusters.eta[..., :-1].shape)
    means = clusters.means + problem.divergence.centre
    costs = np.array(
        [
            [margins.cost(X[i], signs[i], means[k], clusters.eta[k, :, :-1], w) for k in range(3)]
            for i in range(12)
        ]
    )
    found = scan(problem, clusters)
    order = np.sort(costs, axis=1)
    np.testing.assert_array_equal(found.z, costs.argmin(axis=1))
    np.testing.assert_allclose(found.cost, order[:, 0])
    np.testing.assert_allclose(found.second_cost, order[:, 1])
    np.testing.assert_allclose(costs[np.arange(12), found.second], order[:, 1])
    new = [margins.cost_of_new(X[i], signs[i], classes, w) for i in range(12)]
    np.testing.assert_allclose(problem.opening_costs(problem.squares()), new)


@pytest.mark.parametrize("classes", [3, 5])
@pytest.mark.parametrize("c", [0.02, 5.0])
def test_the_joint_expert_of_one_row_is_the_minimum(classes, c):
    x, w = np.array([[0.7, -1.2, 0.4]]), Paper(1.0, 1.0, c, 1.4, 0.8)
    y = np.array([1])
    best = margins.crammer_singer(x, y, classes, w)
    ours = margins.one_point(x[0], 1, classes, w)
    np.testing.assert_allclose(ours, best, atol=1e-5)
    value = margins.expert_objective(best, x, y, w)
    assert margins.cost_of_new(x[0], 1, classes, w) == pytest.approx(w.lam + value)


@pytest.mark.parametrize("present", [[0], [0, 2], [0, 1, 2, 3]])
@pytest.mark.parametrize(("c", "margin"), [(0.05, 1.0), (1.0, 2.0)])
def test_the_joint_expert_of_a_cluster_is_the_optimum(present, c, margin):
    """Also where classes have no row in the cluster: they count in the maximum all the same."""
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(9, 2)), np.array(present)[np.arange(9) % len(present)]
    w = Paper(1.0, 1.0, c, 1.2, margin)
    table = np.r_[X, 50.0 + np.eye(4, 2)]  # all four classes occur in the table
    problem = pose(table, np.r_[y, np.arange(4)], w)
    clusters = one_cluster(problem).keep(np.array([0, 0]))
    clusters.eta[:] = 0.0
    z = np.r_[np.zeros(9, np.int64), np.ones(4, np.int64)]
    assert move_experts(problem, clusters, z, 1, 1e-3, np.zeros(2, bool)).all()
    best = margins.expert_objective(margins.crammer_singer(X, y, 4, w), X, y, w)
    found = margins.expert_objective(clusters.eta[0, :, :-1], X, y, w)
    own = problem.natural(np.arange(9)), problem.rows.Y[:9]
    assert joint_value(*own, clusters.eta[0], problem.weights) == pytest.approx(found)
    assert best * (1 - 1e-6) <= found <= best * 1.002


@pytest.mark.parametrize(("classes", "n"), [(2, 25), (3, 12)])
def test_algorithm_1_is_that_of_the_paper(classes, n):
    for seed in range(3):
        X, y = table(n, classes, seed)
        w = Paper(12.0, 0.5, 0.6, 1.0)
        problem = pose(X, y, w)
        clusters, means, experts = slow_start(problem)
        end = descend_at_sight(problem, clusters)
        z, means, experts, history = margins.algorithm_1(
            X, in_paper(y, classes), classes, means, experts, w
        )
        assert len(means) > 1
        np.testing.assert_array_equal(end.z, z)
        np.testing.assert_allclose(end.clusters.means + problem.divergence.centre, means)
        rtol, passes = 1e-6 if classes == 2 else 1e-3, len(end.history)
        assert passes in (len(history), len(history) - 1)  # the last may gain nothing but rounding
        np.testing.assert_allclose(end.history, history[:passes], rtol=rtol)
        np.testing.assert_allclose(end.history[-1], history[-1], rtol=rtol)
        if classes == 2:
            np.testing.assert_allclose(end.clusters.eta[:, :, :-1], experts, rtol=1e-5, atol=1e-8)


@settings(max_examples=60)
@given(
    st.integers(0, 10**6), st.integers(1, 25), st.integers(1, 4), st.integers(1, 4),
    st.floats(0.05, 20.0), st.floats(0.01, 10.0), st.floats(0.01, 10.0), st.booleans(),
    st.sampled_from(["delayed", "sequential"]), st.sampled_from(["euclidean", "bernoulli"]),
)  # fmt: skip
def test_no_pass_of_a_published_form_climbs(
    seed, n, d, classes, lam, s, c, missing, creation, divergence
):
    rng = np.random.default_rng(seed)
    X = np.round(rng.random((n, d)), 1)
    X[:, -1] = 0.0  # without a bias, a row of zeros has no expert
    y = rng.integers(0, classes, n)
    if missing:
        X[rng.random(X.shape) < 0.2] = np.nan
    model = MaxMarginDPMeans.as_published(
        lam=lam, s=s, c=c, creation=creation, divergence=divergence, random_state=0
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, y)
    assert (np.diff(model.objective_history_) <= 0).all()
    assert set(model.labels_) == set(range(model.n_clusters_))
    assert (model.intercept_ == 0.0).all()
    assert model.predict(X).shape == (n,)
    if not missing and divergence == "euclidean":
        eta = model._state.eta[:, :, :-1]
        L = len(model.classes_)
        codes = np.searchsorted(model.classes_, y)
        codes = np.where(codes == L - 1, 1, -1) if L <= 2 else codes
        w = Paper(lam, s, c, 1.0)
        paper = margins.objective(X, codes, model.labels_, model.cluster_means_, eta, w)
        assert model.objective_history_[-1] == pytest.approx(paper)


@pytest.mark.parametrize("cls", [MaxMarginDPMeans, MaxMarginDPMeansCV])
def test_published_models_learn_rules_that_turn_round(cls):
    given = {"lam": 25.0, "s": 1.0} if cls is MaxMarginDPMeans else {"lams": (25.0, 250.0), "cv": 2}
    given |= {} if cls is MaxMarginDPMeans else {"ss": (1.0,), "cs": (1.0,)}
    for classes, least in ((2, 0.85), (3, 0.75)):
        X, y, _ = turned_rules(150, 0, classes)
        test, answer, _ = turned_rules(300, 1, classes)
        model = cls.as_published(**given, fit_intercept=True, random_state=0).fit(X, y)
        assert model.n_clusters_ >= 3
        assert model.score(test, answer) > least
    with pytest.raises(ValueError, match="crammer-singer"):
        model.partial_fit(X[:5], y[:5])


def test_mini_batches_of_experts_without_a_bias():
    X, y, _ = turned_rules(300, 0)
    model = MaxMarginDPMeans(fit_intercept=False, random_state=0)
    for part in range(0, 300, 100):
        model.partial_fit(X[part : part + 100], y[part : part + 100], classes=[0, 1])
    assert (model.intercept_ == 0.0).all()
    assert (model.coef_ != 0.0).all()


def log_cluster(x, variance, kappa):
    """The evidence of a column under eqs. 4 and 5: a known variance, the mean integrated out."""
    n = len(x)
    return stats.multivariate_normal.logpdf(x, np.zeros(n), variance * (np.eye(n) + 1.0 / kappa))


def log_labels(x, y, c, nu):
    """The evidence of labels under eq. 11, one slope and no bias, by quadrature."""
    eta = np.linspace(-9 * nu, 9 * nu, 4001)
    logs = stats.norm.logpdf(eta, 0, nu)
    logs = logs - 2 * c * np.maximum(1.0 - y[:, None] * eta * x[:, None], 0.0).sum(axis=0)
    return logsumexp(logs) + np.log(eta[1] - eta[0])


def test_the_published_sampler_has_the_posterior_of_equation_11():
    """Five rows, 52 partitions, 8,000 sweeps: each share within .04, over 5 standard errors."""
    x = np.array([-1.2, -0.8, 0.3, 1.1, 1.6])
    y, alpha, c, nu = np.array([0, 1, 0, 1, 1]), 0.8, 0.7, 1.1
    variance, kappa = 0.4, 0.6
    logs, sizes = [], []
    for z in partitions(5):
        sizes.append(z.max() + 1)
        logs.append(
            sum(
                np.log(alpha) + gammaln(own.sum()) + log_cluster(x[own], variance, kappa)
                + log_labels(x[own], 2 * y[own] - 1, c, nu)
                for own in (z == k for k in range(z.max() + 1))
            )
        )  # fmt: skip
    share = np.exp(np.array(logs) - logsumexp(logs))
    model = GibbsInfiniteSVC.as_published(
        variance, kappa, alpha=alpha, c=c, nu=nu, n_iter=8_500, burn_in=500, n_samples=10,
        random_state=0,
    ).fit(x[:, None], y)  # fmt: skip
    found = model.n_clusters_posterior_
    exact = np.bincount(sizes, share, minlength=6)
    assert np.abs(np.resize(np.r_[found, np.zeros(6)], 6) - exact).max() < 0.04
