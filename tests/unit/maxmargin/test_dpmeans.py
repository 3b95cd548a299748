"""DP-means: the best of all partitions on tiny tables, descent on all others."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special

import infinimix
from infinimix import DPMeans
from infinimix.maxmargin.objective.divergences import find_divergence
from infinimix.maxmargin.objective.problem import divergences_from
from infinimix.maxmargin.objective.rows import make_rows
from tests.unit.maxmargin.synthetic import partitions

DIVERGENCES = ("euclidean", "kl", "itakura-saito", "bernoulli", "mahalanobis")
A = np.array([[2.0, 0.5], [0.5, 1.0]])
rng = np.random.default_rng(0)


def divergence_of(name, x, m):
    """The definition, cell by cell, over the observed ones."""
    seen = ~np.isnan(x)
    x, m = x[seen], m[seen]
    if name == "euclidean":
        return ((x - m) ** 2).sum()
    if name == "mahalanobis":
        return (x - m) @ A @ (x - m)
    if name == "kl":
        return (np.where(x > 0, x * np.log(np.where(x > 0, x, 1.0) / m), 0.0) - x + m).sum()
    if name == "bernoulli":  # the Kullback-Leibler divergence of two coins
        m = np.clip(m, 1e-12, 1 - 1e-12)
        return (special.rel_entr(x, m) + special.rel_entr(1 - x, 1 - m)).sum()
    return (x / m - np.log(x / m) - 1.0).sum()


def objective_of(name, X, z, lam):
    total = lam * len(np.unique(z))
    for k in np.unique(z):
        mean = np.array([np.nanmean(c) if (~np.isnan(c)).any() else 1.0 for c in X[z == k].T])
        total += sum(divergence_of(name, x, mean) for x in X[z == k])
    return total


def table(name, n, d=2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.gamma(3.0, size=(n, d)) + 3.0 * rng.integers(0, 2, (n, 1))
    if name == "bernoulli":
        return np.exp(-X / 4.0)
    return X if name != "euclidean" else X - 4.0


@pytest.mark.parametrize("name", DIVERGENCES)
def test_divergences_are_those_of_their_definition(name):
    X, means = table(name, 9), table(name, 4, seed=1)
    divergence = find_divergence(name, X, A)
    found = divergences_from(make_rows(X, divergence), divergence, means)
    assert np.allclose(found, [[divergence_of(name, x, m) for m in means] for x in X])


@pytest.mark.parametrize("name", DIVERGENCES[:4])
def test_missing_cells_are_left_out(name):
    X, means = table(name, 9, 3), table(name, 4, 3, seed=1)
    X[rng.random(X.shape) < 0.3] = np.nan
    X[0] = np.nan
    divergence = find_divergence(name, X)
    found = divergences_from(make_rows(X, divergence), divergence, means)
    assert np.allclose(found, [[divergence_of(name, x, m) for m in means] for x in X])
    model = DPMeans(lam=3.0, divergence=name, random_state=0).fit(X)
    assert np.isclose(model.objective_, objective_of(name, X, model.labels_, 3.0))


@pytest.mark.parametrize("name", DIVERGENCES)
def test_the_best_partition_of_tiny_tables(name):
    """Twenty starts find the least objective of all 203 partitions of six rows."""
    for seed, lam in ((0, 0.3), (1, 3.0)):
        X = table(name, 6, seed=seed)
        least = min(objective_of(name, X, z, lam) for z in partitions(6))
        model = DPMeans(lam, name, matrix=A if name == "mahalanobis" else None, n_init=20)
        model.set_params(random_state=0).fit(X)
        assert np.isclose(model.objective_, objective_of(name, X, model.labels_, lam))
        assert np.isclose(model.objective_, least)


@given(
    st.integers(0, 10**6), st.integers(1, 25), st.integers(1, 4), st.floats(0.01, 30.0),
    st.sampled_from(DIVERGENCES[:4]), st.sampled_from(["delayed", "sequential"]), st.booleans(),
)  # fmt: skip
def test_no_pass_climbs(seed, n, d, lam, name, creation, missing):
    rng = np.random.default_rng(seed)
    X = np.round(rng.gamma(2.0, size=(n, d)), 1) + 0.1  # rounded: with duplicates
    if name == "bernoulli":
        X = np.round(np.exp(-X), 1)  # with zeros
    X[:, 0] = 1.0
    if missing:
        X[rng.random(X.shape) < 0.2] = np.nan
    model = DPMeans(lam, name, creation, n_init=1, random_state=0).fit(X)
    assert (np.diff(model.objective_history_) <= 0).all()
    assert np.isclose(model.objective_, objective_of(name, X, model.labels_, lam), rtol=1e-9)
    assert set(model.labels_) == set(range(model.n_clusters_))  # none is empty
    assert np.allclose(model.divergences(X).min(axis=1), -model_scores(model, X))


def model_scores(model, X):
    return np.array([model.score(x[None]) for x in X])


def test_sequential_rows_open_at_sight_as_the_paper_says():
    X = np.array([[0.0], [1.0], [10.0], [11.0]])
    model = DPMeans(lam=9.0, creation="sequential", n_init=1).fit(X)
    # from one cluster at 5.5: 0 opens one; 1 joins it; 10 opens one; 11 joins it
    assert model.labels_.tolist() == [0, 0, 1, 1]
    assert model.cluster_means_.ravel().tolist() == [0.5, 10.5]


def test_auto_finds_the_clusters_there_are():
    rng = np.random.default_rng(3)
    z = np.arange(300) % 6
    X = 5.0 * rng.normal(size=(6, 4))[z] + 0.5 * rng.normal(size=(300, 4))
    model = DPMeans(random_state=0).fit(X)
    assert model.n_clusters_ == 6
    assert len({(a, b) for a, b in zip(model.labels_, z, strict=True)}) == 6
    far = DPMeans(random_state=0).fit(X + 1e7)  # digits are kept far from zero
    assert (far.labels_ == model.labels_).all()
    assert np.isclose(far.lam_, model.lam_, rtol=1e-4)


def test_one_row_equal_rows_and_empty_columns():
    assert DPMeans().fit([[3.0]]).cluster_means_.tolist() == [[3.0]]
    assert DPMeans().fit([[3.0, 1.0]] * 9).n_clusters_ == 1
    model = DPMeans().fit([[3.0, np.nan]] * 4 + [[9.0, np.nan]] * 4)
    assert np.isfinite(model.cluster_means_).all()


@pytest.mark.parametrize(
    ("parameters", "X", "words"),
    [
        ({"lam": -1.0}, [[1.0]], "'lam' parameter"),
        ({"divergence": "cosine"}, [[1.0]], "'divergence' parameter"),
        ({"divergence": "kl"}, [[1.0], [-2.0]], "row 1 of column 0"),
        ({"divergence": "itakura-saito"}, [[1.0, 0.0]], "row 0 of column 1"),
        ({"divergence": "bernoulli"}, [[1.0, 1.5]], "from 0 to 1; row 0 of column 1"),
        ({"divergence": "mahalanobis"}, [[1.0]], "needs its 'matrix'"),
        ({"divergence": "mahalanobis", "matrix": [[-1.0]]}, [[1.0]], "positive definite"),
        ({"divergence": "mahalanobis", "matrix": [[1.0]]}, [[np.nan]], "no missing cells"),
        ({}, [[1.0], [np.inf]], "infinity, first in row 1 of column 0"),
    ],
)
def test_what_is_refused(parameters, X, words):
    with pytest.raises(ValueError, match=words):
        DPMeans(**parameters).fit(X)


def test_a_file_brings_the_model_back(tmp_path):
    X = table("mahalanobis", 20)
    model = DPMeans(2.0, "mahalanobis", matrix=A.tolist(), random_state=0).fit(X)
    infinimix.save(model, tmp_path / "model")
    again = infinimix.load(tmp_path / "model")
    assert np.array_equal(again.divergences(X), model.divergences(X))
    assert (again.objective_history_ == model.objective_history_).all()
