"""Dates and absent columns in the estimators: learned, saved, streamed, and never filled."""

import numpy as np
import pandas as pd
import pytest

from infinimix import AClassClassifier, CRPImputer, CRPMixture, OnlineCRPClassifier, load, save


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    n = 120
    when = pd.Timestamp("2023-01-02") + pd.to_timedelta(rng.integers(0, 700, n), unit="D")
    y = np.where(when.day_of_week >= 5, "weekend", "work")
    X = pd.DataFrame(
        {"when": when, "size": rng.normal(size=n).round(2), "c": rng.choice(["a", "b"], n)}
    )
    X.loc[3, "when"], X.loc[5, "size"] = pd.NaT, np.nan
    return X, y


@pytest.fixture(scope="module")
def model(table):
    return AClassClassifier(random_state=0, effort="fast").fit(*table)


def test_a_date_tells_the_class(table, model, tmp_path):
    X, y = table
    assert (model.predict(X) == y).mean() > 0.95
    assert list(model.feature_names_in_) == ["when", "size", "c"]
    assert model.n_features_in_ == 3
    assert model.columns_["when weekday"] == "categorical"
    strings = X.assign(when=X["when"].dt.strftime("%Y-%m-%d"))
    np.testing.assert_array_equal(model.predict_proba(strings), model.predict_proba(X))
    save(model, tmp_path / "m.imx")
    np.testing.assert_array_equal(load(tmp_path / "m.imx").predict_proba(X), model.predict_proba(X))


def test_answers_speak_of_the_parts(table, model):
    X, _ = table
    columns = model.explain(X.iloc[[0]]).columns
    assert columns["evidence"].abs().idxmax() == "when weekday"
    drawn, _ = model.sample(5)
    assert "when month" in drawn
    assert model.predict_proba(drawn).shape == (5, 2)
    assert model.predict_proba_batch(X[:3]).shape == (3, 2)


@pytest.mark.parametrize("form", ["pandas", "polars", "dicts"])
def test_dates_are_never_filled(table, form):
    pl = pytest.importorskip("polars")
    X, _ = table
    rows = X.astype(object).where(X.notna(), None).to_dict("records")
    given = {"pandas": X, "dicts": rows, "polars": pl.DataFrame(rows)}[form]
    imputer = CRPImputer(random_state=0, effort="fast").fit(given)
    done = imputer.transform(given)
    frame = pd.DataFrame(done if form != "polars" else done.to_dicts())
    assert pd.isna(frame["when"][3])
    assert list(frame) == ["when", "size", "c"]
    assert frame["size"].notna().all()
    assert (pd.to_datetime(frame["when"].drop(3)) == X["when"].drop(3)).all()
    if form == "pandas":
        spread = imputer.uncertainty(X)
        assert spread["when"].eq(0).all()
        assert spread.loc[5, "size"] > 0


def test_a_stream_of_dates(table):
    X, y = table
    rows = X.assign(when=X["when"].dt.strftime("%d.%m.%Y")).astype(object)
    rows = rows.where(X.notna(), None).to_dict("records")
    model = OnlineCRPClassifier(columns="auto", random_state=0)
    for row, label in zip(rows, y, strict=True):
        model.learn_one(row, label)
    assert list(model.columns_)[:2] == ["when year", "when month"]
    assert (model.predict(rows) == y).mean() > 0.9


def test_cells_of_dates_have_scores_by_part(table):
    X, _ = table
    scores = CRPMixture(random_state=0, effort="fast").fit(X).cell_anomaly_score(X)
    assert "when days" in scores
    assert len(scores) == len(X)


def test_absent_columns_count_as_missing(table, model):
    X, y = table
    with pytest.warns(UserWarning, match="X lacks the column 'size'; its cells count as missing"):
        found = model.predict_proba(X[["when", "c"]])
    np.testing.assert_array_equal(found, model.predict_proba(X.assign(size=np.nan)))
    with pytest.warns(UserWarning, match="lacks the column 'when'"):
        model.predict(X[["size", "c"]])
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(X[["size"]])  # more than half is another table
    with pytest.raises(ValueError, match="feature names should match"):
        model.partial_fit(X[["when", "c"]], y)
    stream = OnlineCRPClassifier(columns="auto", random_state=0).partial_fit(X, y)
    with pytest.warns(UserWarning, match="lacks the column 'size'"):
        stream.predict(X[["when", "c"]])
