"""Gaussian blocks, from the table to the answers."""

import io

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score

from infinimix import AClassClassifier, CRPMixture, load, save
from tests.unit.estimators.states import differences, state_of

SMALL = {"n_particles": 6, "n_islands": 2, "random_state": 0}
rng = np.random.default_rng(0)
GROUP = rng.integers(0, 2, 300)
SHARED = rng.normal(size=300) * 3.0
# two thin parallel sheets: no column tells them apart, all of them together do
X = SHARED[:, None] + rng.normal(size=(300, 3)) * 0.3 + np.outer(GROUP, [2.0, -2.0, 0.0])
HOLES = np.where(rng.random(X.shape) < 0.1, np.nan, X)


@pytest.fixture(scope="module")
def model():
    return CRPMixture("gaussian", **SMALL).fit(X)


def test_what_only_the_correlation_shows_is_found(model):
    assert adjusted_rand_score(GROUP, model.labels_) > 0.9
    real = CRPMixture("real", **SMALL).fit(X)
    assert model.score(X) > real.score(X) + 1.0
    assert adjusted_rand_score(GROUP, model.predict(HOLES)) > 0.7
    holes = CRPMixture("gaussian", **SMALL).fit(HOLES)
    assert holes.score(X) > real.score(X) + 0.5
    assert model.score_samples([[None] * 3])[0] == pytest.approx(0.0, abs=1e-12)


def test_classes_that_differ_in_correlation():
    y = GROUP.astype(str)
    joint = AClassClassifier("gaussian", **SMALL).fit(HOLES[:200], y[:200])
    real = AClassClassifier("real", **SMALL).fit(HOLES[:200], y[:200])
    assert joint.score(X[200:], y[200:]) > 0.97
    assert joint.score(X[200:], y[200:]) > real.score(X[200:], y[200:])
    streamed = AClassClassifier("gaussian", **SMALL)
    for i in range(0, 200, 40):
        streamed.partial_fit(HOLES[i : i + 40], y[i : i + 40])
    assert streamed.score(X[200:], y[200:]) > 0.97
    assert streamed.prototypes("0").columns.tolist() == ["weight", "rows", "x0", "x1", "x2"]
    drawn, labels = streamed.sample(5)
    assert drawn.shape == (5, 3)
    assert len(labels) == 5


def test_samples_have_the_correlation(model):
    drawn = model.sample(2000)
    np.testing.assert_allclose(np.corrcoef(drawn.T), np.corrcoef(X.T), atol=0.05)
    table = model.prototypes()
    best = table[table["rows"] > 50]
    assert abs(best["x0"] - best["x1"]).round(1).max() > 0.5


def frame():
    table = pd.DataFrame(X, columns=["a", "b", "c"])
    table["d"], table["e"] = rng.normal(size=300), SHARED + rng.normal(size=300)
    table["f"] = np.where(GROUP, "u", "v")
    return table


def test_several_blocks_beside_other_columns():
    columns = {("c", "a"): "gaussian", ("e", "b"): "gaussian"}
    prior = {("a", "c"): (0.2, 2.0, 0.5), "gaussian": "reference", "d": (0.0, 1.0, 1.0, 1.0)}
    model = CRPMixture(columns, prior=prior, **SMALL).fit(frame())
    assert model.blocks_ == (("a", "c"), ("b", "e"))
    assert list(model.columns_.values()) == [*["gaussian"] * 3, "real", "gaussian", "categorical"]
    assert model.prototypes().columns.tolist() == ["weight", "rows", *"abcdef"]
    drawn = model.sample(4, given={"a": 1.0, "f": "u"})
    assert drawn["a"].tolist() == [1.0] * 4
    assert drawn.columns.tolist() == list("abcdef")
    file = io.BytesIO()
    save(model, file)
    again = load(io.BytesIO(file.getvalue()))
    assert differences(state_of(model), state_of(again)) == []
    assert again.columns == columns
    assert again.blocks_ == model.blocks_
    assert clone(again).get_params()["columns"] == columns
    rows = frame()[::-1]
    assert differences(state_of(model.partial_fit(rows)), state_of(again.partial_fit(rows))) == []


def test_no_block_is_no_block():
    assert CRPMixture("real", **SMALL).fit(X[:9]).blocks_ == ()


def test_the_order_of_a_tuple_does_not_matter():
    one, other = (
        CRPMixture({key: "gaussian"}, **SMALL).fit(X[:60]) for key in [(0, 1, 2), ("x2", "x0", 1)]
    )
    assert differences(state_of(one), state_of(other)) == []


@pytest.mark.parametrize("factor", [1e-30, 1e30])
def test_the_unit_of_a_column_does_not_matter(factor):
    unit = np.array([1.0, factor, 1.0])
    near = CRPMixture("gaussian", **SMALL).fit(HOLES[:80])
    far = CRPMixture("gaussian", **SMALL).fit(HOLES[:80] * unit)
    found = far.score_samples(X[:80] * unit) + np.log(factor)
    np.testing.assert_allclose(found, near.score_samples(X[:80]), atol=1e-6)


def test_the_origin_does_not_matter():
    near = CRPMixture("gaussian", **SMALL).fit(HOLES[:80])
    far = CRPMixture("gaussian", **SMALL).fit(HOLES[:80] + 2.0**30)
    np.testing.assert_allclose(far.score_samples(X + 2.0**30), near.score_samples(X), atol=1e-3)


@pytest.mark.parametrize("prior", ["empirical", "reference", {"gaussian": (0.1, 2, 0.4)}])
def test_tables_without_scale(prior):
    for rows in ([[1.0, 2.0]], [[0.0, 0.0]] * 3, [[3.0, None]] * 4, [[None, None]] * 2):
        model = CRPMixture("gaussian", prior=prior, **SMALL).fit(rows)
        stream = CRPMixture("gaussian", prior=prior, **SMALL)
        for row in rows:
            stream.partial_fit([row])
        for m in (model, stream):
            assert np.isfinite(m.score_samples([[1.0, 2.0], [None, 3.0], *rows])).all()
            assert np.isfinite(m.log_evidence_)
            assert np.isfinite(m.sample(3)).all()


def test_strings_are_refused_before_anything_is_changed():
    model = CRPMixture({("a", "f"): "gaussian"}, **SMALL)
    with pytest.raises(ValueError, match="'f' is in a gaussian block but has the value"):
        model.fit(frame())
    with pytest.raises(ValueError, match="not a gaussian block"):
        CRPMixture("gaussian", prior={("x0",): "reference"}, **SMALL).fit(X)
