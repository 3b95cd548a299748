"""Mixtures, regressors, imputers and streams count rows; other weights are refused."""

import numpy as np
import pandas as pd
import pytest

from infinimix import CRPImputer, CRPMixture, CRPRegressor, OnlineCRPClassifier

SMALL = {"n_islands": 2, "n_particles": 3, "random_state": 0}
rng = np.random.default_rng(0)
X = np.round(rng.normal(size=(60, 2)) + 4 * (np.arange(60) % 2)[:, None], 3)
X[::9, 1] = np.nan
T = np.round(X[:, 0] + rng.normal(size=60), 3)
Y = np.array(["even", "odd"])[np.arange(60) % 2]
COUNTS = rng.integers(0, 4, 60)
LISTED = np.repeat(np.arange(60), COUNTS)


@pytest.mark.parametrize("form", [np.asarray, pd.DataFrame, np.ndarray.tolist])
def test_counts_are_repeated_rows_in_a_mixture(form):
    counted = CRPMixture(**SMALL).fit(form(X), sample_weight=COUNTS)
    listed = CRPMixture(**SMALL).fit(form(X[LISTED]))
    assert counted.log_evidence_ == listed.log_evidence_
    assert np.array_equal(counted.score_samples(X), listed.score_samples(X))
    first = np.unique(LISTED, return_index=True)[1]
    assert np.array_equal(counted.labels_[COUNTS > 0], listed.labels_[first])
    assert (counted.labels_[COUNTS == 0] == -1).all()
    assert len(CRPMixture(**SMALL).fit_predict(X, sample_weight=2)) == 60


def test_counts_are_repeated_rows_in_a_regressor_and_an_imputer():
    counted = CRPRegressor(**SMALL).fit(X, T, sample_weight=COUNTS).predict(X)
    assert np.array_equal(counted, CRPRegressor(**SMALL).fit(X[LISTED], T[LISTED]).predict(X))
    counted = CRPImputer(**SMALL).fit(X, sample_weight=COUNTS).transform(X)
    assert np.array_equal(counted, CRPImputer(**SMALL).fit(X[LISTED]).transform(X))


@pytest.mark.parametrize("cls", [CRPMixture, CRPImputer])
def test_counts_are_repeated_rows_in_a_stream(cls):
    counted = cls(**SMALL).partial_fit(X[:40], sample_weight=COUNTS[:40])
    counted.partial_fit(X[40:], sample_weight=COUNTS[40:])
    assert counted.score(X) == cls(**SMALL).partial_fit(X[LISTED]).score(X)


def test_counts_are_repeated_rows_in_an_online_classifier():
    model = OnlineCRPClassifier(columns="auto")
    counted = model.fit(X, Y, sample_weight=COUNTS).predict_proba(X)
    assert np.array_equal(counted, model.fit(X[LISTED], Y[LISTED]).predict_proba(X))
    texts, labels = ["a goal", "a law", "a match"], ["sport", "politics", "sport"]
    weighted = OnlineCRPClassifier().partial_fit(
        texts, labels, predicted=["politics", None, "sport"], sample_weight=[2, 0, 1]
    )
    listed = OnlineCRPClassifier().partial_fit(
        [texts[0], texts[0], texts[2]], ["sport"] * 3, predicted=["politics", "politics", "sport"]
    )
    assert weighted.classes_.tolist() == ["sport"]
    assert np.array_equal(weighted.class_count_, listed.class_count_)
    assert np.array_equal(weighted.new_class_proba(texts), listed.new_class_proba(texts))


@pytest.mark.parametrize(
    ("model", "why"),
    [
        (CRPMixture(**SMALL), "a whole number of rows"),
        (CRPImputer(**SMALL), "a whole number of rows"),
        (CRPRegressor(**SMALL), "a whole number of rows"),
        (OnlineCRPClassifier(columns="auto"), "no fraction of a step"),
    ],
)
def test_other_weights_are_refused_with_the_reason(model, why):
    weights = np.ones(60)
    weights[7] = 0.5
    with pytest.raises(ValueError, match=f"row 7 has 0.5. .*{why}"):
        model.fit(X, T if isinstance(model, CRPRegressor) else Y, sample_weight=weights)
    assert not model.__sklearn_is_fitted__()
