"""Laws of scikit-learn that every public estimator obeys; later ones are visited by themselves."""

import copy
import inspect
import io
import os
import pickle
from functools import cache

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, clone, is_classifier, is_clusterer, is_regressor
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import infinimix

CLASSES = [
    cls
    for cls in (getattr(infinimix, name) for name in infinimix.__all__)
    if inspect.isclass(cls) and issubclass(cls, BaseEstimator)
]
CHEAP = {"n_particles": 3, "n_islands": 2, "n_chains": 2, "n_iter": 60, "n_init": 3}
OWN = {
    "OnlineCRPClassifier": {"columns": "auto"},  # it is for text unless told otherwise
    "GibbsInfiniteSVC": {"burn_in": 20},
    "HybridClassifier": {"generative": infinimix.AClassClassifier(effort="fast")},
}
rng = np.random.default_rng(0)
Y = np.array(["no", "yes"])[(np.arange(60) % 3 == 0).astype(int)]
X = rng.normal(size=(60, 3)) + 2.5 * (Y == "yes")[:, None]
X[rng.random(X.shape) < 0.1] = np.nan


def target(cls):
    """Labels, or numbers for a regressor."""
    return np.where(Y == "yes", 7.0, 2.5) if is_regressor(cls()) else Y


def cheap(cls, **parameters):
    """An estimator that is quick, with a seed where it takes one."""
    known = inspect.signature(cls).parameters
    wanted = CHEAP | {"random_state": 0} | OWN.get(cls.__name__, {}) | parameters
    return cls(**{name: value for name, value in wanted.items() if name in known})


@cache
def learned(cls):
    """A model that has learned the table, for tests that ask it and change nothing."""
    return cheap(cls).fit(X, target(cls))


def answer(model, table):
    """What a model says of a table: its richest answer."""
    first = "predict_proba" if is_classifier(model) else "score_samples"
    for name in (first, "score_samples", "transform", "predict"):
        if hasattr(model, name):
            return getattr(model, name)(table)
    raise AssertionError("the estimator answers nothing")


NETWORK = {"n_iter": 40, "n_chains": 2}  # its own would take two minutes
FEWER = {
    "BlockmodelBayesNet": NETWORK,
    "FiniteMixtureClassifier": {"n_init": 3},
    "GibbsInfiniteSVC": {"n_iter": 60, "burn_in": 20},
    "HybridClassifier": {"generative": infinimix.AClassClassifier(effort="fast", n_islands=2)},
    "MaxMarginDPMeansCV": {"cs": (1.0,), "cv": 2},
}


def _to_check(cls):
    """Defaults, but fewer repetitions: the checks look at forms, types and what is refused.

    With `INFINIMIX_SEEDS` they have all of them.
    """
    if "INFINIMIX_SEEDS" in os.environ:
        return cls(**NETWORK) if cls is infinimix.BlockmodelBayesNet else cls()
    fewer = {"n_islands": 2} if "n_islands" in inspect.signature(cls).parameters else {}
    return cls(**fewer | FEWER.get(cls.__name__, {}))


def _drawn(estimator):
    """Checks that cannot hold for what is drawn.

    They fit weighted rows and repeated rows in another order, and want the same answers to 1e-7.
    These models take rows in a drawn order, or start from rows that are drawn, so that even the
    same rows in another order give other draws. `test_weights` shows the equivalence instead: in
    one order to the bit, and of what is not drawn (steps of EM, losses) exactly.
    """
    if "sample_weight" not in inspect.signature(type(estimator).fit).parameters:
        return {}
    if type(estimator).__name__ in ("CRPImputer", "HybridClassifier"):
        return {}  # nothing is missing in these rows, so nothing is drawn
    why = "the order of rows is drawn, and another order of the same rows gives other draws"
    names = ("check_sample_weight_equivalence_on_dense_data",
             "check_sample_weight_equivalence_on_sparse_data")  # fmt: skip
    return dict.fromkeys(names, why)


@parametrize_with_checks([_to_check(cls) for cls in CLASSES], expected_failed_checks=_drawn)
def test_scikit_learns_own_checks(estimator, check, request):
    try:
        check(estimator)
    except AssertionError as error:
        if request.node.get_closest_marker("xfail") is None:
            raise
        # Nobody reads where it was raised, and pytest takes longer to find that than the check.
        raise error.with_traceback(None) from None


every = pytest.mark.parametrize("cls", CLASSES)
of_tables = pytest.mark.parametrize(
    "cls",
    [cls for cls in CLASSES if {"columns", "alpha"} <= set(inspect.signature(cls).parameters)],
)
classifiers = pytest.mark.parametrize("cls", [cls for cls in CLASSES if is_classifier(cls())])
predictors = pytest.mark.parametrize("cls", [cls for cls in CLASSES if hasattr(cls, "predict")])
clusterers = pytest.mark.parametrize("cls", [cls for cls in CLASSES if is_clusterer(cls())])


def settings(model):
    """All parameters; those of an estimator within are listed too, so its class is enough of it."""
    found = model.get_params(deep=True)
    return {k: type(v) if isinstance(v, BaseEstimator) else v for k, v in found.items()}


@every
def test_a_clone_learns_the_same_and_knows_nothing(cls):
    model = learned(cls)
    again = clone(model)
    assert settings(again) == settings(model)
    assert not again.__sklearn_is_fitted__()
    assert np.array_equal(answer(again.fit(X, target(cls)), X), answer(model, X))


@every
def test_the_representation_shows_what_was_set(cls):
    name = next(iter(set(CHEAP) & set(inspect.signature(cls).parameters)), None)
    if name is not None:
        assert f"{name}=3" in repr(cheap(cls, **{name: 3}))
    assert cls()._repr_html_()


def saved_and_loaded(model):
    return infinimix.load(_saved(model))


@every
@pytest.mark.parametrize(
    "copied",
    [
        lambda model: pickle.loads(pickle.dumps(model)),
        copy.deepcopy,
        lambda model: joblib.load(_dumped(model)),
        saved_and_loaded,
    ],
    ids=["pickle", "deepcopy", "joblib", "save"],
)
def test_copies_answer_the_same_and_go_on_alone(cls, copied):
    goes_on = hasattr(cls, "partial_fit")
    model = cheap(cls).fit(X, target(cls)) if goes_on else learned(cls)
    again = copied(model)
    before = answer(model, X)
    assert np.array_equal(answer(again, X), before)
    if goes_on:
        again.partial_fit(X[:9] + 1, target(cls)[:9])
        assert np.array_equal(answer(model, X), before)  # the first has not moved
        model.partial_fit(X[:9] + 1, target(cls)[:9])
        assert np.array_equal(answer(model, X), answer(again, X))


def _dumped(model):
    file = io.BytesIO()
    joblib.dump(model, file)
    file.seek(0)
    return file


def _saved(model):
    file = io.BytesIO()
    infinimix.save(model, file)
    file.seek(0)
    return file


@every
def test_a_copy_can_be_made_before_the_first_row(cls):
    model = pickle.loads(pickle.dumps(cheap(cls)))
    assert np.array_equal(answer(model.fit(X, target(cls)), X), answer(learned(cls), X))


@of_tables
def test_grid_search_over_its_parameters(cls):
    search = GridSearchCV(cheap(cls), {"alpha": [0.1, np.float64(10)]}, cv=3, error_score="raise")
    search.fit(X, target(cls))
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    infinimix.load(_saved(search.best_estimator_))  # NumPy's numbers as parameters, too


@of_tables
def test_grid_search_in_processes(cls):
    search = GridSearchCV(cheap(cls), {"alpha": [1.0]}, cv=2, n_jobs=2, error_score="raise")
    alone = GridSearchCV(cheap(cls), {"alpha": [1.0]}, cv=2, error_score="raise")
    scores = [
        s.fit(X, target(cls)).cv_results_["mean_test_score"].tolist() for s in (search, alone)
    ]
    assert scores[0] == scores[1]


@classifiers
def test_cross_validation(cls):
    assert cross_val_score(cheap(cls), X, Y, cv=4, error_score="raise").mean() > 0.75
    proba = cross_val_predict(cheap(cls), X, Y, cv=3, method="predict_proba")
    assert np.allclose(proba.sum(axis=1), 1)


@clusterers
def test_density_models_are_compared_by_their_score(cls):
    assert np.isfinite(cross_val_score(cheap(cls), X, cv=3, error_score="raise")).all()
    assert cheap(cls).fit_predict(X).shape == (60,)


@predictors
def test_a_pipeline_that_hands_over_frames(cls):
    steps = make_pipeline(SimpleImputer(), StandardScaler()).set_output(transform="pandas")
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    line = Pipeline([("before", steps), ("model", cheap(cls))]).fit(frame, target(cls))
    assert line[-1].feature_names_in_.tolist() == ["a", "b", "c"]
    assert len(line.predict(frame)) == 60
    arrays = make_pipeline(SimpleImputer(), StandardScaler(), cheap(cls)).fit(X, target(cls))
    assert np.allclose(answer(arrays, X), answer(line, frame))
    polars = clone(line)
    polars[0].set_output(transform="polars")
    assert np.allclose(answer(polars.fit(frame, target(cls)), frame), answer(line, frame))


@of_tables
def test_a_pipeline_that_hands_over_sparse_matrices(cls):
    frame = pd.DataFrame({"word": rng.choice(["u", "v", "w"], 60)})
    columns = ColumnTransformer([("words", OneHotEncoder(), ["word"])], sparse_threshold=1.0)
    line = make_pipeline(columns, cheap(cls)).fit(frame, target(cls))
    assert set(line[-1].columns_.values()) == {"binary"}
    assert answer(line, frame).shape[0] == 60


@of_tables
def test_what_a_fitted_model_of_tables_says_of_its_columns(cls):
    model = cheap(cls).fit(X, target(cls))
    assert model.n_features_in_ == 3
    assert not hasattr(model, "feature_names_in_")
    assert model.columns_ == {"x0": "real", "x1": "real", "x2": "real"}
    assert model.fit(X, target(cls)) is model


@every
def test_the_tables_that_are_learned_stay_as_they_were(cls):
    table, labels = X.copy(), target(cls).copy()
    table.flags.writeable = labels.flags.writeable = False
    answer(cheap(cls).fit(table, labels), table)
    assert np.array_equal(table, X, equal_nan=True)
    assert (labels == target(cls)).all()


@every
def test_weights_of_rows_are_refused_where_they_mean_nothing(cls):
    if "sample_weight" in inspect.signature(cls.fit).parameters:
        return
    with pytest.raises(TypeError, match="sample_weight"):
        cheap(cls).fit(X, target(cls), sample_weight=np.ones(60))
