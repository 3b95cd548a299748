"""Densities of undirected and dynamic networks against enumeration and closed forms."""

from itertools import product

import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import multivariate_normal

from infinimix.networks import BlockmodelDynamicNet, BlockmodelMarkovNet
from infinimix.networks.answers.markov_joint import cliques, fit_cliques, select_covariance
from infinimix.networks.engine.families import NOT_SHARED

QUICK = {"n_iter": 60, "n_chains": 2, "random_state": 0}
pytestmark = pytest.mark.filterwarnings("ignore:Chains disagree")
CHAIN = np.eye(4, k=1) + np.eye(4, k=-1)
RING = CHAIN + np.eye(4, k=3) + np.eye(4, k=-3)
EACH_HALF = np.array([0.5, NOT_SHARED])


def bits(n=90):
    rng = np.random.default_rng(0)
    X = rng.integers(2, size=(n, 3))
    X[1:, 1] = np.where(rng.random(n - 1) < 0.9, X[:-1, 0], X[1:, 1])
    X[:, 2] = np.where(rng.random(n) < 0.8, X[:, 1], X[:, 2])
    return X


def test_cliques_are_all_that_can_grow_no_more():
    rng = np.random.default_rng(0)
    for _ in range(20):
        A = np.triu(rng.random((6, 6)) < 0.5, 1)
        A = A | A.T
        full = [
            set(s)
            for k in range(1, 7)
            for s in product(range(6), repeat=k)
            if len(set(s)) == k and all(A[i, j] for i in s for j in s if i < j)
        ]
        most = {frozenset(s) for s in full if not any(s < other for other in full)}
        assert {frozenset(c) for c in cliques(A)} == most


def test_the_table_of_a_chordal_graph_is_a_quotient_of_margins():
    counts = np.random.default_rng(1).integers(0, 9, (2, 3, 2, 2)).astype(float)
    p = fit_cliques(counts, cliques(CHAIN), EACH_HALF)
    smooth = counts + 0.5 * 6 / counts.size
    q = smooth / smooth.sum()
    ab, bc, cd = q.sum((2, 3)), q.sum((0, 3)), q.sum((0, 1))
    b, c = q.sum((0, 2, 3)), q.sum((0, 1, 3))
    closed = (
        ab[:, :, None, None] * bc[None, :, :, None] * cd[None, None]
        / (b[None, :, None, None] * c[None, None, :, None])
    )  # fmt: skip
    assert np.allclose(p, closed, atol=1e-12)
    assert np.allclose(
        fit_cliques(counts, [(0, 1, 2, 3)], EACH_HALF), (counts + 0.5) / (counts + 0.5).sum()
    )


def test_the_table_of_a_ring_has_its_margins_and_no_other_interaction():
    counts = np.random.default_rng(2).integers(0, 9, (2, 2, 2, 2)).astype(float)
    p = fit_cliques(counts, cliques(RING), EACH_HALF)
    q = (counts + 0.5 * 4 / 16) / (counts + 0.5 * 4 / 16).sum()
    for other in ((2, 3), (0, 3), (0, 1), (1, 2)):
        assert np.allclose(p.sum(other), q.sum(other), atol=1e-8)
    logs = np.log(p)
    for a, b in ((0, 2), (1, 3)):  # opposite corners are independent given the others
        flat = np.moveaxis(logs, (a, b), (0, 1)).reshape(2, 2, 4)
        assert np.allclose(flat[0, 0] + flat[1, 1], flat[0, 1] + flat[1, 0], atol=1e-7)


def test_a_selected_covariance_agrees_on_edges_and_its_inverse_is_zero_off_them():
    X = np.random.default_rng(3).normal(size=(30, 4))
    S = np.cov(X.T)
    W = select_covariance(S, RING)
    on = (RING + np.eye(4)) > 0
    assert np.allclose(W[on], S[on])
    assert np.allclose(np.linalg.inv(W)[~on], 0.0, atol=1e-8)


def test_rows_of_an_undirected_network_sum_to_one_and_holes_are_summed_out():
    model = BlockmodelMarkovNet(**QUICK).fit(bits())
    every = np.array(list(product(range(2), repeat=3)))
    p = np.exp(model.score_samples(every))
    assert p.sum() == pytest.approx(1.0)
    some = np.array([[1.0, np.nan, 0.0], [np.nan] * 3])
    assert np.allclose(np.exp(model.score_samples(some)), [p[4] + p[6], 1.0])
    answer = model.query("x2", {"x0": 1})
    assert answer[1] == pytest.approx((p[5] + p[7]) / p[4:].sum())
    assert model.score(every) == pytest.approx(np.log(p).mean())
    assert abs(p[every[:, 1] == every[:, 2]].sum() - 0.9) < 0.1
    rows = np.column_stack(list(model.sample(2000, random_state=0).values()))
    shares = np.bincount(rows @ [4, 2, 1], minlength=8) / 2000
    assert np.abs(shares - p).max() < 0.06  # five standard errors
    found, q = model.most_probable({"x0": 1})
    assert q == pytest.approx(p[4:].max() / p[4:].sum())
    assert (found["x1"], found["x2"]) == tuple(every[4 + p[4:].argmax()][1:])


def test_the_pseudo_likelihood_is_the_product_of_conditionals():
    X = bits()
    model = BlockmodelMarkovNet(**QUICK).fit(X)
    logs = []
    for state in model.states_:
        total = 0.0
        for j in range(3):
            near = np.flatnonzero(state["adjacency"][:, j])
            alike = (X[:, near] == X[7, near]).all(axis=1)
            counts = np.bincount(X[alike, j], minlength=2) + 0.5
            total += np.log(counts[X[7, j]] / counts.sum())
        logs.append(total + np.log(state["weight"]))
    assert model.pseudo_log_likelihood(X[7:8])[0] == pytest.approx(logsumexp(logs))
    with pytest.raises(ValueError, match="column 'x1' has a missing cell in row 0"):
        model.pseudo_log_likelihood([[0.0, np.nan, 1.0]])
    wide = np.random.default_rng(0).integers(2, size=(40, 15))
    with pytest.raises(ValueError, match="pseudo_log_likelihood is there instead"):
        BlockmodelMarkovNet(**QUICK).fit(wide).score_samples(wide)


def test_numbers_of_an_undirected_network_are_normal():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(80, 3)) @ [[2, 1, 0], [0, 1, 1], [0, 0, 1]] + 5
    model = BlockmodelMarkovNet(required=[(0, 1), (1, 2), (0, 2)], **QUICK).fit(X)
    fitted = multivariate_normal(X.mean(axis=0), np.cov(X.T))
    assert np.abs(model.score_samples(X) - fitted.logpdf(X)).max() < 0.3
    assert abs(model.query("x1", {"x0": 7.0})["mean"] - 6) < 0.5
    rows = np.column_stack(list(model.sample(500, random_state=0).values()))
    assert np.abs(rows.mean(axis=0) - X.mean(axis=0)).max() < 0.6
    with pytest.raises(ValueError, match="for categories"):
        model.most_probable()


def test_steps_of_a_sequence_are_products_of_mean_tables():
    X, label = bits(), np.repeat(["u", "v"], 45)
    model = BlockmodelDynamicNet(**QUICK).fit(X, sequences=label)
    before, now = np.delete(X, [44, 89], axis=0), np.delete(X, [0, 45], axis=0)
    logs = np.zeros((len(model.states_), 88))
    for s, state in enumerate(model.states_):
        for j in range(3):
            near = np.flatnonzero(state["adjacency"][:, j])
            for t in range(88):
                alike = (before[:, near] == before[t, near]).all(axis=1)
                counts = np.bincount(now[alike, j], minlength=2) + 0.5
                logs[s, t] += np.log(counts[now[t, j]] / counts.sum())
    w = np.array([state["weight"] for state in model.states_])
    scores = model.score_steps(X, label)
    assert np.isnan(scores[[0, 45]]).all()
    assert np.allclose(np.delete(scores, [0, 45]), logsumexp(logs, axis=0, b=w[:, None]))
    whole = model.score_sequences(X, label)
    assert whole["v"] == pytest.approx(logsumexp(logs[:, 44:].sum(axis=1), b=w))
    assert model.score(X, sequences=label) == pytest.approx(np.nanmean(scores))
    two = [X[3].tolist(), [1, 0, 1]]
    nexts = [[X[3].tolist(), list(row)] for row in product(range(2), repeat=3)]
    assert sum(np.exp(model.score_steps(x)[1]) for x in nexts) == pytest.approx(1.0)
    holed = [X[3].tolist(), [np.nan, 0, 1]]
    some = [np.exp(model.score_steps(x)[1]) for x in nexts if x[1][1:] == two[1][1:]]
    assert np.exp(model.score_steps(holed)[1]) == pytest.approx(sum(some))
    answer = model.query("x1", dict(zip(["x0", "x1", "x2"], X[3].tolist(), strict=True)))
    assert answer[1] == pytest.approx(
        sum(np.exp(model.score_steps(x)[1]) for x in nexts if x[1][1] == 1)
    )


def test_drawn_sequences_step_as_rows_are_scored():
    model = BlockmodelDynamicNet(**QUICK).fit(bits())
    first = [
        np.column_stack(list(model.sample(1, {"x0": 1, "x1": 0, "x2": 0}, seed).values()))[0]
        for seed in range(400)
    ]
    p = model.query("x1", {"x0": 1, "x1": 0, "x2": 0})[1]
    assert abs(np.mean([row[1] for row in first]) - p) < 0.12  # five standard errors
    assert model.sample(30, random_state=0)["x2"].shape == (30,)


def test_numbers_of_a_sequence_follow_the_row_before():
    rng = np.random.default_rng(5)
    X = np.zeros((200, 2))
    for t in range(1, 200):
        X[t] = np.array([0.7, 0.9]) * X[t - 1, 0] + rng.normal(size=2)
    model = BlockmodelDynamicNet(**QUICK).fit(X)
    truth = [[0.7 * a, 0.9 * a] for a in X[:-1, 0]]
    closed = -0.5 * ((X[1:] - truth) ** 2).sum(axis=1) - np.log(2 * np.pi)
    assert abs((model.score_steps(X)[1:] - closed).mean()) < 0.05
    assert abs(model.query("x1", {"x0": 2.0})["mean"] - 1.8) < 0.4
    assert model.sample(5, random_state=0)["x1"].shape == (5,)
    X[5, 0] = np.nan
    assert np.isfinite(model.score_steps(X)[1:]).all()
