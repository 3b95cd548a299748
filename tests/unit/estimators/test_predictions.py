"""The answers of a model agree with each other and with what its docstring says."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import logsumexp

from infinimix import AClassClassifier, CRPMixture
from tests.unit.estimators.tables import KINDS, columns_of, make_labels, make_table

SMALL = {"n_particles": 4, "n_islands": 3, "random_state": 0}


@given(
    kind=st.sampled_from(sorted(KINDS)),
    n=st.integers(1, 60),
    max_groups=st.sampled_from([None, 1, 3]),
    gamma=st.sampled_from([1e-6, 1.0, 50.0]),
    method=st.sampled_from(["fit", "partial_fit"]),
    holes=st.sampled_from(["auto", "ignore"]),
)
def test_the_answers_of_a_classifier_agree(kind, n, max_groups, gamma, method, holes):
    X, y = make_table(kind, n, seed=n), make_labels(n, seed=n)
    model = AClassClassifier(columns_of(kind), gamma=gamma, max_groups=max_groups, **SMALL)
    model.set_params(holes=holes)
    getattr(model, method)(X, y)
    queries = np.vstack([make_table(kind, 30, seed=n + 1), np.full((1, X.shape[1]), np.nan)])
    log_proba, proba = model.predict_log_proba(queries), model.predict_proba(queries)
    assert proba.shape == (31, len(model.classes_))
    np.testing.assert_allclose(np.exp(log_proba), proba, rtol=1e-12)
    np.testing.assert_allclose(proba.sum(axis=1), 1, rtol=1e-12)
    assert (model.predict(queries) == model.classes_[proba.argmax(axis=1)]).all()
    joint = model._log_joint(model._rows(queries))
    np.testing.assert_allclose(model.score_samples(queries), logsumexp(joint, axis=1), rtol=1e-12)
    prior = (model.class_count_ + gamma) / (n + gamma * len(model.classes_))
    if not model.marked_:  # otherwise holes speak, too
        np.testing.assert_allclose(proba[-1], prior, rtol=1e-9)  # of a row without cells
    assert model.class_count_.tolist() == [int((y == c).sum()) for c in model.classes_]
    assert model.classes_.tolist() == sorted(set(y))
    assert (model.n_groups_ <= (max_groups or n)).all()
    for c, k in zip(model.classes_, model.n_groups_, strict=True):
        assert len(model.prototypes(c)) == k


@given(
    kind=st.sampled_from(sorted(KINDS)),
    n=st.integers(1, 60),
    max_groups=st.sampled_from([None, 1, 3]),
)
def test_the_answers_of_a_mixture_agree(kind, n, max_groups):
    X = make_table(kind, n, seed=n)
    model = CRPMixture(columns_of(kind), max_groups=max_groups, **SMALL).fit(X)
    labels = model.labels_
    assert labels.shape == (n,)
    assert labels.dtype == np.int64
    sizes = np.bincount(labels)
    assert len(sizes) == model.n_groups_ <= (max_groups or n)
    assert (sizes > 0).all()
    assert (np.diff(sizes) <= 0).all()  # numbered from the largest on
    posterior = model.n_groups_posterior_
    assert posterior[0] == 0
    assert posterior[model.n_groups_] > 0
    assert np.isclose(posterior.sum(), 1)
    assert len(posterior) - 1 <= (max_groups or n)
    guesses = model.predict(X)
    assert ((guesses >= 0) & (guesses < model.n_groups_)).all()
    assert np.isclose(model.score(X), model.score_samples(X).mean())
    table = model.prototypes()
    assert table["rows"].tolist() == sizes.tolist()
    np.testing.assert_allclose(table["weight"], sizes / n)


@pytest.mark.parametrize("resampling", ["optimal", "systematic", "multinomial"])
def test_on_clear_groups_labels_and_predictions_are_the_groups(resampling):
    rng = np.random.default_rng(0)
    truth = rng.permutation(np.repeat([0, 1, 2], [60, 40, 20]))
    X = np.array([[0, 0], [60, 0], [0, 60]])[truth] + rng.normal(size=(120, 2))
    model = CRPMixture("real", resampling=resampling, n_particles=10, n_islands=2, random_state=0)
    labels = model.fit_predict(X)
    assert (labels == truth).all()  # numbered from the largest on
    assert (model.labels_ == model.predict(X)).all()
    assert model.n_groups_ == 3
    assert model.n_groups_posterior_[3] > 0.25  # of two islands, one may hold a group too many


def test_the_best_particle_is_the_heaviest_of_the_best_island():
    X = make_table("mixed", 50)
    model = CRPMixture(columns_of("mixed"), n_particles=6, n_islands=4, random_state=0).fit(X)
    islands = model._bank.classes[0]
    best = max(islands, key=lambda f: f.log_evidence())
    heaviest = int(np.argmax(best.weights()))
    assert model.n_groups_ == best.n_groups()[heaviest]
    logs = [f.log_evidence() for f in islands]
    assert np.isclose(model.log_evidence_, logsumexp(logs) - np.log(4))
    expected = np.zeros(len(model.n_groups_posterior_))
    for f in islands:
        np.add.at(expected, f.n_groups(), f.weights() / 4)
    np.testing.assert_allclose(model.n_groups_posterior_, expected)


def test_islands_are_averaged_with_equal_weight():
    X = make_table("mixed", 40)
    together = CRPMixture(columns_of("mixed"), n_particles=3, n_islands=3, random_state=0).fit(X)
    bank = together._bank
    islands = bank.islands
    apart = []
    for island in islands:
        bank.islands, bank._snapshot = [island], None
        apart.append(together.score_samples(X))
    bank.islands, bank._snapshot = islands, None
    np.testing.assert_allclose(
        together.score_samples(X), logsumexp(apart, axis=0) - np.log(3), rtol=1e-10
    )


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_many_rows_are_one_row_many_times(kind):
    X, y = make_table(kind, 60), make_labels(60)
    queries = make_table(kind, 1500, seed=5)  # more than are scored at a time
    classifier = AClassClassifier(columns_of(kind), **SMALL).fit(X, y)
    mixture = CRPMixture(columns_of(kind), **SMALL).fit(X)
    some = [0, 1, 700, 1023, 1024, 1499]
    for model in (classifier, mixture):
        whole = model.score_samples(queries)
        each = np.concatenate([model.score_samples(queries[[i]]) for i in some])
        np.testing.assert_allclose(whole[some], each, rtol=1e-12)
        assert (
            model.predict(queries)[some] == [model.predict(queries[[i]])[0] for i in some]
        ).all()


def test_a_bound_leaves_no_weight_to_a_new_group():
    rng = np.random.default_rng(0)
    model = CRPMixture("real", max_groups=1, **(SMALL | {"n_islands": 1}))
    model.fit(rng.normal(size=(30, 10)))
    far = np.full((1, 10), 1e6)
    alone = np.where(np.eye(10), 1e6, np.nan)  # in one group the columns are independent
    np.testing.assert_allclose(
        model.score_samples(far), model.score_samples(alone).sum(), rtol=1e-9
    )
