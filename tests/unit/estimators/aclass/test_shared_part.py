"""`shared_directions`: what rows have beside their class, learned over all classes."""

import io
import os

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import log_loss

from infinimix import AClassClassifier, load, save
from infinimix.estimators.aclass.shared_part import LEAST_OWN, analyse_factors
from infinimix.papers.aclass.shared import WORLDS

QUICK = {"effort": "fast", "random_state": 0}


def shared(columns="gaussian", directions=2, **options):
    return AClassClassifier(columns, shared_directions=directions, **QUICK, **options)


def rows(world="shared directions", n=90, seed=0):
    return WORLDS[world](n, seed)


# --- What is found ------------------------------------------------------------------------------


def test_factors_of_a_matrix_that_has_them_are_found():
    W = np.array([[2.0, -1.0, 0.5, 1.0, 0.0, 1.0], [0.0, 1.0, 1.0, -1.0, 2.0, 0.5]])
    own = np.linspace(0.5, 1.5, 6)
    loadings, found = analyse_factors(W.T @ W + np.diag(own), 2, steps=1000)
    np.testing.assert_allclose(found, own, atol=1e-4)
    np.testing.assert_allclose(loadings.T @ loadings, W.T @ W, atol=1e-3)


def test_no_column_is_without_a_variance_of_its_own():
    x = np.random.default_rng(0).normal(size=(50, 1))
    _, own = analyse_factors(np.cov(np.hstack([x, x, 2 * x]).T) + 1e-12 * np.eye(3), 1)
    assert (own >= 0.9 * LEAST_OWN * np.array([1.0, 1.0, 4.0]) * x.var()).all()


@pytest.mark.parametrize("world", list(WORLDS)[: 3 if "INFINIMIX_SEEDS" in os.environ else 1])
def test_directions_that_all_classes_share_no_longer_hide_the_class(world):
    X, y, test, truth = rows(world)
    without = min(
        log_loss(truth, AClassClassifier(kind, **QUICK).fit(X, y).predict_proba(test))
        for kind in ("real", "gaussian")
    )
    assert log_loss(truth, shared().fit(X, y).predict_proba(test)) < without


def test_loadings_span_the_directions():
    X, y, *_ = rows(n=600)
    within = X - np.array([X[y == c].mean(axis=0) for c in range(3)])[y]
    _, vectors = np.linalg.eigh(np.cov(within.T))
    found = np.linalg.qr(shared().fit(X, y).shared_loadings_)[0]
    cosines = np.linalg.svd(found.T @ vectors[:, -2:], compute_uv=False)
    assert cosines.min() > 0.98


def test_without_the_option_nothing_is_shared():
    X, y, *_ = rows()
    model = AClassClassifier("gaussian", **QUICK).fit(X, y)
    assert model.shared_loadings_.shape == (10, 0)


# --- Tables of all kinds --------------------------------------------------------------------------


def mixed():
    X, y, *_ = rows(n=60)
    frame = pd.DataFrame(X[:, :5], columns=[*"abcde"])
    frame["colour"] = np.array(["red", "blue"])[y % 2]
    frame.loc[::5, "b"] = np.nan
    frame["e"] = 3.0
    blocks = {("a", "b"): "gaussian", ("d", "c", "e"): "gaussian"}
    return frame, y, blocks


def test_blocks_have_directions_of_their_own_and_other_columns_none():
    frame, y, blocks = mixed()
    model = shared(blocks, directions=1).fit(frame, y)
    loadings = pd.DataFrame(model.shared_loadings_, index=frame.columns)
    assert loadings.shape == (6, 2)
    assert (loadings.loc[["a", "b"], 1] == 0).all()
    assert (loadings.loc[["c", "d"], 0] == 0).all()
    assert (loadings.loc["colour"] == 0).all()
    assert np.isfinite(model.predict_proba(frame)).all()


def test_a_column_without_cells_is_no_obstacle():
    X, y, test, _ = rows()
    X[:, 3] = np.nan
    assert np.isfinite(shared().fit(X, y).predict_proba(test)).all()


def test_more_directions_than_columns_are_as_many_as_columns():
    X, y, *_ = rows()
    assert shared(directions=40).fit(X[:, :3], y).shared_loadings_.shape == (3, 3)


def test_rows_without_labels_are_learned_too():
    X, y, test, truth = rows(n=300)
    few = np.where(np.arange(300) < 30, y.astype(object), None)
    model = shared().fit(X, few)
    assert model.class_count_.sum() == 300
    found = np.linalg.qr(model.shared_loadings_)[0]
    known = np.linalg.qr(shared().fit(X, y).shared_loadings_)[0]
    assert np.linalg.svd(found.T @ known, compute_uv=False).min() > 0.98
    assert (model.predict(test) == truth).mean() > 0.6


# --- Streams, batches, files ----------------------------------------------------------------------


def test_a_stream_goes_on_with_the_shared_part_of_fit():
    X, y, test, truth = rows(n=200)
    model = shared().fit(X[:60], y[:60])
    loadings, before = model.shared_loadings_, log_loss(truth, model.predict_proba(test))
    model.partial_fit(X[60:], y[60:])
    np.testing.assert_array_equal(model.shared_loadings_, loadings)
    assert log_loss(truth, model.predict_proba(test)) < before


def test_a_batch_is_classified_with_the_shared_part():
    X, y, test, truth = rows()
    model = shared().fit(X, y)
    batch = model.predict_batch(test[:60])
    assert (batch == truth[:60]).mean() >= (model.predict(test[:60]) == truth[:60]).mean() - 0.05


def test_a_file_has_it():
    frame, y, blocks = mixed()
    model = shared(blocks, directions=1).fit(frame, y)
    file = io.BytesIO()
    save(model, file)
    file.seek(0)
    again = load(file)
    np.testing.assert_array_equal(again.shared_loadings_, model.shared_loadings_)
    np.testing.assert_array_equal(again.predict_proba(frame), model.predict_proba(frame))
    for each in (model, again):
        each.partial_fit(frame, y)
    np.testing.assert_array_equal(again.predict_proba(frame), model.predict_proba(frame))


# --- What is refused -----------------------------------------------------------------------------


def test_a_table_without_gaussian_block_is_refused():
    X, y, *_ = rows()
    with pytest.raises(ValueError, match=r"shared_directions=2 is for .* columns='gaussian'"):
        shared("real").fit(X, y)


def test_relevance_beside_it_is_refused():
    X, y, *_ = rows()
    with pytest.raises(ValueError, match="cannot be combined with relevance='learn'"):
        shared(relevance="learn").fit(X, y)


def test_a_stream_cannot_begin_with_it():
    X, y, *_ = rows()
    with pytest.raises(ValueError, match="call fit with the first rows"):
        shared().partial_fit(X, y)


@pytest.mark.parametrize("wrong", [-1, 1.5, "auto", None])
def test_directions_are_whole_numbers(wrong):
    X, y, *_ = rows()
    with pytest.raises(ValueError, match="'shared_directions' parameter"):
        shared(directions=wrong).fit(X, y)


@pytest.mark.parametrize(
    "entry", [(0.1, 3.0, 1.0, 2.0), (0.1, 3.0, 0.0, 0.0, 0.0, 1.0, 1.0, 0.0), (-1.0, *[1.0] * 7)]
)
def test_a_covariance_that_is_none_is_refused(entry):
    X, y, *_ = rows()
    with pytest.raises(ValueError, match=r"means, own variances, loadings"):
        AClassClassifier("gaussian", prior={"gaussian": entry}, **QUICK).fit(X[:, :3], y)
