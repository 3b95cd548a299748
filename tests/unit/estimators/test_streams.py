"""Any cutting of a stream into calls, by any number of threads, leaves the same bits."""

import copy
import itertools
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from infinimix import AClassClassifier, CRPMixture
from tests.unit.estimators.states import differences, state_of
from tests.unit.estimators.tables import KINDS, columns_of, make_labels, make_table

NEVER_FOUND = ("count", "spiked", "gaussian")


def learn(model, X, y=None, cuts=()):
    ends = [0, *sorted(cuts), len(X)]
    for first, last in itertools.pairwise(ends):
        if last > first:
            labels = None if y is None else y[first:last]
            model.partial_fit(X[first:last], labels)
    return model


def assert_same(a, b):
    assert differences(state_of(a), state_of(b)) == []


SETTINGS = st.fixed_dictionaries(
    {
        "prior": st.sampled_from(["empirical", "reference"]),
        "resampling": st.sampled_from(["optimal", "systematic", "multinomial"]),
        "n_particles": st.sampled_from([1, 3, 8]),
        "n_islands": st.sampled_from([1, 2]),
        "max_groups": st.sampled_from([None, 3]),
        "random_state": st.integers(0, 10),
    }
)
CUTS = st.integers(1, 80).flatmap(
    lambda n: st.tuples(st.just(n), st.lists(st.integers(0, n), max_size=8))
)


@given(kind=st.sampled_from(sorted(KINDS)), parameters=SETTINGS, stream=CUTS)
def test_any_cutting_of_a_stream_leaves_the_same_bits(kind, parameters, stream):
    n, cuts = stream
    X, y = make_table(kind, n, seed=n), make_labels(n, seed=n)
    parameters = parameters | {"columns": columns_of(kind)}
    whole = AClassClassifier(**parameters).partial_fit(X, y)
    parts = learn(AClassClassifier(**parameters), X, y, cuts)
    assert_same(whole, parts)
    queries = make_table(kind, 20, seed=99)
    assert (whole.predict_proba(queries) == parts.predict_proba(queries)).all()
    assert whole.log_evidence_ == parts.log_evidence_


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_row_by_row_is_all_at_once(kind):
    X = make_table(kind, 70)
    parameters = {"columns": columns_of(kind), "n_particles": 5, "n_islands": 2, "random_state": 1}
    whole = CRPMixture(**parameters).partial_fit(X)
    assert_same(whole, learn(CRPMixture(**parameters), X, cuts=range(70)))
    assert (whole.sample(5) == learn(CRPMixture(**parameters), X, cuts=[9]).sample(5)).all()


@settings(max_examples=15)
@given(kind=st.sampled_from(sorted(KINDS)), cuts=st.lists(st.integers(40, 60), max_size=5))
def test_auto_columns_do_not_depend_on_the_cutting_once_the_kinds_are_clear(kind, cuts):
    X = make_table(kind, 60, seed=3).astype(object)
    for j, k in enumerate(KINDS[kind]):
        if k == "categorical":
            X[:, j] = [None if v != v else f"v{v:.0f}" for v in X[:, j].astype(float)]
    asked = {j: k for j, k in enumerate(KINDS[kind]) if k in NEVER_FOUND}
    model = CRPMixture(asked, n_particles=3, n_islands=1, random_state=0)
    parts = learn(copy.deepcopy(model), X, cuts=cuts)
    assert list(parts.columns_.values()) == KINDS[kind]
    assert_same(model.partial_fit(X), parts)


@pytest.mark.parametrize("form", ["list", "float32", "fortran", "readonly", "object"])
def test_the_form_of_the_parts_does_not_matter(form):
    X = make_table("mixed", 40).astype(np.float32).astype(float)
    y = make_labels(40)
    forms = {
        "list": lambda A: A.tolist(),
        "float32": lambda A: A.astype(np.float32),
        "fortran": np.asfortranarray,
        "readonly": lambda A: A,
        "object": lambda A: A.astype(object),
    }
    parameters = {
        "columns": columns_of("mixed"), "n_particles": 3, "n_islands": 2, "random_state": 0
    }  # fmt: skip
    whole = AClassClassifier(**parameters).partial_fit(X, y)
    if form == "readonly":
        X.flags.writeable = False
    parts = AClassClassifier(**parameters)
    for i in range(0, 40, 13):
        parts.partial_fit(forms[form](X[i : i + 13]), list(y[i : i + 13]))
    assert_same(whole, parts)


@pytest.mark.parametrize("resampling", ["optimal", "multinomial"])
@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_the_number_of_threads_does_not_matter(method, resampling):
    X, y = make_table("mixed", 60), make_labels(60)
    models = [
        getattr(
            AClassClassifier(
                columns_of("mixed"),
                n_particles=4,
                n_islands=3,
                resampling=resampling,
                n_jobs=n_jobs,
                random_state=0,
            ),
            method,
        )(X, y)
        for n_jobs in (None, 1, 2, -1, 7)
    ]
    for other in models[1:]:
        assert_same(models[0], other)


def test_looking_ahead_is_for_fit_alone():
    """A stream does not know its next row: there, "lookahead" is "optimal"."""
    X = make_table("binary", 80)
    models = [
        CRPMixture(columns_of("binary"), n_particles=2, resampling=how, random_state=0)
        for how in ("lookahead", "optimal")
    ]
    ahead, blind = (model.partial_fit(X).log_evidence_ for model in models)
    assert ahead == blind
    ahead, blind = (model.fit(X).log_evidence_ for model in models)
    assert ahead != blind


def test_a_stream_may_follow_a_fit():
    X, y = make_table("mixed", 60), make_labels(60)
    start = AClassClassifier(columns_of("mixed"), n_particles=3, n_islands=2, random_state=0)
    start.fit(X[:20], y[:20])
    one, many = copy.deepcopy(start), pickle.loads(pickle.dumps(start))
    assert_same(one, many)
    assert_same(learn(one, X[20:], y[20:]), learn(many, X[20:], y[20:], cuts=[1, 5, 30]))
    assert one.class_count_.sum() == 60


def test_labels_speak_of_the_rows_of_the_last_fit_only():
    X = make_table("real", 20)
    model = CRPMixture("real", n_particles=2, n_islands=1, random_state=0).fit(X)
    assert model.labels_.shape == (20,)
    model.partial_fit(X[:1])
    assert not hasattr(model, "labels_")


def test_asking_questions_changes_nothing():
    X, y = make_table("mixed", 50), make_labels(50)
    quiet, asked = (
        AClassClassifier(columns_of("mixed"), n_particles=3, n_islands=2, random_state=0)
        for _ in range(2)
    )
    for i in range(0, 50, 10):
        quiet.partial_fit(X[i : i + 10], y[i : i + 10])
        asked.partial_fit(X[i : i + 10], y[i : i + 10])
        asked.predict(X), asked.predict_proba(X), asked.score_samples(X)
        asked.prototypes(asked.classes_[0]), asked.n_groups_, asked.log_evidence_, asked.columns_
    assert_same(quiet, asked)


def test_memory_is_flat_once_the_bound_is_reached():
    rng = np.random.default_rng(0)
    model = CRPMixture(
        "binary", alpha=5.0, n_particles=4, n_islands=1, max_groups=6, random_state=0
    )

    model.partial_fit(rng.integers(0, 2, (500, 12)))
    f = model._bank.classes[0][0]
    before, bytes_before = (f.slots.shape, f.groups.shape, f.u.shape), f.stats[0].n.nbytes
    for _ in range(6):
        model.partial_fit(rng.integers(0, 2, (500, 12)))
        assert (f.slots.shape, f.groups.shape, f.u.shape) == before
        assert f.stats[0].n.nbytes == bytes_before
        assert model.n_groups_ <= 6
        assert len(model.n_groups_posterior_) <= 7
    assert model.n_groups_ == 6
