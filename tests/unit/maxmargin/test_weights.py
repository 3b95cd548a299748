"""Weights of rows and classes: the weighted objective is that of repeated rows, and never rises."""

import warnings

import numpy as np
import pytest
from scipy.optimize import minimize

from infinimix import (
    DPMeans,
    DPMeansSVC,
    GibbsInfiniteSVC,
    MaxMarginDPMeans,
    MaxMarginDPMeansCV,
    load,
    save,
)
from infinimix.maxmargin.descent.algorithm import descend, move_means
from infinimix.maxmargin.descent.passes import move_experts
from infinimix.maxmargin.experts.training import fit_experts
from infinimix.maxmargin.objective.divergences import find_divergence
from infinimix.maxmargin.objective.hinges import LossWeights, one_point_costs, one_point_experts
from infinimix.maxmargin.objective.problem import Clusters, MarginProblem
from infinimix.maxmargin.objective.rows import make_rows, signs
from tests.unit.maxmargin.synthetic import turned_rules

rng = np.random.default_rng(0)
X, Y, PLACE = turned_rules(90, 0)
COUNTS = rng.integers(0, 4, 90)
SHARES = rng.random(90) + 0.05
CLASSIFIERS = [
    DPMeansSVC(random_state=0),
    MaxMarginDPMeans(random_state=0),
    MaxMarginDPMeans(random_state=0, multi_class="crammer-singer", creation="sequential"),
    MaxMarginDPMeansCV(random_state=0, cs=(1.0,)),
    GibbsInfiniteSVC(c=0.1, random_state=0, n_iter=30, burn_in=10),
]
by_classifier = pytest.mark.parametrize("model", CLASSIFIERS, ids=lambda m: type(m).__name__)


@pytest.fixture(autouse=True)
def without_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def with_holes(table):
    table = table.copy()
    table[::7, 1] = np.nan
    return table


def problem_of(table, codes, weight, w, n_classes):
    divergence = find_divergence("euclidean", table, weight=weight)
    rows = make_rows(table, divergence, signs(codes, n_classes), weight)
    return MarginProblem(rows, divergence, w)


# --- Counts are repeated rows ---------------------------------------------------------------------


@pytest.mark.parametrize("creation", ["delayed", "sequential"])
def test_counts_are_repeated_rows_to_the_bit_in_dp_means(creation):
    model = DPMeans(creation=creation, random_state=0)
    counted = model.fit(X, sample_weight=COUNTS)
    means, objective, labels = counted.cluster_means_, counted.objective_, counted.labels_
    listed = model.fit(np.repeat(X, COUNTS, axis=0))
    assert np.array_equal(means, listed.cluster_means_)
    assert objective == listed.objective_
    assert np.array_equal(np.repeat(labels, COUNTS), listed.labels_)
    assert len(labels) == 90
    absent = COUNTS == 0
    assert np.array_equal(labels[absent], listed.predict(X[absent]))


@by_classifier
def test_counts_are_repeated_rows_to_the_bit_in_classifiers(model):
    table = with_holes(X)
    counted = model.fit(table, Y, sample_weight=COUNTS)
    proba, labels = counted.predict_proba(table), counted.labels_
    listed = model.fit(np.repeat(table, COUNTS, axis=0), np.repeat(Y, COUNTS))
    assert np.array_equal(proba, listed.predict_proba(table))
    assert len(labels) == 90
    again = listed.labels_[np.cumsum(COUNTS)[COUNTS > 0] - COUNTS[COUNTS > 0]]
    assert np.array_equal(labels[COUNTS > 0], again)


def test_the_last_class_may_have_no_weight():
    model = MaxMarginDPMeans(lam=20.0, s=1.0, random_state=0)
    assert model.fit(X, Y, sample_weight=(Y == 0).astype(int)).classes_.tolist() == [0]


# --- The weighted objective -----------------------------------------------------------------------


@pytest.mark.parametrize("joint", [False, True])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_costs_means_and_experts_are_those_of_repeated_rows(joint, n_classes):
    table, codes, z = turned_rules(80, 3, classes=n_classes)
    table, count = with_holes(table), np.random.default_rng(4).integers(1, 4, 80)
    w = LossWeights(7.0, 0.5, 0.8, 1.1, 0.9, joint)
    weighted = problem_of(table, codes, count.astype(float), w, n_classes)
    listed = problem_of(
        np.repeat(table, count, axis=0), np.repeat(codes, count), None, w, n_classes
    )
    assert np.allclose(weighted.divergence.centre, listed.divergence.centre, rtol=0, atol=1e-12)
    outputs = weighted.rows.Y.shape[1]
    found = []
    for problem, place in ((weighted, z), (listed, np.repeat(z, count))):
        clusters = Clusters(np.zeros((3, 2)), np.zeros((3, outputs, 3)))
        clusters.means = move_means(problem, clusters, place)
        move_experts(problem, clusters, place, 40, 1e-9, np.zeros(3, bool))
        costs = problem.costs(np.arange(problem.rows.n), clusters, place).sum()
        found.append((clusters, costs + problem.penalty(clusters)))
    (one, total), (other, again) = found
    assert np.allclose(one.means, other.means, rtol=0, atol=1e-12)
    # liblinear is within .1% of the optimum, from its own order of rows; IRLS converges
    assert total == pytest.approx(again, rel=2e-3 if joint and n_classes > 2 else 1e-9)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_descent_with_weights_ends_where_that_of_repeated_rows_does(n_classes):
    table, codes, z = turned_rules(90, 5, classes=n_classes)
    count = np.random.default_rng(6).integers(1, 4, 90)
    w = LossWeights(60.0, 1.0, 0.5)
    means = np.array([table[z == k].mean(axis=0) for k in range(3)])
    ends = []
    for problem in (
        problem_of(table, codes, count.astype(float), w, n_classes),
        problem_of(np.repeat(table, count, axis=0), np.repeat(codes, count), None, w, n_classes),
    ):
        outputs = problem.rows.Y.shape[1]
        start = Clusters(means - problem.divergence.centre, np.zeros((3, outputs, 3)))
        ends.append(descend(problem, fit_experts(problem, start), tol=1e-9))
    assert len(ends[0].clusters) == len(ends[1].clusters) == 3
    assert ends[0].history[-1] == pytest.approx(ends[1].history[-1], rel=1e-7)
    assert np.array_equal(np.repeat(ends[0].z, count), ends[1].z)


@pytest.mark.parametrize("joint", [False, True])
def test_opening_a_cluster_costs_what_the_svm_of_the_weighted_row_does(joint):
    w = LossWeights(0.0, 1.0, 0.3, 1.2, 0.7, joint)
    for weight, n_classes in ((0.2, 2), (3.0, 3), (50.0, 3)):
        x = np.array([[0.4, -0.3, 1.0]])
        y = signs(np.array([1]), n_classes)
        expert = one_point_experts(x, y, w, np.array([weight]))

        def value(eta, y=y, x=x, weight=weight):
            eta = eta.reshape(y.shape[1], 3)
            scores = eta @ x[0]
            if w.is_joint(y.shape[1]):
                gap = (scores + w.margin * (y[0] < 0)).max() - scores[y[0] > 0][0]
            else:
                gap = np.maximum(w.margin - y[0] * scores, 0.0).sum()
            return 0.5 * w.ridge * (eta**2).sum() + 2.0 * w.c * weight * gap

        least = minimize(value, 1.1 * expert.ravel() + 1e-3, method="Powell", tol=1e-10).fun
        cost = one_point_costs((x**2).sum(axis=1), y.shape[1], w, np.array([weight]))[0]
        assert cost == pytest.approx(value(expert[0]))
        assert cost <= least + 1e-9


def objective_of(model, table, y, weight):
    """The objective of two classes, written down once more."""
    sign = np.where(y == model.classes_[1], 1.0, -1.0)
    total = model.lam_ * model.n_clusters_ + 0.5 * (model._state.eta**2).sum() / model.nu**2
    for x, own, k, share in zip(table, sign, model.labels_, weight, strict=True):
        mean = model.cluster_means_[k]
        filled = np.where(np.isnan(x), mean, x)
        gap = max(model.margin - own * (model._state.eta[k, 0] @ np.r_[filled, 1.0]), 0.0)
        total += share * (model.s_ * ((filled - mean) ** 2).sum() + 2.0 * model.c_ * gap)
    return total


@pytest.mark.parametrize("lam", [1.0, 30.0, "auto"])
def test_the_objective_is_weighted_and_never_rises(lam):
    table = with_holes(X)
    model = MaxMarginDPMeans(lam=lam, s=0.5, random_state=0).fit(table, Y, sample_weight=SHARES)
    history = model.objective_history_
    assert (np.diff(history) <= 1e-9 * history[0]).all()
    assert history[-1] == pytest.approx(objective_of(model, table, Y, SHARES / SHARES.mean()))
    twice = MaxMarginDPMeans(lam=lam, s=0.5, random_state=0).fit(table, Y, 2.0 * SHARES)
    assert np.allclose(twice.decision_function(table), model.decision_function(table))


@pytest.mark.parametrize("divergence", ["euclidean", "kl", "itakura-saito", "bernoulli"])
@pytest.mark.parametrize("creation", ["delayed", "sequential"])
def test_dp_means_descends_with_any_weights(divergence, creation):
    table = np.random.default_rng(1).random((60, 3)) + 0.01
    table = np.minimum(table, 1.0)
    weight = np.random.default_rng(2).lognormal(0, 2, 60)
    model = DPMeans(0.3, divergence, creation, random_state=0).fit(table, sample_weight=weight)
    assert (np.diff(model.objective_history_) <= 1e-12).all()
    share = weight / weight.mean()
    nearest = model.divergences(table)[np.arange(60), model.labels_]
    total = share @ nearest + 0.3 * model.n_clusters_
    assert model.objective_ == pytest.approx(total)
    for k in range(model.n_clusters_):
        own = model.labels_ == k
        mean = np.average(table[own], axis=0, weights=share[own])
        assert np.allclose(model.cluster_means_[k], mean)
    assert model.score(table, sample_weight=[1.0] * 60) == model.score(table)


@pytest.mark.parametrize("creation", ["delayed", "sequential"])
def test_the_published_loss_descends_with_weights(creation):
    table, codes, _ = turned_rules(80, 2, classes=3)
    model = MaxMarginDPMeans(
        20.0, 1.0, multi_class="crammer-singer", creation=creation, random_state=0
    ).fit(table, codes, np.random.default_rng(0).random(80))
    assert (np.diff(model.objective_history_) <= 1e-9).all()


# --- Mini-batches, classes, files -----------------------------------------------------------------


def test_mini_batches_count_rows_by_their_weights():
    def learn(*batches):
        model = MaxMarginDPMeans(40.0, 1.0, random_state=0, calibrate=False).fit(X, Y)
        for table, labels, weight in batches:
            model.partial_fit(table, labels, sample_weight=weight)
        return model

    table, labels = X[:12] + 0.1, Y[:12]
    twice = learn((np.repeat(table, 2, axis=0), np.repeat(labels, 2), None))
    once = learn((table, labels, np.full(12, 2)))
    assert np.array_equal(once.coef_, twice.coef_)
    assert len(once.labels_) == 12
    halves = learn((np.repeat(table, 2, axis=0), np.repeat(labels, 2), np.full(24, 0.5)))
    plain = learn((table, labels, None))
    assert np.allclose(halves.coef_, plain.coef_, atol=1e-9)
    assert np.allclose(halves.cluster_sizes_, plain.cluster_sizes_)
    assert np.allclose(halves.cluster_means_, plain.cluster_means_)


@by_classifier
def test_class_weights_raise_the_recall_of_a_class(model):
    noisy = np.where(np.random.default_rng(3).random(90) < 0.25, 1 - Y, Y)
    recall = [
        (model.set_params(class_weight={1: factor}).fit(X, noisy).predict(X) == 1).mean()
        for factor in (0.1, 1.0, 10.0)
    ]
    model.set_params(class_weight=None)
    assert recall[0] < recall[1] < recall[2]


@pytest.mark.parametrize("model", [DPMeansSVC(random_state=0), MaxMarginDPMeans(random_state=0)])
def test_balanced_class_weights_are_weights_of_rows(model):
    labels = np.where(np.arange(90) % 4 == 0, Y, 0)
    shares = 90 / (2 * np.bincount(labels))
    balanced = model.set_params(class_weight="balanced").fit(X, labels).decision_function(X)
    model.set_params(class_weight=None)
    by_rows = model.fit(X, labels, sample_weight=shares[labels]).decision_function(X)
    assert np.allclose(balanced, by_rows)


@by_classifier
def test_wrong_weights_are_refused_before_anything_changes(model):
    with pytest.raises(ValueError, match="-1.0 in row 0"):
        model.fit(X, Y, sample_weight=np.full(90, -1.0))
    with pytest.raises(ValueError, match="one number for each row"):
        model.fit(X, Y, sample_weight=np.ones(3))
    with pytest.raises(ValueError, match="class_weight"):
        model.set_params(class_weight="even").fit(X, Y)
    with pytest.raises(ValueError, match="none of the classes"):
        model.set_params(class_weight={"a": 2.0}).fit(X, Y)
    model.set_params(class_weight=None)


def test_streams_cannot_balance_classes():
    with pytest.raises(ValueError, match="needs the whole table"):
        MaxMarginDPMeans(class_weight="balanced").partial_fit(X, Y)


def test_a_weighted_model_is_saved_and_loaded(tmp_path):
    model = GibbsInfiniteSVC(n_iter=4, burn_in=1, random_state=0, class_weight={0: 2.0, 1: 1.0})
    model.fit(X, Y, sample_weight=COUNTS)
    assert (model.labels_[COUNTS == 0] == -1).all()
    save(model, tmp_path / "m.imx")
    again = load(tmp_path / "m.imx")
    assert again.class_weight == {0: 2.0, 1: 1.0}
    assert np.array_equal(again.predict_proba(X), model.predict_proba(X))
