"""Columns with a common value, from the table to the answers and to files."""

import io

import numpy as np
import pandas as pd
import pytest
from scipy.integrate import trapezoid

from infinimix import (
    AClassClassifier,
    CRPImputer,
    CRPMixture,
    OnlineCRPClassifier,
    load,
)
from infinimix.artifacts import ArtifactError
from infinimix.networks.learning.columns import read_columns
from tests.unit.estimators.states import differences, state_of
from tests.unit.saved_models import edited, saved

SMALL = {"n_particles": 4, "n_islands": 2, "random_state": 0}
BOTH = pytest.mark.parametrize("kind", ["spiked", "spiked:log", "spiked:rank"])
ATOM = 40.0


def make_rows(n=120, seed=0):
    """Hours that are 40 for most of group 0 and for few of group 1; heights; some holes."""
    rng = np.random.default_rng(seed)
    group = rng.integers(0, 2, n)
    hours = np.where(rng.random(n) < 0.8 - 0.5 * group, ATOM, np.exp(rng.normal(3 + group, 0.3, n)))
    X = np.column_stack([hours, rng.normal(10 * group, 2.0)])
    X[rng.random(X.shape) < 0.1] = np.nan
    return X, np.array(["a", "b"])[group]


X, y = make_rows()


@BOTH
def test_the_mass_and_the_density_of_natural_values_add_up_to_one(kind):
    model = CRPMixture(kind, prior="empirical", **SMALL).fit(X[:, :1])
    sizes = np.r_[np.logspace(-7, 10, 12_001), np.linspace(0.0, 200.0, 8001)]
    knots = np.array(getattr(model._schema.columns[0].transform.inner, "knots", ()))
    grid = np.unique(np.r_[sizes, -sizes, knots, np.nextafter(knots, -np.inf)])
    grid = np.where(grid == ATOM, np.nextafter(ATOM, 0.0), grid)
    density = np.exp(model.score_samples(grid[:, None]))
    mass = np.exp(model.score_samples([[ATOM]])[0])
    assert 0.3 < mass < 0.8
    np.testing.assert_allclose(mass + trapezoid(density, grid), 1.0, atol=3e-3)


@pytest.mark.parametrize("unit", [1e-3, 1.0, 1e6])
def test_the_common_value_has_its_share_whatever_the_unit(unit):
    """Where a normal column has a density, which is as high as the unit is small."""
    model = CRPMixture("spiked", **SMALL).fit(X[:, :1] * unit)
    share = (X[:, 0] == ATOM).sum() / np.isfinite(X[:, 0]).sum()
    assert np.exp(model.score_samples([[ATOM * unit]])[0]) == pytest.approx(share, abs=0.1)


@BOTH
def test_the_evidence_is_the_sum_of_the_predictions(kind):
    """With a particle for each grouping nothing is left to chance, and the chain rule holds."""
    rows = np.array([[1.0], [1.0], [30.0], [0.0], [np.nan], [1.0], [-4.0]])
    prior = {"spiked": (0.5, 0.7, 0.0, 0.1, 2.0, 1.0)}
    model = CRPMixture(kind, 1.0, prior, n_particles=900, n_islands=1, random_state=0)
    model.partial_fit(rows[:2])
    for row in rows[2:, None]:
        expected = model.log_evidence_ + model.score(row)
        np.testing.assert_allclose(model.partial_fit(row).log_evidence_, expected, rtol=1e-12)


def test_only_fit_of_a_classifier_looks_for_spikes():
    hours = {"x0": "spiked", "x1": "real"}
    real = {"x0": "real", "x1": "real"}
    assert AClassClassifier(**SMALL).fit(X, y).columns_ == hours
    assert AClassClassifier(spikes="ignore", **SMALL).fit(X, y).columns_ == real
    assert AClassClassifier({0: "real"}, **SMALL).fit(X, y).columns_ == real
    assert AClassClassifier(**SMALL).partial_fit(X, y).columns_ == real
    assert CRPMixture(**SMALL).fit(X).columns_ == real
    assert CRPImputer(**SMALL).fit(X).columns_ == real
    found, asked = (AClassClassifier(c, **SMALL).fit(X, y) for c in ("auto", hours))
    assert differences(state_of(found), state_of(asked)) == []
    numbers = AClassClassifier(prior={"real": (0.0, 0.1, 2.0, 1.0)}, **SMALL).fit(X, y)
    assert numbers.columns_ == real


def test_a_common_value_that_tells_the_classes_apart_is_heard():
    rows, labels = make_rows(400, seed=1)
    model = AClassClassifier({0: "spiked"}, **SMALL).fit(rows[:200, :1], labels[:200])
    assert model.predict([[ATOM]]).tolist() == ["a"]
    (proba,) = model.predict_proba([[ATOM]])
    assert 0.6 < proba[0] < 0.85  # .8 against .3, and 8 / 11 is .73
    assert model.score(rows[200:, :1], labels[200:]) > 0.65


@BOTH
def test_a_loaded_model_continues_bit_for_bit(kind):
    model = CRPMixture({0: kind}, window=6, **SMALL).partial_fit(X[:60])
    again = load(io.BytesIO(saved(model)))
    for m in (model, again):
        m.partial_fit(X[60:])
    assert differences(state_of(model), state_of(again)) == []
    assert again.log_evidence_ == model.log_evidence_
    assert again.columns_ == model.columns_ == {"x0": kind, "x1": "real"}
    np.testing.assert_array_equal(again.score_samples(X), model.score_samples(X))
    np.testing.assert_array_equal(again.sample(5), model.sample(5))


def column(*transform, kind="spiked"):
    return lambda tree: tree["schema"]["columns"].__setitem__(0, ["x0", kind, *transform])


@pytest.mark.parametrize(
    "edit",
    [
        column(),
        column(["log", 1.0]),
        column(["spike", float("inf")]),
        column(["spike", "forty"]),
        column(["spike"]),
        column(["spike", 40.0, ["log", -1.0]]),
        column(["spike", 40.0, ["spike", 1.0]]),
        column(["spike", 40.0], kind="real"),
        column(["spike", 40.0], kind="count"),
        lambda tree: tree.update(log_slopes=float("inf")),
    ],
)
def test_a_file_with_wrong_columns_is_refused(edit):
    data = saved(CRPMixture({0: "spiked:log"}, **SMALL).fit(X))
    with pytest.raises(ArtifactError):
        load(edited(data, edit))


@BOTH
def test_samples_and_prototypes_are_natural(kind):
    model = CRPMixture({"hours": kind}, **SMALL).fit(pd.DataFrame(X, columns=["hours", "height"]))
    drawn = model.sample(2000)
    assert abs((drawn["hours"] == ATOM).mean() - np.nanmean(X[:, 0] == ATOM)) < 0.15
    assert np.isfinite(drawn.to_numpy()).all()
    assert model.sample(3, given={"hours": 40})["hours"].tolist() == [ATOM] * 3
    assert model.sample(3, given={"hours": 17})["hours"].tolist() == [17.0] * 3
    often, seldom = (model.sample(300, given={"hours": h})["height"].mean() for h in (40, 60))
    assert often < seldom
    low, high = (
        (model.sample(300, given={"height": h})["hours"] == ATOM).mean() for h in (0.0, 10.0)
    )
    assert low > high
    assert ATOM in model.prototypes()["hours"].tolist()


@BOTH
def test_holes_are_filled_by_the_common_value_or_by_a_mean(kind):
    rows = np.array([[np.nan, 0.0], [np.nan, 10.0], [np.nan, np.nan]])
    model = CRPMixture({0: kind}, **SMALL).fit(X)
    filled, spread = model.impute(rows, return_std=True)
    assert np.isfinite(filled).all()
    assert np.isfinite(spread).all()
    assert filled[0, 0] == ATOM
    assert 0.05 < spread[0, 0] < 0.5  # the probability that it is wrong
    assert 30.0 < filled[1, 0] < 80.0
    assert filled[1, 0] != ATOM
    assert 3.0 < spread[1, 0] < 40.0
    imputer = CRPImputer({0: kind}, strategy="draw", n_draws=50, **SMALL).fit(X)
    drawn = np.asarray(imputer.transform(rows))[:, :, 0]
    share = (drawn == ATOM).mean(axis=0)
    assert share[0] > share[1]


@BOTH
def test_all_else_can_be_asked(kind):
    model = AClassClassifier({0: kind}, **SMALL).fit(X, y)
    why = model.explain([ATOM, 0.0])
    assert why.columns["typical"].iloc[0] == ATOM
    assert np.isfinite(why.columns["evidence"].to_numpy(float)).all()
    assert np.isfinite(model.anomaly_score(X)).all()
    shares = model.anomaly_score(X, calibrated=True, n_draws=100)
    assert ((shares >= 0.0) & (shares <= 1.0)).all()
    cells = model.cell_anomaly_score(X)
    np.testing.assert_array_equal(np.isnan(cells), np.isnan(X))
    assert 0.0 < cells[X[:, 0] == ATOM, 0].max() < 4.0  # minus the log of a probability
    table = model.dependence(n=200)
    assert 0.2 < table.loc["x0", "x1"] < 1.0
    assert np.isfinite(model.similarity(X[:5])).all()


@BOTH
def test_later_cells_never_fail(kind):
    model = CRPMixture({0: kind}, **SMALL).fit(X)
    wild = np.array([[-1e150, 0], [1e150, 0], [ATOM, 0], [1e-300, 0], [np.nan, np.nan]])
    assert np.isfinite(model.score_samples(wild)).all()
    assert np.isfinite(model.partial_fit(wild[2:]).log_evidence_)
    constant = CRPMixture(kind, **SMALL).fit(np.full((9, 1), 3.0))
    assert constant.sample(3, given={0: 3.0}).ravel().tolist() == [3.0] * 3
    assert np.isfinite(constant.score_samples([[3.0], [4.0]])).all()
    stream = CRPMixture(kind, **SMALL)
    for row in ([[0.0]], [[5.0]], [[None]], [[0.0]]):
        stream.partial_fit(row)
    assert np.isfinite(stream.log_evidence_)


def test_a_stream_of_emerging_classes_takes_spiked_columns():
    rows = pd.DataFrame(X, columns=["hours", "height"])
    rows["word"] = np.where(np.arange(len(X)) > 60, "late", "early")
    model = OnlineCRPClassifier({"hours": "spiked"}, random_state=0)
    for i in range(0, len(rows), 30):
        model.partial_fit(rows[i : i + 30], y[i : i + 30])
    assert (model.predict(rows) == y).mean() > 0.8


def test_networks_take_a_spiked_column_for_a_real_one():
    for kind in ("spiked:log", "spiked"):
        columns, encoded = read_columns(X, {0: kind}, "auto", 3, "the test")
        plain = kind.replace("spiked", "real")
        assert columns.schema.requests() == {"x0": plain, "x1": "real"}
        assert np.isfinite(encoded.blocks[0][:, 0]).sum() == np.isfinite(X[:, 0]).sum()
