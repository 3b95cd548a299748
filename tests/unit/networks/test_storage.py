"""Networks of every kind in files: what was saved answers as before, and damage is refused."""

import copy
import io
import json
import pickle
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import infinimix
from infinimix import BlockmodelBayesNet, artifacts
from infinimix.artifacts import ArtifactError
from infinimix.networks import (
    BlockmodelDynamicNet,
    BlockmodelMarkovNet,
    NetworkFranchise,
    sample_network,
)
from infinimix.networks.engine.graphs import from_adjacency
from infinimix.networks.storage import from_tree, to_tree
from tests.unit.saved_models import saved

pytestmark = pytest.mark.filterwarnings("ignore:[Cc]hains d")
DATA = Path(__file__).parent / "data"
QUICK = {"n_iter": 40, "n_chains": 2, "random_state": 0}
X = sample_network((2, 2), random_state=1).sample(60, random_state=0)
SECOND = sample_network((2, 3), random_state=2).sample(50, random_state=0)
NUMBERS = np.random.default_rng(0).normal(size=(40, 3))
MIXED = pd.DataFrame({"a": NUMBERS[:, 0], "b": NUMBERS[:, 1] > 0, "c": ["u", "v"] * 20})
MIXED_HOLES = MIXED.astype(object).mask(np.random.default_rng(2).random(MIXED.shape) < 0.1)
HOLES = np.where(np.random.default_rng(1).random(X.shape) < 0.1, np.nan, X)
KNOWN = {"required": [("x0", "x1")], "known_roles": {"x0": "a", "x3": "b"}}
FITS = {
    "bayes": lambda: BlockmodelBayesNet(**QUICK).fit(X),
    "bayes, holes": lambda: BlockmodelBayesNet(prior="ordered", **QUICK).fit(HOLES),
    "bayes, numbers": lambda: BlockmodelBayesNet(averaging="best", **QUICK).fit(NUMBERS),
    "bayes, both kinds": lambda: BlockmodelBayesNet(likelihood="mixed", **QUICK).fit(MIXED),
    "bayes, both kinds, holes": lambda: BlockmodelBayesNet(likelihood="mixed", **QUICK).fit(
        MIXED_HOLES.astype({"a": float})
    ),
    "markov": lambda: BlockmodelMarkovNet(**QUICK, **KNOWN).fit(X),
    "markov, numbers": lambda: BlockmodelMarkovNet(**QUICK).fit(NUMBERS),
    "dynamic": lambda: BlockmodelDynamicNet(**QUICK, **KNOWN).fit(X),
    "dynamic, mixed": lambda: BlockmodelDynamicNet(**QUICK).fit(MIXED),
    "markov, holes": lambda: BlockmodelMarkovNet(**QUICK).fit(HOLES),
    "dynamic, holes": lambda: BlockmodelDynamicNet(**QUICK).fit(HOLES),
    "franchise": lambda: NetworkFranchise(**QUICK).fit({"a": X, "b": SECOND}),
    "franchise, mixed": lambda: NetworkFranchise(
        sharing="common", columns={1: "categorical"}, **QUICK
    ).fit([NUMBERS, HOLES]),
}
SHOWN = (
    "edge_marginals_", "co_class_marginals_", "roles_", "template_", "edge_gap_", "rhat_", "ess_",
)  # fmt: skip


@pytest.fixture(scope="module", params=FITS)
def model(request):
    return FITS[request.param]()


def same(a, b):
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[k], b[k]) for k in a)
    if isinstance(a, list):
        return len(a) == len(b) and all(map(same, a, b))
    return np.array_equal(a, b, equal_nan=np.asarray(a).dtype.kind == "f")


@pytest.mark.parametrize(
    "copied",
    [
        lambda model: infinimix.load(io.BytesIO(saved(model))),
        lambda model: pickle.loads(pickle.dumps(model)),
        copy.deepcopy,
    ],
    ids=["file", "pickle", "copy"],
)
def test_what_was_saved_shows_and_answers_the_same(model, copied):
    again = copied(model)
    assert type(again) is type(model)
    assert repr(again) == repr(model)
    for name in SHOWN:
        assert same(getattr(again, name), getattr(model, name)), name
    if isinstance(model, NetworkFranchise):
        assert again.variables_ == model.variables_
        assert again.share_roles() == model.share_roles()
        pairs = [(again.networks_[name], network) for name, network in model.networks_.items()]
    else:
        pairs = [(again, model)]
    for one, other in pairs:
        assert same(one.states_, other.states_)
        assert same(one.best_state_, other.best_state_)
        assert one.columns_ == other.columns_
        assert same(one.discretised_, other.discretised_)
        assert one.n_features_in_ == other.n_features_in_
        if isinstance(one, BlockmodelBayesNet):
            rows = other.sample(9, random_state=0)
            assert same(one.sample(9, random_state=0), rows)
            rows = (
                pd.DataFrame(rows)
                if one.likelihood == "mixed"
                else np.column_stack(list(rows.values()))
            )
            assert np.array_equal(one.score_samples(rows), other.score_samples(rows))
            with pytest.raises(ValueError, match="no chains"):
                one.run(n_iter=1)


def test_a_file_of_a_copy_is_the_same_file(model):
    data = saved(model)
    assert saved(infinimix.load(io.BytesIO(data))) == data


def test_a_file_of_the_first_format_still_answers():
    rows = sample_network((2, 2, 1), random_state=3).sample(60, random_state=0)[:5]
    expected = json.loads((DATA / "bayes-net-format-1.json").read_text())
    model = infinimix.load(DATA / "bayes-net-format-1.imx")
    assert model.edge_marginals_.tolist() == expected["edge_marginals"]
    assert np.allclose(model.score_samples(rows), expected["score_samples"], rtol=1e-12)
    answer = model.query("x1", {"x0": 1})
    assert {str(k): v for k, v in answer.items()} == pytest.approx(expected["x1 given x0=1"])


@pytest.mark.parametrize("cls", [BlockmodelMarkovNet, BlockmodelDynamicNet, NetworkFranchise])
def test_a_model_that_has_learned_nothing_is_not_saved(cls):
    with pytest.raises(ValueError, match="learned nothing"):
        infinimix.save(cls(), io.BytesIO())


def test_a_fit_that_fails_leaves_the_model_as_it_was():
    for fit, bad in (
        ("bayes", X[:0]), ("markov", X[:0]), ("dynamic", X[:1]), ("franchise", [X]),
    ):  # fmt: skip
        model = FITS[fit]()
        state = model._state
        with pytest.raises(ValueError):
            model.fit(bad)
        assert model._state is state


def test_parameters_that_change_after_a_fit_do_not_change_its_answers():
    shared = FITS["bayes"]().share_roles()
    model = BlockmodelBayesNet(bdeu=True, shared_roles=shared, **QUICK).fit(X)
    scores, taken = model.score_samples(X), model.shared_role_marginals_
    data = saved(model.set_params(bdeu=False, shared_roles=None))
    for one in (model, infinimix.load(io.BytesIO(data))):
        assert np.array_equal(one.score_samples(X), scores)
        assert np.array_equal(one.shared_role_marginals_, taken)


def cut(tree, name):
    tree[name] = tree[name][:-1]


def set_graph(tree, A):
    tree["draws"]["graphs"][0] = from_adjacency(np.array(A))


CYCLE = np.roll(np.eye(4, dtype=int), 1, axis=1)
DAMAGE = {
    "columns gone": lambda t: t["schema"]["columns"].pop(),
    "draws short": lambda t: cut(t["draws"], "classes"),
    "gamma shared by nobody knows whom": lambda t: t.update(shared_by=3),
    "hyper-parameters short": lambda t: cut(t["draws"], "hyper"),
    "hyper-parameters negative": lambda t: t["draws"]["hyper"].__imul__(-1),
    "log joint not finite": lambda t: t["draws"]["log_joint"].__setitem__(0, np.nan),
    "classes negative": lambda t: t["draws"]["classes"].__setitem__((0, 0), -1),
    "places outside": lambda t: t["places"].__setitem__(0, 10**6),
    "weights short": lambda t: cut(t, "weights"),
    "weights of nothing": lambda t: t["weights"].__imul__(0),
    "marginals short": lambda t: cut(t["found"], "edge_marginals_"),
    "marginals above 1": lambda t: t["found"]["edge_marginals_"].__iadd__(2),
    "roles beyond memory": lambda t: t["found"]["roles_"].__iadd__(2**40),
    "template of no probabilities": lambda t: t["template"]["mean"].__iadd__(2.0),
    "roles with a gap": lambda t: t["found"]["roles_"].__imul__(7).__iadd__(1),
    "template gone": lambda t: t.pop("template"),
    "template in part": lambda t: t["template"].pop("low"),
    "template of other roles": lambda t: cut(t["template"], "mean"),
    "found gone": lambda t: t.pop("found"),
    "scale short": lambda t: cut(t, "scale"),
    "edges of a column that has none": lambda t: t["edges"].append([0, np.zeros(1)]),
    "parameters that cannot be": lambda t: t["parameters"].update(alpha=-1.0),
    "unknown parameters": lambda t: t["parameters"].update(colour=1),
    "knowledge of no column": lambda t: t["parameters"].update(required=[("x0", "zz")]),
}
OWN_DAMAGE = {
    "bayes": {
        "rows of other categories": lambda t: t["completed"][0].__iadd__(7),
        "no rows": lambda t: t.update(completed=[]),
        "set cells of other rows": lambda t: t.update(skip=np.zeros((2, 4), bool)),
        "a cycle": lambda t: set_graph(t, CYCLE),
        "outside mass short": lambda t: cut(t["found"], "outside_mass_"),
    },
    "markov": {
        "an arrow": lambda t: set_graph(t, np.triu(CYCLE)),
        "a loop": lambda t: set_graph(t, np.eye(4)),
    },
    "dynamic": {
        "no pairs of rows": lambda t: t["completed"].__setitem__(0, t["completed"][0][:, :4]),
    },
}
PAIR_DAMAGE = {
    "another mask": lambda t: t["completions"]["missing"].__ior__(True),
    "values short": lambda t: cut(t["completions"], "values"),
    "values of no category": lambda t: t["completions"]["values"].__iadd__(9),
    "no pairs": lambda t: t["completions"].update({k: t["completions"][k][:0] for k in PAIRS}),
    "graphs short": lambda t: cut(t["completions"], "graphs"),
    "a graph that is none": lambda t: t["completions"].update(graphs=np.zeros(3)),
    "rows gone": lambda t: t.update(completed=[]),
}
PAIRS = ("graphs", "values")


def refused(name, tree):
    file = io.BytesIO()
    artifacts.write(file, name, tree, library_version="1")
    with pytest.raises(ArtifactError, match=f"no complete {name}"):
        infinimix.load(io.BytesIO(file.getvalue()))


@pytest.fixture(scope="module")
def trees():
    found = {}
    for kind in ("bayes", "markov", "dynamic", "franchise"):
        model = FITS[kind]()
        found[kind] = type(model).__name__, {"version": 2, **to_tree(model)}
    return found


@pytest.mark.parametrize("kind", OWN_DAMAGE)
def test_damaged_files_are_refused(trees, kind):
    name, tree = trees[kind]
    for what, damage in (DAMAGE | OWN_DAMAGE[kind]).items():
        broken = copy.deepcopy(tree)
        damage(broken)
        print(what)  # shown if it is not refused
        refused(name, broken)
    assert type(from_tree(name, tree)).__name__ == name


def mixed_graph(tree):
    A = np.zeros((3, 3), int)
    A[0, 1] = 1  # "a" is a number, "b" a category
    set_graph(tree, A)


MIXED_DAMAGE = {
    "a number as parent of a category": mixed_graph,
    "half a category": lambda t: t["completed"][0].__setitem__((0, 1), 0.5),
    "no such category": lambda t: t["completed"][0].__setitem__((0, 1), 2.0),
    "a number that is not finite": lambda t: t["completed"][0].__setitem__((0, 0), np.inf),
    "no scale": lambda t: t["scale"].__imul__(0),
    "both and one": lambda t: t.update(gaussian=True),
    "neither": lambda t: t.pop("mixed"),
    "no word": lambda t: t.update(mixed="yes"),
}


def test_damaged_networks_of_both_kinds_are_refused():
    model = FITS["bayes, both kinds"]()
    name, tree = type(model).__name__, {"version": 2, **to_tree(model)}
    for what, damage in MIXED_DAMAGE.items():
        broken = copy.deepcopy(tree)
        damage(broken)
        print(what)  # shown if it is not refused
        refused(name, broken)


@pytest.mark.parametrize("kind", ["bayes, holes", "markov, holes", "dynamic, holes"])
def test_damaged_completions_are_refused(kind):
    model = FITS[kind]()
    name, tree = type(model).__name__, {"version": 2, **to_tree(model)}
    for what, damage in PAIR_DAMAGE.items():
        broken = copy.deepcopy(tree)
        damage(broken)
        print(what)  # shown if it is not refused
        refused(name, broken)
    del tree["completions"], tree["completed"], tree["skip"], tree["shared_by"]  # an older file
    if kind != "bayes, holes":
        old = from_tree(name, tree)
        assert np.array_equal(old.edge_marginals_, model.edge_marginals_)
        with pytest.raises(ValueError, match="older version"):
            old.query("x0")


FRANCHISE_DAMAGE = {
    "a table gone": lambda t: t["tables"].pop(),
    "tables of one name": lambda t: t.update(tables=["a", "a"]),
    "a network gone": lambda t: t["networks"].pop(),
    "one network": lambda t: (t["networks"].pop(), t["tables"].pop()),
    "a network damaged": lambda t: DAMAGE["draws short"](t["networks"][1]),
    "classes short": lambda t: cut(t, "classes"),
    "log joint short": lambda t: cut(t, "log_joint"),
    "roles short": lambda t: cut(t, "roles"),
    "marginals short": lambda t: cut(t, "co_class_marginals"),
    "template gone": lambda t: t.pop("template"),
    "parameters that cannot be": lambda t: t["parameters"].update(sharing="none"),
    "knowledge of no table": lambda t: t["parameters"].update(required={"c": []}),
    "knowledge of no column": lambda t: t["parameters"].update(required={"a": [("x0", "zz")]}),
}


@pytest.mark.parametrize("what", FRANCHISE_DAMAGE)
def test_damaged_franchises_are_refused(trees, what):
    name, tree = trees["franchise"]
    broken = copy.deepcopy(tree)
    FRANCHISE_DAMAGE[what](broken)
    refused(name, broken)
