"""Tables that are not of numbers are refused with the column, the row and the way out."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from infinimix import DPMeans, DPMeansSVC, GibbsInfiniteSVC, MaxMarginDPMeans

rng = np.random.default_rng(0)
NUMBERS = pd.DataFrame(rng.normal(size=(40, 2)), columns=["a", "b"])
WORDS = NUMBERS.assign(b=["1.5"] * 3 + ["red"] * 37)  # of which scikit-learn reads the first
Y = np.arange(40) % 2
MODELS = [
    MaxMarginDPMeans(random_state=0),
    GibbsInfiniteSVC(n_iter=20, burn_in=5, random_state=0),
    DPMeans(random_state=0),
    DPMeansSVC(random_state=0),
]
TEXT = "column 'b' has the text 'red' in row 3.*Encode the column.*AClassClassifier"
models = pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)


@models
def test_text_is_refused_by_column_and_row(model):
    for table in (WORDS, WORDS.astype({"b": "category"}), pl.from_pandas(WORDS)):
        with pytest.raises(ValueError, match=TEXT):
            model.fit(table, Y)
    with pytest.raises(ValueError, match="column 'x1' has the text 'red' in row 3"):
        model.fit(WORDS.to_numpy(), Y)
    model.fit(NUMBERS, Y)
    with pytest.raises(ValueError, match=TEXT):
        model.predict(WORDS)


@models
def test_what_is_no_table_is_named_without_a_warning(model, recwarn):
    fitted = model.fit(NUMBERS, Y)
    for table, words in (({1, 2}, "X is a set"), (None, "X is None"), (iter([[1]]), "X is a list")):
        for call in (fitted.predict, lambda X: model.fit(X, Y)):
            with pytest.raises(ValueError, match=f"Expected 2D array, but {words}"):
                call(table)
    assert not recwarn.list


@models
def test_names_that_are_there_twice_are_named(model):
    table = NUMBERS.set_axis(["a", "a"], axis=1)
    with pytest.raises(ValueError, match="duplicate column names: 'a'; rename or drop the copies"):
        model.fit(table, Y)
    with pytest.raises(ValueError, match="duplicate column names: 'a'; rename or drop the copies"):
        model.fit(NUMBERS, Y).predict(table)
