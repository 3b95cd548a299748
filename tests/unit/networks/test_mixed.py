"""Networks of categories and numbers (`likelihood="mixed"`), as users see them."""

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest

from infinimix import BlockmodelBayesNet
from infinimix.networks import BlockmodelDynamicNet, BlockmodelMarkovNet, NetworkFranchise
from infinimix.reports import write_report

mpl.use("Agg")
pytestmark = pytest.mark.filterwarnings("ignore:[Cc]hains d")
QUICK = {"n_iter": 300, "n_chains": 2, "random_state": 0, "likelihood": "mixed"}


def insects(n=200, seed=0):
    """kind -> size, kind -> colour, size -> weight with a slope of its own for each kind."""
    rng = np.random.default_rng(seed)
    kind = rng.choice(["ant", "bee", "fly"], n)
    number = pd.Series(kind).map({"ant": 0, "bee": 1, "fly": 2}).to_numpy()
    size = 10.0 + 8.0 * number + rng.normal(0, 1.5, n)
    weight = np.choose(number, [2.0 * size, -1.0 * size, 0.0 * size]) + rng.normal(0, 0.5, n)
    colour = np.where(rng.random(n) < 0.8, number > 0, rng.random(n) < 0.5)
    return pd.DataFrame(
        {"kind": kind, "colour": np.where(colour, "yellow", "black"), "size": size,
         "weight": weight}
    )  # fmt: skip


X = insects()


@pytest.fixture(scope="module")
def model():
    return BlockmodelBayesNet(**QUICK).fit(X)


def test_links_within_and_between_kinds_are_found_and_numbers_lead_to_numbers_alone(model):
    table = model.edge_table(0.5)
    found = set(zip(table["from"], table["to"], strict=True))
    assert {("kind", "size"), ("kind", "weight")} <= found
    joined = {frozenset(edge) for edge in found}
    assert {frozenset(("size", "weight")), frozenset(("kind", "colour"))} <= joined
    assert model.discretised_ == {}
    assert not model.edge_marginals_[2:, :2].any()
    assert not model.map_network_["adjacency"][2:, :2].any()


def test_numbers_are_predicted_by_the_line_of_their_category(model):
    new = insects(100, 1)
    weight = model.predict_column(new, "weight")
    assert np.abs(weight - new["weight"]).mean() < 0.7  # the noise has .4
    assert (model.predict_column(new, "kind") == new["kind"]).mean() > 0.97
    held = BlockmodelBayesNet(**(QUICK | {"likelihood": "auto"})).fit(X)
    cut = held.impute(new.assign(weight=np.nan))["weight"]
    assert np.abs(cut.to_numpy(float) - new["weight"]).mean() > 2.0  # the middle of a bin


def test_densities_are_in_the_units_of_the_columns(model):
    larger = X.assign(size=X["size"] * 100.0, weight=X["weight"] - 7.0)
    other = BlockmodelBayesNet(**QUICK).fit(larger)
    assert other.score(larger) == pytest.approx(model.score(X) - np.log(100.0), abs=0.02)


def test_empty_cells_are_filled_and_others_stay(model):
    holes = insects(30, 2)
    holes.loc[:9, "weight"] = np.nan
    holes.loc[5:14, "kind"] = None
    filled = model.impute(holes)
    assert not filled.isna().any().any()
    whole = insects(30, 2)
    assert (filled["kind"] == whole["kind"]).mean() > 0.9
    assert np.abs(filled["weight"] - whole["weight"])[:5].max() < 3.0
    assert np.array_equal(filled["size"], whole["size"])
    assert np.isfinite(model.score_samples(holes)).all()
    assert model.score_samples(holes.assign(size=np.nan)).shape == (30,)


def test_queries_know_evidence_and_interventions(model):
    seen = model.query("size", given={"kind": "fly"})
    assert seen["mean"] == pytest.approx(26.0, abs=1.0)
    assert seen["std"] == pytest.approx(1.5, abs=0.5)
    assert model.query("kind", given={"size": 10.0})["ant"] > 0.95
    even = model.query("kind", do={"size": 10.0})
    assert even == pytest.approx(model.query("kind"), abs=1e-9)  # nothing leads back
    both = model.query("weight", given={"size": 12.0, "kind": "ant"})
    assert 21.5 < both["mean"] < 24.5  # the kind alone says 20; the prior shrinks the slope of 2
    set_kind = model.query("size", do={"kind": "fly"})  # its only parent that is probable
    assert set_kind["mean"] == pytest.approx(seen["mean"], abs=1.0)
    assert model.query("size", do={"size": 3.0}) == {"mean": pytest.approx(3.0), "std": 0.0}
    assert model.query("kind", do={"kind": "bee"})["bee"] == 1.0


def test_missing_cells_are_learned_with_the_network():
    rng = np.random.default_rng(3)
    holes = X.astype(object).mask(rng.random(X.shape) < 0.1)
    holes = holes.astype({"size": float, "weight": float})
    model = BlockmodelBayesNet(**QUICK).fit(holes)
    P = model.edge_marginals_
    assert P[0, 2] > 0.9
    assert P[0, 3] > 0.9
    assert not P[2:, :2].any()
    assert np.isfinite(model.score_samples(holes)).all()


@pytest.mark.parametrize("prior", ["ordered", "sparse", "uniform"])
def test_all_priors_serve(prior):
    model = BlockmodelBayesNet(prior=prior, gamma="learn", **QUICK).fit(X)
    assert model.edge_marginals_[0, 2] > 0.9
    assert not model.edge_marginals_[2:, :2].any()


def test_what_was_set_from_outside_says_nothing_of_its_parents():
    rng = np.random.default_rng(0)
    table = X.assign(size=rng.normal(20, 5, len(X)))  # set at random, whatever the kind is
    mask = np.zeros(X.shape, bool)
    mask[:, 2] = True
    model = BlockmodelBayesNet(prior="uniform", **QUICK).fit(table, interventions=mask)
    assert model.edge_marginals_[0, 2] == pytest.approx(0.5, abs=0.2)


def test_pictures_and_pages(model, tmp_path):
    assert model.plot() is not None
    assert '"kind" -> "size"' in model.to_dot()
    assert ("kind", "size") in model.to_networkx().edges
    write_report(model, tmp_path / "page.html")
    assert "weight" in (tmp_path / "page.html").read_text("utf-8")


def test_columns_of_one_kind_are_as_they_are_without_the_word():
    both = X[["kind", "colour"]], X[["size", "weight"]]
    for table in both:
        one = BlockmodelBayesNet(**QUICK).fit(table)
        other = BlockmodelBayesNet(**(QUICK | {"likelihood": "auto"})).fit(table)
        assert np.array_equal(one.edge_marginals_, other.edge_marginals_)
        assert np.array_equal(one.score_samples(table), other.score_samples(table))


def test_tables_of_several_networks_may_be_mixed():
    options = {"n_iter": 40, "n_chains": 1, "random_state": 0, "likelihood": "mixed"}
    both = NetworkFranchise(**options).fit({"one": X, "two": insects(50, 4)[["kind", "size"]]})
    assert not both.edge_marginals_["one"][2:, :2].any()
    assert both.networks_["two"].query("size", given={"kind": "fly"})["mean"] > 20.0


def test_what_a_mixed_network_cannot_is_said_by_name(model):
    for ask in (model.network, model.gaussian_network, model.to_bif, model.to_pgmpy):
        with pytest.raises(ValueError, match=r"mixed network.*'size'.*'kind'"):
            ask()
    with pytest.raises(ValueError, match=r"no joint.*'size'.*'kind'.*query"):
        model.joint(["size", "kind"])
    with pytest.raises(ValueError, match=r"no most_probable.*query"):
        model.most_probable(["kind"])
    with pytest.raises(ValueError, match="'size' is a number"):
        model.predict_column_proba(X, "size")
    with pytest.raises(ValueError, match="'size' is no parent of 'kind'"):
        model.graph_score([("size", "kind")])
    assert np.isfinite(model.graph_score([("kind", "size")]))


def test_wrong_knowledge_and_kinds_of_networks_are_refused():
    with pytest.raises(ValueError, match=r"'size' -> 'kind' is required.*'kind' -> 'size'"):
        BlockmodelBayesNet(required=[("size", "kind")], **QUICK).fit(X)
    for cls in (BlockmodelMarkovNet, BlockmodelDynamicNet):
        with pytest.raises(ValueError, match="likelihood"):
            cls(likelihood="mixed").fit(X)


def test_too_many_missing_categories_are_named():
    rng = np.random.default_rng(0)
    table = pd.DataFrame({f"c{j}": rng.integers(0, 8, 300) for j in range(6)})
    table["x"] = table.sum(axis=1) + rng.normal(size=300)
    known = {"required": [(f"c{j}", "x") for j in range(5)], "columns": dict.fromkeys(
        [f"c{j}" for j in range(6)], "categorical")}  # fmt: skip
    model = BlockmodelBayesNet(n_iter=20, n_chains=1, likelihood="mixed", **known).fit(table)
    with pytest.raises(ValueError, match=r"missing categories.*'c0', 'c1'"):
        model.query("x")
    assert model.query("x", given={"c0": 1, "c1": 1})["std"] > 0.0
