import inspect

import numpy as np
import pytest

import infinimix
from infinimix import AClassClassifier, CRPMixture
from tests.unit.estimators.states import differences, state_of

X = np.array([[0.0, 1], [1, 1], [0, 0], [1, 0]])
y = [0, 1, 0, 1]
SMALL = {"columns": "binary", "n_particles": 2, "n_islands": 2}
ESTIMATORS = [CRPMixture, AClassClassifier]
WRONG = {
    "columns": ["floaty", 3, None, ["real"], {"zz": "real"}, {"x0": "floaty"}, {0: None}, "text"],
    "alpha": [0, -1, np.nan, np.inf, "1", True, None, [1], 10**400, 1j],
    "gamma": [0, -1, np.nan, np.inf, "1", True, None, [1], 10**400],
    "prior": ["floaty", 3, None, ["reference"], {"zz": (1, 1)}, {"x0": (1, 1, 1)}, {"x0": (0, 1)}],
    "effort": ["floaty", None, 1, ["fast"], {}],
    "n_particles": [0, -1, 1.5, 2.0, True, "3"],
    "n_islands": [0, -1, 1.5, 2.0, True, "3"],
    "resampling": ["floaty", None, 1, ["optimal"], {}],
    "sweeps": [-1, True, 0.5, "1"],
    "window": [-1, None, True, 0.5, "1"],
    "calibrate": ["yes", None, 1, 0.5],
    "holes": ["floaty", None, True, ["mark"], {}],
    "spikes": ["floaty", None, True, ["auto"], {}],
    "max_groups": [0, -1, 1.5, True, "3"],
    "n_jobs": [0, 1.5, "two", True, [1]],
    "random_state": [-1, 1.5, "a", True, [1]],
    "verbose": ["yes", None, -1],
    "relevance": ["floaty", None, True, ["learn"], {}],
    "n_label_particles": [0, 1.5, None, True, "3"],
    "correction": ["floaty", None, True, ["auto"], {}],
    "class_weight": ["floaty", 3, True, ["balanced"], {0: -1}, {0: "1"}, {0: np.nan}],
    "shared_directions": [-1, 1.5, None, True, "1", [1]],
    "unlabelled_share": [-0.1, 1.5, np.nan, None, True, "1"],
    "unlabelled": [1.5, np.nan, -np.inf, [-1], {}, 1j],
}


def of(estimator):
    return inspect.signature(estimator).parameters


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_every_parameter_has_wrong_values_here(estimator):
    assert set(of(estimator)) <= set(WRONG)


@pytest.mark.parametrize("method", ["fit", "partial_fit"])
@pytest.mark.parametrize(
    ("estimator", "name", "value"),
    [(e, name, value) for e in ESTIMATORS for name in of(e) for value in WRONG[name]],
    ids=lambda v: getattr(v, "__name__", None) or str(v)[:20],
)
def test_a_wrong_value_is_refused_by_name_and_only_when_learning(estimator, name, value, method):
    model = estimator(**(SMALL | {name: value}))
    assert getattr(model, name) is value  # scikit-learn: __init__ keeps what it is given
    with pytest.raises(ValueError, match=name) as caught:
        getattr(model, method)(X, y)
    assert len(str(caught.value)) > 30  # says what it may be, too
    assert state_of(model)["fitted"] is False


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize(
    "good",
    [
        {"alpha": np.float32(0.5), "n_particles": np.int64(3), "max_groups": np.int32(2)},
        {"alpha": 1e-300, "n_islands": np.uint8(1)},
        {"alpha": 1e300, "random_state": np.int64(7)},
        {"random_state": 2**200, "n_jobs": np.int64(2), "verbose": np.bool_(False)},
        {"random_state": np.random.RandomState(0), "n_jobs": -1},
        {"prior": {"x0": [1, 2.5], "binary": 0.5}},
        {"alpha": "learn", "prior": "learn", "sweeps": np.int64(2)},
        {"prior": {"x0": "learn"}, "sweeps": 3, "max_groups": 1},
    ],
    ids="-".join,
)
def test_numbers_of_any_type_will_do(estimator, good):
    model = estimator(**({"random_state": 0} | SMALL | good)).fit(X, y)
    assert np.isfinite(model.score_samples(X)).all()


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_every_parameter_is_documented_and_has_a_default(estimator):
    for name, parameter in of(estimator).items():
        assert parameter.default is not inspect.Parameter.empty
        assert name in estimator.__doc__.split("Attributes\n")[0]


def test_gamma_may_change_after_fit_but_not_to_nonsense():
    model = AClassClassifier(**SMALL, random_state=0).fit(X, [0, 0, 0, 1])
    unsure = [[np.nan, np.nan]]
    assert np.allclose(model.predict_proba(unsure), [[4 / 6, 2 / 6]])
    assert np.allclose(model.set_params(gamma=3.0).predict_proba(unsure), [[0.6, 0.4]])
    for bad in (-1.0, 0.0, np.nan, None):
        for method in (model.predict_proba, model.predict, model.score_samples):
            with pytest.raises(ValueError, match="gamma"):
                method(model.set_params(gamma=bad) and unsure)


@pytest.fixture(params=ESTIMATORS)
def make(request):
    rng = np.random.default_rng(0)
    table = rng.integers(0, 2, (30, 4)).astype(float)
    labels = rng.integers(0, 2, 30)

    def fit(random_state, method="fit", model=None):
        if model is None:
            model = request.param("binary", n_particles=3, n_islands=2, random_state=random_state)
        return getattr(model, method)(table, labels)

    return fit


def same(a, b):
    return not differences(state_of(a), state_of(b))


@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_the_same_whole_number_gives_the_same_model(make, method):
    assert same(make(5, method), make(5, method))
    assert not same(make(5, method), make(6, method))
    assert same(make(5, method), make(np.int64(5), method))


def test_none_gives_another_model_each_time(make):
    assert not same(make(None), make(None))


def test_generators_in_the_same_state_give_the_same_model(make):
    assert same(make(np.random.default_rng(3)), make(np.random.default_rng(3)))
    rng = np.random.default_rng(3)
    assert not same(make(rng), make(rng))  # as in scikit-learn, a generator moves on


def test_fit_forgets_what_was_learned_before(make):
    fresh = make(5)
    again = make(5, model=make(5))
    after_a_stream = make(5, model=make(5, "partial_fit"))
    assert same(fresh, again)
    assert same(fresh, after_a_stream)


def test_fit_forgets_columns_names_categories_and_classes():
    import pandas as pd

    small = {"n_particles": 2, "n_islands": 1, "random_state": 0}
    frame = pd.DataFrame({"c": ["u", "v", "w"]})
    model = AClassClassifier(**small).partial_fit(frame, ["a", "b", "c"])
    assert model.feature_names_in_.tolist() == ["c"]
    model.fit(X, y)
    assert not differences(state_of(model), state_of(AClassClassifier(**small).fit(X, y)))
    assert not hasattr(model, "feature_names_in_")
    assert model.classes_.tolist() == [0, 1]


def test_public_names_are_importable_and_listed():
    for name in infinimix.__all__:
        found = getattr(infinimix, name)
        assert getattr(found, "__name__", repr(found)) == name
        assert name in dir(infinimix)
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        _ = infinimix.Nothing
