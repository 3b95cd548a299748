"""`BlockmodelMarkovNet` and `BlockmodelDynamicNet` from the outside."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import check_estimator

from infinimix.networks import BlockmodelDynamicNet, BlockmodelMarkovNet, pair_slices
from infinimix.networks.engine.graphs import from_adjacency
from infinimix.networks.engine.unconstrained import bound_parents
from infinimix.networks.learning.posterior import Draws, pool_counts, template

QUICK = {"n_iter": 200, "n_chains": 2, "random_state": 0}
BOTH = (BlockmodelMarkovNet, BlockmodelDynamicNet)


@pytest.fixture(autouse=True)
def _quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def chain_of_columns(n=200):
    """x0 - x1 - x2, and x3 alone."""
    rng = np.random.default_rng(0)
    X = rng.integers(2, size=(n, 4))
    for j in (1, 2):
        X[:, j] = np.where(rng.random(n) < 0.85, X[:, j - 1], 1 - X[:, j - 1])
    return X


def sequences(n=240):
    """x0 and x1 go on as they are, x0 moves x2 and x1 moves x3; two sequences."""
    rng = np.random.default_rng(1)
    X = rng.integers(2, size=(n, 4))
    for t in range(1, n):
        if t != n // 2:
            keep, follow = rng.random(2) < 0.85, rng.random(2) < 0.9
            X[t, :2] = np.where(keep, X[t - 1, :2], 1 - X[t - 1, :2])
            X[t, 2:] = np.where(follow, X[t - 1, :2], 1 - X[t - 1, :2])
    return X, np.repeat([0, 1], n // 2)


@pytest.mark.parametrize("n_columns", [40, 64])
def test_many_variables(n_columns):
    """Room for all sets of parents of a node would be terabytes: no move enumerates them."""
    X = np.random.default_rng(0).integers(2, size=(200, n_columns))
    X[:, 1] = X[:, 0]
    model = BlockmodelMarkovNet(n_iter=40, n_chains=2, random_state=0).fit(X)
    assert model.edge_marginals_[0, 1] > 0.99
    assert model.edge_marginals_.sum() < n_columns


def test_neighbours_are_found_and_what_is_said_is_symmetric():
    model = BlockmodelMarkovNet(**QUICK).fit(chain_of_columns())
    P = model.edge_marginals_
    assert np.array_equal(P, P.T)
    assert (np.diag(P) == 0).all()
    assert min(P[0, 1], P[1, 2]) > 0.99
    assert max(P[0, 2], P[0, 3], P[1, 3], P[2, 3]) < 0.5
    for name in ("mean", "low", "high", "edges", "pairs"):
        assert np.array_equal(model.template_[name], model.template_[name].T)
    assert all((s["adjacency"] == s["adjacency"].T).all() for s in model.states_)
    assert model.best_state_["log_joint"] == max(s["log_joint"] for s in model.states_)
    assert model.rhat_.shape == model.ess_.shape == model.edge_gap_.shape == (4, 4)


def test_what_was_before_is_found_and_sequences_are_kept_apart():
    X, label = sequences()
    model = BlockmodelDynamicNet(**QUICK).fit(X, sequences=label)
    truth = np.zeros((4, 4), bool)
    truth[[0, 1, 0, 1], [0, 1, 2, 3]] = True
    assert (model.edge_marginals_[truth] > 0.99).all()
    assert (model.edge_marginals_[~truth] < 0.5).all()
    assert model.template_["pairs"].sum() == 12  # persistence is in no block
    with pytest.raises(ValueError, match="no sequence has two rows"):
        BlockmodelDynamicNet(**QUICK).fit(X[:2], sequences=[0, 1])
    with pytest.raises(ValueError, match="one label for each"):
        BlockmodelDynamicNet(**QUICK).fit(X, sequences=[0, 1])


def test_the_pairs_are_those_of_pair_slices():
    X, _ = sequences(40)
    frame = pd.DataFrame(X, columns=list("abcd"))
    mixed = np.arange(40) % 2  # sequences need not be in one piece
    table, _ = pair_slices(frame, mixed)
    seen = {}
    model = BlockmodelDynamicNet(**QUICK)
    model._learn = lambda columns, rows, *rest, **given: seen.update(rows=rows)
    model.fit(frame, sequences=mixed)
    names = [f"{v}@{when}" for when in ("now", "before") for v in "abcd"]
    assert np.array_equal(seen["rows"], table[names].to_numpy())


def test_knowledge_is_obeyed():
    X = chain_of_columns()
    model = BlockmodelMarkovNet(
        required=[("x3", "x0")], forbidden=[(2, 1)], edge_log_odds={("x3", "x2"): 30.0},
        known_roles={"x0": "a", "x1": "a", "x3": "b"}, max_parents=2, **QUICK,
    ).fit(X)  # fmt: skip
    P, Q = model.edge_marginals_, model.co_class_marginals_
    assert P[0, 3] == P[3, 0] == 1
    assert P[1, 2] == P[2, 1] == 0
    assert P[2, 3] > 0.9
    assert (Q[0, 1], Q[0, 3]) == (1, 0)
    assert all(s["adjacency"].sum(axis=0).max() <= 2 for s in model.states_)
    X, label = sequences()
    model = BlockmodelDynamicNet(
        required=[("x2", "x2"), ("x0", "x1"), ("x1", "x0")], forbidden=[("x0", "x0")], **QUICK
    ).fit(X, sequences=label)
    assert [model.edge_marginals_[e] for e in ((2, 2), (0, 1), (1, 0), (0, 0))] == [1, 1, 1, 0]


@pytest.mark.parametrize("cls", BOTH)
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"prior": "ordered"}, "'prior'"),
        ({"max_parents": 0}, "'max_parents'"),
        ({"n_temperatures": 2, "alpha": "learn"}, "n_temperatures"),
        ({"required": [(0, 1)], "forbidden": [(0, 1)]}, "required and forbidden"),
        ({"known_roles": {"nobody": 1}}, "nobody"),
    ],
)
def test_what_cannot_be_is_refused(cls, options, message):
    with pytest.raises(ValueError, match=message):
        cls(**(QUICK | options)).fit(chain_of_columns(20))


def test_what_only_an_undirected_graph_cannot_be_is_refused():
    with pytest.raises(ValueError, match="own parent"):
        BlockmodelMarkovNet(required=[(0, 0)], **QUICK).fit(chain_of_columns(20))


@pytest.mark.parametrize("cls", BOTH)
def test_empty_columns_and_wide_tables_are_refused_by_name(cls):
    frame = pd.DataFrame({"a": [0.1, 0.2, 0.5], "b": [np.nan] * 3})
    with pytest.raises(ValueError, match="column 'b' has no observed cell"):
        cls(**QUICK, columns="real").fit(frame)
    frame["b"] = [0.1, np.nan, 0.3]
    with pytest.raises(ValueError, match="without missing cells"):
        cls(**QUICK, n_temperatures=2).fit(frame)
    with pytest.raises(ValueError, match="65 columns"):
        cls(**QUICK).fit(np.zeros((3, 65), int))


@pytest.mark.parametrize("cls", BOTH)
@pytest.mark.parametrize("gaussian", [False, True])
def test_missing_cells_are_drawn_with_the_graph(cls, gaussian):
    rng = np.random.default_rng(3)
    hub = rng.normal(size=151)
    X = np.column_stack([hub[1:], hub[:-1] + hub[1:], rng.normal(size=150)])
    X[:, 1] += 0.3 * rng.normal(size=150)
    X = X if gaussian else (X > 0).astype(float)
    X[rng.random(X.shape) < 0.1] = np.nan
    model = cls(**QUICK).fit(X)
    assert model.edge_marginals_[0, 1] > 0.9
    assert model.edge_marginals_[0, 2] < 0.5
    assert len(model._state.completed) == 2  # of each chain
    pairs = model._state.completions
    assert len(pairs.graphs) == len(pairs.values) == 40  # 20 of each


@pytest.mark.parametrize("cls", BOTH)
def test_they_are_estimators_of_scikit_learn(cls):
    check_estimator(cls(n_iter=20, n_chains=1))


@pytest.mark.parametrize("cls", BOTH)
def test_clones_threads_files_and_graphs(cls):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(60, 3)), columns=list("abc"))
    frame["c"] = frame["a"].shift(1, fill_value=0.0) + frame["a"]
    model = cls(**QUICK).fit(frame)
    again = clone(model).set_params(n_jobs=2).fit(frame)
    assert np.array_equal(again.edge_marginals_, model.edge_marginals_)
    assert model.edge_marginals_[0, 2] > 0.9
    assert list(model.feature_names_in_) == ["a", "b", "c"]
    same = pickle.loads(pickle.dumps(model))
    assert np.array_equal(same.template_["mean"], model.template_["mean"])
    graph = pytest.importorskip("networkx") and model.to_networkx(threshold=0.9)
    assert graph.has_edge("a", "c")
    assert graph.is_directed() == (cls is BlockmodelDynamicNet)


@pytest.mark.parametrize("cls", BOTH)
def test_mixed_tables_learned_parameters_and_one_column(cls):
    X, _ = sequences(60)
    frame = pd.DataFrame({"u": X[:, 0] + 0.1 * np.arange(60) / 60, "v": X[:, 1].astype(str)})
    model = cls(alpha="learn", beta="learn", gamma="learn", **QUICK).fit(frame)
    assert set(model.discretised_) == {"u"}
    assert all(len(np.unique(model._state.draws.hyper[:, k])) > 1 for k in (0, 1, 3))
    assert cls(**QUICK).fit(frame[["v"]]).edge_marginals_.shape == (1, 1)


def test_the_template_counts_undirected_edges_once_and_loops_not_at_all():
    A = np.array([[1, 1, 0], [1, 0, 1], [0, 1, 0]])
    zeros = np.zeros((1, 3), int)
    draws = Draws(
        from_adjacency(A)[None], zeros, zeros, np.zeros(1), np.ones((1, 4)), np.zeros(1, int)
    )
    counts, beta = pool_counts([draws], np.array([0, 0, 1])), np.ones((1, 2))
    made = template(*counts, beta, np.random.default_rng(0), undirected=True)
    assert made["edges"].tolist() == [[1, 1], [1, 0]]
    assert made["pairs"].tolist() == [[1, 2], [2, 0]]
    both = template(*counts, beta, np.random.default_rng(0))
    assert both["edges"].tolist() == [[2, 1], [1, 0]]


def test_tables_have_no_more_cells_than_rows_by_default():
    assert bound_parents(12, 128, np.full(12, 2)) == 6  # and the child: 2^7 cells
    assert bound_parents(12, 127, np.full(12, 2)) == 5
    assert bound_parents(4, 10**6, np.full(4, 2)) == 4
    assert bound_parents(30, 10**6, None) == 8
    assert bound_parents(3, 1, np.full(3, 2)) == 1


@pytest.mark.parametrize("cls", BOTH)
def test_chains_go_on_and_time_is_bounded(cls, capsys):
    X = chain_of_columns()
    model = cls(**QUICK).fit(X)
    whole = cls(**(QUICK | {"n_iter": 300})).set_params(burn_in=100).fit(X)
    model.run(n_iter=100)
    assert np.array_equal(model.edge_marginals_, whole.edge_marginals_)
    model.run(seconds=0.05)
    with pytest.raises(ValueError, match="no chains"):
        pickle.loads(pickle.dumps(model)).run(n_iter=1)
    timed = cls(**(QUICK | {"n_iter": 10**6}), verbose=True).fit_for(X, 0.2)
    assert timed.edge_marginals_.shape == (4, 4)
    assert "largest gap between chains" in capsys.readouterr().err
    with pytest.raises(ValueError, match="seconds must be"):
        timed.fit_for(X, 0)


@pytest.mark.parametrize("cls", BOTH)
def test_graphs_are_drawn_with_and_without_arrows(cls):
    model = cls(**QUICK, required=[("x0", "x1")]).fit(chain_of_columns(60))
    dot = model.to_dot(0.9)
    assert ('"x0" -> "x1"' if cls is BlockmodelDynamicNet else '"x0" -- "x1"') in dot
    assert dot.startswith("digraph" if cls is BlockmodelDynamicNet else "graph")
    assert dot.count('"x0" -') + dot.count('"x1" -') >= 1
    titles = [axes.get_title() for axes in model.plot(0.9).axes]
    assert titles[1] == ("P(row -> column)" if cls is BlockmodelDynamicNet else "P(row -- column)")


def test_holes_and_set_cells_in_numbers_and_in_mixed_tables():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(160, 3))
    X[1:, 1] += 2 * X[:-1, 0]
    told = rng.random(X.shape) < 0.2
    X[told] = rng.normal(size=told.sum())  # set from outside
    X[rng.random(X.shape) < 0.1] = np.nan
    model = BlockmodelDynamicNet(**QUICK).fit(X, interventions=told)
    assert model.edge_marginals_[0, 1] > 0.99
    assert np.isfinite(model.score_steps(X)[1:]).all()
    frame = pd.DataFrame({"u": X[:, 0], "v": X[:, 1], "w": np.where(X[:, 2] > 0, "a", "b")})
    frame.loc[::8, "w"] = None
    for cls in BOTH:
        mixed = cls(**QUICK, gamma="learn").fit(frame)
        assert set(mixed.discretised_) == {"u", "v"}
        assert sum(mixed.query("w", {"u": 0.3}).values()) == pytest.approx(1.0)
        assert set(mixed.sample(3, random_state=0)) == {"u", "v", "w"}
    with pytest.raises(ValueError, match="interventions must be an array"):
        BlockmodelDynamicNet(**QUICK).fit(X, interventions=told[:3])


@pytest.mark.parametrize("cls", BOTH)
def test_a_parameter_that_there_is_not_names_the_class(cls):
    with pytest.raises(TypeError, match=rf"^{cls.__name__}\.__init__\(\) .*'effects'"):
        cls(effects="signed")

    class Own(cls):
        """A class of a user, with parameters of its own."""

        def __init__(self, n_iter=7):
            super().__init__(n_iter=n_iter)

    class Below(Own):
        """One that inherits them."""

    assert Own().get_params() == Below().get_params() == {"n_iter": 7}
    assert Below().n_iter == 7
    assert clone(cls(n_iter=9)).get_params()["n_iter"] == 9
    assert "n_iter=9" in repr(cls(n_iter=9))


def test_an_edge_that_is_required_and_forbidden_is_said_to_be_both():
    for required, forbidden in ([(0, 1)], [(1, 0)]), ([("x1", "x0")], [("x0", "x1")]):
        with pytest.raises(ValueError, match="'x0' -- 'x1' is required and forbidden"):
            BlockmodelMarkovNet(required=required, forbidden=forbidden, **QUICK).fit(
                chain_of_columns(20)
            )
    with pytest.raises(ValueError, match="1 is said of it, and 2 of its reverse"):
        BlockmodelMarkovNet(edge_log_odds={(0, 1): 1.0, (1, 0): 2.0}, **QUICK).fit(
            chain_of_columns(20)
        )
