"""Models of transformed columns: densities, samples and files speak in natural units."""

import io
import itertools

import numpy as np
import pandas as pd
import pytest
from scipy.integrate import trapezoid

from infinimix import AClassClassifier, CRPMixture, load
from infinimix.artifacts import ArtifactError
from tests.unit.estimators.states import differences, state_of
from tests.unit.saved_models import edited, saved

SMALL = {"n_particles": 4, "n_islands": 2, "random_state": 0}
BOTH = pytest.mark.parametrize("transform", ["log", "rank"])


def make_rows(n=120, seed=0, zeros=0.3):
    """Incomes with zeros, heights, and a hole now and then."""
    rng = np.random.default_rng(seed)
    group = rng.integers(0, 2, n)
    income = np.where(rng.random(n) < zeros, 0.0, np.exp(rng.normal(1 + 2 * group, 1.0)))
    X = np.column_stack([income, rng.normal(10 * group, 2.0)])
    X[rng.random(X.shape) < 0.1] = np.nan
    return X, np.array(["a", "b"])[group]


def transformed(model, X):
    """The rows as the model sees them."""
    out = X.copy()
    for j, column in enumerate(model._schema.columns):
        if column.transform is not None:
            out[:, j] = column.transform.encode(X[:, j])
    return out


def natural_grid(model):
    """Natural values of all sizes, and those where the density of ranks jumps twice."""
    sizes = np.r_[np.logspace(-7, 10, 12_001), np.linspace(0.0, 100.0, 6001)]
    knots = np.array(getattr(model._schema.columns[0].transform, "knots", ()))
    return np.unique(np.r_[sizes, -sizes, knots, np.nextafter(knots, -np.inf)])


@BOTH
def test_the_density_of_natural_values_integrates_to_one(transform):
    X, y = make_rows()
    columns = {0: f"real:{transform}"}
    mixture = CRPMixture(columns, prior="empirical", **SMALL).fit(X[:, :1])
    classes = AClassClassifier(columns, prior="empirical", **SMALL).fit(X[:, :1], y)
    for model in (mixture, classes):
        grid = natural_grid(model)
        density = np.exp(model.score_samples(grid[:, None]))
        np.testing.assert_allclose(trapezoid(density, grid), 1.0, atol=3e-3)
    assert mixture.score(X[:, :1]) == mixture.score_samples(X[:, :1]).mean()


@BOTH
def test_a_spike_of_zeros_has_a_finite_density(transform):
    X = np.r_[np.zeros(400), np.exp(np.random.default_rng(0).normal(8, 1, 40))][:, None]
    model = CRPMixture(f"real:{transform}", **SMALL).fit(X)
    spike, near, far = model.score_samples([[0.0], [3000.0], [-1e150]])
    assert np.isfinite([spike, near, far]).all()
    assert spike > near > far
    assert np.isfinite(model.log_evidence_)


@BOTH
def test_the_evidence_is_the_sum_of_the_predictions(transform):
    """With a particle for each grouping nothing is left to chance, and the chain rule holds."""
    X = np.array([[1.0], [2.0], [30.0], [0.0], [np.nan], [-4.0]])
    prior = {"real": (0.0, 0.1, 2.0, 1.0)}
    model = CRPMixture(
        f"real:{transform}", 1.0, prior, n_particles=300, n_islands=1, random_state=0
    )
    model.partial_fit(X[:2])
    for row in X[2:, None]:
        expected = model.log_evidence_ + model.score(row)
        np.testing.assert_allclose(model.partial_fit(row).log_evidence_, expected, rtol=1e-12)


@BOTH
@pytest.mark.parametrize("learn", ["fit", "partial_fit"])
def test_all_else_is_the_model_of_the_transformed_rows(transform, learn):
    X, y = make_rows()
    model = getattr(AClassClassifier({0: f"real:{transform}", 1: "real"}, **SMALL), learn)(X, y)
    T = transformed(model, X)
    plain = getattr(AClassClassifier("real", **SMALL), learn)(T, y)
    np.testing.assert_array_equal(model.predict_proba(X), plain.predict_proba(T))
    slopes = model._schema.columns[0].transform.log_slope(T[:, 0])
    slopes = np.where(np.isnan(slopes), 0.0, slopes)
    np.testing.assert_allclose(
        model.score_samples(X), plain.score_samples(T) + slopes, rtol=1e-12, atol=1e-12
    )
    np.testing.assert_allclose(model.log_evidence_, plain.log_evidence_ + slopes.sum(), rtol=1e-12)


def test_auto_is_the_logarithm_asked_for():
    X, y = make_rows()
    found = AClassClassifier(spikes="ignore", **SMALL).fit(X, y)  # of zeros
    asked = AClassClassifier({0: "real:log", 1: "real"}, **SMALL).fit(X, y)
    assert found.columns_ == asked.columns_ == {"x0": "real:log", "x1": "real"}
    assert differences(state_of(found), state_of(asked)) == []


def test_a_prior_in_numbers_is_in_natural_units():
    X, _ = make_rows()
    for prior in ({"real": (0.0, 0.1, 2.0, 1.0)}, {0: (0.0, 0.1, 2.0, 1.0)}):
        assert CRPMixture(prior=prior, **SMALL).fit(X).columns_["x0"] == "real"
    assert CRPMixture(prior={"real": "reference"}, **SMALL).fit(X).columns_["x0"] == "real:log"


def learn(model, X, cuts):
    for start, end in itertools.pairwise([0, *cuts, len(X)]):
        model.partial_fit(X[start:end])
    return model


@BOTH
def test_any_cutting_after_the_first_call_gives_the_same_model(transform):
    X, _ = make_rows()
    models = [
        learn(CRPMixture({0: f"real:{transform}", 1: "real:log"}, **SMALL), X, cuts)
        for cuts in ([50], [50, 51, 80], range(50, 120))
    ]
    for other in models[1:]:
        assert differences(state_of(models[0]), state_of(other)) == []
        assert other.log_evidence_ == models[0].log_evidence_


@BOTH
def test_a_loaded_model_continues_bit_for_bit(transform):
    X, _ = make_rows()
    model = CRPMixture({0: f"real:{transform}"}, **SMALL).partial_fit(X[:60])
    again = load(io.BytesIO(saved(model)))
    for m in (model, again):
        m.partial_fit(X[60:])
    assert differences(state_of(model), state_of(again)) == []
    assert again.log_evidence_ == model.log_evidence_
    np.testing.assert_array_equal(again.score_samples(X), model.score_samples(X))
    np.testing.assert_array_equal(again.sample(5), model.sample(5))


@pytest.mark.parametrize(
    "edit",
    [
        lambda tree: tree.update(log_slopes=float("nan")),
        lambda tree: tree.update(log_slopes="much"),
        lambda tree: tree["schema"]["columns"].__setitem__(0, ["x0", "real"]),
        lambda tree: tree["schema"]["columns"].__setitem__(0, ["x0", "real", ["log", -1.0]]),
        lambda tree: tree["schema"]["columns"].__setitem__(0, ["x0", "real", ["sqrt", 1.0]]),
        lambda tree: tree["schema"]["columns"].__setitem__(0, ["x0", "count", ["log", 1.0]]),
    ],
)
def test_a_file_with_wrong_transforms_is_refused(edit):
    data = saved(CRPMixture({0: "real:log", 1: "real"}, **SMALL).fit(make_rows()[0]))
    with pytest.raises(ArtifactError):
        load(edited(data, edit))


@BOTH
def test_samples_and_prototypes_are_natural(transform):
    X = pd.DataFrame(make_rows(zeros=0.0)[0], columns=["income", "height"])
    model = CRPMixture({"income": f"real:{transform}"}, **SMALL).fit(X)
    drawn = model.sample(2000)
    assert (drawn["income"] > -1.0).mean() > 0.98
    np.testing.assert_allclose(drawn["income"].median(), X["income"].median(), rtol=0.25)
    given = model.sample(3, given={"income": 40})
    assert given["income"].tolist() == [40.0] * 3
    largest = model.prototypes().iloc[0]
    assert X["income"].min() < largest["income"] < X["income"].max()


def test_what_is_given_moves_what_is_drawn():
    X, _ = make_rows(400, zeros=0.0)
    model = CRPMixture({0: "real:log"}, **SMALL).fit(X)
    low, high = (model.sample(300, given={0: cell})[:, 1].mean() for cell in (1.5, 60.0))
    assert low < 3.0 < 7.0 < high


def test_later_cells_never_fail():
    X, _ = make_rows()
    for transform in ("log", "rank"):
        model = CRPMixture({0: f"real:{transform}"}, **SMALL).fit(X)
        wild = np.array([[-1e150, 0], [1e150, 0], [-3, 0], [1e-300, 0], [np.nan, np.nan]])
        assert np.isfinite(model.score_samples(wild)).all()
        assert np.isfinite(model.partial_fit(wild[2:]).log_evidence_)


def test_streams_may_start_with_one_row():
    for transform in ("log", "rank"):
        model = CRPMixture(f"real:{transform}", **SMALL)
        for row in ([[0.0]], [[5.0]], [[None]], [[7.0]]):
            model.partial_fit(row)
        assert np.isfinite(model.log_evidence_)
