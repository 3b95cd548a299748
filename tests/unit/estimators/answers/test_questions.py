"""Answers beside predictions, on tables of every kind; the exact ones are in tests/oracle."""

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

from infinimix import AClassClassifier, CRPMixture
from infinimix.estimators.answers import dependence, filling
from infinimix.families import NormalInverseChiSquared
from tests.unit.estimators.tables import KINDS, columns_of, make_labels, make_table

SMALL = {"n_particles": 3, "n_islands": 2, "random_state": 0}
every = pytest.mark.parametrize("kind", sorted(KINDS))
QUESTIONS = ["impute", "explain", "anomaly_score", "cell_anomaly_score", "similarity"]


def fitted(kind, cls=CRPMixture, n=60):
    X, model = make_table(kind, n), cls(columns_of(kind), **SMALL)
    return X, model.fit(X) if cls is CRPMixture else model.fit(X, make_labels(n))


@pytest.mark.parametrize("cls", [CRPMixture, AClassClassifier])
@pytest.mark.parametrize("question", QUESTIONS)
def test_a_model_that_has_learned_nothing_answers_nothing(cls, question):
    with pytest.raises(NotFittedError):
        getattr(cls(), question)([[1.0]])
    with pytest.raises(NotFittedError):
        cls().dependence()


@pytest.mark.parametrize("cls", [CRPMixture, AClassClassifier])
@every
def test_answers_fit_together(kind, cls):
    X, model = fitted(kind, cls)
    filled = model.impute(X)
    assert np.isfinite(filled).all()
    assert np.array_equal(filled[~np.isnan(X)], X[~np.isnan(X)])
    np.testing.assert_allclose(model.anomaly_score(X), -model.score_samples(X), atol=1e-9)
    cells = model.cell_anomaly_score(X)
    assert (np.isnan(cells) == np.isnan(X)).all()
    lonely = np.full((1, X.shape[1]), np.nan)
    lonely[0, 0] = filled[0, 0]  # with one cell the two scores are one
    assert np.isclose(model.cell_anomaly_score(lonely)[0, 0], model.anomaly_score(lonely)[0])
    alike = model.similarity(X)
    assert ((alike >= 0) & (alike <= 1 + 1e-12)).all()
    np.testing.assert_allclose(alike, alike.T, atol=1e-12)
    table = model.dependence(n=50)
    assert list(table) == list(table.index) == [f"x{j}" for j in range(X.shape[1])]
    assert table.equals(table.T)
    assert ((table >= 0) & (table <= 1)).all(axis=None)
    why = model.explain(X[0])
    assert (why.columns["evidence"][np.isnan(X[0])] == 0).all()
    assert np.isclose(why.groups["probability"].sum() + why.new_group, 1)


def test_parts_of_rows_give_the_same(monkeypatch):
    X, model = fitted("mixed", AClassClassifier)
    ways = [model.impute, model.anomaly_score, model.cell_anomaly_score, model.similarity]
    whole = [way(X) for way in ways] + [model.dependence(n=40)]
    monkeypatch.setattr(filling, "ROWS_AT_ONCE", 7)
    monkeypatch.setattr(dependence, "CELLS_AT_ONCE", 5000)
    parts = [way(X) for way in ways]
    for a, b in zip(whole, parts, strict=False):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9)
    model.dependence(n=40)


def test_sampled_dependence_agrees_with_the_exact_sums(monkeypatch):
    """4,000 draws: information within .03, about five standard errors; fixed seed."""
    _, model = fitted("categorical")
    exact = model.dependence()
    monkeypatch.setattr(dependence, "MOST_CODES", 0)
    sampled = model.dependence(n=4000)
    np.testing.assert_allclose(sampled, exact, atol=0.03)


def test_dependence_of_normal_columns_is_their_correlation():
    """Groups along a line make two columns depend on each other, and a third on none."""
    rng = np.random.default_rng(0)
    z = rng.normal(size=400)
    X = np.column_stack([z, 0.6 * z + 0.8 * rng.normal(size=400), rng.normal(size=400)])
    table = CRPMixture(n_particles=5, n_islands=4, random_state=0).fit(X).dependence(n=2000)
    assert abs(table.loc["x0", "x1"] - 0.6) < 0.2  # the model's, not the table's
    assert table.loc["x0", "x2"] < 0.25


def test_families_with_tied_columns_are_asked_for_pairs(monkeypatch):
    X, model = fitted("real")
    free = model.dependence(n=60), model.cell_anomaly_score(X)
    monkeypatch.setattr(NormalInverseChiSquared, "tied", True, raising=False)
    tied = model.dependence(n=60), model.cell_anomaly_score(X)
    for a, b in zip(free, tied, strict=True):
        np.testing.assert_allclose(a, b, atol=1e-9)


def test_similar_rows_are_those_of_one_group():
    X = np.repeat([[0.0, 0.0], [50.0, 50.0]], 20, axis=0)
    X += np.random.default_rng(0).normal(size=X.shape)
    alike = CRPMixture(**SMALL).fit(X).similarity(X[[0, 1, 30]], X[[2, 31]])
    np.testing.assert_allclose(alike, [[1, 0], [1, 0], [0, 1]], atol=0.2)


def test_a_share_says_how_strange_a_row_is():
    X, model = fitted("mixed")
    own = model.sample(300)
    shares = model.anomaly_score(own, calibrated=True)
    assert ((shares >= 0) & (shares <= 1)).all()
    # uniform: a mean of 300 is within 5 / sqrt(12 * 300) of one half, but for 6e-7
    assert abs(shares.mean() - 0.5) < 5 / np.sqrt(12 * 300) + 0.02
    odd = X[:1].copy()
    odd[0, 2] = 1e4
    assert model.anomaly_score(odd, calibrated=True)[0] == 1.0
    blank = np.full((1, 6), np.nan)
    assert model.anomaly_score(blank, calibrated=True)[0] == 0.5
    again = model.anomaly_score(own, calibrated=True, random_state=0)
    assert (again == shares).all()


@pytest.mark.parametrize("n", [0, -1, 2.5, True, None])
def test_wrong_numbers_of_draws_are_named(n):
    X, model = fitted("binary")
    with pytest.raises(ValueError, match="n_draws, the number of rows"):
        model.anomaly_score(X, calibrated=True, n_draws=n)
    with pytest.raises(ValueError, match="n, the number of rows"):
        model.dependence(n=n)


FRAME = pd.DataFrame(
    {"probability": [1.0, 1.2, 0.9, 7.0, 7.1, None] * 5, "word": [*"aaabb", None] * 5}
)


def test_one_row_in_every_form():
    model = CRPMixture(**SMALL).fit(FRAME)
    frames = [
        model.explain(x).columns["evidence"].tolist()
        for x in (
            {"probability": 7.0, "word": "b"},
            FRAME.iloc[3],
            FRAME.iloc[[3]],
            [{"word": "b", "probability": 7.0}],
        )
    ]
    assert frames[0] == frames[1] == frames[2] == frames[3]
    numbers = CRPMixture(**SMALL).fit([[0.0, 1], [5.0, 0], [5.1, 0]])
    rows = [[5.0, None], (5.0, np.nan), np.array([5.0, np.nan]), [[5.0, None]]]
    rows.append(pd.Series([5.0, np.nan]))
    found = [numbers.explain(x).columns["evidence"].tolist() for x in rows]
    assert all(evidence == found[0] for evidence in found)
    with pytest.raises(ValueError, match="explain takes one row; got 3"):
        numbers.explain([[0.0, 1]] * 3)


def test_an_explanation_can_be_read():
    why = CRPMixture(**SMALL).fit(FRAME).explain({"probability": 7.0, "word": None})
    assert list(why.columns) == ["value", "typical", "evidence"]
    assert why.columns.loc["probability", "value"] == 7.0
    assert why.columns.loc["word", "value"] is None
    assert why.columns.loc["word", "typical"] == "b"
    assert why.to_frame().index.tolist() == ["probability", "word"]
    assert "probability (column)" in why.groups
    assert f"Group {why.answer} with probability" in repr(why)
    assert "evidence" in repr(why)
    assert "<table" in why._repr_html_()
    wide = CRPMixture(**SMALL).fit(np.random.default_rng(0).normal(size=(20, 14)))
    assert "and 4 more columns" in repr(wide.explain([0.0] * 14))


def test_classes_that_are_not_there_are_named():
    X, model = fitted("mixed", AClassClassifier)
    with pytest.raises(ValueError, match=r"label is 'w', which is none of the classes \['a'"):
        model.explain(X[0], label="w")
    with pytest.raises(ValueError, match="against is 3, which is none"):
        model.explain(X[0], against=3)
    with pytest.raises(ValueError, match="two classes"):
        model.explain(X[0], label="a", against="a")
    with pytest.raises(ValueError, match="a label of y is 'w'"):
        model.impute(X[:2], y=["a", "w"])
    with pytest.raises(ValueError, match="X has 2 rows, but y has 1 labels"):
        model.impute(X[:2], y=["a"])
    alone = AClassClassifier(columns_of("mixed"), **SMALL).fit(X, ["a"] * len(X))
    with pytest.raises(ValueError, match="two classes"):
        alone.explain(X[0])


def test_evidence_sums_to_the_log_odds_over_many_columns():
    """Only some orders are taken, and the sum is exact all the same."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 60)
    X = (rng.random((60, 15)) < np.where(y[:, None], 0.7, 0.3)).astype(float)
    model = AClassClassifier("binary", **SMALL).fit(X, y)
    why = model.explain(X[0], label=1)
    logp = model.predict_log_proba([X[0], [np.nan] * 15])
    odds = logp[:, 1] - logp[:, 0]
    assert np.isclose(why.columns["evidence"].sum(), odds[0] - odds[1], atol=1e-9)
    assert np.isclose(why.probability, np.exp(logp[0, 1]))


def test_a_class_without_rows_can_be_explained():
    model = AClassClassifier(**SMALL).partial_fit(FRAME, ["p"] * 30, classes=["p", "z"])
    why = model.explain(FRAME.iloc[0], label="z")
    assert len(why.groups) == 0
    assert np.isclose(why.new_group, 1)
    assert why.columns["typical"].tolist() == [None, None]


def test_frames_come_back_as_frames():
    frame = FRAME.set_index(FRAME.index + 7)
    for model in (
        CRPMixture(**SMALL).fit(frame),
        AClassClassifier(**SMALL).fit(frame, [*"pq"] * 15),
    ):
        filled, std = model.impute(frame, return_std=True)
        for table in (filled, std, model.cell_anomaly_score(frame)):
            assert table.index.equals(frame.index)
            assert list(table) == list(frame)
        assert filled["word"].tolist()[:5] == [*"aaabb"]


def test_answers_of_transformed_columns_are_in_natural_units():
    rng = np.random.default_rng(0)
    X = np.column_stack([np.exp(rng.normal(8, 1.5, 80)), rng.normal(size=80)])
    X[5, 0] = np.nan
    model = CRPMixture({0: "real:log", 1: "real"}, **SMALL).fit(X)
    np.testing.assert_allclose(model.anomaly_score(X), -model.score_samples(X), atol=1e-9)
    lonely = np.array([[3000.0, np.nan]])
    cell, row = model.cell_anomaly_score(lonely)[0, 0], -model.score_samples(lonely)[0]
    assert np.isclose(cell, row, atol=1e-9)
    filled, std = model.impute(X, return_std=True)
    assert np.array_equal(filled[np.arange(80) != 5], X[np.arange(80) != 5])
    assert 500 < filled[5, 0] < 20_000
    assert 500 < std[5, 0] < 40_000
    assert model.explain(X[0]).columns["value"].tolist() == X[0].tolist()


def test_islands_with_hyper_parameters_of_their_own_agree_with_their_scores():
    """Sweeps learn them; what is filled must follow the density that `score_samples` gives."""
    X = make_table("binary", 60)
    model = CRPMixture("binary", **SMALL, sweeps=2).fit(X)
    rows = np.array([[1, 0, np.nan], [np.nan, 1, 1]])
    filled, std = model.impute(rows, return_std=True)
    for i, d in ((0, 2), (1, 0)):
        pair = np.repeat(rows[i : i + 1], 2, axis=0)
        pair[:, d] = [0, 1]
        p = np.exp(model.score_samples(pair) - model.score_samples(rows[i : i + 1]))
        assert filled[i, d] == p.argmax()
        assert np.isclose(std[i, d], p.min(), atol=1e-9)
    assert np.isclose(model.dependence().loc["x0", "x0"], 1)
