"""Numbers with a resolution in models: ties win nothing, and models keep their resolution."""

import io

import numpy as np
import pytest

from infinimix import (
    AClassClassifier,
    CRPMixture,
    FiniteMixtureClassifier,
    OnlineCRPClassifier,
    load,
    save,
)
from infinimix.estimators.common.trees import tree_of

SMALL = {"n_particles": 3, "n_islands": 2, "random_state": 0}
rng = np.random.default_rng(0)
Y = np.arange(120) % 2
X = np.column_stack([np.rint(2 * rng.normal(size=120) + 2 * Y), rng.normal(size=120)])
BOUND = 0.5 * np.log(12.0 / (2.0 * np.pi * np.e))  # log density of a tie, with a resolution of 1
MODELS = {
    "AClass": lambda: AClassClassifier("real", **SMALL).fit(X, Y),
    "finite": lambda: FiniteMixtureClassifier("real", n_init=2, random_state=0).fit(X, Y),
    "mixture": lambda: CRPMixture("real", **SMALL).fit(X),
    "online": lambda: OnlineCRPClassifier("auto", random_state=0).fit(X, Y),
}


@pytest.mark.parametrize("name", MODELS)
def test_a_model_keeps_its_resolution_in_its_file(name):
    model = MODELS[name]()
    file = io.BytesIO()
    save(model, file)
    again = load(io.BytesIO(file.getvalue()))
    ask = "score_samples" if hasattr(model, "score_samples") else "predict_proba"
    assert np.array_equal(getattr(model, ask)(X), getattr(again, ask)(X))
    schema = again._state.source.schema if name == "online" else again._state.schema
    assert schema.resolutions == {"x0": 1.0}


@pytest.mark.parametrize("name", ["AClass", "mixture"])
def test_files_without_resolutions_have_none(name):
    model = MODELS[name]()
    tree = tree_of(model)
    del tree["bank"]["resolutions"]
    with pytest.raises(ValueError, match="columns are not those of its statistics"):
        type(model).State.from_tree(tree, model)
    del tree["schema"]["resolutions"]
    assert not type(model).State.from_tree(tree, model).bank.layout.resolutions


def test_a_damaged_resolution_is_refused():
    model = MODELS["mixture"]()
    tree = tree_of(model)
    for wrong in (-1.0, np.inf, np.nan):
        tree["schema"]["resolutions"] = tree["bank"]["resolutions"] = {"x0": wrong}
        with pytest.raises(ValueError, match="columns"):
            type(model).State.from_tree(tree, model)


def test_partial_fit_goes_on_with_it():
    model = MODELS["mixture"]().partial_fit(X + 0.5)
    assert model._state.schema.resolutions == {"x0": 1.0}
    assert model._state.bank.family[0].grain[0] == pytest.approx(1 / 12)


@pytest.mark.parametrize("name", ["AClass", "finite", "mixture"])
@pytest.mark.parametrize("scale", [1.0, 0.01])
def test_the_density_of_ties_has_a_bound_in_natural_units(name, scale):
    ties = scale * np.repeat([[1.0], [2.0], [3.0]], [400, 40, 40], axis=0)
    y = np.arange(480) % 2
    model = {
        "AClass": AClassClassifier("real", **SMALL),
        "finite": FiniteMixtureClassifier("real", n_init=2, random_state=0),
        "mixture": CRPMixture("real", **SMALL),
    }[name]
    model = model.fit(ties) if name == "mixture" else model.fit(ties, y)
    found = model.score_samples(scale * np.array([[1.0], [2.0]]))
    assert (found < BOUND - np.log(scale)).all()
    assert found[0] > np.log(0.5) - np.log(scale)  # about 5 in 6 rows are there


def test_streams_of_columns_that_were_asked_for_have_none():
    assert not AClassClassifier("real", **SMALL).partial_fit(X, Y)._state.schema.resolutions
    assert not CRPMixture("real", **SMALL).partial_fit(X)._state.schema.resolutions
    whole = AClassClassifier(**SMALL).partial_fit(X * 7, Y)._state.schema
    assert whole.resolutions == {"x0": 7.0}


def test_prototypes_show_values_that_occur_where_they_are_few():
    own = np.random.default_rng(4)
    legs = own.choice([0.0, 2.0, 4.0, 5.0, 6.0, 8.0], 200)
    table = np.column_stack([legs, own.normal(size=200)])
    for model in (
        CRPMixture("real", **SMALL).fit(table),
        AClassClassifier({0: "real"}, **SMALL).fit(table, legs > 4),
    ):
        again = io.BytesIO()
        save(model, again)
        for one in (model, load(io.BytesIO(again.getvalue()))):
            groups = [()] if isinstance(one, CRPMixture) else [(label,) for label in one.classes_]
            for label in groups:
                assert set(one.prototypes(*label)["x0"]) <= set(legs)
    stream = CRPMixture(**SMALL).partial_fit(table)  # whose first rows may lack some values
    assert not any(column.values for column in stream._state.schema.columns)


def test_damaged_values_are_refused():
    model = CRPMixture("real", **SMALL).fit(np.repeat([[0.0], [2.0], [5.0]], 20, axis=0))
    tree = tree_of(model)
    assert tree["schema"]["values"] == {"x0": [0.0, 2.0, 5.0]}
    for wrong in ([2.0, 0.0], [0.0, np.inf], [np.nan, 1.0]):
        tree["schema"]["values"] = {"x0": wrong}
        with pytest.raises(ValueError, match="columns"):
            type(model).State.from_tree(tree, model)


def test_what_is_shown_are_values_that_occur():
    x = np.rint(6 * rng.normal(size=300)) / 2
    table = np.column_stack([x, rng.normal(size=300)])
    model = CRPMixture(**SMALL).fit(table)
    assert (2 * model.prototypes()["x0"] % 1 == 0).all()
    assert (2 * model.sample(50)[:, 0] % 1 == 0).all()
    assert (model.sample(5, given={"x0": 0.75})[:, 0] == 0.75).all()
    holes = table.copy()
    holes[::7, 0] = np.nan
    filled = model.impute(holes)
    assert (2 * filled[::7, 0] % 1 == 0).all()
    assert len(np.unique(2 * filled[:, 1] % 1)) > 250
    assert model.impute([[0.8, np.nan]])[0, 0] == 0.8  # what is observed stays as it is
