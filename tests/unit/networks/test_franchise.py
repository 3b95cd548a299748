"""`NetworkFranchise`: what goes in, what comes out, and what it refuses."""

import numpy as np
import pytest
from matplotlib.figure import Figure

from infinimix import BlockmodelBayesNet, load, save
from infinimix.networks import NetworkFranchise, sample_network

A = sample_network((2, 2), random_state=1).sample(60, random_state=0)
B = sample_network((2, 3), random_state=2).sample(50, random_state=0)
pytestmark = pytest.mark.filterwarnings("ignore:[Cc]hains d")
QUICK = {"n_iter": 40, "n_chains": 2, "random_state": 0}


@pytest.fixture(scope="module")
def fitted():
    return NetworkFranchise(**QUICK).fit({"a": A, "b": B})


def test_every_table_has_a_network_and_all_variables_roles(fitted):
    assert fitted.variables_[3:5] == [("a", "x3"), ("b", "x0")]
    assert {k: v.shape for k, v in fitted.edge_marginals_.items()} == {"a": (4, 4), "b": (5, 5)}
    assert set(fitted.rhat_) == set(fitted.ess_) == set(fitted.edge_gap_) == {"a", "b"}
    together = fitted.co_class_marginals_
    assert together.shape == (9, 9)
    assert np.allclose(together, together.T)
    assert np.allclose(np.diag(together), 1.0)
    assert np.allclose(together[4:, 4:], fitted.networks_["b"].co_class_marginals_)
    K = fitted.roles_.max() + 1
    assert fitted.template_["mean"].shape == (K, K)
    assert fitted.template_["pairs"].sum() == 4 * 3 + 5 * 4  # none across networks


def test_a_network_of_several_answers_but_does_not_go_on_alone(fitted):
    network = fitted.networks_["b"]
    assert np.isclose(sum(network.query("x4", given={"x0": 1}).values()), 1.0)
    assert network.score_samples(B[:3]).shape == (3,)
    with pytest.raises(ValueError, match="no chains"):
        network.run(n_iter=1)


def test_a_seed_gives_the_same_networks_again(fitted):
    again = NetworkFranchise(**QUICK, n_jobs=2).fit({"a": A, "b": B})
    assert (again.co_class_marginals_ == fitted.co_class_marginals_).all()
    assert (again.edge_marginals_["a"] == fitted.edge_marginals_["a"]).all()


def test_roles_are_handed_on_to_a_new_network(fitted):
    shared = fitted.share_roles()
    assert sum(shared["sizes"]) == 9
    assert np.sum(shared["pairs"]) == 4 * 3 + 5 * 4
    model = BlockmodelBayesNet(normalise="global", shared_roles=shared, **QUICK).fit(A)
    assert model.shared_role_marginals_.shape == (4, len(shared["sizes"]))


def test_tables_may_be_of_different_kinds_and_have_holes(capsys):
    numbers = np.random.default_rng(0).standard_normal((30, 3))
    holes = B.astype(float)
    holes[::7, 1] = np.nan
    model = NetworkFranchise(sharing="common", verbose=True, columns={1: "categorical"}, **QUICK)
    model.fit([numbers, holes])
    assert model.networks_[0]._state.columns.gaussian
    assert not model.networks_[1]._state.columns.gaussian
    assert set(model.edge_marginals_) == {0, 1}
    assert "sweep 40 of 40, log joint" in capsys.readouterr().err
    with pytest.raises(ValueError, match="without missing cells"):
        model.set_params(n_temperatures=2).fit([numbers, holes])


@pytest.mark.parametrize(
    ("tables", "words"),
    [
        ([], "two tables or more; got 0"),
        ([A], "two tables or more; got 1"),
        (A, "a mapping from name to table"),
        ("ab", "a mapping from name to table"),
        ({"x": A[:, 0], "y": A[:, 1]}, "table 'x' has no rows and columns"),
        ({"x": A, "y": B[:, :1]}, "table 'y': there is one column"),
        ({"x": A, "y": B[:0]}, "table 'y'"),
    ],
)
def test_tables_that_are_none_are_refused(tables, words):
    with pytest.raises(ValueError, match=words):
        NetworkFranchise().fit(tables)


@pytest.mark.parametrize(
    ("name", "value"),
    [("sharing", "none"), ("alpha", "learn"), ("beta", "learn"), ("alpha_network", 0.0)],
)
def test_parameters_are_checked(name, value):
    with pytest.raises(ValueError, match=name):
        NetworkFranchise(**{name: value}).fit([A, B])
    with pytest.raises(ValueError, match="columns names 'z'"):
        NetworkFranchise(columns={"z": "real"}).fit({"a": A, "b": B})


def test_the_chains_of_all_networks_go_on_together():
    model = NetworkFranchise(n_iter=30, n_chains=2, random_state=0).fit({"a": A, "b": B})
    first = model.edge_marginals_["a"]
    model.run(n_iter=150)  # beyond what the records have room for
    state = model._state
    assert not np.array_equal(model.edge_marginals_["a"], first)
    assert all(len(d.log_joint) == len(state.classes) for d in state.draws)
    together = state.classes[:, :, None] == state.classes[:, None, :]
    assert np.abs(together.mean(axis=0) - model.co_class_marginals_).max() < 0.3
    assert sum(int(c.records[0].counters[0]) for c in state.chains) == 2 * 180
    for g, one in enumerate(state.draws):  # the roles that are kept are those of the same sweeps
        own = state.classes[:, 4 * g : 4 + 5 * g]
        classes = one.classes
        assert ((own[:, :1] == own) == (classes[:, :1] == classes)).all()
    model.run(seconds=0.05)
    with pytest.raises(ValueError, match="n_iter must be"):
        model.run(n_iter=0)


def test_time_is_bounded_and_what_is_known_of_a_table_is_obeyed():
    mask = np.zeros(A.shape, bool)
    mask[:30, 3] = True
    model = NetworkFranchise(
        required={"a": [("x3", "x0")]},
        forbidden={"b": [("x0", "x4")]},
        **(QUICK | {"n_iter": 10**6}),
    )
    model.fit_for({"a": A, "b": B}, 0.3, interventions={"a": mask})
    assert model.edge_marginals_["a"][3, 0] == 1.0
    assert model.edge_marginals_["b"][0, 4] == 0.0
    assert model.networks_["a"]._state.skip is not None
    frame = model.edge_table(0.2)
    assert list(frame.columns[:3]) == ["table", "from", "to"]
    assert set(frame["table"]) == {"a", "b"}
    with pytest.raises(ValueError, match="required names 'z'"):
        NetworkFranchise(required={"z": []}, **QUICK).fit({"a": A, "b": B})
    with pytest.raises(ValueError, match="forbidden must be a mapping"):
        NetworkFranchise(forbidden=[("x0", "x1")], **QUICK).fit({"a": A, "b": B})
    with pytest.raises(ValueError, match="table 'b': required names 'x9'"):
        NetworkFranchise(required={"b": [("x9", "x1")]}, **QUICK).fit({"a": A, "b": B})


def test_known_roles_are_shared_between_tables_and_log_odds_belong_to_one(tmp_path):
    model = NetworkFranchise(
        known_roles={"a": {"x0": "cause", "x3": "effect"}, "b": {"x4": "effect", "x1": "other"}},
        edge_log_odds={"b": {("x0", "x1"): 40.0}}, **QUICK,
    ).fit({"a": A, "b": B})  # fmt: skip
    together = model.co_class_marginals_
    assert together[3, 4 + 4] == 1.0
    assert together[0, 3] == together[0, 4 + 1] == together[3, 4 + 1] == 0.0
    assert model.edge_marginals_["b"][0, 1] > 0.99
    model.run(n_iter=20)
    assert model.co_class_marginals_[3, 8] == 1.0
    save(model, tmp_path / "m.imx")
    again = load(tmp_path / "m.imx")
    assert again.known_roles == model.known_roles
    assert (again.co_class_marginals_ == model.co_class_marginals_).all()


@pytest.mark.parametrize(
    ("known", "words"),
    [
        ({"known_roles": {"z": {}}}, "known_roles names 'z'"),
        ({"known_roles": {"a": "cause"}}, "known_roles of 'a' must be a mapping"),
        ({"known_roles": {"a": {"x9": "cause"}}}, "table 'a': known_roles names 'x9'"),
        ({"edge_log_odds": {"b": {("x0", "x1"): "much"}}}, "table 'b': edge_log_odds of"),
        ({"edge_log_odds": np.zeros((4, 4))}, "edge_log_odds must be a mapping"),
    ],
)
def test_knowledge_of_no_table_or_column_is_refused(known, words):
    with pytest.raises(ValueError, match=words):
        NetworkFranchise(**known, **QUICK).fit({"a": A, "b": B})


def test_rows_of_each_table_are_asked_of_its_network(fitted):
    holes = B[:4].astype(float)
    holes[1, 2] = np.nan
    found = fitted.score_samples({"b": holes, "a": A[:3]})
    assert (found["a"] == fitted.networks_["a"].score_samples(A[:3])).all()
    assert found["b"].shape == (4,)
    filled = fitted.impute({"b": holes})
    assert list(filled) == ["b"]
    assert np.array_equal(filled["b"], fitted.networks_["b"].impute(holes))
    with pytest.raises(ValueError, match="no network of a table 0"):
        fitted.impute([A, B])
    with pytest.raises(ValueError, match="a mapping from name to table"):
        fitted.score_samples(A)


def test_graphs_are_drawn_on_given_axes(fitted):
    figure = Figure()
    axes = figure.subplots(1, 2)
    assert fitted.plot(0.2, ax=axes) is figure
    assert [one.get_title()[:2] for one in axes] == ["a:", "b:"]
    with pytest.raises(ValueError, match="ax must be 2 axes"):
        fitted.plot(ax=axes[:1])


def test_kept_states_of_all_networks_are_those_of_arviz(fitted):
    pytest.importorskip("arviz")
    posterior = fitted.to_arviz().posterior
    assert posterior["edge_b"].shape == (2, 40, 5, 5)
    means = posterior["edge_b"].values.mean(axis=(0, 1))
    assert np.allclose(means, fitted.edge_marginals_["b"])
    assert list(posterior["variable"].values[3:5]) == ["a: x3", "b: x0"]
    z = posterior["role"].values
    together = (z[..., :, None] == z[..., None, :]).mean(axis=(0, 1))
    assert np.allclose(together, fitted.co_class_marginals_)
