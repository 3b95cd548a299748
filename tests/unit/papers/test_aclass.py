"""The AClass paper: its synthetic data and its baselines."""

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge
from sklearn.naive_bayes import BernoulliNB

from infinimix.papers.aclass import baselines
from infinimix.papers.aclass.baselines import (
    Forgetron,
    NaiveBayes,
    PolynomialRLS,
    RunningMean,
    _shrink,
)
from infinimix.papers.aclass.worlds import BernoulliMixture, Mixtures


def two_classes(n):
    rng = np.random.default_rng(0)
    return Mixtures((20, 20), 100, rng).draw(n, rng)


def test_the_density_of_a_mixture_sums_to_one():
    mixture = BernoulliMixture(3, 4, np.random.default_rng(1))
    every = (np.arange(16)[:, None] >> np.arange(4)) % 2 == 1
    assert np.exp(mixture.log_density(every)).sum() == pytest.approx(1.0)


def test_every_mode_of_a_class_is_drawn():
    rng = np.random.default_rng(0)
    mixtures = Mixtures((2, 3), 30, rng)
    mixtures.p = [np.eye(5, 30)[:2], np.eye(5, 30)[2:]]
    X, y = mixtures.draw(500, rng)
    assert set(X[y == 0].argmax(axis=1)) == {0, 1}
    assert set(X[y == 1].argmax(axis=1)) == {2, 3, 4}


def test_naive_bayes_is_bernoulli_nb_on_complete_tables():
    X, y = two_classes(300)
    ours, theirs = NaiveBayes().fit(X.astype(float), y), BernoulliNB().fit(X, y)
    np.testing.assert_allclose(ours.log_one, theirs.feature_log_prob_)
    np.testing.assert_array_equal(ours.predict(X.astype(float)), theirs.predict(X))


def test_naive_bayes_leaves_missing_cells_out():
    X = np.array([[1, np.nan], [np.nan, 0], [1, 1], [0, np.nan]])
    model = NaiveBayes().fit(X, np.zeros(4))
    np.testing.assert_allclose(np.exp(model.log_one), [[3 / 5, 2 / 4]])


def test_running_mean_fills_with_what_came_before():
    X = np.array([[np.nan], [1.0], [np.nan], [0.0], [np.nan]])
    fill = RunningMean()
    assert fill.fit_transform(X).ravel().tolist() == [0.5, 1.0, 1.0, 0.0, 0.5]
    assert fill.transform(np.array([[np.nan], [1.0]])).ravel().tolist() == [0.5, 1.0]


def test_least_squares_choose_by_the_true_leave_one_out_error(monkeypatch):
    monkeypatch.setattr(baselines, "RLS_SCALES", (10.0,))
    monkeypatch.setattr(baselines, "RLS_LAMBDAS", np.array([1e-4, 1e-2, 1.0]))
    bits, y = two_classes(30)
    X, target = bits.astype(float), np.where(y == 1, 1.0, -1.0)
    top = np.linalg.eigvalsh((1 + X @ X.T / 10) ** 2)[-1] / len(X)

    def ridge(lam):
        return KernelRidge(alpha=lam * top, kernel="poly", degree=2, gamma=0.1, coef0=1)

    def left_out(lam):
        keep = ~np.eye(len(X), dtype=bool)
        guesses = [ridge(lam).fit(X[k], target[k]).predict(X[~k])[0] for k in keep]
        return np.mean((target - guesses) ** 2)

    best = min((1e-4, 1e-2, 1.0), key=left_out)
    model = PolynomialRLS().fit(X, y)
    np.testing.assert_allclose(model.coef[:, 1], ridge(best).fit(X, target).dual_coef_, rtol=1e-6)
    np.testing.assert_array_equal(
        model.predict(X), (ridge(best).fit(X, target).predict(X) > 0).astype(int)
    )


def test_a_forgetron_with_room_for_all_is_the_kernel_perceptron():
    bits, y = two_classes(60)
    X, sign = bits.astype(float), np.where(y == 1, 1.0, -1.0)
    size = np.sqrt(1.0 + X.sum(axis=1))
    K = ((1.0 + X @ X.T) / np.outer(size, size)) ** 2
    w = np.zeros(60)
    for t in range(60):
        if sign[t] * (K[t] @ w) <= 0.0:
            w[t] = sign[t]
    np.testing.assert_array_equal(Forgetron(budget=60).fit(X, y).weights[:, 1], w)


def test_a_forgetron_keeps_its_budget_and_its_bound_on_the_damage():
    bits, y = two_classes(300)
    model = Forgetron(budget=20).fit(bits.astype(float), y)
    assert ((model.weights != 0.0).sum(axis=0) == 20).all()
    for size, margin, room in ((1.0, -0.5, 0.4), (0.8, 0.9, 0.1), (1.0, 0.5, 0.2), (0.5, 2.0, 9.0)):
        phi, damage = _shrink(size, margin, room)
        assert 0.0 < phi <= 1.0
        assert damage == pytest.approx((size * phi) ** 2 + 2 * size * phi * (1 - phi * margin))
        assert damage <= room + 1e-12
