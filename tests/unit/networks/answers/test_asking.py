"""Answers about columns and rows, against sums over all rows that there can be."""

import itertools
import sys

import numpy as np
import pandas as pd
import pytest

from infinimix.networks import BayesNet, BlockmodelBayesNet, sample_network
from infinimix.networks.answers.blankets import markov_blankets
from tests.oracle.networks import log_discrete

NET = sample_network((2, 2), template=[[0.5, 0.9], [0.0, 0.5]], cards=3, random_state=4)
ROWS = np.array(list(itertools.product(range(3), repeat=4)))
P = np.exp(NET.log_probability(ROWS)).reshape(3, 3, 3, 3)
QUICK = {"n_iter": 60, "n_chains": 2, "random_state": 0}
rng = np.random.default_rng(1)
X = sample_network((2, 2), random_state=3).sample(60, random_state=0)
Z = rng.normal(size=(50, 3))
Z[:, 1] += Z[:, 0]
Z[:, 2] = 5.0 + 3.0 * (Z[:, 2] - Z[:, 1])


@pytest.fixture(scope="module")
def model():
    return BlockmodelBayesNet(**QUICK).fit(X)


@pytest.fixture(scope="module")
def numbers():
    return BlockmodelBayesNet(**QUICK).fit(Z)


def test_a_joint_query_is_the_sum_over_all_rows():
    joint = NET.query(["x3", "x0"], {"x1": 2})
    expected = P[:, 2].sum(axis=1).T
    assert np.allclose(joint, expected / expected.sum(), atol=1e-14)
    assert np.allclose(NET.query("x2"), P.sum(axis=(0, 1, 3)), atol=1e-14)


@pytest.mark.parametrize("targets", [None, ["x0"], ["x3", "x1"]])
def test_the_most_probable_states_are_those_of_the_enumeration(targets):
    found, p = NET.most_probable(targets, {"x2": 1})
    names = ["x0", "x1", "x3"]
    table = P[:, :, 1] / P[:, :, 1].sum()
    for k, name in reversed(list(enumerate(names))):
        if targets is not None and name not in targets:
            table = table.sum(axis=k)
    at = np.unravel_index(table.argmax(), table.shape)
    kept = [n for n in names if targets is None or n in targets]
    assert found == {n: str(k) for n, k in zip(kept, at, strict=True)}
    assert p == pytest.approx(table.max(), abs=1e-14)


def test_the_most_probable_row_of_all_is_that_of_the_enumeration(model):
    found, p = NET.most_probable()
    assert found == {f"x{j}": str(k) for j, k in enumerate(ROWS[P.ravel().argmax()])}
    assert p == pytest.approx(P.max(), abs=1e-14)
    best, rows = model.network(), np.array(list(itertools.product(range(2), repeat=4)))
    logs = best.log_probability(rows)
    for found, p in (model.most_probable(), model.most_probable(given={}), best.most_probable()):
        assert [int(v) for v in found.values()] == rows[logs.argmax()].tolist()
        assert p == pytest.approx(np.exp(logs.max()), abs=1e-12)
    assert model.most_probable([]) == ({}, 1.0)
    assert NET.most_probable([], {"x1": 2}) == ({}, 1.0)
    found, p = NET.most_probable(do={"x1": 2})
    cut = NET.query(["x0", "x2", "x3"], do={"x1": 2})
    assert p == pytest.approx(cut.max(), abs=1e-14)
    assert list(found) == ["x0", "x2", "x3"]


def test_a_joint_answer_needs_columns_and_each_once(model):
    with pytest.raises(ValueError, match="joint: targets must name a column"):
        model.joint([])
    for ask in (model.joint, NET.query):
        with pytest.raises(ValueError, match="'x0' is asked for twice"):
            ask(["x1", "x0", "x0"])


def test_a_name_by_itself_is_one_column(model):
    assert model.joint("x0") == model.joint(["x0"])
    assert model.most_probable("x0") == model.most_probable(["x0"])
    assert model.d_separated("x0", "x3", "x2") == model.d_separated("x0", "x3", ["x2"])
    assert NET.d_separated("x0", "x3", "x2") == NET.d_separated("x0", "x3", ["x2"])
    assert NET.most_probable("x0") == NET.most_probable(["x0"])
    with pytest.raises(ValueError, match="no column 'size'"):
        model.d_separated("x0", "x3", "size")


def test_columns_that_are_named_by_numbers_are_found_by_them():
    frame = pd.DataFrame(X[:, [0, 2, 3]], columns=[1, 2, 3])
    model = BlockmodelBayesNet(required=[(1, 2)], forbidden=[(3, "1")], **QUICK).fit(frame)
    P = model.edge_marginals_
    assert (P[0, 1], P[2, 0]) == (1.0, 0.0)
    assert model.query(2, given={1: 1}) == model.query("2", given={"1": 1})
    assert model.network().query(3, {1: 1}).sum() == pytest.approx(1.0)
    assert model.most_probable(given={3: 0})[0].keys() == {"1", "2"}
    assert model.markov_blanket(2) == model.markov_blanket("2")
    assert model.compare([(1, 2)]) == model.compare([("1", "2")])
    with pytest.raises(ValueError, match="there is no column 0"):
        model.query(0)
    with pytest.raises(ValueError, match="asked for and given"):
        model.query(2, given={"2": 1})


def test_a_date_is_asked_for_by_its_parts():
    frame = pd.DataFrame(X[:, [0, 2]], columns=["a", "b"])
    frame["when"] = pd.date_range("2020-01-01", periods=len(X), freq="D")
    kinds = {"when": "date:ymd:month+weekday"}
    model = BlockmodelBayesNet(columns=kinds, required=[("when month", "a")], **QUICK).fit(frame)
    assert model.edge_table(1.0)["from"].tolist() == ["when month"]
    assert sum(model.query("a", {"when month": 2}).values()) == pytest.approx(1.0)
    with pytest.raises(ValueError, match="no column 'when'; the columns of this date are 'when mo"):
        model.query("when")
    with pytest.raises(ValueError, match="required names 'when'.* 'when month', 'when weekday'$"):
        BlockmodelBayesNet(columns=kinds, required=[("when", "a")]).fit(frame)


def test_impossible_evidence_is_named():
    net = BayesNet(
        ("rain", "wet"), (("no", "yes"),) * 2, ((), (0,)),
        (np.array([0.8, 0.2]), np.array([[1.0, 0.0], [1.0, 0.0]])),
    )  # fmt: skip
    for ask in (
        lambda: net.query("rain", {"wet": "yes"}),
        lambda: net.most_probable(given={"wet": "yes"}),
    ):
        with pytest.raises(ValueError, match="impossible.*wet='yes'"):
            ask()
    with pytest.raises(ValueError, match="no variable 'snow'"):
        net.query(["rain", "snow"])


def test_the_blanket_hides_all_others():
    A = NET.adjacency
    blanket = markov_blankets(A)
    for j, name in enumerate(NET.names):
        inside = NET.markov_blanket(name)
        assert inside == [NET.names[i] for i in np.flatnonzero(blanket[j])]
        given = dict.fromkeys(inside, 1)
        rest = {n: k for n in NET.names if n not in given and n != name for k in (0,)}
        assert np.allclose(NET.query(name, given), NET.query(name, given | rest), atol=1e-13)


def test_predictions_are_queries_of_each_row(model):
    table = pd.DataFrame(X[:6], columns=model._state.names).astype(float)
    table.iloc[2, 1] = np.nan
    table.iloc[3, 0] = np.nan  # the target itself
    proba = model.predict_column_proba(table, "x0")
    for row, p in zip(table.to_dict("records"), proba, strict=True):
        given = {n: v for n, v in row.items() if n != "x0" and v == v}
        assert list(model.query("x0", given).values()) == pytest.approx(p.tolist(), abs=1e-12)
    answers = model.predict_column(table, "x0")
    assert answers.tolist() == proba.argmax(axis=1).tolist()
    filled = model.impute(table)
    assert not filled.isna().any().any()
    assert filled.loc[3, "x0"] == answers[3]
    assert (filled.to_numpy()[table.notna()] == table.to_numpy()[table.notna()]).all()


def test_a_joint_answer_has_the_single_ones_as_margins(model):
    joint = model.joint(["x0", "x3"], {"x1": 1})
    assert sum(joint.values()) == pytest.approx(1.0)
    single = model.query("x3", {"x1": 1})
    for value, p in single.items():
        assert sum(q for (_, b), q in joint.items() if b == value) == pytest.approx(p)
    found, p = model.most_probable(["x0", "x3"], {"x1": 1})
    best = model.network()
    names = {"x1": str(1)}
    table = best.query(["x0", "x3"], names)
    assert p == pytest.approx(table.max())
    assert table[found["x0"], found["x3"]] == table.max()


def test_numbers_are_predicted_by_the_conditional_normal(numbers):
    table = Z[:4].copy()
    table[1, 2] = np.nan
    means = numbers.predict_column(table, "x1")
    for row, mean in zip(table, means, strict=True):
        given = {f"x{j}": row[j] for j in (0, 2) if row[j] == row[j]}
        assert numbers.query("x1", given)["mean"] == pytest.approx(mean)
    assert numbers.impute(table)[1, 2] == pytest.approx(
        numbers.query("x2", {"x0": table[1, 0], "x1": table[1, 1]})["mean"]
    )
    joint = numbers.joint(["x2", "x0"], {"x1": 0.5})
    single = numbers.query("x2", {"x1": 0.5})
    assert joint["mean"][0] == pytest.approx(single["mean"])
    assert np.sqrt(joint["cov"][0, 0]) == pytest.approx(single["std"])
    assert np.corrcoef(Z[:, 0], Z[:, 1])[0, 1] > 0
    with pytest.raises(ValueError, match="is a number"):
        numbers.predict_column_proba(table, "x1")


@pytest.mark.parametrize("form", ["array", "edges", "network"])
def test_the_score_of_a_graph_is_the_sum_of_its_families(model, form):
    names = model._state.names
    A = np.zeros((4, 4), int)
    A[0, 2] = A[1, 2] = A[2, 3] = 1
    cards = np.array([2, 2, 2, 2])
    expected = sum(log_discrete(X, cards, c, np.flatnonzero(A[:, c]), 0.5) for c in range(4))
    edges = [(names[i], names[j]) for i, j in np.argwhere(A)]
    parents = tuple(tuple(map(int, np.flatnonzero(A[:, c]))) for c in range(4))
    tables = tuple(np.full((2,) * (len(p) + 1), 0.5) for p in parents)
    forms = {"array": A, "edges": edges}
    forms["network"] = BayesNet(names, (("0", "1"),) * 4, parents, tables)
    assert model.graph_score(forms[form]) == pytest.approx(expected, abs=1e-9)
    A[3, 0] = 1
    with pytest.raises(ValueError, match="cycle"):
        model.graph_score(A)


def test_edges_and_blankets_by_name(model):
    table = model.edge_table(0.1)
    assert list(table["probability"]) == sorted(table["probability"], reverse=True)
    names = list(model._state.names)
    for edge in table.to_dict("records"):
        i, j = names.index(edge["from"]), names.index(edge["to"])
        assert edge["probability"] == model.edge_marginals_[i, j] >= 0.1
        assert edge["reverse"] == model.edge_marginals_[j, i]
    blanket = model.markov_blanket("x2")
    expected = sum(
        s["weight"] * markov_blankets(s["adjacency"])[2].astype(float) for s in model.states_
    )
    assert blanket == {names[i]: pytest.approx(expected[i]) for i in range(4) if expected[i] > 0}


def test_networks_with_tables_go_to_other_libraries():
    assert NET.to_bif().startswith("network")
    dot = NET.to_dot()
    assert dot.count("->") == int(NET.adjacency.sum())
    nx = pytest.importorskip("networkx", reason="networkx is not installed")
    graph = NET.to_networkx()
    assert nx.is_directed_acyclic_graph(graph)
    assert graph.nodes["x0"]["states"] == ["0", "1", "2"]


def test_a_package_that_is_not_there_is_named_with_what_installs_it(monkeypatch):
    absent = dict.fromkeys(("networkx", "pgmpy.models", "pgmpy", "pyagrum"))
    for name in absent:
        monkeypatch.setitem(sys.modules, name, None)
    for ask, command in (
        (NET.to_networkx, r"pip install 'infinimix\[networks\]'$"),
        (NET.to_pgmpy, "pip install pgmpy$"),
        (NET.to_pyagrum, "pip install pyagrum$"),
    ):
        with pytest.raises(ImportError, match=command):
            ask()
