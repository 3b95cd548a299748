"""The page "How to add a family" is enough: its family is one to every engine.

The laws of families visit it too, as the example "of the page".
"""

import re
from typing import NamedTuple

import numpy as np
import pytest

from infinimix import (
    AClassClassifier,
    CRPImputer,
    FiniteMixtureClassifier,
    OnlineCRPClassifier,
    load,
    save,
)
from infinimix.families import seam
from infinimix.families.catalogue import CATALOGUE
from infinimix.families.priors import Layout, blank, find_families
from infinimix.families.product import as_cells
from infinimix.families.registration import OPERATIONS, register
from infinimix.families.words import MEAN, DirichletMultinomial
from infinimix.inference.ensemble.bank import pool_rows
from infinimix.inference.finite import em
from infinimix.inference.online_crp.learner import CAP, OnlineSettings
from infinimix.inference.online_crp.table_learner import TableLearner
from infinimix.tables.column import KINDS
from tests.contract.page import CODE
from tests.contract.page import family as page
from tests.oracle.enumeration import Enumeration, bell, co_assignment
from tests.oracle.worlds import BB, BINARY, NAN, N, World, log_density, run

TEN = (
    "count", "refresh", "score", "column_evidence",
    "empty", "sound", "prior", "typical", "draw", "fill",
)  # fmt: skip
PRIOR = np.array([[1.5, 2.0], [0.4, 30.0]])
TIMES = np.array([
    [0.1, 40.0], [0.2, 35.0], [5.0, 1.0], [6.0, 0.5], [0.3, 20.0], [4.0, 2.0], [NAN, 50.0],
    [0.2, NAN], [9.0, 0.1], [NAN, 3.0], [NAN, NAN],
])  # fmt: skip


@pytest.fixture
def waiting(monkeypatch):
    """Make the records of the page those of a kind."""
    monkeypatch.setitem(KINDS, "waiting", page.KIND)
    monkeypatch.setitem(CATALOGUE, "waiting", page.MODELLED)


def make_rows(n=300, seed=0):
    """Two classes whose waiting times differ, one cell in ten missing."""
    rng = np.random.default_rng(seed)
    y = rng.integers(2, size=n)
    X = rng.exponential(np.where(y[:, None] == 1, [1.0, 30.0], [8.0, 2.0]))
    X[rng.random(X.shape) < 0.1] = np.nan
    return X, y


# --- what a family has to bring ------------------------------------------------------------------


def test_a_family_brings_ten_operations():
    """Four compiled, six in Python, as on the page; there is a default of all others."""
    brought = re.findall(r"^@seam\.(\w+)\.implement", CODE, re.MULTILINE)
    assert sorted(brought) == sorted(TEN)
    assert {op.__name__ for op in OPERATIONS if not op.has_default()} == set(TEN)


@pytest.mark.parametrize("name", TEN)
def test_a_family_that_lacks_an_operation_is_refused_by_name(name):
    class Halfway(NamedTuple):
        prior: np.ndarray

    for own in TEN:
        if own != name:
            getattr(seam, own).implement(Halfway)(lambda family, *args: None)
    with pytest.raises(TypeError, match=rf"Halfway lacks the operation {name}:.*CONTRIBUTING"):
        register(Halfway, np.float64)


def test_all_that_is_missing_is_named():
    class Nothing(NamedTuple):
        prior: np.ndarray

    with pytest.raises(TypeError) as caught:
        register(Nothing, np.float64)
    assert all(re.search(rf"\b{name}\b", str(caught.value)) for name in TEN)


def test_an_operation_that_a_family_goes_without_is_refused_by_name():
    words = DirichletMultinomial(np.ones(1), np.ones(1), np.full(1, MEAN))
    with pytest.raises(TypeError, match="DirichletMultinomial has no operation 'fill'"):
        seam.fill(words, seam.empty(words, 1), np.ones((1, 1)), None)


def test_every_kind_of_a_table_has_a_family():
    """It reads cells as the table encodes them."""
    assert list(KINDS) == list(CATALOGUE)
    layout = Layout(dict.fromkeys(KINDS, ("x",)), np.ones(1, np.int64))
    X = tuple(np.zeros((1, 1), kind.dtype) for kind in KINDS.values())
    assert as_cells(blank(layout), X) is X


# --- every engine takes it -----------------------------------------------------------------------


@pytest.mark.parametrize("with_others", [False, True])
def test_the_filter_agrees_with_the_enumeration_of_all_partitions(with_others):
    families, blocks = (page.GammaExponential(PRIOR),), (TIMES,)
    if with_others:
        families, blocks = (BB, *families), (BINARY, *blocks)
    world = World(families, tuple(b[:N] for b in blocks), tuple(b[N:] for b in blocks))
    truth = Enumeration(families, world.X, 1.0)
    f, z = run(world, 1.0, bell(N), "optimal")
    assert f.log_evidence() == pytest.approx(truth.log_evidence, abs=1e-6)
    np.testing.assert_allclose(log_density(f, world.Y), truth.log_predictive(world.Y), atol=1e-6)
    np.testing.assert_allclose(co_assignment(z, f.weights()), truth.co_assignment(), atol=1e-6)


def test_em_finds_two_groups():
    X, y = make_rows()
    family = (page.GammaExponential(PRIOR),)
    model = em.EMModel(family, 5, 2, None, False)
    data = em.WeightedRows((X,), np.full(len(X), -1), np.ones(len(X)))
    state, trace = em.climb(model, data, em.init(np.random.default_rng(0), model, data))
    best = trace[-1].argmax()
    weight, _ = em.respond(model, data, state)
    found = weight[:, best].argmax(axis=1)
    assert max((found == y).mean(), (found != y).mean()) > 0.9
    assert trace[-1, best] > trace[0, best]


def test_a_stream_is_learned(waiting):
    X, y = make_rows()
    layout = Layout({"waiting": ("a", "b")}, np.zeros(0, np.int64))
    settings = OnlineSettings(
        alpha=1.0, alpha_rule="dynamic", regret=(0.01, 0.01, CAP), positive=1.0,
        negatives=(0.0, 1.0), steps=(0.25, 1.0), calibrate=True, sampled=False, open_world=False,
        half_life=100.0,
    )  # fmt: skip
    learner = TableLearner(settings, layout, "empirical", np.random.SeedSequence(0))
    learner.open(2)
    said = learner.run((X,), len(X), y)
    assert (said.predicted[50:] == y[50:]).mean() > 0.85


def test_its_hyper_parameters_are_found_in_the_pooled_table(waiting):
    layout = Layout({"waiting": ("a", "b")}, np.zeros(0, np.int64))
    shape = blank(layout)
    pool = seam.empty(shape, 1)
    pool_rows(shape, pool, (TIMES,), 0, 4)
    (found,) = find_families(layout, "empirical", pool)
    np.testing.assert_allclose(found.prior, [[2.0, 2.0], TIMES[:4].mean(axis=0)])
    (found,) = find_families(layout, {"a": "reference", "b": (3.0, 4.0)}, pool)
    np.testing.assert_allclose(found.prior, [[1.0, 3.0], [TIMES[:4, 0].mean(), 4.0]])


# --- and so does every estimator, once it is a kind ----------------------------------------------


@pytest.mark.parametrize("prior", ["empirical", "learn", {"waiting": (2.0, 5.0)}])
def test_a_classifier_takes_a_column_of_the_new_kind(waiting, prior, tmp_path):
    X, y = make_rows()
    model = AClassClassifier({0: "waiting"}, prior=prior, n_islands=2, random_state=0)
    model.fit(X[:100], y[:100]).partial_fit(X[100:200], y[100:200])
    assert model.columns_["x0"] == "waiting"
    assert model.score(X[200:], y[200:]) > 0.85
    save(model, tmp_path / "model")
    again = load(tmp_path / "model")
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))


@pytest.mark.parametrize("model", [FiniteMixtureClassifier, OnlineCRPClassifier])
def test_other_classifiers_do_too(waiting, model):
    X, y = make_rows()
    found = model(columns={0: "waiting", 1: "waiting"}, random_state=0).fit(X[:200], y[:200])
    assert found.score(X[200:], y[200:]) > 0.85


def test_missing_cells_are_filled(waiting):
    X, _ = make_rows()
    filled = CRPImputer({0: "waiting", 1: "waiting"}, random_state=0).fit_transform(X)
    assert (filled > 0.0).all()
    assert (filled[~np.isnan(X)] == X[~np.isnan(X)]).all()
