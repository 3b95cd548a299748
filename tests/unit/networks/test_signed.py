"""`BlockmodelBayesNet(effects="signed")` from the outside: results, files, errors."""

import io
import warnings
from contextlib import nullcontext

import numpy as np
import pandas as pd
import pytest

import infinimix
from infinimix import BlockmodelBayesNet
from infinimix.evaluation.abilities import SigningEffects, able
from infinimix.networks.answers.tree_checks import check_completions
from infinimix.networks.engine.graphs import from_adjacency
from infinimix.networks.learning.completed_tables import Completions
from infinimix.networks.storage import from_tree, to_tree
from infinimix.reports import write_report

QUICK = {"n_iter": 150, "n_chains": 2, "random_state": 0}
NAMES = ["up", "down", "both", "free"]


def rows(n=300, seed=0):
    """`up` raises and `down` lowers `both`."""
    rng = np.random.default_rng(seed)
    up, down, free = (rng.random((3, n)) < 0.5).astype(int)
    both = (rng.random(n) < 1 / (1 + np.exp(0.3 - 3.0 * up + 3.0 * down))).astype(int)
    return pd.DataFrame({"up": up, "down": down, "both": both, "free": free})


X = rows()


@pytest.fixture(autouse=True)
def _quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@pytest.fixture(scope="module")
def model():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return BlockmodelBayesNet(effects="signed", **QUICK).fit(X)


def test_signs_are_found(model):
    edge = model.edge_marginals_
    assert np.allclose(model.positive_marginals_ + model.negative_marginals_, edge)
    linked = {(e["from"], e["to"]): e for e in model.edge_table(0.05).to_dict("records")}
    for (start, end), found in linked.items():
        if {start, end} == {"up", "both"}:
            assert found["positive"] > 0.95
        if {start, end} == {"down", "both"}:
            assert found["positive"] < 0.05
    assert {frozenset(pair) for pair in linked} >= {
        frozenset(("up", "both")), frozenset(("down", "both")),
    }  # fmt: skip


def test_states_have_the_signs_of_their_edges(model):
    for state in model.states_:
        assert (np.abs(state["signs"]) == state["adjacency"]).all()
    assert set(np.unique(model.best_state_["signs"])) <= {-1, 0, 1}
    shares = model.role_signs_
    assert shares["mean"].shape == (model.roles_.max() + 1,)
    assert ((shares["low"] <= shares["mean"]) & (shares["mean"] <= shares["high"])).all()


def test_predictions_are_monotone(model):
    p = {
        (u, d): model.query("both", given={"up": u, "down": d})[1]
        for u in (0, 1) for d in (0, 1)
    }  # fmt: skip
    assert p[0, 1] < min(p[0, 0], p[1, 1])
    assert max(p[0, 0], p[1, 1]) < p[1, 0]
    every = np.indices((2,) * 4).reshape(4, -1).T
    found = np.exp(model.score_samples(pd.DataFrame(every, columns=NAMES)))
    assert np.isclose(found.sum(), 1.0)
    assert set(model.sample(5, random_state=0)) == set(NAMES)
    assert len(model.network().tables) == 4


def test_a_saved_model_says_the_same(model):
    file = io.BytesIO()
    infinimix.save(model, file)
    again = infinimix.load(io.BytesIO(file.getvalue()))
    assert (again.score_samples(X) == model.score_samples(X)).all()
    assert (again.negative_marginals_ == model.negative_marginals_).all()
    assert again.edge_table().equals(model.edge_table())


@pytest.mark.parametrize("part", ["negative", "words", "marginals"])
def test_signs_in_a_file_that_have_no_edge_are_refused(model, part):
    tree = to_tree(model)
    if part == "negative":
        tree["draws"]["negative"] = ~tree["draws"]["graphs"]
    elif part == "words":
        tree["draws"]["negative"] = tree["draws"]["negative"].astype(np.uint8)
    else:
        tree["found"]["negative_marginals_"] = np.ones((4, 4))
    with pytest.raises(ValueError, match="signs do not fit"):
        from_tree("BlockmodelBayesNet", tree)


def test_pictures_and_pages_show_signs(model, tmp_path):
    assert "arrowhead=tee" in model.to_dot(0.05)
    shares = [d["positive"] for *_, d in model.to_networkx(0.05).edges(data=True)]
    assert min(shares) < 0.05 < 0.95 < max(shares)
    assert "negative effects" in model.plot(0.05).axes[0].get_title()
    assert "-|" in model._repr_html_()
    write_report(model, tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text("utf-8")
    assert "Signs of effects" in page
    assert "share of positive effects" in page


def test_chains_go_on_and_give_what_they_give_in_threads(model):
    one = BlockmodelBayesNet(effects="signed", **QUICK).fit(X).run(n_iter=30)
    two = BlockmodelBayesNet(effects="signed", **QUICK, n_jobs=2).fit(X).run(n_iter=30)
    assert (one.negative_marginals_ == two.negative_marginals_).all()
    assert not (one.negative_marginals_ == model.negative_marginals_).all()
    timed = BlockmodelBayesNet(effects="signed", n_chains=1, random_state=0).fit_for(X, 1.0)
    assert (timed.negative_marginals_ <= timed.edge_marginals_ + 1e-9).all()


def test_more_sweeps_than_are_kept_thin_the_signs_too():
    model = BlockmodelBayesNet(effects="signed", n_iter=700, n_chains=1, random_state=0)
    draws = model.fit(X[:40]).run(n_iter=500)._state.draws
    assert not (draws.negative & ~draws.graphs).any()


@pytest.mark.parametrize("options", [
    {"averaging": "best", "n_best": 5}, {"prior": "sparse"}, {"prior": "uniform"},
    {"max_parents": 0}, {"max_parents": 1}, {"alpha": "learn", "beta": "learn"},
    {"required": [("up", "both")], "forbidden": [("down", "both")]},
    {"known_roles": {"up": "a", "down": "b"}}, {"normalise": "global"},
])  # fmt: skip
def test_other_options_go_with_signs(options):
    model = BlockmodelBayesNet(effects="signed", **(QUICK | {"n_iter": 30}), **options).fit(X)
    assert (model.negative_marginals_ <= model.edge_marginals_ + 1e-9).all()
    assert np.isfinite(model.score_samples(X[:5])).all()


def test_numbers_in_two_bins_have_signs():
    table = X.assign(size=X["both"] * 2.0 + np.random.default_rng(0).normal(size=len(X)))
    model = BlockmodelBayesNet(effects="signed", n_bins=2, **QUICK).fit(table)
    i, j = list(model.columns_).index("both"), list(model.columns_).index("size")
    assert model.positive_marginals_[[i, j], [j, i]].sum() > 0.9


def test_many_variables_have_signs():
    rng = np.random.default_rng(0)
    table = np.hstack([X.to_numpy(), rng.integers(2, size=(len(X), 14))])
    model = BlockmodelBayesNet(effects="signed", n_iter=60, n_chains=1, random_state=0).fit(table)
    assert model.negative_marginals_[[1, 2], [2, 1]].sum() > 0.5
    assert model.outside_mass_.shape == (18,)


def test_completions_in_a_file_have_no_more_parents_than_tables_are_made_for():
    A, rows = np.zeros((6, 6), int), np.zeros((3, 6), int)
    for most in (4, 5):
        A[:most, 5] = 1
        graphs = from_adjacency(A)[None]
        pairs = Completions(rows > 0, graphs, np.zeros((1, 0), int), np.zeros_like(graphs))
        with nullcontext() if most == 4 else pytest.raises(ValueError, match="signs do not fit"):
            check_completions(pairs, [rows], 6, np.full(6, 2))


def test_missing_cells_are_drawn_with_signs_and_filled():
    holes = X.astype(float).mask(np.random.default_rng(1).random(X.shape) < 0.15)
    model = BlockmodelBayesNet(effects="signed", **(QUICK | {"n_iter": 40})).fit(holes)
    pairs = model._state.completions
    assert pairs.negative.shape == pairs.graphs.shape
    assert (model._state.mixture.graphs.sum(axis=(1, 2)) > 0).any()
    i, j = NAMES.index("down"), NAMES.index("both")
    assert model.negative_marginals_[[i, j], [j, i]].sum() > 0.9
    assert model.query("both", {"up": 1, "down": 0})[1] > 0.8
    filled = model.impute(holes)
    assert (filled == holes)[holes.notna()].fillna(True).to_numpy().all()
    assert filled.notna().to_numpy().all()
    file = io.BytesIO()
    infinimix.save(model, file)
    again = infinimix.load(io.BytesIO(file.getvalue()))
    assert (again.score_samples(X[:9]) == model.score_samples(X[:9])).all()
    tree = to_tree(model)
    tree["completions"]["negative"] = ~tree["completions"]["graphs"]
    with pytest.raises(ValueError, match="signs do not fit"):
        from_tree("BlockmodelBayesNet", tree)
    tree = to_tree(model)
    del tree["completions"]["negative"]
    with pytest.raises(ValueError, match="whether effects have signs"):
        from_tree("BlockmodelBayesNet", tree)


@pytest.mark.parametrize(("options", "needed"), [
    ({"prior": "ordered"}, "a prior other than 'ordered'"),
    ({"likelihood": "mixed"}, "likelihood='auto' or 'discrete'"),
    ({"gamma": "learn"}, "a fixed gamma"), ({"bdeu": True}, "bdeu=False"),
    ({"moves": "published"}, "moves='all'"), ({"n_temperatures": 2}, "n_temperatures=1"),
    ({"max_parents": 5}, "max_parents of at most 4"),
])  # fmt: skip
def test_what_cannot_have_signs_is_said(options, needed):
    with pytest.raises(ValueError, match=f"effects='signed' needs {needed}"):
        BlockmodelBayesNet(effects="signed", **options).fit(X)


@pytest.mark.parametrize(("table", "needed"), [
    (X.assign(kind=["a", "b"] * 150), "categories of 'kind' have no order"),
    (X.assign(size=np.arange(300) / 7), "'size' has more bins: set n_bins=2"),
    (X * 1.5 + np.arange(300)[:, None], "set likelihood='discrete' and n_bins=2"),
])  # fmt: skip
def test_columns_that_cannot_have_signs_are_named(table, needed):
    with pytest.raises(ValueError, match=needed):
        BlockmodelBayesNet(effects="signed").fit(table)


def test_a_wrong_word_is_refused():
    with pytest.raises(ValueError, match="effects"):
        BlockmodelBayesNet(effects="both").fit(X)


def test_models_without_signs_say_so(model):
    plain = BlockmodelBayesNet(**(QUICK | {"n_iter": 20})).fit(X)
    assert able(model, SigningEffects)
    assert not able(plain, SigningEffects)
    assert "positive" not in plain.edge_table().columns
    with pytest.raises(AttributeError, match="effects='signed'"):
        plain.role_signs_  # noqa: B018
    assert model.map_network_["log_joint"] == model.best_state_["log_joint"]
    with pytest.raises(ValueError, match="no signs"):
        model.graph_score(np.zeros((4, 4)))
