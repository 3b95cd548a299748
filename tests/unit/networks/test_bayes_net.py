"""`BlockmodelBayesNet` from the outside: answers, knowledge, kinds of tables, files."""

import io
import time
import warnings

import numpy as np
import pandas as pd
import pytest

import infinimix
from infinimix import BlockmodelBayesNet
from infinimix.networks import from_bif, sample_network
from infinimix.networks.engine.hyper import SWEEPS
from tests.oracle.networks import World, log_discrete, marginals, table

NET = sample_network((2, 2, 1), random_state=3)
X = NET.sample(200, random_state=0)
QUICK = {"n_iter": 200, "n_chains": 2, "random_state": 0}


@pytest.fixture(autouse=True)
def _quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@pytest.fixture(scope="module")
def model():
    return BlockmodelBayesNet(**QUICK).fit(X)


def test_what_is_said_fits_together(model):
    N = 5
    assert model.edge_marginals_.shape == model.co_class_marginals_.shape == (N, N)
    assert (np.diag(model.edge_marginals_) == 0).all()
    assert np.allclose(np.diag(model.co_class_marginals_), 1)
    assert model.roles_.shape == (N,)
    assert model.template_["mean"].shape == (model.roles_.max() + 1,) * 2
    assert (model.template_["low"] <= model.template_["high"]).all()
    assert np.isclose(sum(s["weight"] for s in model.states_), 1)
    assert model.best_state_["log_joint"] == max(s["log_joint"] for s in model.states_)
    paths = model.path_probabilities()
    assert (paths >= model.edge_marginals_ - 0.1).all()
    assert set(model.topological_order()) == {f"x{j}" for j in range(N)}


def test_densities_of_all_rows_sum_to_one_and_holes_are_summed_over(model):
    every = np.indices((2,) * 5).reshape(5, -1).T.astype(float)
    p = np.exp(model.score_samples(every))
    assert np.isclose(p.sum(), 1)
    holed = every[0].copy()
    holed[[1, 3]] = np.nan
    same = (every[:, [0, 2, 4]] == holed[[0, 2, 4]]).all(axis=1)
    assert np.isclose(np.exp(model.score_samples(holed[None]))[0], p[same].sum())


def test_queries_are_conditionals_of_the_density(model):
    every = np.indices((2,) * 5).reshape(5, -1).T.astype(float)
    p = np.exp(model.score_samples(every))
    given = every[:, 0] == 1
    expected = p[given & (every[:, 4] == 1)].sum() / p[given].sum()
    assert np.isclose(model.query("x4", {"x0": 1})[1], expected)
    assert np.isclose(sum(model.query("x4", do={"x2": 0}).values()), 1)
    with pytest.raises(ValueError, match="no column 'nobody'"):
        model.query("nobody")


def test_one_network_is_averaged_as_the_formula_says():
    model = BlockmodelBayesNet(prior="uniform", averaging="best", n_best=3, **QUICK).fit(X)
    logs = []
    for state in model.states_:
        row = np.zeros((1, 5), int)
        A, log_p = state["adjacency"], 0.0
        for j in range(5):
            parents = tuple(np.flatnonzero(A[:, j]))
            both = log_discrete(np.vstack([X, row]), [2] * 5, j, parents, 0.5)
            log_p += both - log_discrete(X, [2] * 5, j, parents, 0.5)
        logs.append(log_p)
    weights = [s["weight"] for s in model.states_]
    assert len(weights) <= 3
    expected = np.log(np.dot(weights, np.exp(logs)))
    assert np.isclose(model.score_samples(np.zeros((1, 5)))[0], expected)


def test_knowledge_is_obeyed():
    model = BlockmodelBayesNet(
        required=[("x0", "x4")], forbidden=[("x0", "x2"), (1, 3)], max_parents=2,
        known_roles={"x0": "a", "x1": "a", "x4": "b"}, edge_log_odds={("x1", "x2"): 30.0}, **QUICK,
    ).fit(X)  # fmt: skip
    assert model.edge_marginals_[0, 4] == 1
    assert model.edge_marginals_[0, 2] == model.edge_marginals_[1, 3] == 0
    assert model.edge_marginals_[1, 2] > 0.9
    assert model.co_class_marginals_[0, 1] == 1
    assert model.co_class_marginals_[0, 4] == 0
    assert all(s["adjacency"].sum(axis=0).max() <= 2 for s in model.states_)


def test_known_roles_stay_in_their_order():
    model = BlockmodelBayesNet(
        prior="ordered", known_roles={"x4": "first", "x0": "last"}, role_order=["first", "last"],
        **QUICK,
    ).fit(X)  # fmt: skip
    assert model.edge_marginals_[0, 4] == 0
    assert (model._state.draws.ranks[:, 4] < model._state.draws.ranks[:, 0]).all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"prior": "flat"}, "'prior'"),
        ({"beta": (1.0, -1.0)}, "'beta'"),
        ({"required": [("x0", "x1")], "forbidden": [("x0", "x1")]}, "required and forbidden"),
        ({"required": [("x0", "x1"), ("x1", "x0")]}, "cycle"),
        ({"known_roles": {"nobody": 1}}, "nobody"),
        ({"required": [("x0", "x0")]}, "own parent"),
        ({"edge_log_odds": np.zeros((2, 2))}, "edge_log_odds"),
        ({"edge_log_odds": {("x0", "x1"): np.inf}}, "'x0' -> 'x1' must be finite"),
        ({"edge_log_odds": {"x0": 1.0}}, "pairs"),
        ({"edge_log_odds": {("x0", "x1"): "a"}}, "must be a number"),
        ({"required": [("x0", "x2"), ("x1", "x2")], "max_parents": 1}, "2 parents of 'x2'"),
        ({"required": [("x0", "x2")], "max_parents": 0, "prior": "ordered"}, "1 parents of 'x2'"),
        ({"role_order": ["a"], "known_roles": {"x0": "a"}}, "needs prior='ordered'"),
        ({"known_roles": {"x0": "a"}, "prior": "sparse"}, "'sparse' has none"),
        ({"known_roles": {"x0": "a"}, "role_template": {("a", "a"): 0.9}}, "edges, gaps"),
        ({"known_roles": {"x0": "a"}, "role_template": {"c": (1, 1)}}, "pairs of roles"),
    ],
)
def test_what_cannot_be_is_refused(options, message):
    with pytest.raises(ValueError, match=message):
        BlockmodelBayesNet(**(QUICK | options)).fit(X)


def test_required_parents_whose_table_is_too_large_are_refused():
    rng = np.random.default_rng(0)
    wide = {f"x{j}": rng.permutation(np.arange(270) % 90).astype(str) for j in range(4)}
    edges = [(f"x{j}", "x3") for j in range(3)]
    with pytest.raises(ValueError, match="cells"):
        BlockmodelBayesNet(required=edges, **QUICK).fit(pd.DataFrame(wide))


def test_answers_are_those_of_the_latest_fit():
    model = BlockmodelBayesNet(**QUICK).fit(X)
    before = model.query("x4")
    flipped = X.copy()
    flipped[:, 4] = 1 - flipped[:, 4]
    after = model.fit(flipped).query("x4")
    assert after[0] == pytest.approx(before[1], abs=0.05)
    weights = model._state.mixture.weights
    assert model.run(n_iter=50)._state.mixture.weights is not weights


def test_columns_that_cannot_be_learned_are_named(model):
    empty = pd.DataFrame({"a": X[:, 0], "b": np.nan})
    with pytest.raises(ValueError, match="'b' has no observed cell"):
        BlockmodelBayesNet(columns={"b": "binary"}, **QUICK).fit(empty)
    names = pd.DataFrame({"a": X[:, 0], "id": [f"n{i}" for i in range(200)]})
    with pytest.warns(UserWarning, match="'id' has 200 categories in 200 rows"):
        BlockmodelBayesNet(n_iter=5, n_chains=1).fit(names)
    for bad in (-1, np.nan, "a"):
        with pytest.raises(ValueError, match="seconds"):
            model.run(seconds=bad)
    with pytest.raises(ValueError, match="n_iter"):
        model.run(n_iter=-5)
    with pytest.raises(ValueError, match="asked for and given"):
        model.query("x1", given={"x1": 1})


def test_interventions_make_a_column_deaf_to_its_parents():
    rng = np.random.default_rng(0)
    a = rng.integers(2, size=400)
    b = np.where(rng.random(400) < 0.95, a, 1 - a)
    set_b = np.zeros((400, 2), bool)
    set_b[200:, 1] = True
    b[200:] = rng.integers(2, size=200)
    told = BlockmodelBayesNet(prior="uniform", **QUICK).fit(
        np.column_stack([a, b]), interventions=set_b
    )
    assert told.edge_marginals_[0, 1] > 0.99
    with pytest.raises(ValueError, match="interventions"):
        BlockmodelBayesNet(**QUICK).fit(X, interventions=np.zeros(3, bool))


def test_missing_cells_are_averaged_over_completions():
    cards = np.array([2, 2, 2])
    T = table(5, 14, cards)
    holes = np.zeros(T.shape, bool)
    holes[[0, 3, 7], [0, 1, 1]] = True
    total, mass = np.zeros((3, 3)), 0.0
    for fill in np.ndindex(2, 2, 2):
        T[holes] = fill
        world = World(T, cards)
        edges, _ = marginals(*world.posterior("uniform"))
        evidence = np.exp(world.log_likelihood).sum()
        total, mass = total + evidence * edges, mass + evidence
    F = T.astype(float)
    F[holes] = np.nan
    model = BlockmodelBayesNet(prior="uniform", n_iter=12_000, n_chains=1, random_state=0).fit(F)
    # completions change every 5 sweeps: 2,400 draws, times below 4, so errors below .02
    assert np.abs(model.edge_marginals_ - total / mass).max() < 0.1


def test_real_columns_find_their_links_and_mixed_tables_are_cut():
    rng = np.random.default_rng(0)
    a = rng.normal(size=300)
    b = 5 + 3 * a + rng.normal(size=300)
    c = rng.normal(size=300)
    frame = pd.DataFrame({"a": a, "b": b, "c": c})
    model = BlockmodelBayesNet(**QUICK).fit(frame)
    either = model.edge_marginals_ + model.edge_marginals_.T
    assert either[0, 1] > 0.99
    assert either[0, 2] < 0.5
    answer = model.query("b", {"a": 1.0})
    assert abs(answer["mean"] - 8) < 0.5
    assert abs(answer["std"] - 1) < 0.3
    whole = model.score_samples(frame[:5])
    holed = frame[:5].copy()
    holed["b"] = np.nan
    assert np.isfinite(whole).all()
    assert np.isfinite(model.score_samples(holed)).all()
    assert np.abs(np.mean(model.sample(300, random_state=0)["b"]) - 5) < 1
    frame["d"] = np.where(a > 0, "high", "low")
    mixed = BlockmodelBayesNet(**QUICK).fit(frame)
    assert set(mixed.discretised_) == {"a", "b", "c"}
    assert (mixed.edge_marginals_ + mixed.edge_marginals_.T)[0, 3] > 0.99
    assert set(mixed.query("d", {"a": 2.0})) == {"high", "low"}
    assert set(mixed.sample(4, random_state=0)) == {"a", "b", "c", "d"}


@pytest.mark.parametrize("prior", ["ordered", "sparse", "uniform"])
def test_the_other_priors_answer_too(prior):
    model = BlockmodelBayesNet(prior=prior, **QUICK).fit(X)
    every = np.indices((2,) * 5).reshape(5, -1).T.astype(float)
    assert np.isclose(np.exp(model.score_samples(every)).sum(), 1)
    ones = X.mean(axis=0)
    apart = (X * np.log(ones) + (1 - X) * np.log(1 - ones)).sum(axis=1).mean()
    assert apart + 0.1 < model.score(X) < NET.log_probability(X).mean() + 0.1
    z = model._state.draws.classes
    if prior == "ordered":
        for state in model.states_:
            later = state["classes"][:, None] < state["classes"]
            assert (state["adjacency"] <= later).all()
    else:  # without roles
        assert (z == 0).all()
        assert (model.co_class_marginals_ == 1).all()


@pytest.mark.parametrize("prior", ["blockmodel", "ordered"])
def test_hyper_parameters_are_learned(prior):
    learn = {"alpha": "learn", "beta": "learn", "gamma": "learn"}
    model = BlockmodelBayesNet(prior=prior, **learn, **QUICK).fit(X)
    assert len(np.unique(model._state.draws.hyper[:, 0])) > 10
    assert len(np.unique(model._state.draws.hyper[:, 1])) > 1
    assert len(np.unique(model._state.draws.hyper[:, 3])) > 1


def test_by_default_the_categories_of_a_variable_share_one_pseudo_count(model):
    same = BlockmodelBayesNet(gamma=0.5, **QUICK).fit(X)  # of two categories: a half each
    assert np.array_equal(same.edge_marginals_, model.edge_marginals_)
    assert np.array_equal(same.score_samples(X), model.score_samples(X))
    wide = np.random.default_rng(0).integers(4, size=(30, 2))
    none = {"forbidden": [("x0", "x1"), ("x1", "x0")], "columns": "categorical"}
    for options, each in (({}, 1 / 4), ({"bdeu": True}, 10 / 4), ({"gamma": 0.5}, 0.5)):
        found = BlockmodelBayesNet(**none, **options, **QUICK).fit(wide)
        for loaded in (found, _saved(found)):
            p = [(np.bincount(x, minlength=4) + each) / (30 + 4 * each) for x in wide.T]
            expected = np.log(p[0][wide[:, 0]]) + np.log(p[1][wide[:, 1]])
            assert np.allclose(loaded.score_samples(wide), expected)


def _saved(model):
    file = io.BytesIO()
    infinimix.save(model, file)
    file.seek(0)
    return infinimix.load(file)


def test_temperatures_are_of_one_posterior(model):
    # by default there are 3 temperatures. Of 2 x 1,000 sweeps at least 100 are independent: errors
    # below .05 each, and a gap of .3 in one of 20 figures has a probability below 20 x 3e-5
    long = QUICK | {"n_iter": 1000}
    warm = BlockmodelBayesNet(**long).fit(X)
    cold = BlockmodelBayesNet(n_temperatures=1, **long).fit(X)
    assert not np.array_equal(warm.edge_marginals_, cold.edge_marginals_)
    assert np.abs(warm.edge_marginals_ - cold.edge_marginals_).max() < 0.3
    again = BlockmodelBayesNet(n_temperatures=3, **QUICK).fit(X)
    assert np.array_equal(again.edge_marginals_, model.edge_marginals_)


def test_more_sweeps_are_counted_with_the_first(model):
    more = BlockmodelBayesNet(**QUICK).fit(X).run(n_iter=100)
    assert [chain.record.counters[SWEEPS] for chain in more._state.chains] == [300, 300]
    assert not np.array_equal(more.edge_marginals_, model.edge_marginals_)
    counted = sum(chain.record.edges for chain in more._state.chains)
    assert np.array_equal(more.edge_marginals_, counted / 600)


def test_a_fit_for_some_seconds_ends_after_these():
    began = time.monotonic()
    model = BlockmodelBayesNet(**(QUICK | {"n_iter": 10**6})).fit_for(X, seconds=0.2)
    assert time.monotonic() - began < 20  # two chains of .2 s, on a slow machine
    sweeps = [chain.record.counters[SWEEPS] for chain in model._state.chains]
    assert all(0 < n < 10**6 for n in sweeps)
    assert np.array_equal(
        model.edge_marginals_, sum(c.record.edges for c in model._state.chains) / sum(sweeps)
    )


def test_chains_in_threads_are_the_same_chains(model):
    again = BlockmodelBayesNet(n_jobs=2, **QUICK).fit(X)
    assert np.array_equal(again.edge_marginals_, model.edge_marginals_)


def test_files_keep_everything(model):
    file = io.BytesIO()
    infinimix.save(model, file)
    again = infinimix.load(io.BytesIO(file.getvalue()))
    assert np.array_equal(again.score_samples(X[:9]), model.score_samples(X[:9]))
    assert np.array_equal(again.edge_marginals_, model.edge_marginals_)
    assert again.query("x4", {"x0": 1}) == model.query("x4", {"x0": 1})
    with pytest.raises(ValueError, match="no chains"):
        again.run(seconds=1)


def test_other_forms(model):
    net = from_bif(model.to_bif())
    assert np.array_equal(net.adjacency, model.best_state_["adjacency"])
    assert all(
        np.array_equal(a, b) for a, b in zip(net.tables, model.network().tables, strict=True)
    )
    likely = np.argwhere(model.edge_marginals_ >= 0.5)
    assert len(likely) > 0
    dot = model.to_dot(threshold=0.5)
    assert dot.count("->") == len(likely)
    assert all(f'"x{i}" -> "x{j}"' in dot for i, j in likely)
    assert len(model.plot().axes) == 3


def test_divergence_from_a_known_network_is_that_of_all_rows(model):
    every = np.indices((2,) * 5).reshape(5, -1).T
    log_p = NET.log_probability(every)
    ratio = log_p - model.score_samples(every)
    p = np.exp(log_p)
    exact = p @ ratio
    error = np.sqrt(p @ (ratio - exact) ** 2 / 2000)
    assert exact > 0
    assert abs(model.kl_from(NET, 2000) - exact) < 5 * error  # 6e-7, with a fixed seed


def test_networkx_gets_the_edges_of_the_best_state(model):
    pytest.importorskip("networkx")
    graph = model.to_networkx()
    assert set(graph.nodes) == {f"x{j}" for j in range(5)}
    edges = {(f"x{i}", f"x{j}") for i, j in np.argwhere(model.best_state_["adjacency"])}
    assert set(graph.edges) == edges
