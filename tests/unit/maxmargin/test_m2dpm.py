"""Max-margin DP-means: closed forms, brute force, and descent on problems of all shapes."""

import warnings
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from sklearn.metrics import log_loss
from sklearn.svm import LinearSVC

import infinimix
from infinimix import DPMeansSVC, MaxMarginDPMeans, MaxMarginDPMeansCV
from infinimix.maxmargin.loops.expert import improve
from infinimix.maxmargin.objective.hinges import LossWeights, one_point
from tests.unit.maxmargin.synthetic import partitions, turned_rules


def objective_of(model, X, y):
    """The objective of a fitted model, written down once more: with the 2c of the correction."""
    total = model.lam_ * model.n_clusters_ + 0.5 * (model._state.eta**2).sum() / model.nu**2
    classes = model.classes_
    signs = np.where(y[:, None] == classes[None], 1.0, -1.0)
    signs = signs[:, -1:] if len(classes) < 3 else signs
    for x, sign, k in zip(X, signs, model.labels_, strict=True):
        mean = model.cluster_means_[k]
        filled = np.where(np.isnan(x), mean, x)
        total += model.s_ * ((filled - mean) ** 2).sum()
        scores = model._state.eta[k] @ np.r_[filled, 1.0]
        total += 2.0 * model.c_ * np.maximum(model.margin - sign * scores, 0.0).sum()
    return total


def svm(X, y, w):
    """The least objective of one expert, by a solver that knows nothing of ours."""
    X1, C = np.c_[X, np.ones(len(X))], 2.0 * w.c * w.nu**2 / w.margin

    def value(eta):
        gaps = np.maximum(w.margin - y * (X1 @ eta), 0.0)
        return 0.5 * w.ridge * eta @ eta + 2.0 * w.c * gaps.sum()

    if len(np.unique(y)) == 2:
        peer = LinearSVC(C=C, loss="hinge", fit_intercept=False, tol=1e-5, max_iter=10**5)
        return value(w.margin * peer.fit(X1, y).coef_.ravel())
    start = one_point((X1[0] ** 2).sum(), w) * y[0] * X1[0]
    return min(minimize(value, start, method="Powell").fun, value(start))


def test_the_svm_of_one_point_is_the_minimum():
    rng = np.random.default_rng(0)
    for _ in range(20):
        w = LossWeights(1.0, 1.0, *rng.gamma(1.0, size=3))
        x, y = rng.normal(size=3), 1.0

        def value(eta, w=w, x=x, y=y):
            return 0.5 * w.ridge * eta @ eta + 2.0 * w.c * max(w.margin - y * eta @ x, 0.0)

        eta = one_point(x @ x, w) * y * x
        least = min(minimize(value, x * t, method="Powell").fun for t in (0.01, 1.0))
        assert value(eta) <= least + 1e-9


def test_irls_reaches_the_optimum_of_liblinear():
    rng = np.random.default_rng(1)
    for n, d in ((40, 3), (30, 30), (8, 20), (300, 5)):
        w = LossWeights(1.0, 1.0, 0.7, 1.3, 1.5)
        X = rng.normal(size=(n, d))
        y = np.where(X[:, 0] + rng.normal(size=n) > 0, 1.0, -1.0)
        eta = np.zeros(d + 1)
        found, _ = improve(
            np.c_[X, np.ones(n)], y, eta, np.full(n, w.c), w.ridge, w.margin, 300, 1e-9
        )
        assert found <= svm(X, y, w) * 1.002 + 1e-9


def test_the_best_of_all_partitions():
    """Six rows: the least objective over all 203 partitions, experts by another solver."""
    rng = np.random.default_rng(2)
    for lam in (0.5, 4.0):
        X, y = np.r_[rng.normal(size=(3, 1)), 4 + rng.normal(size=(3, 1))], np.array([0, 1] * 3)
        model = MaxMarginDPMeans(lam, s=1.0, c=0.5, n_init=30, random_state=0, tol=1e-7)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # pure clusters are fine here
            model.fit(X, y)
        w, sign = LossWeights(lam, 1.0, 0.5), 2.0 * y - 1.0

        @cache
        def cost(*rows, X=X, sign=sign, w=w):  # each of 63 sets of rows is a cluster many times
            own = X[list(rows)]
            return ((own - own.mean(axis=0)) ** 2).sum() + svm(own, sign[list(rows)], w)

        least = np.inf
        for z in partitions(6):
            clusters = [np.flatnonzero(z == k).tolist() for k in range(z.max() + 1)]
            least = min(least, sum(lam + cost(*rows) for rows in clusters))
        assert model.objective_history_[-1] <= least * 1.01


@settings(max_examples=150)
@given(
    st.integers(0, 10**6), st.integers(1, 30), st.integers(1, 6), st.integers(1, 4),
    st.floats(0.05, 20.0), st.floats(0.01, 10.0), st.floats(0.01, 10.0), st.booleans(),
    st.sampled_from(["euclidean", "kl"]),
)  # fmt: skip
def test_no_pass_climbs(seed, n, d, classes, lam, s, c, missing, divergence):
    """Duplicates, constant columns, one class only, fewer rows than columns, missing cells."""
    rng = np.random.default_rng(seed)
    X = np.round(rng.gamma(2.0, size=(n, d)), 1)
    X[:, -1] = 2.0
    y = rng.integers(0, classes, n)
    if missing:
        X[rng.random(X.shape) < 0.2] = np.nan
    model = MaxMarginDPMeans(lam, s, c, divergence=divergence, random_state=0, calibrate=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, y)
    assert (np.diff(model.objective_history_) <= 0).all()
    assert set(model.labels_) == set(range(model.n_clusters_))
    if divergence == "euclidean":
        assert np.isclose(model.objective_history_[-1], objective_of(model, X, y), rtol=1e-7)
    assert model.predict(X).shape == (n,)


def test_rules_that_turn_round_between_clusters():
    X, y, _ = turned_rules(600, 0)
    test, answer, _ = turned_rules(600, 1)
    model = MaxMarginDPMeans(random_state=0).fit(X, y)
    assert model.n_clusters_ == 3
    assert model.score(test, answer) > 0.93 > LinearSVC().fit(X, y).score(test, answer) + 0.2
    assert model.coef_.shape == (3, 2)
    assert model.intercept_.shape == (3,)
    nearest = model.predict_cluster(test)
    scores = (model.coef_[nearest] * test).sum(axis=1) + model.intercept_[nearest]
    assert np.allclose(scores, model.decision_function(test))
    soft = MaxMarginDPMeans(gating="soft", random_state=0).fit(X, y)
    assert soft.score(test, answer) > 0.93
    assert log_loss(answer, soft.predict_proba(test)) < 0.25
    assert model.label_purity_ < 0.8


def test_more_than_two_classes_by_one_against_the_rest():
    X, y, _ = turned_rules(600, 0, classes=3)
    test, answer, _ = turned_rules(600, 1, classes=3)
    model = MaxMarginDPMeans(random_state=0).fit(X, y)
    assert model.coef_.shape == (model.n_clusters_, 3, 2)
    assert model.score(test, answer) > 0.8
    assert model.decision_function(test).shape == (600, 3)
    assert np.isclose(model.objective_history_[-1], objective_of(model, X, y))
    assert np.allclose(model.predict_proba(test).sum(axis=1), 1)


def test_pure_clusters_are_reported():
    rng = np.random.default_rng(0)
    y = np.arange(100) % 2
    X = rng.normal(size=(100, 2)) + 20 * y[:, None]
    with pytest.warns(UserWarning, match="inert"):
        model = MaxMarginDPMeans(random_state=0).fit(X, y)
    assert model.label_purity_ == 1.0


def test_a_warm_start_does_not_climb():
    X, y, _ = turned_rules(300, 0)
    model = MaxMarginDPMeans(random_state=0, warm_start=True).fit(X, y)
    lam, s, least = model.lam_, model.s_, model.objective_history_[-1]
    again = model.set_params(lam=lam, s=s).fit(X, y)
    assert again.objective_history_[0] <= least * (1 + 1e-9)
    assert again.fit(X[:, :1], y).n_features_in_ == 1  # other columns: a cold start


def test_mini_batches_come_near_to_all_rows_at_once():
    X, y, _ = turned_rules(2000, 0)
    test, answer, _ = turned_rules(600, 1)
    model = MaxMarginDPMeans(random_state=0)
    for part in range(0, 2000, 100):
        model.partial_fit(X[part : part + 100], y[part : part + 100], classes=[0, 1])
    assert model.score(test, answer) > 0.92
    assert model.cluster_sizes_.sum() == 2000
    with pytest.raises(ValueError, match="label 7"):
        model.partial_fit(X[:1], [7])
    far = model.partial_fit([[300.0, 300.0]] * 3, [0, 1, 1])
    assert far.n_clusters_ == 4


def test_missing_cells_hold_the_mean_of_the_cluster():
    X, y, _ = turned_rules(600, 0)
    rng = np.random.default_rng(0)
    X[rng.random(X.shape) < 0.1] = np.nan
    model = MaxMarginDPMeans(random_state=0).fit(X, y)
    assert np.isclose(model.objective_history_[-1], objective_of(model, X, y))
    row = np.array([[X[5, 0], np.nan]])
    k = model.predict_cluster(row)[0]
    filled = np.array([X[5, 0], model.cluster_means_[k, 1]])
    assert np.isclose(
        model.decision_function(row)[0], model.coef_[k] @ filled + model.intercept_[k]
    )


def test_the_search_chooses_on_folds_and_may_be_given_a_grid():
    X, y, _ = turned_rules(300, 0)
    model = MaxMarginDPMeansCV(lams=[5.0, 500.0], ss=[1.0], cs=[0.5], random_state=0).fit(X, y)
    assert len(model.cv_results_["lam"]) == 2
    assert model.best_score_ == model.cv_results_["mean_test_score"].max()
    assert (model.s_, model.c_) == (1.0, 0.5)
    assert MaxMarginDPMeansCV(random_state=0).fit(X, y).score(X, y) > 0.93


def test_the_pipeline_is_blind_to_labels():
    X, y, _ = turned_rules(300, 0)
    rng = np.random.default_rng(0)
    model = DPMeansSVC(random_state=0).fit(X, y)
    other = DPMeansSVC(random_state=0).fit(X, rng.permutation(y))
    assert np.array_equal(model.labels_, other.labels_)
    assert model.score(X, y) > 0.93


@pytest.mark.parametrize("cls", [DPMeansSVC, MaxMarginDPMeans, MaxMarginDPMeansCV])
def test_a_file_brings_the_model_back(cls, tmp_path):
    X, y, _ = turned_rules(200, 0, classes=3)
    y = np.array(["a", "b", "c"])[y]
    model = cls(gating="soft", random_state=0).fit(X, y)
    infinimix.save(model, tmp_path / "model")
    again = infinimix.load(tmp_path / "model")
    assert np.array_equal(again.predict_proba(X), model.predict_proba(X))
    assert again.classes_.tolist() == ["a", "b", "c"]
    assert again.lam_ == model.lam_


@pytest.mark.parametrize("cls", [DPMeansSVC, MaxMarginDPMeans])
def test_gating_is_that_of_the_fit_for_which_the_slope_was_found(cls, tmp_path):
    X, y, _ = turned_rules(200, 0)
    model = cls(gating="soft", random_state=0).fit(X, y)
    expected = model.predict_proba(X)
    infinimix.save(model.set_params(gating="hard"), tmp_path / "model")
    for one in (model, infinimix.load(tmp_path / "model")):
        assert np.array_equal(one.predict_proba(X), expected)
    assert not np.array_equal(model.fit(X, y).predict_proba(X), expected)
