"""A failed call leaves the model as it was, and says what was wrong and where."""

import copy

import numpy as np
import pandas as pd
import pytest

import infinimix
from infinimix import AClassClassifier, CRPMixture
from tests.unit.estimators.states import differences, state_of

pytestmark = pytest.mark.filterwarnings("ignore:X does not have valid feature names")
rng = np.random.default_rng(0)
KINDS = {"b": "binary", "c": "categorical", "r": "real"}
FRAME = pd.DataFrame(
    {"b": rng.integers(0, 2, 30), "c": rng.choice(list("xyz"), 30), "r": rng.normal(size=30)}
)
LABELS = rng.choice(["p", "q"], 30)
MORE, MORE_LABELS = FRAME[::-1].reset_index(drop=True), rng.choice(["p", "q", "new"], 30)
MORE["c"] = [*MORE["c"][:-1], "late"]


def with_last(column, value):
    """A frame that is right but for one cell of its last row."""
    frame = MORE.astype(object)
    frame.loc[len(frame) - 1, column] = value
    return frame


def put(column, value):
    """The same for a cell that pandas would unpack."""
    rows = MORE.astype(object).to_dict("records")
    rows[-1][column] = value
    return rows


WRONG_TABLES = {
    "not binary": (with_last("b", 2), ValueError, "column 'b' is binary.*2.*row 29"),
    "not binary text": (with_last("b", "1"), ValueError, "column 'b' is binary.*'1'.*row 29"),
    "infinite": (with_last("r", np.inf), ValueError, "column 'r'.*infinite.*row 29"),
    "minus infinite": (with_last("r", -np.inf), ValueError, "column 'r'.*infinite.*row 29"),
    "too large": (put("r", 10**400), ValueError, "column 'r'.*row 29.*too large"),
    "not a number": (with_last("r", "many"), ValueError, "column 'r' is real.*'many'.*row 29"),
    "infinite category": (with_last("c", np.inf), ValueError, "column 'c'.*infinite.*row 29"),
    "date": (with_last("c", np.datetime64("2020-01-01")), ValueError, "column 'c' holds dates"),
    "list in a category": (put("c", [1, 2]), TypeError, "column 'c' has a list in row 29"),
    "list in a number": (put("r", [1, 2]), TypeError, "column 'r' has a list in row 29"),
    "list in a binary": (put("b", [1, 2]), TypeError, "column 'b' has a list in row 29"),
    "too narrow": (MORE[["b"]], ValueError, "r"),
    "too wide": (MORE.assign(q=1), ValueError, "q"),
    "other names": (MORE.rename(columns={"r": "q"}), ValueError, "(?s)q.*r"),
    "other order": (MORE[["r", "c", "b"]], ValueError, "same order"),
    "same name twice": (
        MORE.set_axis(["b", "c", "c"], axis=1),
        ValueError,
        "(?s)[Dd]uplicate|unique|feature names should match",  # the last by older scikit-learn
    ),
    "unknown key": ([{"b": 1}, {"zz": 1}], ValueError, "unknown: 'zz'"),
    "wrong width": (np.zeros((3, 4)), ValueError, "X has 4 features.*expecting 3"),
    "one dimension": ([1, 2, 3], ValueError, "Expected 2D array.*[Rr]eshape"),
    "three dimensions": (np.zeros((2, 3, 4)), ValueError, "Expected 2D array"),
    "no rows": (MORE[:0], ValueError, "0 sample"),
    "ragged": ([[0, "x", 1.0], [0, "x"]], ValueError, "row 1 of X has 2 cells"),
    "nothing": (None, ValueError, "Expected 2D array, but X is None; pass a data frame, "),
    "one string": ("abc", ValueError, "X is one string; pass a data frame, "),
    "a set": ({1, 2}, ValueError, "X is a set; pass a data frame, "),
    "a dict": ({"b": [1]}, TypeError, "list with one dict per row"),
}
WRONG_LABELS = {
    "too few": (MORE_LABELS[:-1], ValueError, "X has 30 rows, y has 29"),
    "too many": ([*MORE_LABELS, "p"], ValueError, "X has 30 rows, y has 31"),
    "none at all": (None, ValueError, "y is None"),
    "a number": ([*MORE_LABELS[:-1], 1], ValueError, "all text or all numbers"),
    "a list": ([*MORE_LABELS[:-1], [1]], ValueError, None),
    "a set": ([*MORE_LABELS[:-1], {1}], TypeError, "row 29"),
}


def make(cls):
    return cls(KINDS, n_particles=3, n_islands=2, random_state=0)


def assert_same(a, b):
    assert differences(state_of(a), state_of(b)) == []


@pytest.fixture(scope="module")
def started():
    """Models in the middle of a stream, for each class and way of starting."""
    return {
        (cls, method): getattr(make(cls), method)(FRAME, LABELS)
        for cls in (CRPMixture, AClassClassifier)
        for method in ("fit", "partial_fit")
    }


@pytest.fixture(scope="module")
def never_failed(started):
    """The same models one call later."""
    return {
        key: copy.deepcopy(model).partial_fit(MORE, MORE_LABELS) for key, model in started.items()
    }


@pytest.mark.parametrize("cls", [CRPMixture, AClassClassifier])
@pytest.mark.parametrize("name", WRONG_TABLES)
def test_a_wrong_table_changes_nothing(started, never_failed, cls, name):
    table, error, words = WRONG_TABLES[name]
    for how in ("fit", "partial_fit"):
        model = copy.deepcopy(started[cls, how])
        before = state_of(model)
        with pytest.raises(error, match=words):
            model.partial_fit(table, MORE_LABELS[: len(table) if table is not None else 0])
        assert differences(before, state_of(model)) == []
        for method in (model.predict, model.score_samples):
            with pytest.raises(error, match=words):
                method(table)
        assert differences(before, state_of(model)) == []
        assert_same(never_failed[cls, how], model.partial_fit(MORE, MORE_LABELS))


@pytest.mark.parametrize("hole", [None, np.nan])
def test_no_label_anywhere_is_an_error_where_no_class_is_known(started, hole):
    model = copy.deepcopy(started[AClassClassifier, "fit"])
    before = state_of(model)
    with pytest.raises(ValueError, match="no label at all"):
        model.fit(MORE, [hole] * len(MORE))
    assert differences(before, state_of(model)) == []
    assert model.partial_fit(MORE, [hole] * len(MORE)) is model  # of the classes that it knows


@pytest.mark.parametrize("name", WRONG_LABELS)
def test_wrong_labels_change_nothing(started, never_failed, name):
    labels, error, words = WRONG_LABELS[name]
    for how in ("fit", "partial_fit"):
        model = copy.deepcopy(started[AClassClassifier, how])
        before = state_of(model)
        for method in (model.partial_fit, model.fit):
            with pytest.raises(error, match=words):
                method(MORE, labels)
            assert differences(before, state_of(model)) == []
        assert_same(never_failed[AClassClassifier, how], model.partial_fit(MORE, MORE_LABELS))


ON_FIRST_CALL = sorted(
    set(WRONG_TABLES)
    - {"too wide", "other order", "unknown key", "wrong width"}  # the first call decides these
)


@pytest.mark.parametrize("method", ["fit", "partial_fit"])
@pytest.mark.parametrize("cls", [CRPMixture, AClassClassifier])
@pytest.mark.parametrize("name", ON_FIRST_CALL)
def test_a_failed_first_call_leaves_a_model_that_can_learn(started, cls, method, name):
    table, error, _ = WRONG_TABLES[name]
    model = make(cls)
    before = state_of(model)
    with pytest.raises((error, ValueError)):
        getattr(model, method)(table, MORE_LABELS[: len(table) if table is not None else 0])
    assert state_of(model) == before
    assert_same(getattr(model, method)(FRAME, LABELS), started[cls, method])


@pytest.mark.parametrize("name", WRONG_LABELS)
def test_wrong_labels_on_the_first_call_leave_nothing_behind(started, name):
    labels, error, _ = WRONG_LABELS[name]
    model = make(AClassClassifier)
    for method in ("fit", "partial_fit"):
        with pytest.raises(error):
            getattr(model, method)(MORE, labels)
        assert state_of(model)["fitted"] is False
    assert_same(model.partial_fit(FRAME, LABELS), started[AClassClassifier, "partial_fit"])


@pytest.mark.parametrize("cls", [CRPMixture, AClassClassifier])
def test_a_failed_fit_keeps_what_was_learned_and_its_generator(cls):
    model = make(cls).set_params(random_state=np.random.default_rng(1)).fit(FRAME, LABELS)
    before, generator = state_of(model), str(model.random_state.bit_generator.state)
    for parameters in ({"alpha": -1}, {"columns": {"zz": "real"}}, {"prior": {"zz": 1}}):
        broken = {"alpha": 1.0, "columns": KINDS, "prior": "empirical"} | parameters
        with pytest.raises(ValueError):
            model.set_params(**broken).fit(MORE, MORE_LABELS)
        assert differences(before, state_of(model)) == []
        assert str(model.random_state.bit_generator.state) == generator


@pytest.mark.parametrize("cls", [CRPMixture, AClassClassifier])
def test_an_interrupted_first_call_leaves_an_unfitted_model(cls, monkeypatch):
    def interrupted(*args, **options):
        raise KeyboardInterrupt  # as while kernels compile

    model = make(cls)
    before = state_of(model)
    for method in ("fit", "partial_fit"):
        with monkeypatch.context() as patch:
            patch.setattr("infinimix.inference.partition.filter.ParticleFilter.update", interrupted)
            with pytest.raises(KeyboardInterrupt):
                getattr(model, method)(FRAME, LABELS)
        assert state_of(model) == before
        assert not hasattr(model, "n_features_in_")
    assert_same(model.partial_fit(FRAME, LABELS), make(cls).partial_fit(FRAME, LABELS))


def test_a_fit_that_fails_at_its_last_step_changes_nothing(monkeypatch):
    model = make(CRPMixture).fit(FRAME)
    before = state_of(model)

    def no_room(*args):
        raise MemoryError

    with monkeypatch.context() as patch:
        patch.setattr("infinimix.estimators.mixture.crp_mixture.recorded_assignments", no_room)
        with pytest.raises(MemoryError):
            model.fit(MORE)
    assert differences(before, state_of(model)) == []


@pytest.mark.parametrize("cls", [CRPMixture, AClassClassifier])
def test_unfitted_models_say_so(cls):
    from sklearn.exceptions import NotFittedError

    model = make(cls)
    for ask in (
        lambda: model.predict(FRAME),
        lambda: model.score_samples(FRAME),
        lambda: model.sample(2),
        lambda: model.columns_,
        lambda: model.n_groups_,
        lambda: model.log_evidence_,
        lambda: model.prototypes("p") if cls is AClassClassifier else model.prototypes(),
    ):
        with pytest.raises(NotFittedError, match=cls.__name__):
            ask()
    for name in ("classes_", "n_groups_posterior_", "labels_", "columns_"):
        assert not hasattr(model, name)


def test_an_interrupted_stream_says_so(monkeypatch, tmp_path):
    """Half of the islands have learned: better no answer than one of two minds."""
    model = AClassClassifier("binary", n_islands=2, n_particles=2, random_state=0)
    X = np.array([[0, 1], [1, 0], [1, 1], [0, 0]])
    model.partial_fit(X, [0, 0, 1, 1])

    def interrupted(task, payloads, n_jobs=None, done=None):
        task(payloads[0])
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("infinimix.execution.map", interrupted)
        with pytest.raises(KeyboardInterrupt):
            model.partial_fit(X, [0, 0, 1, 1])
    for use in (
        lambda: model.predict(X),
        lambda: model.partial_fit(X, [0, 0, 1, 1]),
        lambda: infinimix.save(model, tmp_path / "model"),
    ):
        with pytest.raises(RuntimeError, match="interrupted"):
            use()
    assert model.fit(X, [0, 0, 1, 1]).predict(X).shape == (4,)


@pytest.mark.parametrize("table", [None, "abc", {1, 2}, map(list, [[1]]), FRAME["r"]])
def test_no_warning_comes_before_an_error(started, recwarn, table):
    with pytest.raises(ValueError, match="Expected 2D array"):
        started[AClassClassifier, "fit"].predict(table)
    assert not recwarn.list


def test_names_that_are_there_twice_are_named_at_prediction(started):
    table = MORE.set_axis(["b", "c", "c"], axis=1)
    for model in (started[CRPMixture, "fit"], started[AClassClassifier, "partial_fit"]):
        with pytest.raises(ValueError, match="duplicate column names: 'c'; rename or drop"):
            model.predict(table)
