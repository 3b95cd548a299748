"""A kind that was guessed from few rows never breaks a prediction, nor a stream."""

import io
import warnings

import numpy as np
import pandas as pd
import pytest

from infinimix import (
    AClassClassifier,
    CRPImputer,
    CRPMixture,
    FiniteMixtureClassifier,
    OnlineCRPClassifier,
    load,
    save,
)
from infinimix.estimators.common.together import join

SMALL = {"n_particles": 3, "n_islands": 2, "random_state": 0}
X = pd.DataFrame({"visits": [0, 1, 0, 1, 1, 0], "size": [1.5, 2.5, 1.0, 2.0, 3.0, 0.5]})
Y = ["a", "b", "a", "b", "b", "a"]
QUERY = pd.DataFrame({"visits": [5, 1], "size": [1.2, 2.2]})
BLANK = pd.DataFrame({"visits": [np.nan, 1], "size": [1.2, 2.2]})
MODELS = {
    "AClass": lambda columns="auto": AClassClassifier(columns, **SMALL),
    "finite": lambda columns="auto": FiniteMixtureClassifier(columns, n_init=2, random_state=0),
    "online": lambda columns="auto": OnlineCRPClassifier(columns, random_state=0),
    "mixture": lambda columns="auto": CRPMixture(columns, **SMALL),
}
ASK = ("predict", "predict_proba", "score_samples")


def fitted(name, columns="auto"):
    model = MODELS[name](columns)
    return model.fit(X) if name == "mixture" else model.fit(X, Y)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("again", [False, True], ids=["", "loaded"])
def test_a_number_that_a_guess_cannot_hold_is_missing_with_one_warning(name, again):
    model = fitted(name)
    if again:
        file = io.BytesIO()
        save(model, file)
        model = load(io.BytesIO(file.getvalue()))
    for ask in (getattr(model, a) for a in ASK if hasattr(model, a)):
        with pytest.warns(UserWarning, match=r"'visits'.*value 5 in row 0.*columns=") as caught:
            found = ask(QUERY)
        assert len(caught) == 1
        assert np.array_equal(found, ask(BLANK))


@pytest.mark.parametrize("name", MODELS)
def test_a_kind_that_was_asked_for_still_refuses_it(name):
    model = fitted(name, {"visits": "binary"})
    for ask in (getattr(model, a) for a in ASK if hasattr(model, a)):
        with pytest.raises(ValueError, match="'visits' is binary but has the value 5 in row 0"):
            ask(QUERY)


@pytest.mark.parametrize("name", ["AClass", "online"])
def test_streams_learn_it_as_missing(name):
    models = MODELS[name](), MODELS[name]()
    for model, later in zip(models, (QUERY, BLANK), strict=True):
        model.partial_fit(X, Y)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model.partial_fit(later, ["a", "b"])
            model.predict_one(later.to_dict("records")[0])
        assert len(caught) == (2 if later is QUERY else 0)
    proba = [model.predict_proba(BLANK) for model in models]
    assert np.array_equal(*proba)


def test_the_imputer_leaves_it_where_it_is():
    table = QUERY.assign(size=[np.nan, 2.2])
    with pytest.warns(UserWarning, match="'visits'"):
        filled = CRPImputer(**SMALL).fit(X).transform(table)
    assert np.asarray(filled)[0, 0] == 5
    assert not np.isnan(np.asarray(filled, float)).any()


def test_a_value_that_is_given_for_a_sample_is_refused():
    with pytest.raises(ValueError, match="'visits' is binary but has the value 5"):
        fitted("mixture").sample(2, given={"visits": 5})


def test_few_numbers_are_categories_if_both_tables_together_have_enough_of_them():
    known = fitted("finite")._state.table
    many = pd.DataFrame({"visits": np.arange(200) % 2, "size": np.arange(200) % 5 / 2 + 0.5})
    for frame, kind in ((many, "categorical"), (many[:60], "real")):
        first, second = join(known, frame, "auto", "a model")
        assert first.schema.kinds() == second.schema.kinds() == {"visits": "binary", "size": kind}
        assert (first.n_rows, second.n_rows) == (6, len(frame))
    first, _ = join(known, many, {"size": "real"}, "a model")
    assert first.schema.kinds()["size"] == "real"


def test_a_batch_judges_kinds_over_both_tables():
    model = fitted("finite")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        proba = model.predict_proba_batch(QUERY)
    assert np.isfinite(proba).all()
    with pytest.raises(ValueError, match="'visits' is binary but has the value 5"):
        fitted("finite", {"visits": "binary"}).predict_batch(QUERY)
