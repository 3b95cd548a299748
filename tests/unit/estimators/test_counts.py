"""Columns of counts, from the table to the answers."""

import io

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from scipy.special import logsumexp
from scipy.stats import nbinom, poisson
from sklearn.metrics import adjusted_rand_score

from infinimix import AClassClassifier, CRPMixture, artifacts, load, save
from infinimix.artifacts import ArtifactError

SMALL = {"n_particles": 6, "n_islands": 2, "random_state": 0}
RATES = np.array([[1.0, 20.0, 0.1, 5.0], [6.0, 2.0, 0.1, 5.0], [15.0, 15.0, 3.0, 0.2]])
rng = np.random.default_rng(0)
GROUP = rng.integers(0, 3, 300)
X = rng.poisson(RATES[GROUP])


@pytest.fixture(scope="module")
def model():
    return CRPMixture("count", random_state=0).fit(X)


@pytest.mark.parametrize("prior", ["empirical", "reference", {"count": (1.0, 0.2)}])
def test_a_mixture_of_poissons_is_found(prior):
    model = CRPMixture("count", prior=prior, random_state=0).fit(X)
    sizes = np.bincount(model.labels_)
    assert (sizes > 20).sum() == 3  # and crumbs: a filter does not go back to its first rows
    assert adjusted_rand_score(GROUP, model.labels_) > 0.9
    fresh = np.random.default_rng(1).poisson(np.repeat(RATES, 300, axis=0))
    truth = logsumexp(poisson.logpmf(fresh[:, None], RATES).sum(axis=2), axis=1) - np.log(3)
    assert (truth - model.score_samples(fresh)).mean() < 0.1


def test_prototypes_are_rates(model):
    table = model.prototypes()
    names = ["x0", "x1", "x2", "x3"]
    found = table[names].to_numpy()[:3]
    order = np.abs(found[:, None] - RATES).sum(axis=2).argmin(axis=1)
    assert sorted(order) == [0, 1, 2]
    assert np.abs(found - RATES[order]).max() < 1.5
    assert (found != np.round(found)).any()  # a rate, though the cells are whole


def test_rows_with_holes_are_predicted_by_what_they_have(model):
    rows = np.where(rng.random(X.shape) < 0.25, np.nan, X)
    assert adjusted_rand_score(GROUP, model.predict(rows)) > 0.7
    assert model.score_samples([[None] * 4])[0] == pytest.approx(0.0, abs=1e-12)
    holes = CRPMixture("count", random_state=0).fit(rows)
    assert adjusted_rand_score(GROUP, holes.labels_) > 0.6


def test_a_density_of_counts_is_a_probability(model):
    values = np.arange(2000.0)  # an island may have learned a wide base measure
    rows = np.full((2000, 4), np.nan)
    rows[:, 1] = values
    assert np.exp(model.score_samples(rows)).sum() == pytest.approx(1.0, abs=1e-9)
    one = CRPMixture("count", prior={0: (2.0, 0.5)}, alpha=1e-12, **SMALL).fit([[3], [4]])
    expected = nbinom.logpmf([0, 9], 9.0, 2.5 / 3.5)
    np.testing.assert_allclose(one.score_samples([[0], [9]]), expected, atol=1e-9)


def test_samples_are_whole_and_of_the_type_of_the_table(model):
    drawn = model.sample(400)
    assert drawn.dtype == np.int64
    assert drawn.min() >= 0
    np.testing.assert_allclose(drawn.mean(axis=0), X.mean(axis=0), rtol=0.3, atol=0.3)
    frame = pd.DataFrame({"n": X[:, 0], "r": X[:, 1] + 0.5})
    mixed = CRPMixture({"n": "count"}, **SMALL).fit(frame)
    assert mixed.columns_ == {"n": "count", "r": "real"}
    assert mixed.sample(5, given={"n": 12})["n"].tolist() == [12] * 5
    assert mixed.sample(5)["n"].dtype == np.int64
    with pytest.raises(ValueError, match="'n' is a count but has the value 1.5"):
        mixed.sample(5, given={"n": 1.5})


def test_every_form_of_a_table_gives_the_same_model():
    names = ["a", "b", "c", "d"]
    tables = [
        X,
        X.astype(float),
        X.astype(np.uint8),
        X.astype(object),
        X.tolist(),
        sparse.csr_array(X),
        pd.DataFrame(X, columns=names),
        pd.DataFrame(X, columns=names).astype("Int64"),
        pl.DataFrame(X, schema=names),
    ]
    answers = [CRPMixture("count", **SMALL).fit(table).score_samples(table) for table in tables]
    for other in answers[1:]:
        np.testing.assert_array_equal(answers[0], other)


@pytest.mark.parametrize("prior", ["empirical", "reference"])
@pytest.mark.parametrize(
    "cells",
    [[0] * 20, [7] * 20, [None] * 20, [2**53 - 1] * 20, [0] * 19 + [2**53 - 1], [5]],
    ids=["zeros", "constant", "missing", "largest", "outlier", "one"],
)
def test_any_column_of_counts_is_safe(cells, prior):
    table = [[cell, i % 3] for i, cell in enumerate(cells)]
    for learn in (CRPMixture.fit, CRPMixture.partial_fit):
        model = learn(CRPMixture("count", prior=prior, **SMALL), table)
        assert np.isfinite(model.score_samples([*table, [0, 0], [10**6, 1], [None, 2]])).all()
        assert np.isfinite(model.log_evidence_)
        drawn = model.sample(50)
        assert np.isfinite(drawn).all()
        model.partial_fit(drawn)  # what it draws it can learn


def test_a_prior_from_far_away_is_safe_too():
    for prior in ((1e-100, 1e-100), (1e100, 1e-100), (1e100, 1e100), (1e-100, 1e100)):
        model = CRPMixture("count", prior={"count": prior}, **SMALL).fit(X[:20])
        assert np.isfinite(model.score_samples(X[:20])).all()
        assert np.isfinite(model.log_evidence_)
        assert np.isfinite(model.sample(20)).all()


def test_counts_tell_classes_apart():
    y = np.array(["p", "q", "q"])[GROUP]
    model = AClassClassifier("count", **SMALL).fit(X[:200], y[:200])
    assert (model.predict(X[200:]) == y[200:]).mean() > 0.95


def saved(model):
    file = io.BytesIO()
    save(model, file)
    file.seek(0)
    return file


def test_a_file_with_sums_that_no_counts_have_is_refused(model):
    name, tree, _ = artifacts.read(saved(model))
    assert (load(saved(model)).score_samples(X) == model.score_samples(X)).all()
    n = tree["bank"]["islands"][0]["filters"][0]["stats"][0]
    for field, value in ((0, -1.0), (1, 1e300), (1, np.nan), (2, -1.0), (2, 1e300)):
        before = n[1, field, 0]
        n[1, field, 0] = value
        file = io.BytesIO()
        artifacts.write(file, name, tree, library_version="0")
        n[1, field, 0] = before
        file.seek(0)
        with pytest.raises(ArtifactError, match="statistics that no rows have"):
            load(file)
