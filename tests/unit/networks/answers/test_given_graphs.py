"""Graphs that users give, in every form, and what is no graph; numbers of rows; probabilities."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from infinimix.networks import (
    BlockmodelBayesNet,
    BlockmodelDynamicNet,
    BlockmodelMarkovNet,
    LinearGaussianNet,
    sample_network,
)
from infinimix.networks.answers.given_graphs import read_graph

NAMES = ("a", "b", "c")
TRUTH = np.array([[0, 1, 1], [0, 0, 0], [0, 1, 0]], np.uint8)
NET = sample_network((2, 2), random_state=3)
X = NET.sample(60, random_state=0)
QUICK = {"n_iter": 60, "n_chains": 2, "random_state": 0}


@pytest.fixture(scope="module")
def models():
    return [
        cls(**QUICK).fit(X)
        for cls in (BlockmodelBayesNet, BlockmodelMarkovNet, BlockmodelDynamicNet)
    ]


def test_a_graph_is_the_same_in_every_form():
    frame = pd.DataFrame(TRUTH, index=NAMES, columns=NAMES)
    turned = frame.loc[["c", "a", "b"], ["b", "c", "a"]]
    edges = [("a", "b"), ("a", "c"), ("c", "b")]
    for graph in (
        TRUTH, TRUTH.astype(bool), TRUTH.astype(float), edges, tuple(map(list, edges)),
        np.array(edges).tolist(), [(0, 1), (0, 2), (2, 1)], frame, turned, frame.astype(bool),
        frame.reset_index(drop=True), pl.DataFrame(TRUTH, schema=list(NAMES)),
    ):  # fmt: skip
        assert np.array_equal(read_graph(graph, NAMES), TRUTH)
    numbered = pd.DataFrame(TRUTH, index=[1, 2, 3], columns=[1, 2, 3])
    assert np.array_equal(read_graph(numbered, ("1", "2", "3")), TRUTH)


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        ("x", "a graph may be an array of 0 and 1, a square frame .* got 'x'"),
        (3, "a graph may be .* got 3"),
        ({"a": "b"}, "a graph may be"),
        (["ab"], "'ab' is no pair"),
        ([("a", "b", 0.5)], r"\('a', 'b', 0.5\) is no pair"),
        ([("a", "size")], "no column 'size'"),
        (np.zeros((2, 2)), "3 columns is an array of that many squared"),
        (TRUTH * 0.5, "0 and 1 alone"),
        (pd.DataFrame(TRUTH * 0.5, NAMES, NAMES), "0 and 1 alone"),
        (pd.DataFrame({"from": ["a"], "to": ["b"]}), r"columns \['from', 'to'\] and 1 rows"),
        (pd.DataFrame(TRUTH[:2], NAMES[:2], NAMES), "2 rows"),
    ],
)
def test_what_is_no_graph_is_refused(graph, message):
    with pytest.raises(ValueError, match=message):
        read_graph(graph, NAMES)


def test_every_model_compares_itself_with_a_frame(models):
    for model in models:
        frame = pd.DataFrame(NET.adjacency, NET.names, NET.names)
        assert model.compare(frame) == model.compare(NET)
        with pytest.raises(ValueError, match="a graph may be"):
            model.compare("x")


def test_numbers_of_rows_are_whole_and_not_negative(models):
    Z = LinearGaussianNet(("a",), ((),), np.zeros(1), (np.zeros(0),), np.ones(1))
    for n in (-1, 1.5, "x", True):
        for net in (*models, NET, Z):
            with pytest.raises(ValueError, match="whole number from 0 on; got"):
                net.sample(n)
    with pytest.raises(ValueError, match="n, the number of rows"):
        models[0].sample(n=-1)
    for model in models:
        assert {len(column) for column in model.sample(0).values()} == {0}
    assert NET.sample(0).shape == (0, 4)


def test_rows_of_none_are_drawn_of_numbers_too():
    Z = np.random.default_rng(0).normal(size=(40, 2))
    for cls in (BlockmodelBayesNet, BlockmodelMarkovNet, BlockmodelDynamicNet):
        assert {len(column) for column in cls(**QUICK).fit(Z).sample(0).values()} == {0}


def test_a_truth_that_is_no_network_is_refused(models):
    with pytest.raises(ValueError, match="truth must be a BayesNet.* got str"):
        models[0].kl_from("x")
    with pytest.raises(ValueError, match="n must be a whole number from 1 on"):
        models[0].kl_from(NET, n=0)


@pytest.mark.parametrize("averaging", ["mcmc", "best"])
def test_probabilities_stay_in_bounds(averaging):
    rows = sample_network((3, 4), random_state=0).sample(40, random_state=0)
    model = BlockmodelBayesNet(
        averaging=averaging, required=[("x0", "x1")], forbidden=[("x2", "x3"), ("x3", "x2")],
        **QUICK,
    ).fit(rows)  # fmt: skip
    assert abs(sum(s["weight"] for s in model.states_) - 1.0) < 1e-12
    assert model.markov_blanket("x0")["x1"] == 1.0
    assert model.d_separated("x0", "x1") == 0.0
    found = [model.edge_marginals_, model.co_class_marginals_, model.path_probabilities()]
    for name in model._state.names:
        found.append(np.array(list(model.markov_blanket(name).values())))
    for p in found:
        assert ((p >= 0.0) & (p <= 1.0)).all()
